package infer

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/fixture"
)

// TestQuantizedFormatsAgree: models in ggml's quantized formats, in files like llama.cpp's, give
// the logits that an independent pass computes from the numbers that ggml itself dequantizes.
// Rounded to int8, they give nearly the same logits.
func TestQuantizedFormatsAgree(t *testing.T) {
	var all map[string]expected
	fixture.ReadZipped(t, filepath.Join(modelsFolder, "kquants.json.gz"), &all)
	if len(all) != 3 {
		t.Fatalf("%d models, want 3", len(all))
	}
	for name, want := range all {
		m := openModel(t, name)
		if got := worstLogit(t, m, want); !(got <= 2e-3) {
			t.Errorf("%s: got largest difference %v, want at most 2e-3", name, got)
		} else {
			t.Logf("%s: largest difference %.2g", name, got)
		}
		c, err := checkpoint.OpenPath(filepath.Join(modelsFolder, name))
		if err != nil {
			t.Fatal(err)
		}
		rounded, err := LoadQuantized(c, QuantInt8)
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		for i, w := range rounded.BlockMatrices() {
			// Without padding, 34 bytes instead of 38 in levels, and less than half of float32's.
			own, most := m.BlockMatrices()[i], m.BlockMatrices()[i].Bytes()/2
			if own.RoundsVectors() {
				most = own.Bytes()
			}
			if w.Bytes() >= most {
				t.Errorf(
					"%s: matrix %d takes %d bytes as int8 and %d in its own format; want less than %d", name, i,
					w.Bytes(), own.Bytes(), most,
				)
			}
		}
		// Rounding changes a weight by at most 1/254 of the largest of the 64 weights in its block.
		// After one block of the model, this changes the logits by a few hundredths of their
		// standard deviation.
		if got := worstLogit(t, rounded, want); !(got <= 0.15) || got == 0 {
			t.Errorf("%s, rounded to int8: got largest difference %v, want more than 0 and at most 0.15", name, got)
		}
	}
}

// TestLevelsAreNotWidened: all matrices of a file in Q8_0 keep their levels, including the tables, which
// -quant int8 does not round either. One such matrix is enough for a model to round vectors.
func TestLevelsAreNotWidened(t *testing.T) {
	c, err := checkpoint.OpenPath(filepath.Join(modelsFolder, "llama-q8_0.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, quant := range []Quant{QuantNone, QuantInt8} {
		m, err := LoadQuantized(c, quant)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range append(m.BlockMatrices(), m.embed, m.output) {
			if !w.RoundsVectors() {
				t.Errorf("%s: matrix %d is widened, want levels or int8", quant, i)
			}
		}
		wide := openModel(t, "llama-f16.gguf")
		if wide.roundsVectors() {
			t.Error("a model in F16 rounds vectors")
		}
		wide.output = m.output
		if !wide.roundsVectors() {
			t.Errorf("%s: a model with an output matrix in levels does not round vectors", quant)
		}
	}
}

// worstLogit reads the ids one by one and returns the largest difference from the expected logits.
// If the model is not rounded further, the largest logit must also belong to the same token at
// every position.
func worstLogit(t *testing.T, m *Model, want expected) (worst float64) {
	t.Helper()
	c := m.NewCache()
	for i, id := range want.IDs {
		z := logitsAfter(t, m, c, id)
		if got := argmax(z); got != want.Argmax[i] && m.Quant() == QuantNone {
			t.Errorf("%s, position %d: the largest logit is token %d's, want %d", m.Name(), i, got, want.Argmax[i])
		}
		worst = max(worst, math.Abs(logSumExp(z)-want.LogSumExp[i]))
		if i == len(want.IDs)-1 {
			for id, v := range z {
				worst = max(worst, math.Abs(float64(v)-want.Last[id]))
			}
		}
	}
	return worst
}
