package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestVectorsByHand(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		if got := Dot([]float32{1, 2, 3}, []float32{4, -5, 6}); got != 12 {
			t.Errorf("Dot gives %v, want 12", got)
		}
		dst := []float32{1, 2}
		if AddScaled(dst, -2, []float32{3, 4}); !slices.Equal(dst, []float32{-5, -6}) {
			t.Errorf("AddScaled gives %v, want -5 -6", dst)
		}
		// The keys are (1, 2) and (3, 4), with a 9 between them. The scores are ½·q·key for q = (2,
		// −1).
		scores := make([]float32, 2)
		if Scores(scores, []float32{2, -1}, []float32{1, 2, 9, 3, 4}, 3, 0.5); !slices.Equal(scores, []float32{0, 1}) {
			t.Errorf("Scores gives %v, want 0 1", scores)
		}
		// 10·(1, 2) + 100·(3, 4).
		if Mix(dst, []float32{10, 100}, []float32{1, 2, 9, 3, 4}, 3); !slices.Equal(dst, []float32{310, 420}) {
			t.Errorf("Mix gives %v, want 310 420", dst)
		}
		// e^0 : e^ln 3 = 1 : 3.
		w := []float32{5, 5 + float32(math.Log(3))}
		if Softmax(w); !near(w, 1e-6, 0.25, 0.75) {
			t.Errorf("Softmax gives %v, want 0.25 0.75", w)
		}
		// The result is the same far beyond the point where e^x overflows, since the largest value,
		// about 1,000, is subtracted first.
		w = []float32{1000, 1000 + float32(math.Log(3))}
		if Softmax(w); !near(w, 1e-5, 0.25, 0.75) {
			t.Errorf("Softmax of large scores gives %v, want 0.25 0.75", w)
		}
		// silu(0) = 0; silu(ln 3) = ln 3 / (1 + 1/3) = ¾ ln 3.
		gate := []float32{0, float32(math.Log(3))}
		if SwiGLU(gate, []float32{7, 4}); gate[0] != 0 || !near(gate, 1e-6, 0, 3*math.Log(3)) {
			t.Errorf("SwiGLU gives %v, want 0 and 3 ln 3", gate)
		}
	})
}

// near reports whether every number is within a tolerance of the expected one. NaN is never near a
// number.
func near(got []float32, tolerance float64, want ...float64) bool {
	for i, w := range want {
		if !(math.Abs(float64(got[i])-w) <= tolerance) {
			return false
		}
	}
	return len(got) == len(want)
}

func TestEmptyVectors(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		if Dot(nil, nil) != 0 {
			t.Error("Dot of empty vectors is not 0")
		}
		AddScaled(nil, 1, nil)
		Softmax(nil)
		SwiGLU(nil, nil)
		Scores(nil, []float32{1}, nil, 1, 1)
		dst := []float32{3}
		if Mix(dst, nil, nil, 1); dst[0] != 0 {
			t.Error("Mix of no values is not 0")
		}
	})
}

// TestScoresDoNotDependOnBatchSize: a score does not depend on the number of scores, although four
// are computed at a time, and it equals a single dot product.
func TestScoresDoNotDependOnBatchSize(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	onEveryPath(t, func(t *testing.T) {
		for size := 1; size <= 70; size++ {
			const n = 11
			stride := size + r.IntN(5)
			q, keys := random(r, size), random(r, n*stride)
			want := make([]float32, n)
			for j := range want {
				want[j] = Dot(q, keys[j*stride:j*stride+size])
			}
			for k := 1; k <= n; k++ {
				got := make([]float32, k)
				if Scores(got, q, keys[:(k-1)*stride+size], stride, 1); !sameBits(got, want[:k]) {
					t.Fatalf("size %d: %d scores differ from single keys' scores", size, k)
				}
			}
		}
	})
}

// TestVectorsAcrossPaths: on every path, every vector function agrees with the portable one, for
// all lengths up to 130.
func TestVectorsAcrossPaths(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 3))
	for n := 1; n <= 130; n++ {
		a, b := random(r, n), random(r, n)
		comparePaths(t, fmt.Sprintf("Dot of %d", n), 1e-4, func() []float32 { return []float32{Dot(a, b)} })
		comparePaths(t, fmt.Sprintf("AddScaled of %d", n), 1e-5, func() []float32 {
			d := slices.Clone(a)
			AddScaled(d, 0.3, b)
			return d
		})
		comparePaths(t, fmt.Sprintf("Softmax of %d", n), 1e-6, func() []float32 {
			d := slices.Clone(a)
			Softmax(d)
			return d
		})
		comparePaths(t, fmt.Sprintf("SwiGLU of %d", n), 1e-5, func() []float32 {
			d := slices.Clone(a)
			SwiGLU(d, b)
			return d
		})
		count := 1 + r.IntN(20)
		values, weights := random(r, count*(n+3)), random(r, count)
		comparePaths(t, fmt.Sprintf("Scores of size %d", n), 1e-4, func() []float32 {
			d := make([]float32, count)
			Scores(d, a, values, n+3, 0.25)
			return d
		})
		comparePaths(t, fmt.Sprintf("Mix of size %d", n), 1e-4, func() []float32 {
			d := make([]float32, n)
			Mix(d, weights, values, n+3)
			return d
		})
	}
}

// TestVectorsWriteOnlyTheirResults: the vector functions write their results and do not change the
// values that follow in memory.
func TestVectorsWriteOnlyTheirResults(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(12, 3))
		for n := 1; n <= 70; n++ {
			room := make([]float32, n+16)
			x, values := random(r, n), random(r, 3*n)
			for name, f := range map[string]func(d []float32){
				"AddScaled": func(d []float32) { AddScaled(d, 1, x) },
				"Softmax":   Softmax,
				"SwiGLU":    func(d []float32) { SwiGLU(d, x) },
				"Scores":    func(d []float32) { Scores(d, x[:1], values, 1, 1) },
				"Mix":       func(d []float32) { Mix(d, x[:1], values, n) },
			} {
				for i := range room {
					room[i] = 1234
				}
				f(room[:n:n])
				for i, v := range room[n:] {
					if v != 1234 {
						t.Fatalf(
							"%s of %d values wrote %v at index %d after them, want no change there", name, n, v, i,
						)
					}
				}
			}
		}
	})
}

// TestExponentialOnEveryPath: on the vector paths, e^x has a relative error of at most 3e-7 over
// the whole range, and very small values become 0.
func TestExponentialOnEveryPath(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		worst := 0.
		for i := 0; i <= 87_000; i += 7 {
			x := float32(-i) / 1000
			w := []float32{0, x} // e^0 : e^x, so w[1]/w[0] is e^x
			Softmax(w)
			want := math.Exp(float64(x))
			worst = max(worst, math.Abs(float64(w[1])/float64(w[0])-want)/want)
		}
		if !(worst <= 3e-7) {
			t.Errorf("e^x has a relative error of %.2g, want at most 3e-7", worst)
		}
		w := []float32{0, -200, float32(math.Inf(-1))}
		if Softmax(w); w[0] != 1 || w[1] > 2e-38 || w[2] > 2e-38 {
			t.Errorf("softmax of 0, −200 and −∞ is %v, want [0] = 1, [1] at most 2e-38, [2] at most 2e-38", w)
		}
	})
}

// TestSwiGLUFarFromZero: far from 0, silu(x) is x for positive x and 0 for
// negative x.
func TestSwiGLUFarFromZero(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		gate := []float32{100, -100, 1e30, -1e4, 0}
		SwiGLU(gate, []float32{1, 1, 1, 1, 1})
		for i, want := range []float64{100, 0, 1e30, 0, 0} {
			if !(math.Abs(float64(gate[i])-want) <= 1e-6*want+1e-30) {
				t.Errorf("silu number %d is %v, want %v", i, gate[i], want)
			}
		}
	})
}

func TestFiniteFindsNaNAndInf(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		if !Finite(nil) || !Finite([]float32{0, -math.MaxFloat32, math.MaxFloat32, 1e-45}) {
			t.Error("Finite returned false for finite values")
		}
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			for at := range 19 {
				x := make([]float32, 19)
				if x[at] = float32(bad); Finite(x) {
					t.Errorf("Finite returned true with %v at %d", bad, at)
				}
			}
		}
	})
}
