package kernel

import "math"

// This file contains the portable path. Products are rounded before they are added, so every
// machine gets the same bits. The explicit conversions force the compiler to do so.

// floatPortable multiplies a panel by n vectors, 8 rows at a time, so their sums stay in registers.
func floatPortable(dst []float32, stride int, w, x []float32, cols, n int) {
	for i := range n {
		v := x[i*cols : (i+1)*cols]
		for r := 0; r < panelRows; r += 8 {
			var s0, s1, s2, s3, s4, s5, s6, s7 float32
			at := r
			for _, xc := range v {
				c := w[at : at+8 : at+8]
				s0 += float32(c[0] * xc)
				s1 += float32(c[1] * xc)
				s2 += float32(c[2] * xc)
				s3 += float32(c[3] * xc)
				s4 += float32(c[4] * xc)
				s5 += float32(c[5] * xc)
				s6 += float32(c[6] * xc)
				s7 += float32(c[7] * xc)
				at += panelRows
			}
			copy(dst[i*stride+r:i*stride+r+8], []float32{s0, s1, s2, s3, s4, s5, s6, s7})
		}
	}
}

// bfloatPortable is like floatPortable, but for weights [cols, 16] in words of two bfloat16 values.
func bfloatPortable(dst []float32, stride int, w []uint32, x []float32, cols, n int) {
	for i := range n {
		v := x[i*cols : (i+1)*cols]
		for r := 0; r < halfPanel; r += 4 {
			var l0, l1, l2, l3, h0, h1, h2, h3 float32 // rows r … and r+16 …
			at := r
			for _, xc := range v {
				c := w[at : at+4 : at+4]
				l0 += float32(low(c[0]) * xc)
				l1 += float32(low(c[1]) * xc)
				l2 += float32(low(c[2]) * xc)
				l3 += float32(low(c[3]) * xc)
				h0 += float32(high(c[0]) * xc)
				h1 += float32(high(c[1]) * xc)
				h2 += float32(high(c[2]) * xc)
				h3 += float32(high(c[3]) * xc)
				at += halfPanel
			}
			out := dst[i*stride : i*stride+panelRows]
			out[r], out[r+1], out[r+2], out[r+3] = l0, l1, l2, l3
			out[halfPanel+r], out[halfPanel+r+1], out[halfPanel+r+2], out[halfPanel+r+3] = h0, h1, h2, h3
		}
	}
}

// bytesPortable multiplies a panel of bytes by n vectors, given as values [n, blocks, 2, block],
// without an offset, and scales [n, blocks].
func bytesPortable(l layout, dst []float32, stride int, w, values []int8, scales []float32, n int) {
	nb, size, cols := len(scales)/n, l.partBytes(), block/l.parts()
	for i := range n {
		out := dst[i*stride : i*stride+panelRows]
		clear(out)
		for b := range nb {
			v := values[(i*nb+b)*valueBytes : (i*nb+b+1)*valueBytes]
			var x [block]int32
			for c := range x {
				x[c] = int32(v[c])<<8 + int32(v[block+c])
			}
			for part := range l.parts() {
				from := w[(b*l.parts()+part)*size:][:size]
				for r := 0; r < panelRows; r += 4 {
					sums := fourSums(from[l.headBytes()+4*r:], x[part*cols:(part+1)*cols])
					for k, sum := range sums {
						scale := float32(l.scale(from, r+k) * scales[i*nb+b])
						out[r+k] += float32(float32(sum) * scale)
					}
				}
			}
		}
	}
}

// fourSums returns the sums of four neighboring rows' products with x. w begins with the rows' first four
// weights.
func fourSums(w []int8, x []int32) [4]int32 {
	var s0, s1, s2, s3 int32
	for len(x) >= 4 {
		q, v := w[:16:16], x[:4:4]
		s0 += int32(q[0])*v[0] + int32(q[1])*v[1] + int32(q[2])*v[2] + int32(q[3])*v[3]
		s1 += int32(q[4])*v[0] + int32(q[5])*v[1] + int32(q[6])*v[2] + int32(q[7])*v[3]
		s2 += int32(q[8])*v[0] + int32(q[9])*v[1] + int32(q[10])*v[2] + int32(q[11])*v[3]
		s3 += int32(q[12])*v[0] + int32(q[13])*v[1] + int32(q[14])*v[2] + int32(q[15])*v[3]
		if x = x[4:]; len(x) > 0 {
			w = w[4*panelRows:]
		}
	}
	return [4]int32{s0, s1, s2, s3}
}

func dotPortable(a, b []float32, scale float32) float32 {
	var s [4]float32
	for len(a) >= 4 {
		x, y := a[:4:4], b[:4:4]
		s[0] += float32(x[0] * y[0])
		s[1] += float32(x[1] * y[1])
		s[2] += float32(x[2] * y[2])
		s[3] += float32(x[3] * y[3])
		a, b = a[4:], b[4:]
	}
	for i := range a {
		s[i] += float32(a[i] * b[i])
	}
	return scale * (float32(s[0]+s[1]) + float32(s[2]+s[3]))
}

func addScaledPortable(dst []float32, s float32, x []float32) {
	for i, v := range x {
		dst[i] += float32(s * v)
	}
}

// mostBitsPortable returns the largest bit pattern of the values, ignoring signs.
func mostBitsPortable(x []float32) uint32 {
	most := uint32(0)
	for _, v := range x {
		most = max(most, math.Float32bits(v)&^(1<<31))
	}
	return most
}

func scaleByPortable(dst, x, weight []float32, s float32) {
	for i, v := range x {
		dst[i] = v * s * weight[i]
	}
}

func softmaxPortable(w []float32) {
	top := w[0]
	for _, v := range w {
		top = max(top, v)
	}
	var sum float32
	for i, v := range w {
		w[i] = float32(math.Exp(float64(v - top)))
		sum += w[i]
	}
	for i := range w {
		w[i] /= sum
	}
}

func swigluPortable(gate, up []float32) {
	for i, g := range gate {
		gate[i] = float32(g/(1+float32(math.Exp(float64(-g))))) * up[i]
	}
}

func scoresPortable(dst, q, keys []float32, stride int, scale float32) {
	for j := range dst {
		dst[j] = dotPortable(q, keys[j*stride:j*stride+len(q)], scale)
	}
}

func mixPortable(dst, weights, values []float32, stride int) {
	clear(dst)
	for j, a := range weights {
		addScaledPortable(dst, a, values[j*stride:j*stride+len(dst)])
	}
}

func quantizePortable(values []int8, scales, x []float32) {
	for b := range len(x) / block {
		scales[b] = quantizeBlock(values[b*valueBytes:(b+1)*valueBytes], x[b*block:(b+1)*block])
	}
}
