package kernel

// The functions below choose the assembly function that multiplies a panel of float32 or bfloat16
// with a given number of vectors. Vectors are divided into groups of similar size (for example,
// nine into five and four), since a group of one vector would have too few sums to keep the
// multipliers busy.

// share returns how many of the remaining vectors to multiply next, at most mostColumns.
func share(left int) int {
	groups := (left + mostColumns - 1) / mostColumns
	return (left + groups - 1) / groups
}

// pairColumns returns the largest number of vectors for which two panels are processed at a time.
// With so few vectors, a single panel would leave registers unused.
func pairColumns(p Path) int {
	if p == AVX512 {
		return 3
	}
	return 1
}

// floatPair multiplies two neighboring panels w [2, cols, 32] by n ≤ [pairColumns] vectors x [n,
// cols]. Each vector has 64 results in dst, and the results of the next vector begin stride values
// later.
func floatPair(p Path, dst []float32, stride int, w []float32, x []float32, cols, n int) {
	if p == Portable {
		half := len(w) / 2
		floatPortable(dst, stride, w[:half], x, cols, n)
		floatPortable(dst[panelRows:], stride, w[half:], x, cols, n)
		return
	}
	_, _, _ = dst[(n-1)*stride+2*panelRows-1], w[2*cols*panelRows-1], x[n*cols-1]
	switch {
	case p == AVX2:
		floatAVX2x1pair(&dst[0], stride, &w[0], &x[0], cols, cols)
	case n == 1:
		floatAVX512x1pair(&dst[0], stride, &w[0], &x[0], cols, cols)
	case n == 2:
		floatAVX512x2pair(&dst[0], stride, &w[0], &x[0], cols, cols)
	default:
		floatAVX512x3pair(&dst[0], stride, &w[0], &x[0], cols, cols)
	}
}

// floatPanel is like [floatPair], but multiplies one panel by any number n of vectors.
func floatPanel(p Path, dst []float32, stride int, w []float32, x []float32, cols, n int) {
	if p == Portable {
		floatPortable(dst, stride, w, x, cols, n)
		return
	}
	_, _, _ = dst[(n-1)*stride+panelRows-1], w[cols*panelRows-1], x[n*cols-1]
	for i := 0; i < n; {
		to, from := &dst[i*stride], &x[i*cols]
		if p == AVX512 {
			k := share(n - i)
			floatColumns(k, to, stride, &w[0], from, cols)
			i += k
			continue
		}
		switch left := n - i; {
		case left >= 3 && left != 4:
			floatAVX2x3(to, stride, &w[0], from, cols, cols)
			i += 3
		case left >= 2:
			floatAVX2x2(to, stride, &w[0], from, cols, cols)
			i += 2
		default:
			floatAVX2x1(to, stride, &w[0], from, cols, cols)
			i++
		}
	}
}

// floatColumns multiplies a panel by k vectors in 512-bit registers.
func floatColumns(k int, dst *float32, stride int, w *float32, x *float32, cols int) {
	switch k {
	case 1:
		floatAVX512x1(dst, stride, w, x, cols, cols)
	case 2:
		floatAVX512x2(dst, stride, w, x, cols, cols)
	case 3:
		floatAVX512x3(dst, stride, w, x, cols, cols)
	case 4:
		floatAVX512x4(dst, stride, w, x, cols, cols)
	case 5:
		floatAVX512x5(dst, stride, w, x, cols, cols)
	case 6:
		floatAVX512x6(dst, stride, w, x, cols, cols)
	case 7:
		floatAVX512x7(dst, stride, w, x, cols, cols)
	default:
		floatAVX512x8(dst, stride, w, x, cols, cols)
	}
}

// bfloatPair multiplies two neighboring panels w [2, cols, 16] by n ≤ [pairColumns] vectors x [n,
// cols]. Each vector has 64 results in dst, and the results of the next vector begin stride values
// later. A word of w contains two bfloat16 values.
func bfloatPair(p Path, dst []float32, stride int, w []uint32, x []float32, cols, n int) {
	if p == Portable {
		half := len(w) / 2
		bfloatPortable(dst, stride, w[:half], x, cols, n)
		bfloatPortable(dst[panelRows:], stride, w[half:], x, cols, n)
		return
	}
	_, _, _ = dst[(n-1)*stride+2*panelRows-1], w[2*cols*halfPanel-1], x[n*cols-1]
	switch {
	case p == AVX2:
		bfloatAVX2x1pair(&dst[0], stride, &w[0], &x[0], cols, cols)
	case n == 1:
		bfloatAVX512x1pair(&dst[0], stride, &w[0], &x[0], cols, cols)
	case n == 2:
		bfloatAVX512x2pair(&dst[0], stride, &w[0], &x[0], cols, cols)
	default:
		bfloatAVX512x3pair(&dst[0], stride, &w[0], &x[0], cols, cols)
	}
}

// bfloatPanel is like [bfloatPair], but multiplies one panel by any number n of vectors.
func bfloatPanel(p Path, dst []float32, stride int, w []uint32, x []float32, cols, n int) {
	if p == Portable {
		bfloatPortable(dst, stride, w, x, cols, n)
		return
	}
	_, _, _ = dst[(n-1)*stride+panelRows-1], w[cols*halfPanel-1], x[n*cols-1]
	for i := 0; i < n; {
		to, from := &dst[i*stride], &x[i*cols]
		if p == AVX512 {
			k := share(n - i)
			bfloatColumns(k, to, stride, &w[0], from, cols)
			i += k
			continue
		}
		switch left := n - i; {
		case left >= 2:
			bfloatAVX2x2(to, stride, &w[0], from, cols, cols)
			i += 2
		default:
			bfloatAVX2x1(to, stride, &w[0], from, cols, cols)
			i++
		}
	}
}

// bfloatColumns multiplies a panel by k vectors in 512-bit registers.
func bfloatColumns(k int, dst *float32, stride int, w *uint32, x *float32, cols int) {
	switch k {
	case 1:
		bfloatAVX512x1(dst, stride, w, x, cols, cols)
	case 2:
		bfloatAVX512x2(dst, stride, w, x, cols, cols)
	case 3:
		bfloatAVX512x3(dst, stride, w, x, cols, cols)
	case 4:
		bfloatAVX512x4(dst, stride, w, x, cols, cols)
	case 5:
		bfloatAVX512x5(dst, stride, w, x, cols, cols)
	case 6:
		bfloatAVX512x6(dst, stride, w, x, cols, cols)
	case 7:
		bfloatAVX512x7(dst, stride, w, x, cols, cols)
	default:
		bfloatAVX512x8(dst, stride, w, x, cols, cols)
	}
}
