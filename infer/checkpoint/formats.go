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
	// levels unpacks the integers of one block, without its scale. It is nil if a value is not an
	// integer times the block's scale.
	levels func(q *[levelValues]int8, src []byte)
}

// formats lists all formats that a GGUF or safetensors file may name, including formats that cannot
// be read, so that any file can be described.
var formats = map[dtype]format{
	dtypeF32: {1, 4, widenF32, nil}, dtypeF16: {1, 2, widenF16, nil}, dtypeBF16: {1, 2, widenBF16, nil},
	dtypeQ8: inLevels(34, levelsQ8), dtypeQ4: inLevels(18, levelsQ4), dtypeQ5: inLevels(22, levelsQ5),
	dtypeIQ4NL: inLevels(18, levelsIQ4NL), dtypeQ41: {32, 20, widenQ41, nil}, dtypeQ51: {32, 24, widenQ51, nil},
	dtypeQ4K: {256, 144, widenQ4K, nil}, dtypeQ5K: {256, 176, widenQ5K, nil}, dtypeQ6K: {256, 210, widenQ6K, nil},

	"Q8_1": unread(32, 36), "Q2_K": unread(256, 84), "Q3_K": unread(256, 110), "Q8_K": unread(256, 292),
	"IQ1_S": unread(256, 50), "IQ1_M": unread(256, 56), "IQ2_XXS": unread(256, 66), "IQ2_XS": unread(256, 74),
	"IQ2_S": unread(256, 82), "IQ3_XXS": unread(256, 98), "IQ3_S": unread(256, 110), "IQ4_XS": unread(256, 136),
	"TQ1_0": unread(256, 54), "TQ2_0": unread(256, 66), "MXFP4": unread(32, 17), "NVFP4": unread(64, 36),
	"Q1_0": unread(128, 18), "Q2_0": unread(64, 18),
	"I8": unread(1, 1), "I16": unread(1, 2), "I32": unread(1, 4), "I64": unread(1, 8), "F64": unread(1, 8),
	"U8": unread(1, 1), "U16": unread(1, 2), "U32": unread(1, 4), "U64": unread(1, 8), "BOOL": unread(1, 1),
	"F8_E4M3": unread(1, 1), "F8_E5M2": unread(1, 1), "F8_E8M0": unread(1, 1),
}

// unread returns a format that this program does not read.
func unread(values, bytes int) format { return format{values: values, bytes: bytes} }

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

func widenQ51(dst []float32, src []byte) {
	for ; len(dst) > 0; dst, src = dst[32:], src[24:] {
		d, m, fifth := half(src), half(src[2:]), binary.LittleEndian.Uint32(src[4:])
		for i, b := range src[8:24] {
			low, high := uint32(b&15)|fifth>>i&1<<4, uint32(b>>4)|fifth>>(16+i)&1<<4
			dst[i], dst[16+i] = float32(float32(low)*d)+m, float32(float32(high)*d)+m
		}
	}
}
