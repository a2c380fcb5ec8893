package checkpoint

import (
	"fmt"
	"io"
	"math"
)

// widenBuffer is the approximate number of bytes that are read from a file at a time. It is small,
// so the float32 copy is the only large allocation.
const widenBuffer = 64 << 10

// widen returns t's values as float32, in the order of the layout.
func (t tensor) widen(r io.ReaderAt) ([]float32, error) {
	values := make([]float32, 0, t.values())
	err := t.each(r, func(part []float32) { values = append(values, part...) })
	if err != nil {
		return nil, err
	}
	if t.order.lessOne {
		for i, v := range values {
			values[i] = 1 + v
		}
	}
	return restore(t.order, values, t.shape), nil
}

// values returns the number of values in the tensor, or 0 if its format is unknown.
func (t tensor) values() int64 {
	f, known := formats[t.dtype]
	if !known {
		return 0
	}
	return t.bytes / int64(f.bytes) * int64(f.values)
}

// each reads t's values part by part, in the order of the file. It rejects NaN and infinities,
// because a single such value would silently spread to every later result. The error starts with
// the value's index in square brackets.
func (t tensor) each(r io.ReaderAt, use func(part []float32)) error {
	f, read := formats[t.dtype], 0 // values
	if f.widen == nil {
		return fmt.Errorf(" has unsupported type %s", t.dtype)
	}
	wide := make([]float32, min(int64(widenBuffer/f.bytes*f.values), t.values()))
	return t.chunks(r, func(chunk []byte) error {
		part := wide[:len(chunk)/f.bytes*f.values]
		f.widen(part, chunk)
		if i := endless(part); i >= 0 {
			return fmt.Errorf("%v is %v", unravel(read+i, t.shape), part[i])
		}
		use(part)
		read += len(part)
		return nil
	})
}

// chunks reads t's bytes in the order of the file, in chunks of whole blocks, at most widenBuffer bytes
// each. It stops at the first error.
func (t tensor) chunks(r io.ReaderAt, use func(chunk []byte) error) error {
	size := formats[t.dtype].bytes
	buf := make([]byte, min(int64(widenBuffer/size*size), t.bytes))
	for read := int64(0); read < t.bytes; {
		chunk := buf[:min(int64(len(buf)), t.bytes-read)]
		if err := readFull(r, chunk, t.offset+read); err != nil {
			return fmt.Errorf(": %w", err)
		}
		if err := use(chunk); err != nil {
			return err
		}
		read += int64(len(chunk))
	}
	return nil
}

// endless returns the index of the first value that is NaN or infinite, or -1.
func endless(values []float32) int {
	for i, v := range values {
		if v-v != 0 { // true only for NaN and ±Inf
			return i
		}
	}
	return -1
}

// An order describes how a file arranges the values of a matrix if it does not use the layout's
// order, which is row by row.
type order struct {
	transposed bool // column by column: rows are inputs
	// interleaved is the number of heads if this is a query or key matrix in which the two rows of
	// each rotary pair are adjacent, and 0 otherwise. In the layout, each head's rows begin with
	// the first rows of all pairs, followed by the second rows.
	interleaved int
	lessOne     bool // the file stores each value minus one
}

// stored returns the file's shape for a matrix with the given shape.
func (o order) stored(shape []int) []int {
	if o.transposed {
		return []int{shape[1], shape[0]}
	}
	return shape
}

// restore converts values from the file's order to the layout's. It does not modify its argument.
func restore[T any](o order, values []T, shape []int) []T {
	switch {
	case o.transposed:
		rows, cols := shape[0], shape[1]
		out := make([]T, len(values))
		for r := range rows {
			for c, v := range values[r*cols : (r+1)*cols] {
				out[c*rows+r] = v
			}
		}
		return out
	case o.interleaved > 0:
		head, cols := shape[0]/o.interleaved, 1 // rows per head, values per row
		for _, n := range shape[1:] {
			cols *= n
		}
		out := make([]T, len(values))
		for r := range shape[0] {
			pair, second := r%head/2, r%2
			to := r/head*head + second*head/2 + pair
			copy(out[to*cols:(to+1)*cols], values[r*cols:(r+1)*cols])
		}
		return out
	}
	return values
}

// fromF16 converts one IEEE 754 binary16 value to float32.
func fromF16(h uint16) float32 {
	sign := uint32(h>>15) << 31
	exponent := uint32(h >> 10 & 0x1f)
	fraction := uint32(h & 0x3ff)
	switch exponent {
	case 0: // zero and subnormals: fraction × 2⁻²⁴, which is exact in float32
		magnitude := float32(fraction) / (1 << 24)
		return math.Float32frombits(sign | math.Float32bits(magnitude))
	case 31: // infinity and NaN
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	}
	const rebias = 127 - 15
	return math.Float32frombits(sign | (exponent+rebias)<<23 | fraction<<13)
}

// unravel converts the flat index i to one index per dimension, with the last dimension varying
// fastest.
func unravel(i int, shape []int) []int {
	index := make([]int, len(shape))
	for d := len(shape) - 1; d >= 0; d-- {
		index[d] = i % shape[d]
		i /= shape[d]
	}
	return index
}
