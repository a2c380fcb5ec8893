package kernel

// This file chooses among the assembly functions. It calls them by name, not through variables, so
// that the compiler can see that they do not retain their arguments, and can keep buffers on the
// stack.

// detect returns the fastest path that the processor supports and whose registers the operating
// system saves when it switches threads.
func detect() Path {
	const (
		fma, osxsave, avx       = 1 << 12, 1 << 27, 1 << 28                // leaf 1, c
		avx2, avx512f, avx512bw = 1 << 5, 1 << 16, 1 << 30                 // leaf 7, b
		avx512dq, avx512vl      = 1 << 17, 1 << 31                         // leaf 7, b
		vnni                    = 1 << 11                                  // leaf 7, c
		savesYMM                = 1<<1 | 1<<2                              // XCR0
		savesZMM                = savesYMM | 1<<5 | 1<<6 | 1<<7            // XCR0
		need512                 = avx512f | avx512bw | avx512dq | avx512vl // of leaf 7, b
	)
	if most, _, _, _ := cpuid(0, 0); most < 7 {
		return Portable
	}
	_, _, c1, _ := cpuid(1, 0)
	_, b7, c7, _ := cpuid(7, 0)
	if c1&(fma|osxsave|avx) != fma|osxsave|avx || b7&avx2 == 0 || xgetbv()&savesYMM != savesYMM {
		return Portable
	}
	if b7&need512 != need512 || c7&vnni == 0 || xgetbv()&savesZMM != savesZMM {
		return AVX2
	}
	return AVX512
}

// bytePair multiplies two neighboring panels of bytes by the only vector of q: dst [64].
func bytePair(p Path, l layout, dst []float32, w []int8, q *quantized) {
	if p == AVX512 {
		_ = dst[2*panelRows-1]
		if l == twoScales {
			levelVNNIx1pair(&dst[0], 0, &w[0], &q.values[0], &q.scales[0], len(q.scales))
			return
		}
		int8VNNIx1pair(&dst[0], 0, &w[0], &q.values[0], &q.scales[0], len(q.scales))
		return
	}
	half := len(w) / 2
	bytePanel(p, l, dst, panelRows, w[:half], q.values, q.scales, 1)
	bytePanel(p, l, dst[panelRows:], panelRows, w[half:], q.values, q.scales, 1)
}

// bytePanel multiplies a panel of bytes by n vectors: values [n, blocks, 2, block], scales [n, blocks].
func bytePanel(p Path, l layout, dst []float32, stride int, w, values []int8, scales []float32, n int) {
	if p == Portable {
		bytesPortable(l, dst, stride, w, values, scales, n)
		return
	}
	nb := len(scales) / n
	_, _ = dst[(n-1)*stride+panelRows-1], w[nb*l.blockBytes()-1]
	for i, k := 0, 0; i < n; i += k {
		k = together(p, n-i)
		to, from, scale := &dst[i*stride], &values[i*nb*valueBytes], &scales[i*nb]
		if l == twoScales {
			levelPanel(p, to, stride, &w[0], from, scale, nb, k)
		} else {
			int8Panel(p, to, stride, &w[0], from, scale, nb, k)
		}
	}
}

// together returns how many of n vectors a function for panels of bytes multiplies at once.
func together(p Path, n int) int {
	switch {
	case p == AVX2 || n == 1:
		return 1
	case n < 4:
		return 2
	}
	return 4
}

// int8Panel multiplies a panel of [Quantize] by 1, 2 or 4 vectors.
func int8Panel(p Path, dst *float32, stride int, w, values *int8, scales *float32, blocks, n int) {
	switch {
	case p == AVX2:
		int8AVX2x1(dst, stride, w, values, scales, blocks)
	case n == 4:
		int8VNNIx4(dst, stride, w, values, scales, blocks)
	case n == 2:
		int8VNNIx2(dst, stride, w, values, scales, blocks)
	default:
		int8VNNIx1(dst, stride, w, values, scales, blocks)
	}
}

// levelPanel multiplies a panel of [PackLevels] by 1, 2 or 4 vectors.
func levelPanel(p Path, dst *float32, stride int, w, values *int8, scales *float32, blocks, n int) {
	switch {
	case p == AVX2:
		levelAVX2x1(dst, stride, w, values, scales, blocks)
	case n == 4:
		levelVNNIx4(dst, stride, w, values, scales, blocks)
	case n == 2:
		levelVNNIx2(dst, stride, w, values, scales, blocks)
	default:
		levelVNNIx1(dst, stride, w, values, scales, blocks)
	}
}

// quantizeBlocks rounds the blocks of x and stores them in the byte layout of the path. The length
// of x must be a multiple of block.
func quantizeBlocks(p Path, values []int8, scales, x []float32) {
	switch n := len(x) / block; {
	case n == 0:
	case p == Portable:
		quantizePortable(values, scales, x)
	default:
		_, _ = values[n*valueBytes-1], scales[n-1]
		quantizeAVX2(&values[0], &scales[0], &x[0], n, p == AVX512)
	}
}

func dot(p Path, a, b []float32, scale float32) float32 {
	if p == Portable {
		return dotPortable(a, b, scale)
	}
	var d float32
	dotAVX2(&d, &a[0], &b[0], len(a), scale)
	return d
}

func addScaled(p Path, dst []float32, s float32, x []float32) {
	if p == Portable {
		addScaledPortable(dst, s, x)
		return
	}
	addScaledAVX2(&dst[0], &x[0], len(x), s)
}

func scores(p Path, dst, q, keys []float32, stride int, scale float32) {
	if p == Portable {
		scoresPortable(dst, q, keys, stride, scale)
		return
	}
	n := len(dst)
	if n < 4 {
		for j := range dst {
			dotAVX2(&dst[j], &q[0], &keys[j*stride], len(q), scale)
		}
		return
	}
	scoresAVX2(&dst[0], &q[0], &keys[0], stride, len(q), n/4, scale)
	if n%4 > 0 { // recomputing the last four together is faster than computing the rest one by one
		scoresAVX2(&dst[n-4], &q[0], &keys[(n-4)*stride], stride, len(q), 1, scale)
	}
}

// scoresThree computes the scores of three queries together, or returns false if this path and size
// do not support it.
func scoresThree(p Path, dst, q, keys []float32, stride int, scale float32) bool {
	n, size := len(dst)/3, len(q)/3
	if p != AVX512 || n < 4 || size%lanes > 0 {
		return false
	}
	scoresAVX512x3(&dst[0], n, &q[0], &keys[0], stride, size, n, scale)
	return true
}

func mix(p Path, dst, weights, values []float32, stride int) {
	if p == Portable {
		mixPortable(dst, weights, values, stride)
		return
	}
	mixAVX2(&dst[0], &weights[0], &values[0], stride, len(dst), len(weights))
}

// mixThree computes the mixes of three rows of weights together, or returns false if this path and
// size do not support it.
func mixThree(p Path, dst, weights, values []float32, stride int) bool {
	n, size := len(weights)/3, len(dst)/3
	if p != AVX512 || size%32 > 0 {
		return false
	}
	mixAVX512x3(&dst[0], &weights[0], n, &values[0], stride, size, n)
	return true
}

func mostBits(p Path, x []float32) uint32 {
	whole := 0
	most := uint32(0)
	if p != Portable {
		if whole = len(x) &^ (lanes - 1); whole > 0 {
			most = mostBitsAVX2(&x[0], whole)
		}
	}
	return max(most, mostBitsPortable(x[whole:]))
}

func scaleBy(p Path, dst, x, weight []float32, s float32) {
	if p == Portable {
		scaleByPortable(dst, x, weight, s)
		return
	}
	scaleByAVX2(&dst[0], &x[0], &weight[0], len(x), s)
}

// lanes is the number of float32 values in an AVX2 register. The end of a vector that does not fill
// a register is passed in a buffer to functions that need whole registers.
const lanes = 8

func softmax(p Path, w []float32) {
	if p == Portable {
		softmaxPortable(w)
		return
	}
	whole := len(w) &^ (lanes - 1)
	rest := w[whole:]
	top := w[0]
	if whole > 0 {
		top = maxAVX2(&w[0], whole)
	}
	for _, v := range rest {
		top = max(top, v)
	}
	sum := expSum(p, w[:whole], top)
	if len(rest) > 0 {
		var buffer [lanes]float32
		copy(buffer[:], rest)
		expSumAVX2(&buffer[0], lanes, top)
		for _, v := range buffer[:copy(rest, buffer[:])] {
			sum += v
		}
	}
	divideAVX2(&w[0], len(w), sum)
}

// expSum replaces each value w by e^(w − top) and returns the sum of the results. The values must
// fill whole AVX2 registers.
func expSum(p Path, w []float32, top float32) float32 {
	switch {
	case len(w) == 0:
		return 0
	case p == AVX512:
		return expSumAVX512(&w[0], len(w), top)
	}
	return expSumAVX2(&w[0], len(w), top)
}

func swiglu(p Path, gate, up []float32) {
	if p == Portable {
		swigluPortable(gate, up)
		return
	}
	whole := 0
	if p == AVX512 {
		if whole = len(gate) &^ (2*lanes - 1); whole > 0 {
			swigluAVX512(&gate[0], &up[0], whole)
		}
		gate, up = gate[whole:], up[whole:]
	}
	if whole = len(gate) &^ (lanes - 1); whole > 0 {
		swigluAVX2(&gate[0], &up[0], whole)
	}
	if rest := gate[whole:]; len(rest) > 0 {
		var g, u [lanes]float32
		copy(g[:], rest)
		copy(u[:], up[whole:])
		swigluAVX2(&g[0], &u[0], lanes)
		copy(rest, g[:])
	}
}
