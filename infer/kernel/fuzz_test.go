package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// FuzzMul multiplies matrices of any small shape on every path: the vector paths must agree with
// each other bit for bit, and with the portable path within the rounding error (float32) or bit for
// bit (int8). The number of vectors must not affect the results.
func FuzzMul(f *testing.F) {
	for _, seed := range [][4]uint64{
		{1, 1, 1, 0}, {32, 64, 8, 1}, {33, 65, 9, 2}, {70, 130, 5, 3}, {64, 192, 1, 4}, {31, 3, 7, 5},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	f.Fuzz(func(t *testing.T, rows, cols, n, seed uint64) {
		compareMul(t, 1+int(rows%70), 1+int(cols%130), 1+int(n%17), seed)
	})
}

// TestMulAcrossPaths checks the same as FuzzMul for a grid of shapes.
func TestMulAcrossPaths(t *testing.T) {
	seed := uint64(0)
	for rows := 1; rows <= 70; rows++ {
		for cols := 1 + rows%3; cols <= 130; cols += 11 {
			seed++
			compareMul(t, rows, cols, 1+int(seed%9), seed)
		}
	}
}

func compareMul(t *testing.T, rows, cols, n int, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 17))
	spread := math.Pow(2, float64(r.IntN(40)-20)) // spreads the vectors' magnitudes to include extremes
	data, x := random(r, rows*cols), random(r, n*cols)
	for i := range x {
		x[i] *= float32(spread)
	}
	for kind, pack := range kinds {
		w := pack(rows, cols, data)
		tolerance := 0.
		if kind != "int8" {
			tolerance = spread * float64(cols) * float64(cols) * 16 / (1 << 24)
		}
		what := fmt.Sprintf("%s [%d, %d] with %d vectors, seed %d", kind, rows, cols, n, seed)
		comparePaths(t, what, tolerance, func() []float32 {
			dst, alone := make([]float32, n*rows), make([]float32, rows)
			w.Mul(dst, x, n)
			for i := range n {
				if w.Mul(alone, x[i*cols:(i+1)*cols], 1); !sameBits(alone, dst[i*rows:(i+1)*rows]) {
					t.Fatalf("%s: vector %d alone gives different bits on %v", what, i, Current())
				}
			}
			return dst
		})
	}
}
