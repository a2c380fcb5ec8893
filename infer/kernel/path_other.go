//go:build !amd64

package kernel

func detect() Path { return Portable }

func pairColumns(Path) int { return 1 }

func floatPair(_ Path, dst []float32, stride int, w, x []float32, cols, n int) {
	half := len(w) / 2
	floatPortable(dst, stride, w[:half], x, cols, n)
	floatPortable(dst[panelRows:], stride, w[half:], x, cols, n)
}

func floatPanel(_ Path, dst []float32, stride int, w, x []float32, cols, n int) {
	floatPortable(dst, stride, w, x, cols, n)
}

func bfloatPair(_ Path, dst []float32, stride int, w []uint32, x []float32, cols, n int) {
	half := len(w) / 2
	bfloatPortable(dst, stride, w[:half], x, cols, n)
	bfloatPortable(dst[panelRows:], stride, w[half:], x, cols, n)
}

func bfloatPanel(_ Path, dst []float32, stride int, w []uint32, x []float32, cols, n int) {
	bfloatPortable(dst, stride, w, x, cols, n)
}

func bytePair(_ Path, l layout, dst []float32, w []int8, q *quantized) {
	half := len(w) / 2
	bytesPortable(l, dst, 0, w[:half], q.values, q.scales, 1)
	bytesPortable(l, dst[panelRows:], 0, w[half:], q.values, q.scales, 1)
}

func bytePanel(_ Path, l layout, dst []float32, stride int, w, values []int8, scales []float32, n int) {
	bytesPortable(l, dst, stride, w, values, scales, n)
}

func quantizeBlocks(_ Path, values []int8, scales, x []float32) {
	quantizePortable(values, scales, x)
}

func dot(_ Path, a, b []float32, scale float32) float32 { return dotPortable(a, b, scale) }

func addScaled(_ Path, dst []float32, s float32, x []float32) { addScaledPortable(dst, s, x) }

func scores(_ Path, dst, q, keys []float32, stride int, scale float32) {
	scoresPortable(dst, q, keys, stride, scale)
}

func mix(_ Path, dst, weights, values []float32, stride int) {
	mixPortable(dst, weights, values, stride)
}

func scoresThree(_ Path, _, _, _ []float32, _ int, _ float32) bool { return false }

func mixThree(_ Path, _, _, _ []float32, _ int) bool { return false }

func scaleBy(_ Path, dst, x, weight []float32, s float32) { scaleByPortable(dst, x, weight, s) }

func mostBits(_ Path, x []float32) uint32 { return mostBitsPortable(x) }

func softmax(_ Path, w []float32) { softmaxPortable(w) }

func swiglu(_ Path, gate, up []float32) { swigluPortable(gate, up) }
