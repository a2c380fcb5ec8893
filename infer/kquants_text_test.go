package infer

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/checkpoint/smallmodel"
	"github.com/tokenbytoken/viz/infer/fixture"
)

// TestQuantizedTextsDifferOnlyByRounding: llama.cpp multiplies quantized weights by activations rounded
// to 8 bits, and this program by exact ones or ones rounded to 16 bits, so their greedy texts diverge
// where two tokens are nearly tied. A plain pass that rounds as llama.cpp does generates exactly llama.cpp's text.
// Wherever the engine prefers a different token, that token's lead is smaller than the effect of
// rounding on the two scores.
func TestQuantizedTextsDifferOnlyByRounding(t *testing.T) {
	fixture.Long(t)
	data, err := os.ReadFile(filepath.Join(modelsFolder, "kquants-greedy.json"))
	if err != nil {
		t.Fatal(err)
	}
	var texts map[string]struct{ Prompt, Next []int }
	if err := json.Unmarshal(data, &texts); err != nil {
		t.Fatal(err)
	}
	if len(texts) != 3 {
		t.Fatalf("%d texts, want 3", len(texts))
	}
	for name, text := range texts {
		f, w, types := quantizedWeights(t, name)
		pass := plain{theta: 10_000, eps: 1e-5}
		asTheirs := pass
		asTheirs.rounded = func(tensor string, x []float64) []float64 {
			return roundedActivations(types[inGGUF(tensor)], x)
		}
		m := openModel(t, name)
		c, read := m.NewCache(), 0
		ids, parted, closest := text.Prompt, 0, 0.0
		for i, want := range text.Next {
			z := logitsAfter(t, m, c, ids[read:]...)
			read = len(ids)
			exact, theirs := float64Logits(f, w, ids, pass), float64Logits(f, w, ids, asTheirs)
			if got := largest(theirs); got != want {
				t.Errorf("%s, token %d: rounding gives %d, want %d as from llama.cpp", name, i, got, want)
			}
			if ours := argmax(z); ours != want {
				parted++
				lead := float64(z[ours] - z[want])
				moved := math.Abs(theirs[ours]-exact[ours]) + math.Abs(theirs[want]-exact[want])
				if !(lead <= moved) {
					t.Errorf(
						"%s, token %d: %d leads %d by %v, want at most the effect of rounding, %v", name, i, ours, want,
						lead, moved,
					)
				}
				closest = max(closest, lead)
			}
			ids = append(slices.Clip(ids), want)
		}
		t.Logf("%s: of %d tokens, %d differ, by a lead of at most %.4f", name, len(text.Next), parted, closest)
	}
}

// quantizedWeights returns a quantized model's shape, its widened weights, and the format in which
// the file stores each of them.
func quantizedWeights(t *testing.T, name string) (f folder, w smallmodel.Weights, types map[string]string) {
	t.Helper()
	c, err := checkpoint.OpenPath(filepath.Join(modelsFolder, name))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s := c.Config
	f = folder{smallmodel.Folder{
		Width: s.Width, Layers: s.Layers, Heads: s.Heads, KVHeads: s.KVHeads, HeadDim: s.HeadDim, FFN: s.FFN,
		Context: s.Context, Tied: s.TieEmbeddings, Extra: make([]string, s.Vocab-firstExtra),
	}}
	w, types = smallmodel.Weights{}, map[string]string{}
	for tensor, shape := range f.Shapes() {
		if w[tensor], err = c.Float32(tensor, shape...); err != nil {
			t.Fatal(err)
		}
	}
	for _, tensor := range c.Describe().Tensors {
		types[tensor.Name] = tensor.Type
	}
	for tensor := range w {
		if types[inGGUF(tensor)] == "" && !strings.Contains(tensor, "norm") {
			t.Fatalf("%s: no format for %s", name, tensor)
		}
	}
	return f, w, types
}

// inGGUF returns the name that a tensor has in the GGUF file of a model with one block.
func inGGUF(tensor string) string {
	return strings.NewReplacer(
		"model.layers.0.self_attn.", "blk.0.attn_", "model.layers.0.mlp.", "blk.0.ffn_", "o_proj", "output",
		"model.embed_tokens", "token_embd", "_proj", "",
	).Replace(tensor)
}

// roundedActivations returns x rounded as ggml rounds it before multiplying it by rows of a format:
// in blocks, each with one scale and 8-bit integers. K-quants have blocks of 256 and a float32
// scale that makes the value of the largest magnitude -127; the others have blocks of 32 and a
// float16 scale that makes it 127 or -127.
func roundedActivations(format string, x []float64) []float64 {
	out := make([]float64, 0, len(x))
	size := 32
	if strings.HasSuffix(format, "_K") {
		size = 256
	}
	for block := range slices.Chunk(x, size) {
		most := 0.0
		for _, v := range block {
			if math.Abs(v) > math.Abs(most) {
				most = v
			}
		}
		per := 127 / math.Abs(most) // integers per unit
		scale := toFloat16(1 / per)
		if size == 256 {
			per = -127 / most
			scale = 1 / per
		}
		for _, v := range block {
			out = append(out, math.RoundToEven(per*v)*scale)
		}
	}
	return out
}

// toFloat16 rounds a number in float16's normal range to its 11 bits.
func toFloat16(x float64) float64 {
	fraction, exponent := math.Frexp(x)
	return math.Ldexp(math.RoundToEven(math.Ldexp(fraction, 11)), exponent-11)
}

func largest(z []float64) int {
	return slices.Index(z, slices.Max(z))
}
