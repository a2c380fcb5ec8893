package kernel

// These functions are implemented in assembly and documented in the .s files. Strides are numbers
// of values, not of bytes. The functions write only to dst.

//go:noescape
func cpuid(leaf, sub uint32) (a, b, c, d uint32)

//go:noescape
func xgetbv() uint32

//go:noescape
func floatAVX512x1(dst *float32, dstStride int, w, x *float32, xStride, steps int)

//go:noescape
func floatAVX512x1pair(dst *float32, dstStride int, w, x *float32, xStride, steps int)

//go:noescape
func floatAVX512x2(dst *float32, dstStride int, w, x *float32, xStride, steps int)

//go:noescape
func floatAVX512x2pair(dst *float32, dstStride int, w, x *float32, xStride, steps int)

//go:noescape
func floatAVX512x3(dst *float32, dstStride int, w, x *float32, xStride, steps int)

//go:noescape
func floatAVX512x3pair(dst *float32, dstStride int, w, x *float32, xStride, steps int)

//go:noescape
func floatAVX512x4(dst *float32, dstStride int, w, x *float32, xStride, steps int)

//go:noescape
func floatAVX512x5(dst *float32, dstStride int, w, x *float32, xStride, steps int)

//go:noescape
func floatAVX512x6(dst *float32, dstStride int, w, x *float32, xStride, steps int)

//go:noescape
func floatAVX512x7(dst *float32, dstStride int, w, x *float32, xStride, steps int)

//go:noescape
func floatAVX512x8(dst *float32, dstStride int, w, x *float32, xStride, steps int)

//go:noescape
func floatAVX2x1(dst *float32, dstStride int, w, x *float32, xStride, steps int)

//go:noescape
func floatAVX2x1pair(dst *float32, dstStride int, w, x *float32, xStride, steps int)

//go:noescape
func floatAVX2x2(dst *float32, dstStride int, w, x *float32, xStride, steps int)

//go:noescape
func floatAVX2x3(dst *float32, dstStride int, w, x *float32, xStride, steps int)

//go:noescape
func bfloatAVX512x1(dst *float32, dstStride int, w *uint32, x *float32, xStride, steps int)

//go:noescape
func bfloatAVX512x1pair(dst *float32, dstStride int, w *uint32, x *float32, xStride, steps int)

//go:noescape
func bfloatAVX512x2(dst *float32, dstStride int, w *uint32, x *float32, xStride, steps int)

//go:noescape
func bfloatAVX512x2pair(dst *float32, dstStride int, w *uint32, x *float32, xStride, steps int)

//go:noescape
func bfloatAVX512x3(dst *float32, dstStride int, w *uint32, x *float32, xStride, steps int)

//go:noescape
func bfloatAVX512x3pair(dst *float32, dstStride int, w *uint32, x *float32, xStride, steps int)

//go:noescape
func bfloatAVX512x4(dst *float32, dstStride int, w *uint32, x *float32, xStride, steps int)

//go:noescape
func bfloatAVX512x5(dst *float32, dstStride int, w *uint32, x *float32, xStride, steps int)

//go:noescape
func bfloatAVX512x6(dst *float32, dstStride int, w *uint32, x *float32, xStride, steps int)

//go:noescape
func bfloatAVX512x7(dst *float32, dstStride int, w *uint32, x *float32, xStride, steps int)

//go:noescape
func bfloatAVX512x8(dst *float32, dstStride int, w *uint32, x *float32, xStride, steps int)

//go:noescape
func bfloatAVX2x1(dst *float32, dstStride int, w *uint32, x *float32, xStride, steps int)

//go:noescape
func bfloatAVX2x1pair(dst *float32, dstStride int, w *uint32, x *float32, xStride, steps int)

//go:noescape
func bfloatAVX2x2(dst *float32, dstStride int, w *uint32, x *float32, xStride, steps int)

//go:noescape
func int8VNNIx1(dst *float32, dstStride int, w, x *int8, scale *float32, blocks int)

//go:noescape
func int8VNNIx1pair(dst *float32, dstStride int, w, x *int8, scale *float32, blocks int)

//go:noescape
func int8VNNIx2(dst *float32, dstStride int, w, x *int8, scale *float32, blocks int)

//go:noescape
func int8VNNIx4(dst *float32, dstStride int, w, x *int8, scale *float32, blocks int)

//go:noescape
func int8AVX2x1(dst *float32, dstStride int, w, x *int8, scale *float32, blocks int)

//go:noescape
func levelVNNIx1(dst *float32, dstStride int, w, x *int8, scale *float32, blocks int)

//go:noescape
func levelVNNIx1pair(dst *float32, dstStride int, w, x *int8, scale *float32, blocks int)

//go:noescape
func levelVNNIx2(dst *float32, dstStride int, w, x *int8, scale *float32, blocks int)

//go:noescape
func levelVNNIx4(dst *float32, dstStride int, w, x *int8, scale *float32, blocks int)

//go:noescape
func levelAVX2x1(dst *float32, dstStride int, w, x *int8, scale *float32, blocks int)

//go:noescape
func dotAVX2(dst, q, key *float32, size int, scale float32)

//go:noescape
func scoresAVX2(dst, q, keys *float32, stride, size, groups int, scale float32)

//go:noescape
func mixAVX2(dst, weights, values *float32, stride, size, count int)

//go:noescape
func addScaledAVX2(dst, x *float32, n int, s float32)

//go:noescape
func maxAVX2(x *float32, n int) float32

//go:noescape
func expSumAVX2(x *float32, n int, max float32) float32

//go:noescape
func divideAVX2(x *float32, n int, by float32)

//go:noescape
func swigluAVX2(gate, up *float32, n int)

//go:noescape
func quantizeAVX2(q *int8, scale, x *float32, blocks int, unsigned bool)

//go:noescape
func scaleByAVX2(dst, x, weight *float32, n int, s float32)

//go:noescape
func scoresAVX512x3(dst *float32, dstStride int, q, keys *float32, stride, size, count int, scale float32)

//go:noescape
func mixAVX512x3(dst, weights *float32, weightStride int, values *float32, stride, size, count int)

//go:noescape
func expSumAVX512(x *float32, n int, max float32) float32

//go:noescape
func swigluAVX512(gate, up *float32, n int)

//go:noescape
func mostBitsAVX2(x *float32, n int) uint32
