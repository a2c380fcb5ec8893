package kernel

import (
	"math"
	"slices"
)

// The operations that a draw needs on a vocabulary's scores are computed in float64. On all paths,
// the results are the same, bit for bit, as if each value were computed with [math.Exp] and a
// single division, and the values were added from first to last.

// Max returns the largest score. There must be at least one score and no NaN.
func Max(z []float32) float32 {
	top := largest(Current(), z)
	if top == 0 {
		return slices.Max(z) // slices.Max treats 0 as larger than −0
	}
	return top
}

// ExpSum writes e^{(z−max)/t} to dst and returns the sum, added from first to last. dst and z are
// [n], max is the largest of z, and t must be positive.
func ExpSum(dst []float64, z []float32, max, t float64) float64 {
	fit("ExpSum", len(dst), len(z))
	return expSum64(Current(), dst, z, max, t)
}

// Between writes the indices of the scores in [from, below) to dst, in order, and returns their
// number. dst must have room for all of z.
func Between(dst []int32, z []float32, from, below float32) int {
	fit("Between", len(dst), len(z))
	return between(Current(), dst, z, from, below)
}

// DivideBy divides every value of x by a number.
func DivideBy(x []float64, by float64) { divide64(Current(), x, by) }

func largestPortable(z []float32) float32 {
	top := z[0]
	for _, v := range z {
		if v > top {
			top = v
		}
	}
	return top
}

// betweenPortable continues the search at index `at` of the scores, after n indices have been
// found.
func betweenPortable(dst []int32, n int, z []float32, at int, from, below float32) int {
	for i, v := range z[at:] {
		if v >= from && v < below {
			dst[n] = int32(at + i)
			n++
		}
	}
	return n
}

// expSumPortable continues a sum begun by another path.
func expSumPortable(dst []float64, z []float32, max, t, sum float64) float64 {
	for i, v := range z {
		dst[i] = math.Exp((float64(v) - max) / t)
		sum += dst[i]
	}
	return sum
}

func dividePortable(x []float64, by float64) {
	for i := range x {
		x[i] /= by
	}
}
