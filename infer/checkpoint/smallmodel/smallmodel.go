// Package smallmodel makes small checkpoints for tests: with random weights, or with weights whose
// logits are known.
package smallmodel

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing/fstest"

	"github.com/tokenbytoken/viz/infer/checkpoint"
)

// A Folder describes a small model folder to write in memory.
type Folder struct {
	Width, Layers, Heads, KVHeads, HeadDim, FFN, Context int

	Tied, BOS bool
	Extra     []string // tokens besides the 256 bytes and the end of text
	Lacks     string   // bytes without a token
}

// Token ids in the vocabulary of every folder. Byte b is token b; the end of text and the extra
// tokens follow.
const (
	EndID      = 256
	FirstExtra = 257
)

// Vocab returns the number of tokens.
func (f Folder) Vocab() int { return FirstExtra + len(f.Extra) }

// Shapes returns the shapes of a Llama model's tensors, by name.
func (f Folder) Shapes() map[string][]int {
	q, kv := f.Heads*f.HeadDim, f.KVHeads*f.HeadDim
	s := map[string][]int{
		"model.embed_tokens.weight": {f.Vocab(), f.Width},
		"model.norm.weight":         {f.Width},
	}
	if !f.Tied {
		s["lm_head.weight"] = []int{f.Vocab(), f.Width}
	}
	for l := range f.Layers {
		at := fmt.Sprintf("model.layers.%d.", l)
		maps.Copy(s, map[string][]int{
			at + "input_layernorm.weight":          {f.Width},
			at + "post_attention_layernorm.weight": {f.Width},
			at + "self_attn.q_proj.weight":         {q, f.Width},
			at + "self_attn.k_proj.weight":         {kv, f.Width},
			at + "self_attn.v_proj.weight":         {kv, f.Width},
			at + "self_attn.o_proj.weight":         {f.Width, q},
			at + "mlp.gate_proj.weight":            {f.FFN, f.Width},
			at + "mlp.up_proj.weight":              {f.FFN, f.Width},
			at + "mlp.down_proj.weight":            {f.Width, f.FFN},
		})
	}
	return s
}

// Weights holds tensors by name, row-major.
type Weights map[string][]float32

// Zeros returns tensors of zeros.
func (f Folder) Zeros() Weights {
	w := Weights{}
	for name, shape := range f.Shapes() {
		n := 1
		for _, d := range shape {
			n *= d
		}
		w[name] = make([]float32, n)
	}
	return w
}

// Random returns random values for every tensor. Matrices have a standard deviation of 1/√columns,
// so vectors keep their length, and norms have values around 1.
func (f Folder) Random(seed uint64) Weights {
	rng := rand.New(rand.NewPCG(seed, 0))
	w, shapes := f.Zeros(), f.Shapes()
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

// Open writes the folder with these weights and opens it. The caller closes the checkpoint.
func (f Folder) Open(w Weights) (*checkpoint.Checkpoint, error) {
	files := fstest.MapFS{"model.safetensors": {Data: f.safetensors(w)}}
	for name, v := range map[string]any{
		"config.json": map[string]any{
			"model_type": "llama", "vocab_size": f.Vocab(), "hidden_size": f.Width, "intermediate_size": f.FFN,
			"num_hidden_layers": f.Layers, "num_attention_heads": f.Heads, "num_key_value_heads": f.KVHeads,
			"head_dim": f.HeadDim, "max_position_embeddings": f.Context, "rms_norm_eps": 1e-30,
			"tie_word_embeddings": f.Tied, "bos_token_id": EndID, "eos_token_id": EndID,
		},
		"tokenizer_config.json": map[string]any{"add_bos_token": f.BOS},
		"tokenizer.json":        f.tokenizer(),
	} {
		data, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	return checkpoint.Open(files, "small")
}

// tokenizer returns a byte-level vocabulary without merges.
func (f Folder) tokenizer() map[string]any {
	vocab := map[string]int{"<|end|>": EndID}
	for b := range 256 {
		vocab[spelled(string([]byte{byte(b)}))] = b
	}
	for i, text := range f.Extra {
		vocab[spelled(text)] = FirstExtra + i
	}
	for _, b := range []byte(f.Lacks) {
		delete(vocab, spelled(string([]byte{b})))
	}
	return map[string]any{
		"added_tokens":  []any{map[string]any{"id": EndID, "content": "<|end|>", "special": true}},
		"pre_tokenizer": map[string]any{"type": "ByteLevel"},
		"decoder":       map[string]any{"type": "ByteLevel"},
		"model":         map[string]any{"type": "BPE", "vocab": vocab, "merges": []any{}},
	}
}

// spelled converts bytes to GPT-2's alphabet: printable bytes map to themselves, and the others, in
// order, to the characters from U+0100 on.
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
func (f Folder) safetensors(w Weights) []byte {
	header := map[string]any{}
	var data bytes.Buffer
	shapes := f.Shapes()
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

// Small describes the random model that the loop's tests use.
var Small = Folder{
	Width: 16, Layers: 2, Heads: 4, KVHeads: 2, HeadDim: 4, FFN: 24, Context: 64, BOS: true,
	Extra: []string{"ab", "ba", "aa", "abc", "é", "😀", "\xe2\x82", "\xac!", "User", ": "},
}

// Bigram returns a model whose blocks do not change the stream, so the next token's logits depend
// only on the last token. These logits are exactly the values in next[last], and −1000 for all
// other tokens. At most 16 tokens may have a successor.
func Bigram(extra []string, next map[int]map[int]float32) (Folder, Weights) {
	f := Folder{Width: 16, Layers: 1, Heads: 1, KVHeads: 1, HeadDim: 2, FFN: 1, Context: 32, Extra: extra}
	if len(next) > f.Width {
		panic(fmt.Sprintf("smallmodel: %d tokens have a successor, more than %d", len(next), f.Width))
	}
	w := f.Zeros()
	// A one-hot embedding has a mean square of 1/16, so the norm makes it 4 times as long, and the
	// norm's weight of ¼ makes it one-hot again.
	for i := range w["model.norm.weight"] {
		w["model.norm.weight"][i] = 0.25
	}
	for i := range w["lm_head.weight"] {
		w["lm_head.weight"][i] = -1000
	}
	for slot, from := range slices.Sorted(maps.Keys(next)) {
		w["model.embed_tokens.weight"][from*f.Width+slot] = 1
		for to, z := range next[from] {
			w["lm_head.weight"][to*f.Width+slot] = z
		}
	}
	return f, w
}
