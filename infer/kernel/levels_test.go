package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomLevels returns a matrix of random levels and scales, and its weights.
func randomLevels(r *rand.Rand, rows, cols int) (w Matrix, weights []float32) {
	levels, scales := make([]int8, rows*cols), make([]float32, rows*cols/LevelColumns)
	for i := range levels {
		levels[i] = int8(r.IntN(255) - 127)
	}
	for i := range scales {
		scales[i] = float32(r.NormFloat64() * math.Pow(2, float64(-r.IntN(12))))
	}
	for i, q := range levels {
		weights = append(weights, float32(q)*scales[i/LevelColumns])
	}
	return PackLevels(rows, cols, levels, scales), weights
}

// TestLevelsByHand: with scales 0.5 and 2 for the two parts of a row, 0.5·(3·127 − 4·1) + 2·(10·5) = 288.5.
// The largest magnitude of the vector is 127, so its values are exact.
func TestLevelsByHand(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		levels, x := make([]int8, 64), make([]float32, 64)
		levels[0], levels[1], levels[40] = 3, -4, 10
		x[0], x[1], x[40] = 127, 1, 5
		w := PackLevels(1, 64, levels, []float32{0.5, 2})
		dst := make([]float32, 1)
		if n := w.Mul(dst, x, 1); n != 64 || dst[0] != 288.5 {
			t.Errorf("got %v with %d multiply-adds, want 288.5 with 64", dst[0], n)
		}
	})
}

// TestLevelsKeepWeights: the rows of a matrix of levels are exactly the levels times their scales.
func TestLevelsKeepWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for _, cols := range []int{32, 64, 96, 320} {
		const rows = 67
		w, weights := randomLevels(r, rows, cols)
		row := make([]float32, cols)
		for i := range rows {
			if w.Row(row, i); !slices.Equal(row, weights[i*cols:(i+1)*cols]) {
				t.Fatalf("[%d, %d]: row %d is %v, want %v", rows, cols, i, row, weights[i*cols:(i+1)*cols])
			}
		}
	}
}

// TestLevelsAgainstFloat64: only the vector is rounded, by at most half a step of max / 32,512 in each
// block, and sums are rounded a few times per block.
func TestLevelsAgainstFloat64(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 7))
		const rows, cols = 70, 224
		w, weights := randomLevels(r, rows, cols)
		x := random(r, cols)
		dst := make([]float32, rows)
		w.Mul(dst, x, 1)
		for i := range dst {
			var want, bound, size float64
			for j, v := range x {
				var most float64
				for _, u := range x[j/block*block : min(cols, (j/block+1)*block)] {
					most = max(most, math.Abs(float64(u)))
				}
				weight := float64(weights[i*cols+j])
				want += weight * float64(v)
				bound += math.Abs(weight) * most / mostValue / 2
				size += math.Abs(weight * float64(v))
			}
			if diff := math.Abs(float64(dst[i]) - want); !(diff <= bound+size*1e-6) {
				t.Errorf("row %d: %v, want %v within %.2g", i, dst[i], want, bound+size*1e-6)
			}
		}
	})
}

// TestLevelPathsAgree: products have the same bits on every path, for every number of vectors, and whether
// vectors are multiplied together or one by one.
func TestLevelPathsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	for rows := 1; rows <= 130; rows += 13 {
		for cols := 32; cols <= 224; cols += 32 {
			w, _ := randomLevels(r, rows, cols)
			x := random(r, 9*cols)
			for n := 1; n <= 9; n++ {
				comparePaths(t, fmt.Sprintf("levels [%d, %d] × %d", rows, cols, n), 0, func() []float32 {
					dst := make([]float32, n*rows)
					w.Mul(dst, x[:n*cols], n)
					one := make([]float32, rows)
					w.Mul(one, x[(n-1)*cols:n*cols], 1)
					if !slices.Equal(one, dst[(n-1)*rows:]) {
						t.Fatalf(
							"[%d, %d]: the last of %d vectors gives %v, alone %v", rows, cols, n, dst[(n-1)*rows:], one,
						)
					}
					return dst
				})
			}
		}
	}
}

// TestLevelsDoNotSaturate: the largest possible sums are correct.
func TestLevelsDoNotSaturate(t *testing.T) {
	const rows, cols = 33, 128
	onEveryPath(t, func(t *testing.T) {
		for _, sign := range []float32{1, -1} {
			w := PackLevels(rows, cols, slices.Repeat([]int8{-127}, rows*cols),
				slices.Repeat([]float32{1}, rows*cols/LevelColumns))
			dst := make([]float32, 4*rows)
			w.Mul(dst, slices.Repeat([]float32{sign * 127}, 4*cols), 4)
			for i, v := range dst {
				if want := -sign * cols * 127 * 127; v != want {
					t.Fatalf("result %d: %v, want %v", i, v, want)
				}
			}
		}
	})
}

// TestPackLevelsRefusesBadArguments: see [PackLevels].
func TestPackLevelsRefusesBadArguments(t *testing.T) {
	for name, pack := range map[string]func(){
		"columns": func() { PackLevels(1, 33, make([]int8, 33), make([]float32, 1)) },
		"levels":  func() { PackLevels(1, 32, make([]int8, 31), make([]float32, 1)) },
		"scales":  func() { PackLevels(1, 32, make([]int8, 32), make([]float32, 2)) },
		"−128":    func() { PackLevels(1, 32, append(make([]int8, 31), -128), make([]float32, 1)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			pack()
		}()
	}
}
