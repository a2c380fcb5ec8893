package infer

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/checkpoint"
)

var loadTarget = sync.OnceValues(func() (*Model, error) {
	c, err := bundled.Target()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return Load(c)
})

// bundledModel returns the model in the binary, loaded once for all tests.
func bundledModel(tb testing.TB) *Model {
	tb.Helper()
	m, err := loadTarget()
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// A folder describes a small model folder to write in memory.
type folder struct {
	width, layers, heads, kvHeads, headDim, ffn, context int

	tied, bos bool
	extra     []string // tokens besides the 256 bytes and the end of text
	lacks     string   // bytes without a token
}

// Token ids in the vocabulary of every folder. Byte b is token b; the end of text and the extra
// tokens follow.
const (
	endID      = 256
	firstExtra = 257
)

func (f folder) vocab() int { return firstExtra + len(f.extra) }

// shapes returns the shapes of a Llama model's tensors, by name.
func (f folder) shapes() map[string][]int {
	q, kv := f.heads*f.headDim, f.kvHeads*f.headDim
	s := map[string][]int{
		"model.embed_tokens.weight": {f.vocab(), f.width},
		"model.norm.weight":         {f.width},
	}
	if !f.tied {
		s["lm_head.weight"] = []int{f.vocab(), f.width}
	}
	for l := range f.layers {
		at := fmt.Sprintf("model.layers.%d.", l)
		maps.Copy(s, map[string][]int{
			at + "input_layernorm.weight":          {f.width},
			at + "post_attention_layernorm.weight": {f.width},
			at + "self_attn.q_proj.weight":         {q, f.width},
			at + "self_attn.k_proj.weight":         {kv, f.width},
			at + "self_attn.v_proj.weight":         {kv, f.width},
			at + "self_attn.o_proj.weight":         {f.width, q},
			at + "mlp.gate_proj.weight":            {f.ffn, f.width},
			at + "mlp.up_proj.weight":              {f.ffn, f.width},
			at + "mlp.down_proj.weight":            {f.width, f.ffn},
		})
	}
	return s
}

// weights holds tensors by name, row-major.
type weights map[string][]float32

func (f folder) zeros() weights {
	w := weights{}
	for name, shape := range f.shapes() {
		n := 1
		for _, d := range shape {
			n *= d
		}
		w[name] = make([]float32, n)
	}
	return w
}

// random returns random values for every tensor. Matrices have a standard deviation of 1/√columns,
// so that vectors keep their length, and norms have values around 1.
func (f folder) random(seed uint64) weights {
	rng := rand.New(rand.NewPCG(seed, 0))
	w, shapes := f.zeros(), f.shapes()
	for _, name := range slices.Sorted(maps.Keys(w)) {
		shape := shapes[name]
		for i := range w[name] {
			if len(shape) == 1 {
				w[name][i] = 1 + 0.2*float32(rng.NormFloat64())
			} else {
				w[name][i] = 1.5 * float32(rng.NormFloat64()/math.Sqrt(float64(shape[1])))
			}
		}
	}
	return w
}

// load writes the folder with these weights and loads it.
func (f folder) load(w weights) (*Model, error) {
	files := fstest.MapFS{"model.safetensors": {Data: f.safetensors(w)}}
	for name, v := range map[string]any{
		"config.json": map[string]any{
			"model_type": "llama", "vocab_size": f.vocab(), "hidden_size": f.width, "intermediate_size": f.ffn,
			"num_hidden_layers": f.layers, "num_attention_heads": f.heads, "num_key_value_heads": f.kvHeads,
			"head_dim": f.headDim, "max_position_embeddings": f.context, "rms_norm_eps": 1e-30,
			"tie_word_embeddings": f.tied, "bos_token_id": endID, "eos_token_id": endID,
		},
		"tokenizer_config.json": map[string]any{"add_bos_token": f.bos},
		"tokenizer.json":        f.tokenizer(),
	} {
		data, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	c, err := checkpoint.Open(files, "small")
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return Load(c)
}

// model is like load, but ends the test on an error.
func (f folder) model(tb testing.TB, w weights) *Model {
	tb.Helper()
	m, err := f.load(w)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// tokenizer returns a byte-level vocabulary without merges.
func (f folder) tokenizer() map[string]any {
	vocab := map[string]int{"<|end|>": endID}
	for b := range 256 {
		vocab[spelled(string([]byte{byte(b)}))] = b
	}
	for i, text := range f.extra {
		vocab[spelled(text)] = firstExtra + i
	}
	for _, b := range []byte(f.lacks) {
		delete(vocab, spelled(string([]byte{b})))
	}
	return map[string]any{
		"added_tokens":  []any{map[string]any{"id": endID, "content": "<|end|>", "special": true}},
		"pre_tokenizer": map[string]any{"type": "ByteLevel"},
		"decoder":       map[string]any{"type": "ByteLevel"},
		"model":         map[string]any{"type": "BPE", "vocab": vocab, "merges": []any{}},
	}
}

// spelled converts bytes to GPT-2's alphabet: printable bytes map to themselves, the others in
// order to the characters that start at U+0100.
func spelled(text string) string {
	var out []rune
	for _, b := range []byte(text) {
		hidden := 0 // number of hidden bytes below b
		for c := range int(b) {
			hidden += isHidden(c)
		}
		if isHidden(int(b)) == 1 {
			out = append(out, rune(256+hidden))
		} else {
			out = append(out, rune(b))
		}
	}
	return string(out)
}

func isHidden(b int) int {
	if b <= ' ' || b >= 0x7f && b <= 0xa0 || b == 0xad {
		return 1
	}
	return 0
}

// safetensors encodes the weights as float32.
func (f folder) safetensors(w weights) []byte {
	header := map[string]any{}
	var data bytes.Buffer
	shapes := f.shapes()
	for _, name := range slices.Sorted(maps.Keys(w)) {
		from := data.Len()
		for _, v := range w[name] {
			data.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)))
		}
		header[name] = map[string]any{"dtype": "F32", "shape": shapes[name], "data_offsets": []int{from, data.Len()}}
	}
	text, err := json.Marshal(header)
	if err != nil {
		panic(err)
	}
	return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text, data.Bytes())
}

// smallFolder describes the random model that the loop's tests use.
var smallFolder = folder{
	width: 16, layers: 2, heads: 4, kvHeads: 2, headDim: 4, ffn: 24, context: 64, bos: true,
	extra: []string{"ab", "ba", "aa", "abc", "é", "😀", "\xe2\x82", "\xac!", "User", ": "},
}

var loadSmall = sync.OnceValues(func() (*Model, error) { return smallFolder.load(smallFolder.random(7)) })

// smallModel returns a model with random weights: its text is noise, but every mechanism works, and
// a step takes microseconds.
func smallModel(tb testing.TB) *Model {
	tb.Helper()
	m, err := loadSmall()
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// bigram returns a model whose blocks add nothing, so that the next token's logits depend only on
// the last token. These logits are exactly the values in next[last], and −1000 for all other
// tokens.
func bigram(tb testing.TB, extra []string, next map[int]map[int]float32) *Model {
	tb.Helper()
	f := folder{width: 16, layers: 1, heads: 1, kvHeads: 1, headDim: 2, ffn: 1, context: 32, extra: extra}
	if len(next) > f.width {
		tb.Fatalf("got %d tokens with a successor, want at most %d", len(next), f.width)
	}
	w := f.zeros()
	// A one-hot embedding has a mean square of 1/16, so the norm makes it 4 times as long, and the
	// norm's weight of ¼ makes it one-hot again.
	for i := range w["model.norm.weight"] {
		w["model.norm.weight"][i] = 0.25
	}
	for i := range w["lm_head.weight"] {
		w["lm_head.weight"][i] = -1000
	}
	for slot, from := range slices.Sorted(maps.Keys(next)) {
		w["model.embed_tokens.weight"][from*f.width+slot] = 1
		for to, z := range next[from] {
			w["lm_head.weight"][to*f.width+slot] = z
		}
	}
	return f.model(tb, w)
}

// chain returns a bigram model that is certain of every next token: each of ids is followed by the
// next one, and the last by the end of the text.
func chain(tb testing.TB, extra []string, ids ...int) *Model {
	tb.Helper()
	next := map[int]map[int]float32{}
	for i, id := range ids {
		to := endID
		if i+1 < len(ids) {
			to = ids[i+1]
		}
		if next[id] != nil {
			tb.Fatalf("token %d is in the chain twice", id)
		}
		next[id] = map[int]float32{to: 10}
	}
	return bigram(tb, extra, next)
}
