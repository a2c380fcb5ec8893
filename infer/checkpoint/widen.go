package checkpoint

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// dtype is the number format of a tensor in the file.
type dtype string

const (
	dtypeF32  dtype = "F32"  // IEEE 754 binary32
	dtypeF16  dtype = "F16"  // IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits
	dtypeBF16 dtype = "BF16" // the upper half of a binary32: 1 sign, 8 exponent, 7 fraction bits

	// GGUF's, in blocks of 32 values with one F16 scale in front.
	dtypeQ8 dtype = "Q8_0" // 32 signed bytes; a value is byte × scale
	dtypeQ4 dtype = "Q4_0" // 16 bytes: values 0 to 15 in the low halves, 16 to 31 in the high; (half − 8) × scale
)

// block returns how many values stand together and the bytes that they take.
func (d dtype) block() (values, bytes int) {
	switch d {
	case dtypeF32:
		return 1, 4
	case dtypeQ8:
		return 32, 2 + 32
	case dtypeQ4:
		return 32, 2 + 16
	}
	return 1, 2
}

// widenBuffer is about how much of a file is read at a time: the copy in
// float32 is then the only large allocation. It is a whole number of blocks of
// every type.
const widenBuffer = 4 * 34 * 18 * 32

// widen reads t's values as float32, in the order of the layout. Every value of
// every type is one exactly: a block's scale has 11 significant bits, what it
// multiplies at most 8.
func (t tensor) widen(r io.ReaderAt) ([]float32, error) {
	values := make([]float32, 0, t.values())
	err := t.each(r, func(part []float32) { values = append(values, part...) })
	if err != nil {
		return nil, err
	}
	return t.order.restore(values, t.shape), nil
}

// values is how many values the tensor has.
func (t tensor) values() int64 {
	n, bytes := t.dtype.block()
	return t.bytes / int64(bytes) * int64(n)
}

// each reads t's values part by part, in the order of the file. A NaN or an
// infinity is refused: one of them would silently spread through every later
// number. The error starts with its index in square brackets.
func (t tensor) each(r io.ReaderAt, use func(part []float32)) error {
	values, bytes := t.dtype.block()
	buf := make([]byte, min(widenBuffer, t.bytes))
	wide := make([]float32, len(buf)/bytes*values)
	for read := int64(0); read < t.bytes; {
		chunk := buf[:min(int64(len(buf)), t.bytes-read)]
		if err := readFull(r, chunk, t.offset+read); err != nil {
			return fmt.Errorf(": %w", err)
		}
		part := wide[:len(chunk)/bytes*values]
		t.dtype.widen(part, chunk)
		for i, v := range part {
			if v-v != 0 { // true of NaN and ±Inf alone
				return fmt.Errorf("%v is %v", unravel(int(read)/bytes*values+i, t.shape), v)
			}
		}
		use(part)
		read += int64(len(chunk))
	}
	return nil
}

// widen converts len(dst) little-endian values from src, whole blocks.
func (d dtype) widen(dst []float32, src []byte) {
	switch d {
	case dtypeF32:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
		}
	case dtypeF16:
		for i := range dst {
			dst[i] = fromF16(binary.LittleEndian.Uint16(src[2*i:]))
		}
	case dtypeBF16:
		for i := range dst {
			dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(src[2*i:])) << 16)
		}
	case dtypeQ8:
		for ; len(dst) > 0; dst, src = dst[32:], src[34:] {
			scale := fromF16(binary.LittleEndian.Uint16(src))
			for i, b := range src[2:34] {
				dst[i] = float32(int8(b)) * scale
			}
		}
	case dtypeQ4:
		for ; len(dst) > 0; dst, src = dst[32:], src[18:] {
			scale := fromF16(binary.LittleEndian.Uint16(src))
			for i, b := range src[2:18] {
				dst[i], dst[16+i] = float32(int(b&15)-8)*scale, float32(int(b>>4)-8)*scale
			}
		}
	}
}

// An order says how a file arranges the values of a matrix, where not row by
// row as the layout has it.
type order struct {
	transposed bool // column by column: rows are inputs
	// interleaved is set for matrices of queries and keys whose rotary pairs
	// are neighbouring rows, and is the number of their heads. The layout has
	// the first rows of all pairs of a head, then the second.
	interleaved int
	lessOne     bool // the file keeps each value less one
}

// stored returns the shape that the file gives to a matrix of a shape.
func (o order) stored(shape []int) []int {
	if o.transposed {
		return []int{shape[1], shape[0]}
	}
	return shape
}

// restore returns values, of the shape that the file gives, in the layout's
// order. They are not changed.
func (o order) restore(values []float32, shape []int) []float32 {
	switch {
	case o.transposed:
		rows, cols := shape[0], shape[1]
		out := make([]float32, len(values))
		for r := range rows {
			for c, v := range values[r*cols : (r+1)*cols] {
				out[c*rows+r] = v
			}
		}
		return out
	case o.interleaved > 0:
		head, cols := shape[0]/o.interleaved, 1 // rows a head, values a row
		for _, n := range shape[1:] {
			cols *= n
		}
		out := make([]float32, len(values))
		for r := range shape[0] {
			pair, second := r%head/2, r%2
			to := r/head*head + second*head/2 + pair
			copy(out[to*cols:(to+1)*cols], values[r*cols:(r+1)*cols])
		}
		return out
	case o.lessOne:
		out := make([]float32, len(values))
		for i, v := range values {
			out[i] = 1 + v
		}
		return out
	}
	return values
}

// fromF16 widens one IEEE 754 binary16 value.
func fromF16(h uint16) float32 {
	sign := uint32(h>>15) << 31
	exponent := uint32(h >> 10 & 0x1f)
	fraction := uint32(h & 0x3ff)
	switch exponent {
	case 0: // zero and subnormals: fraction × 2⁻²⁴, which a float32 holds exactly
		magnitude := float32(fraction) / (1 << 24)
		return math.Float32frombits(sign | math.Float32bits(magnitude))
	case 31: // infinity and NaN
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	}
	const rebias = 127 - 15
	return math.Float32frombits(sign | (exponent+rebias)<<23 | fraction<<13)
}

// unravel turns the flat index i into one index per dimension, the last
// dimension running fastest.
func unravel(i int, shape []int) []int {
	index := make([]int, len(shape))
	for d := len(shape) - 1; d >= 0; d-- {
		index[d] = i % shape[d]
		i /= shape[d]
	}
	return index
}
