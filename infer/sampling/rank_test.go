package sampling

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRadixRankEqualsSort: sorting by digits gives the same order as sorting by the definition:
// higher scores first, equal scores by the lower id, with −0 equal to +0. The generated scores
// include many equal ones, both signs, and values close together or far apart.
func TestRadixRankEqualsSort(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	kinds := map[string]func() float32{
		"normal":    func() float32 { return float32(random.NormFloat64() * 4) },
		"few":       func() float32 { return float32(random.IntN(7)-3) / 2 },
		"equal":     func() float32 { return -1.5 },
		"zeros":     func() float32 { return float32(math.Copysign(0, float64(random.IntN(2))-0.5)) },
		"neighbour": func() float32 { return math.Float32frombits(0x41000000 + random.Uint32N(5)) },
		"any bits": func() float32 {
			for {
				if f := math.Float32frombits(random.Uint32()); f-f == 0 { // finite
					return f
				}
			}
		},
	}
	for name, draw := range kinds {
		for _, n := range []int{
			1, 2, 3, 100, radixFrom - 1, radixFrom, radixFrom + 1, longFrom - 1, longFrom, 20_000, 151_936,
		} {
			z := make([]float32, n)
			for i := range z {
				z[i] = draw()
			}
			want := make([]int32, n)
			for i := range want {
				want[i] = int32(i)
			}
			slices.SortFunc(want, func(a, b int32) int { return cmp.Or(cmp.Compare(z[b], z[a]), cmp.Compare(a, b)) })
			for what, got := range map[string][]int32{
				"digits": rankByDigits(z), "comparing": rankByComparing(z), "Rank": Rank(z),
			} {
				if !slices.Equal(got, want) {
					t.Fatalf("%s, %d scores, %s: not in the order of the definition", name, n, what)
				}
			}
		}
	}
}

// TestEntropyFromLogits: the entropy computed from logits equals the entropy of the
// probabilities.
func TestEntropyFromLogits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, scale := range []float64{0, 0.1, 3, 40} {
		for _, temperature := range []float64{0, 0.5, 1, 3} {
			z := make([]float32, 5000)
			for i := range z {
				z[i] = float32(random.NormFloat64() * scale)
			}
			p, max, sum := Softmax(z, temperature)
			got, want := SoftmaxEntropy(z, temperature, p, max, sum), Entropy(p)
			if !(math.Abs(got-want) <= 1e-12*(1+want)) {
				t.Errorf("scale %v, T = %v: %v bits, want %v", scale, temperature, got, want)
			}
		}
	}
	// Four equal tokens: log2 4 = 2 bits.
	z := []float32{7, 7, 7, 7}
	p, max, sum := Softmax(z, 1)
	if got := SoftmaxEntropy(z, 1, p, max, sum); !(math.Abs(got-2) <= 1e-15) {
		t.Errorf("four equal tokens have %v bits, want 2", got)
	}
}

// BenchmarkDecide measures the parts of stages 3 and 4.
func BenchmarkDecide(b *testing.B) {
	for _, n := range []int{4096, 151_936} {
		z := make([]float32, n)
		random := rand.New(rand.NewPCG(1, 1))
		for i := range z {
			z[i] = float32(random.NormFloat64() * 3)
		}
		p, max, sum := Softmax(z, 0.8)
		order := Rank(z)
		parts := []struct {
			name string
			do   func()
		}{
			{"softmax", func() { Softmax(z, 0.8) }},
			{"rank", func() { Rank(z) }},
			{"rank by comparing", func() { rankByComparing(z) }},
			{"filter", func() { Context{}.Filter(Scores{z, 1}, p, max, sum, order, Pure) }},
			{"entropy", func() { SoftmaxEntropy(z, 0.8, p, max, sum) }},
			{"entropy of p", func() { Entropy(p) }},
		}
		for _, part := range parts {
			b.Run(part.name+" "+map[bool]string{true: "4096", false: "151936"}[n == 4096], func(b *testing.B) {
				for b.Loop() {
					part.do()
				}
			})
		}
	}
}
