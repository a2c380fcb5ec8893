package infer

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer/checkpoint/smallmodel"
	"github.com/tokenbytoken/viz/infer/fixture"
)

// pyTorch is the output of an independent PyTorch implementation. Its fields are described in
// testdata/reference/README.md.
type pyTorch struct {
	ModelHash string `json:"model_hash"`
	Vocab     int    `json:"vocab"`
	SampleIDs []int  `json:"sample_ids"`
	Prompts   []struct {
		Name       string      `json:"name"`
		Text       string      `json:"text"`
		IDs        []int       `json:"ids"`
		Argmax     []int       `json:"argmax"`
		LogSumExp  []float64   `json:"logsumexp"`
		Sampled    [][]float32 `json:"sampled"`
		TopIDs     [][]int     `json:"top_ids"`
		TopLogits  [][]float32 `json:"top_logits"`
		LastLogits []float32   `json:"last_logits"`
	} `json:"prompts"`
}

func readPyTorch(t *testing.T) pyTorch {
	t.Helper()
	var f pyTorch
	fixture.ReadZipped(t, "../testdata/reference/target.json.gz", &f)
	return f
}

// logSumExp returns log Σ e^z.
func logSumExp(z []float32) float64 {
	max := float64(slices.Max(z))
	var sum float64
	for _, v := range z {
		sum += math.Exp(float64(v) - max)
	}
	return max + math.Log(sum)
}

func argmax(z []float32) int {
	best := 0
	for id, v := range z {
		if v > z[best] {
			best = id
		}
	}
	return best
}

// TestAgreesWithPyTorch: at every position of every prompt, the engine agrees with PyTorch: the
// tokens are the same, the logits differ by at most 2e-3, and the largest logit belongs to the same
// token.
func TestAgreesWithPyTorch(t *testing.T) {
	const tolerance = 2e-3
	m, f := bundledModel(t), readPyTorch(t)
	if f.ModelHash != m.Hash() || f.Vocab != m.Config().Vocab || len(f.Prompts) < 5 {
		t.Fatalf(
			"the fixture is for model %s (%d tokens, %d prompts), not for %s", f.ModelHash, f.Vocab, len(f.Prompts),
			m.Hash(),
		)
	}
	var worst float64
	compare := func(t *testing.T, what string, position int, got, want float32) {
		t.Helper()
		diff := math.Abs(float64(got) - float64(want))
		worst = max(worst, diff)
		if !(diff <= tolerance) {
			t.Errorf("position %d: %s is %v, want %v as in PyTorch", position, what, got, want)
		}
	}
	positions := 0
	for _, p := range f.Prompts {
		t.Run(p.Name, func(t *testing.T) {
			if got := m.Encode(p.Text); !slices.Equal(got, p.IDs) {
				t.Fatalf("Encode gives %v, want %v", got, p.IDs)
			}
			c := m.NewCache()
			for i, id := range p.IDs {
				z := logitsAfter(t, m, c, id)
				if got := argmax(z); got != p.Argmax[i] {
					t.Errorf("position %d: got largest logit at token %d, want %d as in PyTorch", i, got, p.Argmax[i])
				}
				compare(t, "logsumexp", i, float32(logSumExp(z)), float32(p.LogSumExp[i]))
				for j, id := range f.SampleIDs {
					compare(t, "a sampled logit", i, z[id], p.Sampled[i][j])
				}
				for j, id := range p.TopIDs[i] {
					compare(t, "a top logit", i, z[id], p.TopLogits[i][j])
				}
				if i == len(p.IDs)-1 {
					for id, want := range p.LastLogits {
						compare(t, "a last logit", i, z[id], want)
					}
				}
				positions++
			}
		})
	}
	t.Logf("%d positions, largest difference %.2g", positions, worst)
}

// logitsAfter reads tokens after those in a cache and returns the logits.
func logitsAfter(t testing.TB, m *Model, c *Cache, tokens ...int) []float32 {
	t.Helper()
	last, _, err := m.Forward(context.Background(), c, tokens)
	if err != nil {
		t.Fatal(err)
	}
	z, _, err := m.Logits(last)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// plain holds the options of float64Logits.
type plain struct {
	theta, eps float64
	rounded    func(tensor string, x []float64) []float64 // replaces x, a vector that a matrix is multiplied by
}

// float64Logits is the forward pass written as simply as possible: in float64 throughout, one
// position after another, without a cache or shared code. It returns the logits after the last
// token.
func float64Logits(f folder, w smallmodel.Weights, ids []int, p plain) []float64 {
	at := func(name string, row, col, cols int) float64 { return float64(w[name+".weight"][row*cols+col]) }
	product := func(name string, x []float64, rows int) []float64 {
		if p.rounded != nil {
			x = p.rounded(name+".weight", x)
		}
		out, matrix := make([]float64, rows), w[name+".weight"]
		for r := range out {
			for c, v := range x {
				out[r] += float64(matrix[r*len(x)+c]) * v
			}
		}
		return out
	}
	norm := func(name string, x []float64) []float64 {
		var squares float64
		for _, v := range x {
			squares += v * v
		}
		out := make([]float64, len(x))
		for i, v := range x {
			out[i] = v / math.Sqrt(squares/float64(len(x))+p.eps) * at(name, 0, i, 0)
		}
		return out
	}
	turned := func(x []float64, position int) []float64 {
		out, half := slices.Clone(x), f.HeadDim/2
		for h := 0; h < len(x); h += f.HeadDim {
			for i := range half {
				angle := float64(position) * math.Pow(p.theta, -float64(2*i)/float64(f.HeadDim))
				s, c := math.Sincos(angle)
				out[h+i] = x[h+i]*c - x[h+half+i]*s
				out[h+half+i] = x[h+half+i]*c + x[h+i]*s
			}
		}
		return out
	}

	xs := make([][]float64, len(ids)) // [positions][width]
	for i, id := range ids {
		for j := range f.Width {
			xs[i] = append(xs[i], at("model.embed_tokens", id, j, f.Width))
		}
	}
	for l := range f.Layers {
		name := "model.layers." + string(rune('0'+l)) + "."
		var keys, values [][]float64 // [positions][kvHeads·headDim]
		for i := range xs {
			h := norm(name+"input_layernorm", xs[i])
			keys = append(keys, turned(product(name+"self_attn.k_proj", h, f.KVHeads*f.HeadDim), i))
			values = append(values, product(name+"self_attn.v_proj", h, f.KVHeads*f.HeadDim))
			q := turned(product(name+"self_attn.q_proj", h, f.Heads*f.HeadDim), i)
			mixed := make([]float64, len(q))
			for head := range f.Heads {
				kv := head * f.KVHeads / f.Heads * f.HeadDim // where this head's group begins
				var scores []float64
				var sum float64
				for j := range i + 1 {
					var dot float64
					for d := range f.HeadDim {
						dot += q[head*f.HeadDim+d] * keys[j][kv+d]
					}
					scores = append(scores, math.Exp(dot/math.Sqrt(float64(f.HeadDim))))
					sum += scores[j]
				}
				for j, score := range scores {
					for d := range f.HeadDim {
						mixed[head*f.HeadDim+d] += score / sum * values[j][kv+d]
					}
				}
			}
			for j, v := range product(name+"self_attn.o_proj", mixed, f.Width) {
				xs[i][j] += v
			}
			h = norm(name+"post_attention_layernorm", xs[i])
			gate, up := product(name+"mlp.gate_proj", h, f.FFN), product(name+"mlp.up_proj", h, f.FFN)
			for j, g := range gate {
				up[j] *= g / (1 + math.Exp(-g))
			}
			for j, v := range product(name+"mlp.down_proj", up, f.Width) {
				xs[i][j] += v
			}
		}
	}
	output := "lm_head"
	if f.Tied {
		output = "model.embed_tokens"
	}
	return product(output, norm("model.norm", xs[len(xs)-1]), f.Vocab())
}

// TestAgreesWithPlainFloat64: models of all shapes agree with float64Logits: with and without tied
// embeddings; with one key/value head, several, or as many as there are query heads; with heads
// that together are wider or narrower than the model.
func TestAgreesWithPlainFloat64(t *testing.T) {
	for name, shape := range map[string]smallmodel.Folder{
		"grouped, untied": {Width: 16, Layers: 2, Heads: 4, KVHeads: 2, HeadDim: 4, FFN: 24, Context: 64},
		"grouped, tied": {
			Width: 16, Layers: 2, Heads: 4, KVHeads: 2, HeadDim: 4, FFN: 24, Context: 64, Tied: true,
		},
		"one key/value head":  {Width: 12, Layers: 3, Heads: 3, KVHeads: 1, HeadDim: 4, FFN: 20, Context: 64},
		"all key/value heads": {Width: 12, Layers: 2, Heads: 3, KVHeads: 3, HeadDim: 6, FFN: 10, Context: 64},
		"narrow heads, 3 of 6": {
			Width: 20, Layers: 1, Heads: 6, KVHeads: 3, HeadDim: 2, FFN: 7, Context: 64, Tied: true,
		},
		"one wide head": {Width: 8, Layers: 2, Heads: 1, KVHeads: 1, HeadDim: 16, FFN: 8, Context: 64},
	} {
		t.Run(name, func(t *testing.T) {
			f := folder{shape}
			w := f.Random(3)
			m := f.model(t, w)
			ids := []int{72, 105, endID, 0, 255, 72, 72, 33, 150, 1}
			for i := range 45 { // more than one chunk
				ids = append(ids, 11*i%f.Vocab())
			}
			for _, n := range []int{1, 2, 9, len(ids)} {
				z := logitsAfter(t, m, m.NewCache(), ids[:n]...)
				want := float64Logits(f, w, ids[:n], plain{theta: 10_000, eps: 1e-30})
				for id := range want {
					if diff := math.Abs(float64(z[id]) - want[id]); !(diff <= 1e-4) {
						t.Fatalf("%d positions: token %d has logit %v, want %v", n, id, z[id], want[id])
					}
				}
			}
		})
	}
}
