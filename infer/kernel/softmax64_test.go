package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// plainExpSum implements the definition, with the standard library's e^x.
func plainExpSum(z []float32, max, t float64) (e []float64, sum float64) {
	for _, v := range z {
		e = append(e, math.Exp((float64(v)-max)/t))
		sum += e[len(e)-1]
	}
	return e, sum
}

func sameBits64(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

// TestExpSumMatchesMathExp: on every path, e^x equals math.Exp's, bit for bit, and the sum is added
// from first to last. The test covers every number of values in the last register, and scores from
// close together to so far apart that e^x loses bits and finally underflows.
func TestExpSumMatchesMathExp(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(11, 3))
		for _, spread := range []float64{0, 1e-30, 0.1, 3, 50, 400, 720, 1e6, 1e38} {
			for _, temperature := range []float64{1, 0.7, 2, 0.01, 100, 5e-324} {
				for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 63, 1000} {
					z := make([]float32, n)
					for i := range z {
						z[i] = float32(min(max(r.NormFloat64()*spread, -math.MaxFloat32), math.MaxFloat32))
					}
					top := float64(Max(z))
					if want := float64(slices.Max(z)); top != want {
						t.Fatalf("the largest of %d scores is %v, want %v", n, top, want)
					}
					want, wantSum := plainExpSum(z, top, temperature)
					got := make([]float64, n)
					if sum := ExpSum(got, z, top, temperature); !sameBits64(got, want) ||
						math.Float64bits(sum) != math.Float64bits(wantSum) {
						t.Fatalf("%d scores with spread %v at T = %v: differs from math.Exp", n, spread, temperature)
					}
					for i := range want {
						want[i] /= wantSum
					}
					if DivideBy(got, wantSum); !sameBits64(got, want) {
						t.Fatalf("%d scores with spread %v at T = %v: wrong quotients", n, spread, temperature)
					}
				}
			}
		}
	})
}

// TestExpSumNearUnderflow: e^x equals math.Exp's for a million arguments from 0 down to the point
// at which e^x underflows, including arguments for which the last bits of e^x are rounded.
func TestExpSumNearUnderflow(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		const n = 1 << 20
		z, got := make([]float32, n), make([]float64, n)
		for i := range z {
			z[i] = -760 * float32(i) / n
		}
		want, wantSum := plainExpSum(z, 0, 1)
		if sum := ExpSum(got, z, 0, 1); sum != wantSum || !sameBits64(got, want) {
			for i := range want {
				if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
					t.Fatalf("e^%v is %v, want %v as from math.Exp", z[i], got[i], want[i])
				}
			}
			t.Fatalf("the sum is %v, want %v", sum, wantSum)
		}
	})
}

// TestMaxOfSignedZeros: if the largest scores are zeros of both signs, Max returns +0.
func TestMaxOfSignedZeros(t *testing.T) {
	minus := float32(math.Copysign(0, -1))
	onEveryPath(t, func(t *testing.T) {
		for _, z := range [][]float32{{minus, 0}, {0, minus}, slices.Repeat([]float32{minus, 0, minus}, 9)} {
			if got := Max(z); math.Signbit(float64(got)) || got != 0 {
				t.Errorf("the largest of %v is %v, want 0", z, got)
			}
		}
	})
}

// TestBetweenOnEveryPath: every path finds the same indices as a plain loop over the scores,
// including scores at the bounds.
func TestBetweenOnEveryPath(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 11))
		for n := range 100 {
			z := make([]float32, n)
			for i := range z {
				z[i] = float32(r.IntN(9))
			}
			for _, limits := range [][2]float32{
				{2, 5},
				{0, 9},
				{4, 4},
				{9, 20},
				{float32(math.Inf(-1)), float32(math.Inf(1))},
				{3, float32(math.Inf(1))},
			} {
				var want []int32
				for i, v := range z {
					if v >= limits[0] && v < limits[1] {
						want = append(want, int32(i))
					}
				}
				dst := make([]int32, n)
				if got := dst[:Between(dst, z, limits[0], limits[1])]; !slices.Equal(got, want) {
					t.Fatalf("%v from %v to %v: %v, want %v", z, limits[0], limits[1], got, want)
				}
			}
		}
	})
}

// BenchmarkExpSum computes the softmax of a vocabulary.
func BenchmarkExpSum(b *testing.B) {
	r := rand.New(rand.NewPCG(2, 2))
	z, dst := random(r, 4096), make([]float64, 4096)
	for _, p := range Paths() {
		b.Run(p.String(), func(b *testing.B) {
			on(b, p, func() {
				for b.Loop() {
					DivideBy(dst, ExpSum(dst, z, float64(Max(z)), 0.7))
				}
			})
		})
	}
}
