package kernel

import (
	"fmt"
	"math"
)

// Dot returns Σ a_i·b_i over two vectors of one length.
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

// Scores writes scale · (q · key) for every key: dst [n], q [size], and the
// keys' first values stride apart, the last one complete. Each score is the
// same whatever n is.
func Scores(dst, q, keys []float32, stride int, scale float32) {
	if len(dst) == 0 || len(q) == 0 {
		clear(dst)
		return
	}
	fitRows("Scores", len(dst), len(q), len(keys), stride)
	scores(Current(), dst, q, keys, stride, scale)
}

// Mix writes Σ_j weights[j] · value j, summed from the first to the last: dst
// [size], weights [n], and the values' first elements stride apart, the last
// one complete.
func Mix(dst, weights, values []float32, stride int) {
	if len(dst) == 0 || len(weights) == 0 {
		clear(dst)
		return
	}
	fitRows("Mix", len(weights), len(dst), len(values), stride)
	mix(Current(), dst, weights, values, stride)
}

// Softmax replaces w by e^w / Σ e^w; the largest is subtracted first. Its
// vector form computes e^x from a polynomial, within 3e-7 of the value.
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
func Finite(x []float32) bool { return magnitude(x) <= math.MaxFloat32 }

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
