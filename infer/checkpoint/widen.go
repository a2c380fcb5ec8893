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
)

// size returns the bytes of one value.
func (d dtype) size() int64 {
	if d == dtypeF32 {
		return 4
	}
	return 2
}

// widenBuffer is how much of a file is read at a time: the copy in float32 is
// then the only large allocation.
const widenBuffer = 64 << 10

// widen reads t's values as float32; every F16 and BF16 value is one exactly.
// A NaN or an infinity is refused: one of them would silently spread through
// every later number. The error starts with its index in square brackets.
func (t tensor) widen(r io.ReaderAt) ([]float32, error) {
	size := int(t.dtype.size())
	values := make([]float32, t.bytes/int64(size))
	buf := make([]byte, min(widenBuffer, t.bytes))
	for done := 0; done < len(values); {
		chunk := buf[:min(len(buf), (len(values)-done)*size)]
		if err := readFull(r, chunk, t.offset+int64(done*size)); err != nil {
			return nil, fmt.Errorf(": %w", err)
		}
		dst := values[done : done+len(chunk)/size]
		t.dtype.widen(dst, chunk)
		for i, v := range dst {
			if v-v != 0 { // true of NaN and ±Inf alone
				return nil, fmt.Errorf("%v is %v", unravel(done+i, t.shape), v)
			}
		}
		done += len(dst)
	}
	return values, nil
}

// widen converts len(dst) little-endian values from src.
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
	}
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
