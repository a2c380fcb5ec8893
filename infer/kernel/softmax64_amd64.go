package kernel

//go:noescape
func expSum64AVX2(dst *float64, z *float32, n int, max, t, before float64) (done int, sum float64)

//go:noescape
func expSum64AVX512(dst *float64, z *float32, n int, max, t, before float64) float64

//go:noescape
func betweenAVX2(dst *int32, z *float32, n int, from, below float32) int

//go:noescape
func divide64AVX2(x *float64, n int, by float64)

func largest(p Path, z []float32) float32 {
	whole := len(z) &^ (lanes - 1)
	if p == Portable || whole == 0 {
		return largestPortable(z)
	}
	top := maxAVX2(&z[0], whole)
	for _, v := range z[whole:] {
		top = max(top, v)
	}
	return top
}

func expSum64(p Path, dst []float64, z []float32, max, t float64) (sum float64) {
	if p == Portable {
		return expSumPortable(dst, z, max, t, 0)
	}
	if whole := len(z) &^ 15; p == AVX512 && whole > 0 {
		sum = expSum64AVX512(&dst[0], &z[0], whole, max, t, sum)
		dst, z = dst[whole:], z[whole:]
	}
	for len(z) >= 4 {
		done, upTo := expSum64AVX2(&dst[0], &z[0], len(z)&^3, max, t, sum)
		sum, dst, z = upTo, dst[done:], z[done:]
		if len(z) >= 4 { // the assembly stopped at four values that it cannot handle
			sum = expSumPortable(dst[:4], z[:4], max, t, sum)
			dst, z = dst[4:], z[4:]
		}
	}
	return expSumPortable(dst, z, max, t, sum)
}

func between(p Path, dst []int32, z []float32, from, below float32) int {
	n, whole := 0, 0
	if p != Portable {
		if whole = len(z) &^ (lanes - 1); whole > 0 {
			n = betweenAVX2(&dst[0], &z[0], whole, from, below)
		}
	}
	return betweenPortable(dst, n, z, whole, from, below)
}

func divide64(p Path, x []float64, by float64) {
	whole := 0
	if p != Portable {
		if whole = len(x) &^ 3; whole > 0 {
			divide64AVX2(&x[0], whole, by)
		}
	}
	dividePortable(x[whole:], by)
}
