package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestInt8ByHand: if the weights and values are whole numbers and the largest magnitude in every
// block is 127, the scales are 1, so the int8 product is exact.
func TestInt8ByHand(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		// 127·127 − 5·3 + 2·0 = 16,114; −1·127 + 127·3 + 10·0 = 254.
		w := Quantize(2, 3, []float32{127, -5, 2, -1, 127, 10})
		dst := make([]float32, 2)
		if n := w.Mul(dst, []float32{127, 3, 0}, 1); n != 6 {
			t.Errorf("%d multiply-adds, want 6", n)
		}
		if want := []float32{16114, 254}; !slices.Equal(dst, want) {
			t.Errorf("got %v, want %v", dst, want)
		}
	})
}

// TestQuantizeRoundsToEven: values halfway between two steps round to the even one. The scale is
// 254/127 = 2, so 1, 3, 5 and −3 are 0.5, 1.5, 2.5 and −1.5 steps.
func TestQuantizeRoundsToEven(t *testing.T) {
	w := Quantize(1, 5, []float32{254, 1, 3, 5, -3})
	row := make([]float32, 5)
	w.Row(row, 0)
	if want := []float32{254, 0, 4, 4, -4}; !slices.Equal(row, want) {
		t.Errorf("got %v, want %v", row, want)
	}
}

// TestInt8AgainstFloat64: rounding changes a weight by at most half a step. A step of a block of
// weights is max / 127, plus up to 1/128 of that for the rounding of the scale. Rounding changes a
// value of a vector by at most half a step of max / 32,512.
func TestInt8AgainstFloat64(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 4))
		const rows, cols = 40, 200
		data, x := random(r, rows*cols), random(r, cols)
		half := func(s []float32, c int, steps float64) float64 { // half a step of the block of column c
			from := c / block * block
			var most float64
			for _, v := range s[from:min(from+block, len(s))] {
				most = max(most, math.Abs(float64(v)))
			}
			return most / steps / 2
		}
		dst := make([]float32, rows)
		Quantize(rows, cols, data).Mul(dst, x, 1)
		for i := range dst {
			row := data[i*cols : (i+1)*cols]
			var want, bound float64
			for j := range x {
				w, v, dw, dv := float64(row[j]), float64(x[j]), half(row, j, 126), half(x, j, mostValue)
				want += w * v
				bound += math.Abs(w)*dv + math.Abs(v)*dw + dw*dv
			}
			if diff := math.Abs(float64(dst[i]) - want); !(diff <= bound+1e-4) {
				t.Errorf("row %d: %v, want %v within %.2g", i, dst[i], want, bound)
			}
		}
	})
}

// TestInt8DoesNotSaturate: even the largest possible int8 sums, with all weights and values at
// ±127, are correct. An instruction that sums pairs in 16 bits would saturate at 32,767.
func TestInt8DoesNotSaturate(t *testing.T) {
	const rows, cols = 33, 130
	for _, signs := range [][2]float32{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}} {
		data, x := make([]float32, rows*cols), make([]float32, 4*cols)
		for i := range data {
			data[i] = 127 * signs[0]
		}
		for i := range x {
			x[i] = 127 * signs[1]
		}
		onEveryPath(t, func(t *testing.T) {
			for _, n := range []int{1, 2, 4} {
				dst := make([]float32, n*rows)
				Quantize(rows, cols, data).Mul(dst, x[:n*cols], n)
				for i, v := range dst {
					if want := signs[0] * signs[1] * cols * 127 * 127; v != want {
						t.Fatalf("%d vectors, result %d: %v, want %v", n, i, v, want)
					}
				}
			}
		})
	}
}

// TestInt8PathsAgree: int8 products have the same bits on every path, since the sums are exact and
// the rounding afterwards is the same.
func TestInt8PathsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for rows := 1; rows <= 70; rows += 3 {
		for cols := 1; cols <= 130; cols += 7 {
			w := Quantize(rows, cols, random(r, rows*cols))
			x := random(r, 5*cols)
			for i := range x { // a wide range of magnitudes, including zeros
				x[i] *= float32(math.Pow(10, float64(r.IntN(9)-6)) * float64(r.IntN(4)))
			}
			comparePaths(t, fmt.Sprintf("int8 [%d, %d]", rows, cols), 0, func() []float32 {
				dst := make([]float32, 5*rows)
				w.Mul(dst, x, 5)
				return dst
			})
		}
	}
}

// TestTinyValuesAreZeroInInt8: a block of zeros, or of values too small to divide by,
// is treated as zeros.
func TestTinyValuesAreZeroInInt8(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		w := Quantize(1, 64, slices.Repeat([]float32{1}, 64))
		for _, tiny := range []float32{0, 1e-45, -1e-38, 9e-31} {
			dst := []float32{5}
			w.Mul(dst, slices.Repeat([]float32{tiny}, 64), 1)
			if dst[0] != 0 {
				t.Errorf("64 times %v gives %v, want 0", tiny, dst[0])
			}
		}
	})
}
