package checkpoint

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer/tokenizer"
)

// modelsFolder holds a small random model of every architecture and format, made by its
// make.py.
const modelsFolder = "../../testdata/models"

// readModel returns a file of modelsFolder.
func readModel(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(modelsFolder, filepath.FromSlash(name)))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// TestGGUFMatchesReferenceReader compares the contents of GGUF files with the output of
// @huggingface/gguf: every metadata value, every tensor's name, shape, type and offset.
func TestGGUFMatchesReferenceReader(t *testing.T) {
	type list struct {
		Length int `json:"length"`
		First  any `json:"first"`
		Last   any `json:"last"`
	}
	var oracle map[string]struct {
		Metadata map[string]json.RawMessage `json:"metadata"`
		Tensors  []struct {
			Name   string `json:"name"`
			Shape  []int  `json:"shape"`
			Type   uint32 `json:"type"`
			Offset int64  `json:"offset"`
		} `json:"tensors"`
	}
	if err := json.Unmarshal(readModel(t, "gguf.json"), &oracle); err != nil {
		t.Fatal(err)
	}
	if len(oracle) != 14 {
		t.Fatalf("%d files, want 14", len(oracle))
	}
	for name, want := range oracle {
		w := fileWeights(readModel(t, name))
		g, err := readGGUF(w, w.size)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		pairs := float64(len(g.pairs)) // before the two pairs below
		g.pairs["version"], g.pairs["tensor_count"] = float64(g.version), float64(len(g.tensors))
		g.pairs["kv_count"] = pairs
		if got := slices.Sorted(maps.Keys(g.pairs)); !slices.Equal(got, slices.Sorted(maps.Keys(want.Metadata))) {
			t.Errorf("%s has the keys %v, want %v", name, got, slices.Sorted(maps.Keys(want.Metadata)))
		}
		for key, raw := range want.Metadata {
			var value any
			switch got := g.pairs[key].(type) {
			case []string:
				value = list{len(got), got[0], got[len(got)-1]}
			case []float32:
				value = list{len(got), float64(got[0]), float64(got[len(got)-1])}
			default:
				value = got
			}
			if value == nil { // a list that the program does not need
				if slices.Contains(ggufLists, key) || raw[0] != '{' {
					t.Errorf("%s: %s was not read, want %s", name, key, raw)
				}
				continue
			}
			wanted := reflect.New(reflect.TypeOf(value))
			if err := json.Unmarshal(raw, wanted.Interface()); err != nil ||
				!reflect.DeepEqual(value, wanted.Elem().Interface()) {
				t.Errorf("%s: %s is %v, want %s (%v)", name, key, value, raw, err)
			}
		}
		if len(g.tensors) != len(want.Tensors) {
			t.Errorf("%s: %d tensors, want %d", name, len(g.tensors), len(want.Tensors))
		}
		for _, x := range want.Tensors {
			if got := g.tensors[x.Name]; !slices.Equal(got.shape, x.Shape) || got.dtype != ggufTypes[x.Type] ||
				got.offset != x.Offset {
				t.Errorf("%s: %s is %+v, want %+v", name, x.Name, got, x)
			}
		}
	}
}

// TestSameTokenizerFromEveryFormat: a vocabulary gives the same ids from every kind of
// file: by merges from a tokenizer.json, by scores from GGUF and tokenizer.bin; a
// byte-level one from tokenizer.json and GGUF.
func TestSameTokenizerFromEveryFormat(t *testing.T) {
	texts := []string{
		"", "Once upon a time there was a girl.", " two  spaces\n\n\tand tabs", "IT'S 12345 été 日本 😀👍",
		"\xff\xfe \xe2\x96", "aaaaaaaaaaaaaaaa the the",
	}
	for _, word := range []string{"the cat", "garden", "привет мир", "x == 1 || y"} {
		for n := range 40 {
			texts = append(texts, word[:min(n, len(word))]+texts[1][min(n, 20):])
		}
	}
	open := func(name string) *tokenizer.Tokenizer {
		c, err := OpenPath(filepath.Join(modelsFolder, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.Tokenizer
	}
	for folder, others := range map[string][]string{
		"tinyllama": {"llama-f16.gguf", "llama-q8_0.gguf", "llama2c/legacy.bin", "llama2c/version1.bin"},
		"llama3":    {"llama-q4_0.gguf"},
		"qwen2":     {"qwen2-bf16.gguf"},
		"gpt2":      {"gpt2-f32.gguf"},
	} {
		want := open(folder)
		for _, name := range others {
			tok := open(name)
			if tok.Size() != want.Size() || tok.Kind() != want.Kind() {
				t.Errorf(
					"%s: got %d tokens, %s; want as %s has: %d, %s", name, tok.Size(), tok.Kind(), folder, want.Size(),
					want.Kind(),
				)
			}
			for _, text := range texts {
				if a, b := tok.Encode(text), want.Encode(text); !slices.Equal(a, b) || tok.Decode(a) != text {
					t.Errorf(
						"%s: Encode(%q) = %v, want as %s has: %v; decoded %q", name, text, a, folder, b, tok.Decode(a),
					)
				}
			}
		}
	}
}

// TestStartAndEndTokensOfFormats: the start and end tokens in the files reach the
// configuration.
func TestStartAndEndTokensOfFormats(t *testing.T) {
	for name, want := range map[string]struct {
		bos     int
		eos     []int
		context int
		format  string
	}{
		"tinyllama":            {1, []int{610}, 64, "Hugging Face folder"}, // add_bos_token
		"mistral":              {1, []int{610}, 64, "Hugging Face folder"}, // the template
		"llama3":               {516, []int{517}, 64, "Hugging Face folder"},
		"smollm":               {-1, []int{516}, 64, "Hugging Face folder"},
		"qwen2":                {-1, []int{516}, 64, "Hugging Face folder"},
		"llama-f16.gguf":       {1, []int{2}, 64, "GGUF version 3"},
		"llama-q8_0.gguf":      {1, []int{2}, 64, "GGUF version 2"},
		"llama-q4_0.gguf":      {516, []int{517}, 64, "GGUF version 3"}, // the default of llama-bpe
		"gpt2-f32.gguf":        {-1, []int{516}, 48, "GGUF version 3"},
		"llama2c/legacy.bin":   {1, []int{2, 1}, 64, "llama2.c"},
		"llama2c/version1.bin": {1, []int{2, 1}, 64, "llama2.c version 1"},
	} {
		c, err := OpenPath(filepath.Join(modelsFolder, filepath.FromSlash(name)))
		if err != nil {
			t.Error(err)
			continue
		}
		if g := c.Config; g.BOS != want.bos || !slices.Equal(g.EOS, want.eos) || g.Context != want.context ||
			c.Format != want.format {
			t.Errorf("%s: BOS %d, EOS %v, context %d, %s; want %+v", name, g.BOS, g.EOS, g.Context, c.Format, want)
		}
		if len(c.Hash) != 64 {
			t.Errorf("%s: hash %q, want 64 bytes", name, c.Hash)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestQuantizedBlocksByHand: each block has a scale of 0.5 (0x3800 in binary16), then
// the numbers.
func TestQuantizedBlocksByHand(t *testing.T) {
	q8 := append([]byte{0x00, 0x38, 1, 0xff, 127, 0x81}, make([]byte, 28)...)
	got := make([]float32, 32)
	widenQ8(got, q8)
	if want := append([]float32{0.5, -0.5, 63.5, -63.5}, make([]float32, 28)...); !slices.Equal(got, want) {
		t.Errorf("Q8_0: got %v, want %v", got, want)
	}
	// 0x0f: the low half, 15, is value 0: (15−8)/2; the high half, 0, is value 16: (0−8)/2.
	q4 := append([]byte{0x00, 0x38, 0x0f}, slices.Repeat([]byte{0x88}, 15)...)
	widenQ4(got, q4)
	want := make([]float32, 32)
	want[0], want[16] = 3.5, -4
	if !slices.Equal(got, want) {
		t.Errorf("Q4_0: got %v, want %v", got, want)
	}
}

// TestHeadRowOrdersByHand: a matrix of two heads with rows of two values is restored to
// the order of the layout.
func TestHeadRowOrdersByHand(t *testing.T) {
	// Head 0 has the rows 0 1 2 3, pairs (0 1) and (2 3): the layout has the
	// firsts 0 2, then the seconds 1 3.
	stored := []float32{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7}
	want := []float32{0, 0, 2, 2, 1, 1, 3, 3, 4, 4, 6, 6, 5, 5, 7, 7}
	if got := (order{interleaved: 2}).restore(stored, []int{8, 2}); !slices.Equal(got, want) {
		t.Errorf("interleaved: got %v, want %v", got, want)
	}
	if got := (order{transposed: true}).restore(
		[]float32{1, 2, 3, 4, 5, 6}, []int{2, 3},
	); !slices.Equal(got, []float32{1, 4, 2, 5, 3, 6}) {
		t.Errorf("transposed: got %v, want %v", got, []float32{1, 4, 2, 5, 3, 6})
	}
}

// TestRotaryFrequenciesByHand: θ = 10,000 and heads of 8 give 1, 0.1, 0.01 and 0.001
// radians a position, 1/2π times that in turns.
func TestRotaryFrequenciesByHand(t *testing.T) {
	for name, test := range map[string]struct {
		scaling RopeScaling
		want    [4]float64
	}{
		"none":   {RopeScaling{}, [4]float64{1, 0.1, 0.01, 0.001}},
		"linear": {RopeScaling{Kind: "linear", Factor: 4}, [4]float64{0.25, 0.025, 0.0025, 0.00025}},
		"factors": {
			RopeScaling{Kind: "factors", Factors: []float32{1, 2, 4, 8}}, [4]float64{1, 0.05, 0.0025, 0.000125},
		},
		// In 157.07963 positions they turn 25, 2.5, 0.25 and 0.025 times: the first
		// is above 4 and stays, the last two are below 1 and are divided by 8, the
		// second is half way between: 0.1·(½ + ½/8) = 0.05625.
		"llama3": {
			RopeScaling{Kind: "llama3", Factor: 8, LowFreq: 1, HighFreq: 4, OriginalContext: 157},
			[4]float64{1, 0.05625, 0.00125, 0.000125},
		},
	} {
		rope := &Rope{10_000, test.scaling}
		for i, f := range rope.Frequencies(8) {
			if rel := float64(f)/test.want[i] - 1; !(math.Abs(rel) <= 1e-3) { // 157 positions, not 157.08
				t.Errorf("%s: frequency %d is %v, want %v", name, i, f, test.want[i])
			}
		}
	}
}

// TestGPT2Parameters: GPT-2's smallest published model has 124,439,808 parameters.
func TestGPT2Parameters(t *testing.T) {
	c := Config{
		Architecture: "gpt2", Vocab: 50257, Width: 768, Layers: 12, Heads: 12, HeadDim: 64, FFN: 3072, Context: 1024,
		TieEmbeddings: true,
	}
	if n := (&Checkpoint{Config: c}).Parameters(); n != 124_439_808 {
		t.Errorf("got %d parameters, want 124_439_808", n)
	}
	// Qwen2 0.5B, by its model card: 494,032,768.
	c = Config{
		Architecture: "qwen2", Vocab: 151936, Width: 896, Layers: 24, Heads: 14, KVHeads: 2, HeadDim: 64, FFN: 4864,
		TieEmbeddings: true,
	}
	if n := (&Checkpoint{Config: c}).Parameters(); n != 494_032_768 {
		t.Errorf("got %d parameters, want 494_032_768", n)
	}
}
