package infer

import (
	"math"

	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/kernel"
)

// This file contains the operations of a pass other than matrix products. [Model.block] shows their
// order.

// A normalization holds the weights of a norm. The zero value leaves vectors unchanged.
type normalization struct {
	weight []float32 // [d], d the width of the stream or the size of a head
	bias   []float32 // [d], of LayerNorm; nil for RMSNorm
	eps    float32
}

// of normalizes every vector of x [n, d], writes the result to dst and returns it. dst may be x.
// Without weights, of returns x itself.
func (v normalization) of(dst, x []float32) []float32 {
	switch {
	case v.weight == nil:
		return x
	case v.bias != nil:
		layerNorm(dst, x, v.weight, v.bias, v.eps)
	default:
		rmsNorm(dst, x, v.weight, v.eps)
	}
	return dst
}

// rmsNorm divides every vector of x [n, width] by its root mean square and
// scales it by weight [width] (Zhang and Sennrich 2019).
func rmsNorm(dst, x, weight []float32, eps float32) {
	d := len(weight)
	for i := 0; i < len(x); i += d {
		row := x[i : i+d]
		ms := kernel.Dot(row, row) / float32(d)
		scale := float32(1 / math.Sqrt(float64(ms+eps)))
		kernel.ScaleBy(dst[i:i+d], row, weight, scale)
	}
}

// layerNorm shifts every vector of x [n, width] to mean 0 and divides it by
// its standard deviation, then scales it by weight and shifts it by bias, both
// [width] (Ba et al. 2016).
func layerNorm(dst, x, weight, bias []float32, eps float32) {
	d := len(weight)
	for i := 0; i < len(x); i += d {
		var sum, squares float64
		for _, v := range x[i : i+d] {
			sum += float64(v)
		}
		mean := float32(sum / float64(d))
		for _, v := range x[i : i+d] {
			squares += float64(v-mean) * float64(v-mean)
		}
		scale := float32(1 / math.Sqrt(squares/float64(d)+float64(eps)))
		for j, v := range x[i : i+d] {
			dst[i+j] = (v-mean)*scale*weight[j] + bias[j]
		}
	}
}

// rotary holds the cos and sin of position × frequency for every position and pair of a head (Su et
// al. 2021), each [context, headDim/2]. A nil rotary rotates nothing.
type rotary struct{ cos, sin []float32 }

// newRotary returns the tables for the given frequencies. It rounds each frequency and angle to
// float32, as the models' training code does; the difference matters in long contexts.
func newRotary(context int, frequencies []float32) *rotary {
	half := len(frequencies)
	r := &rotary{make([]float32, context*half), make([]float32, context*half)}
	for i, freq := range frequencies {
		for pos := range context {
			angle := float64(float32(pos) * freq)
			r.cos[pos*half+i], r.sin[pos*half+i] = float32(math.Cos(angle)), float32(math.Sin(angle))
		}
	}
	return r
}

// turn rotates each pair (i, i+size/2) of every head of the given size in x by
// an angle proportional to the position: the half-split layout of Hugging
// Face's Llama.
func (r *rotary) turn(x []float32, size, position int) {
	if r == nil {
		return
	}
	half := size / 2
	cos, sin := r.cos[position*half:(position+1)*half], r.sin[position*half:(position+1)*half]
	for at := 0; at < len(x); at += size {
		a, b := x[at:at+half], x[at+half:at+size]
		for i := range a {
			a[i], b[i] = a[i]*cos[i]-b[i]*sin[i], b[i]*cos[i]+a[i]*sin[i]
		}
	}
}

// activate applies the activation function to every value of a feed-forward layer without a gate.
func activate(f checkpoint.Activation, x []float32) {
	switch f {
	case checkpoint.GELU:
		gelu(x)
	case checkpoint.GELUTanh:
		geluTanh(x)
	default:
		for i, v := range x {
			x[i] = float32(float64(v) / (1 + math.Exp(-float64(v))))
		}
	}
}

// activateGate replaces gate by activation(gate) · up, element by element
// (Shazeer 2020).
func activateGate(f checkpoint.Activation, gate, up []float32) {
	if f == checkpoint.SiLU {
		kernel.SwiGLU(gate, up)
		return
	}
	activate(f, gate)
	for i, u := range up {
		gate[i] *= u
	}
}

// geluTanh replaces every x by x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))), the
// form of the Gaussian error linear unit that GPT-2 uses (Hendrycks and Gimpel
// 2016).
func geluTanh(x []float32) {
	slope := math.Sqrt(2 / math.Pi)
	for i, v := range x {
		v := float64(v)
		x[i] = float32(v / 2 * (1 + math.Tanh(slope*(v+0.044715*v*v*v))))
	}
}

// gelu replaces every x by x·Φ(x) = x/2·(1 + erf(x/√2)).
func gelu(x []float32) {
	for i, v := range x {
		v := float64(v)
		x[i] = float32(v / 2 * (1 + math.Erf(v/math.Sqrt2)))
	}
}

// addBias adds bias to every vector of x [n, len(bias)]; nil adds nothing.
func addBias(x, bias []float32) {
	if bias == nil {
		return
	}
	for i := 0; i < len(x); i += len(bias) {
		add(x[i:i+len(bias)], bias)
	}
}

func add(dst, x []float32) { kernel.AddScaled(dst, 1, x) }
