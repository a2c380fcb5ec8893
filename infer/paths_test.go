package infer

import (
	"context"
	"math"
	"testing"

	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/kernel"
)

// onPath runs a test on the given kernel path. No other test of this package may run at the same
// time.
func onPath(t *testing.T, p kernel.Path, test func(t *testing.T)) {
	t.Run(p.String(), func(t *testing.T) {
		before, err := kernel.Use(p)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if _, err := kernel.Use(before); err != nil {
				t.Error(err)
			}
		}()
		test(t)
	})
}

func int8Model(t *testing.T) *Model {
	t.Helper()
	c, err := bundled.Target()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	m, err := LoadQuantized(c, QuantInt8)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// chunkedLogits reads ids n at a time, as many as fit in the context, and returns the logits of
// every position.
func chunkedLogits(t *testing.T, m *Model, ids []int, n int) []float32 {
	t.Helper()
	d, v := m.config.Width, m.config.Vocab
	c := m.NewCache()
	var all []float32
	for from := 0; from < len(ids); from += n {
		part := ids[from:min(from+n, len(ids))]
		out, z := make([]float32, len(part)*d), make([]float32, len(part)*v)
		if _, err := m.ForwardTo(context.Background(), c, part, out); err != nil {
			t.Fatal(err)
		}
		if _, err := m.LogitsTo(context.Background(), out, z); err != nil {
			t.Fatal(err)
		}
		all = append(all, z...)
	}
	return all
}

// TestEveryPathIsBitIdentical: on every path, reading 1, 2, 4, 8, 16 or all tokens at a time gives
// the same bits, both with the model's own weights and in int8. Reading single tokens uses the
// cache and reading all tokens together does not, so this also compares cached with uncached
// results.
func TestEveryPathIsBitIdentical(t *testing.T) {
	models := map[string]*Model{"own weights": bundledModel(t), "int8": int8Model(t), "small": smallModel(t)}
	for _, p := range kernel.Paths() {
		onPath(t, p, func(t *testing.T) {
			for name, m := range models {
				ids := m.Encode("The old miller had three sons, and one of them could not count to 20.")
				ids = ids[:min(len(ids), 24)]
				alone := chunkedLogits(t, m, ids, 1)
				for _, n := range []int{2, 4, 8, 16, len(ids)} {
					if !sameBits(chunkedLogits(t, m, ids, n), alone) {
						t.Errorf("%s: reading %d tokens at a time gives different logits", name, n)
					}
				}
			}
		})
	}
}

// TestEveryPathAgreesWithPyTorch: on every path, the last logits of every prompt differ from
// PyTorch's by at most 1e-3, and the two vector paths agree bit for bit.
func TestEveryPathAgreesWithPyTorch(t *testing.T) {
	m, f := bundledModel(t), readPyTorch(t)
	last := map[kernel.Path][][]float32{}
	for _, p := range kernel.Paths() {
		onPath(t, p, func(t *testing.T) {
			worst := 0.
			for _, prompt := range f.Prompts {
				z := logitsAfter(t, m, m.NewCache(), prompt.IDs...)
				last[p] = append(last[p], z)
				for id, want := range prompt.LastLogits {
					worst = max(worst, math.Abs(float64(z[id])-float64(want)))
				}
				if got, want := argmax(z), prompt.Argmax[len(prompt.Argmax)-1]; got != want {
					t.Errorf("%s: got largest logit at token %d, want %d as in PyTorch", prompt.Name, got, want)
				}
			}
			if t.Logf("largest difference %.2g", worst); !(worst <= 1e-3) {
				t.Errorf("a logit is %.2g off PyTorch's, want at most 1e-3", worst)
			}
		})
	}
	if both, ok := last[kernel.AVX512]; ok {
		for i, z := range both {
			if !sameBits(z, last[kernel.AVX2][i]) {
				t.Errorf("%s: avx2 and avx512 give different logits", f.Prompts[i].Name)
			}
		}
	}
}

// TestEveryPathWritesTheSameText: every path generates the same greedy text, with the model's own
// weights and in int8.
func TestEveryPathWritesTheSameText(t *testing.T) {
	for name, m := range map[string]*Model{"own weights": bundledModel(t), "int8": int8Model(t)} {
		var first []int
		for _, p := range kernel.Paths() {
			onPath(t, p, func(t *testing.T) {
				c, ids := m.NewCache(), m.Encode("Once upon a time there was a little girl")
				z := logitsAfter(t, m, c, ids...)
				for range 60 {
					id := argmax(z)
					ids = append(ids, id)
					z = logitsAfter(t, m, c, id)
				}
				if first == nil {
					first = ids
				}
				for i, id := range ids {
					if id != first[i] {
						t.Fatalf("%s: token %d is %d, want %d as on the portable path", name, i, id, first[i])
					}
				}
			})
		}
	}
}

func TestQuantizedModelSizeAndHash(t *testing.T) {
	exact, rounded := bundledModel(t), int8Model(t)
	if exact.Quant() != QuantNone || rounded.Quant() != QuantInt8 {
		t.Errorf("the models report %s and %s; want %s, %s", exact.Quant(), rounded.Quant(), QuantNone, QuantInt8)
	}
	// The log of one model must not replay on the other.
	if exact.Hash() == rounded.Hash() || len(rounded.Hash()) != 64 {
		t.Errorf("hashes %s and %s; want anything but %s, 64 bytes", exact.Hash(), rounded.Hash(), rounded.Hash())
	}
	// The matrices have 4,915,200 weights of 2 bytes each (stored as bfloat16). In int8, each of
	// the blocks' 4,128,768 weights takes 1 byte, and every 64 of them share a header of 4 bytes.
	if got := exact.WeightBytes(); got != 4_915_200*2 {
		t.Errorf("own weights take %d bytes, want %d", got, 4_915_200*2)
	}
	if got, want := rounded.WeightBytes(), int64(786_432*2+4_128_768*17/16); got != want {
		t.Errorf("int8 takes %d bytes, want %d", got, want)
	}
	for text, want := range map[string]bool{"none": true, "int8": true, "": false, "int4": false} {
		if _, err := ParseQuant(text); (err == nil) != want {
			t.Errorf("ParseQuant(%q): got error %v; want it accepted: %t", text, err, want)
		}
	}
}
