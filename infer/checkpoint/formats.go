package checkpoint

import (
	"encoding/binary"
	"math"
)

// dtype is the number format of a tensor in the file, by its usual name.
type dtype string

const (
	dtypeF32  dtype = "F32"  // IEEE 754 binary32
	dtypeF16  dtype = "F16"  // IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits
	dtypeBF16 dtype = "BF16" // the upper half of a binary32: 1 sign, 8 exponent, 7 fraction bits

	// ggml's formats, in blocks of 32 values with one F16 scale d each. Sixteen bytes hold the
	// 4-bit numbers q: the low halves belong to values 0 to 15, and the high halves to values 16 to
	// 31.
	dtypeQ8    dtype = "Q8_0"   // d, 32 signed bytes q; a value is q·d
	dtypeQ4    dtype = "Q4_0"   // d, 16 bytes; (q − 8)·d
	dtypeQ41   dtype = "Q4_1"   // d, an F16 minimum m, 16 bytes; q·d + m
	dtypeQ5    dtype = "Q5_0"   // d, the fifth bits of all q in a uint32, 16 bytes; (q − 16)·d
	dtypeQ51   dtype = "Q5_1"   // d, m, the fifth bits, 16 bytes; q·d + m
	dtypeIQ4NL dtype = "IQ4_NL" // d, 16 bytes; d times the q-th of 16 uneven levels

	// ggml's K-quants: blocks of 256 values, divided into parts whose scales are themselves 6-bit
	// or 8-bit numbers (kquants.go).
	dtypeQ4K dtype = "Q4_K"
	dtypeQ5K dtype = "Q5_K"
	dtypeQ6K dtype = "Q6_K"
)

// A format describes how a dtype stores its values.
type format struct {
	values, bytes int // size of a block, the smallest unit that can be read
	// widen converts whole blocks to float32, with ggml's arithmetic and rounding. It is nil if
	// this program does not read the format.
	widen func(dst []float32, src []byte)
}

// formats lists all formats that a GGUF or safetensors file may name, including formats that cannot
// be read, so that any file can be described.
var formats = map[dtype]format{
	dtypeF32: {1, 4, widenF32}, dtypeF16: {1, 2, widenF16}, dtypeBF16: {1, 2, widenBF16},
	dtypeQ8: {32, 34, widenQ8}, dtypeQ4: {32, 18, widenQ4}, dtypeQ41: {32, 20, widenQ41},
	dtypeQ5: {32, 22, widenQ5}, dtypeQ51: {32, 24, widenQ51}, dtypeIQ4NL: {32, 18, widenIQ4NL},
	dtypeQ4K: {256, 144, widenQ4K}, dtypeQ5K: {256, 176, widenQ5K}, dtypeQ6K: {256, 210, widenQ6K},

	"Q8_1": {32, 36, nil}, "Q2_K": {256, 84, nil}, "Q3_K": {256, 110, nil}, "Q8_K": {256, 292, nil},
	"IQ1_S": {256, 50, nil}, "IQ1_M": {256, 56, nil}, "IQ2_XXS": {256, 66, nil}, "IQ2_XS": {256, 74, nil},
	"IQ2_S": {256, 82, nil}, "IQ3_XXS": {256, 98, nil}, "IQ3_S": {256, 110, nil}, "IQ4_XS": {256, 136, nil},
	"TQ1_0": {256, 54, nil}, "TQ2_0": {256, 66, nil}, "MXFP4": {32, 17, nil}, "NVFP4": {64, 36, nil},
	"Q1_0": {128, 18, nil}, "Q2_0": {64, 18, nil},
	"I8": {1, 1, nil}, "I16": {1, 2, nil}, "I32": {1, 4, nil}, "I64": {1, 8, nil}, "F64": {1, 8, nil},
	"U8": {1, 1, nil}, "U16": {1, 2, nil}, "U32": {1, 4, nil}, "U64": {1, 8, nil}, "BOOL": {1, 1, nil},
	"F8_E4M3": {1, 1, nil}, "F8_E5M2": {1, 1, nil}, "F8_E8M0": {1, 1, nil},
}

// readable lists the formats that can be read, for messages.
const (
	readableGGUF = "supported types are F32, F16, BF16, Q8_0, Q6_K, Q5_K, Q5_1, Q5_0, Q4_K, Q4_1, Q4_0 " +
		"and IQ4_NL"
	readableSafetensors = "supported types are F32, F16 and BF16"
)

// half decodes a little-endian F16.
func half(src []byte) float32 { return fromF16(binary.LittleEndian.Uint16(src)) }

func widenF32(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
	}
}

func widenF16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = half(src[2*i:])
	}
}

func widenBF16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(src[2*i:])) << 16)
	}
}

func widenQ8(dst []float32, src []byte) {
	for ; len(dst) > 0; dst, src = dst[32:], src[34:] {
		d := half(src)
		for i, b := range src[2:34] {
			dst[i] = float32(int8(b)) * d
		}
	}
}

func widenQ4(dst []float32, src []byte) {
	for ; len(dst) > 0; dst, src = dst[32:], src[18:] {
		d := half(src)
		for i, b := range src[2:18] {
			dst[i], dst[16+i] = float32(int(b&15)-8)*d, float32(int(b>>4)-8)*d
		}
	}
}

// As in ggml, the products below are rounded to float32 before anything is added to them: the
// conversions prevent a fused multiply-add.

func widenQ41(dst []float32, src []byte) {
	for ; len(dst) > 0; dst, src = dst[32:], src[20:] {
		d, m := half(src), half(src[2:])
		for i, b := range src[4:20] {
			dst[i], dst[16+i] = float32(float32(b&15)*d)+m, float32(float32(b>>4)*d)+m
		}
	}
}

func widenQ5(dst []float32, src []byte) {
	for ; len(dst) > 0; dst, src = dst[32:], src[22:] {
		d, fifth := half(src), binary.LittleEndian.Uint32(src[2:])
		for i, b := range src[6:22] {
			low, high := uint32(b&15)|fifth>>i&1<<4, uint32(b>>4)|fifth>>(16+i)&1<<4
			dst[i], dst[16+i] = float32(int(low)-16)*d, float32(int(high)-16)*d
		}
	}
}

func widenQ51(dst []float32, src []byte) {
	for ; len(dst) > 0; dst, src = dst[32:], src[24:] {
		d, m, fifth := half(src), half(src[2:]), binary.LittleEndian.Uint32(src[4:])
		for i, b := range src[8:24] {
			low, high := uint32(b&15)|fifth>>i&1<<4, uint32(b>>4)|fifth>>(16+i)&1<<4
			dst[i], dst[16+i] = float32(float32(low)*d)+m, float32(float32(high)*d)+m
		}
	}
}

// unevenLevels lists the 16 levels of IQ4_NL, which are closer together near zero, where most
// weights are.
var unevenLevels = [16]float32{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}

func widenIQ4NL(dst []float32, src []byte) {
	for ; len(dst) > 0; dst, src = dst[32:], src[18:] {
		d := half(src)
		for i, b := range src[2:18] {
			dst[i], dst[16+i] = d*unevenLevels[b&15], d*unevenLevels[b>>4]
		}
	}
}
