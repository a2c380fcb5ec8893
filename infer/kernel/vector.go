package kernel

import (
	"fmt"
	"math"
)

// Dot returns Σ a_i·b_i over two vectors of the same length.
func Dot(a, b []float32) float32 {
	fit("Dot", len(a), len(b))
	if len(a) == 0 {
		return 0
	}
	return dot(Current(), a, b, 1)
}

// AddScaled adds s·x to dst, element by element.
func AddScaled(dst []float32, s float32, x []float32) {
	fit("AddScaled", len(dst), len(x))
	if len(x) > 0 {
		addScaled(Current(), dst, s, x)
	}
}

// Scores writes scale · (q · key) for every key to dst [n]. q is [size]. Keys begin stride values
// apart, and the last key must be complete. A score does not depend on n.
func Scores(dst, q, keys []float32, stride int, scale float32) {
	if len(dst) == 0 || len(q) == 0 {
		clear(dst)
		return
	}
	fitRows("Scores", len(dst), len(q), len(keys), stride)
	scores(Current(), dst, q, keys, stride, scale)
}

// Mix writes Σ_j weights[j] · value j, summed from the first to the last, to dst [size]. weights is
// [n]. The value vectors begin stride elements apart, and the last vector must be complete.
func Mix(dst, weights, values []float32, stride int) {
	if len(dst) == 0 || len(weights) == 0 {
		clear(dst)
		return
	}
	fitRows("Mix", len(weights), len(dst), len(values), stride)
	mix(Current(), dst, weights, values, stride)
}

// ScoresEach is like [Scores], for several queries with the same keys: q [queries, size], dst
// [queries, n]. The results are the same, bit for bit, but each key is fetched fewer times.
func ScoresEach(dst, q, keys []float32, queries, stride int, scale float32) {
	n, size := len(dst)/queries, len(q)/queries
	fit("ScoresEach", n*queries, len(dst))
	fit("ScoresEach", size*queries, len(q))
	at := 0
	if n > 0 && size > 0 {
		fitRows("ScoresEach", n, size, len(keys), stride)
		for ; at+3 <= queries && scoresThree(
			Current(), dst[at*n:(at+3)*n], q[at*size:(at+3)*size], keys, stride, scale,
		); at += 3 {
		}
	}
	for ; at < queries; at++ {
		Scores(dst[at*n:(at+1)*n], q[at*size:(at+1)*size], keys, stride, scale)
	}
}

// MixEach is like [Mix], for several rows of weights with the same values: weights [rows, n], dst
// [rows, size]. The results are the same, bit for bit, but each value is fetched fewer times.
func MixEach(dst, weights, values []float32, rows, stride int) {
	n, size := len(weights)/rows, len(dst)/rows
	fit("MixEach", n*rows, len(weights))
	fit("MixEach", size*rows, len(dst))
	at := 0
	if n > 0 && size > 0 {
		fitRows("MixEach", n, size, len(values), stride)
		for ; at+3 <= rows && mixThree(
			Current(), dst[at*size:(at+3)*size], weights[at*n:(at+3)*n], values, stride,
		); at += 3 {
		}
	}
	for ; at < rows; at++ {
		Mix(dst[at*size:(at+1)*size], weights[at*n:(at+1)*n], values, stride)
	}
}

// ScaleBy writes (x · s) · weight to dst, element by element, as a norm does.
func ScaleBy(dst, x, weight []float32, s float32) {
	fit("ScaleBy", len(dst), len(x))
	fit("ScaleBy", len(x), len(weight))
	if len(x) > 0 {
		scaleBy(Current(), dst, x, weight, s)
	}
}

// Softmax replaces w by e^w / Σ e^w, after subtracting the largest value. The vector paths compute
// e^x with a polynomial, with a relative error of at most 3e-7.
func Softmax(w []float32) {
	if len(w) > 0 {
		softmax(Current(), w)
	}
}

// SwiGLU replaces gate by silu(gate) · up, element by element, where silu(x) =
// x / (1 + e^−x) (Shazeer 2020).
func SwiGLU(gate, up []float32) {
	fit("SwiGLU", len(gate), len(up))
	if len(gate) > 0 {
		swiglu(Current(), gate, up)
	}
}

// Finite reports whether no value is NaN or infinite.
func Finite(x []float32) bool {
	return len(x) == 0 || math.Float32frombits(mostBits(Current(), x)) <= math.MaxFloat32
}

func fit(what string, a, b int) {
	if a != b {
		panic(fmt.Sprintf("kernel: %s of vectors of %d and %d values", what, a, b))
	}
}

func fitRows(what string, n, size, have, stride int) {
	if stride < size || have < (n-1)*stride+size {
		panic(fmt.Sprintf("kernel: %s of %d vectors of %d values, %d apart, in %d values", what, n, size, stride, have))
	}
}
