package checkpoint

import (
	"encoding/binary"
	"fmt"
	"math"
)

// q4Values is the number of values in a block of Q4_0.
const q4Values = 32

// RoundQ4 rounds values to Q4_0 and converts them back to float32, in place, which gives them the
// precision of weights in a GGUF file of that format. Each block of 32 gets a scale that maps the
// value with the largest magnitude to −8, as in ggml. The rows of a matrix can be rounded together
// if each consists of whole blocks. A length that is not a multiple of 32 is an error.
func RoundQ4(values []float32) error {
	if len(values)%q4Values != 0 {
		return fmt.Errorf("%d values, but Q4_0 requires a multiple of %d", len(values), q4Values)
	}
	var block [18]byte
	for ; len(values) > 0; values = values[q4Values:] {
		roundQ4(block[:], values[:q4Values])
		widenLevels(formats[dtypeQ4], values[:q4Values], block[:])
	}
	return nil
}

// roundQ4 writes one block of values to dst [18].
func roundQ4(dst []byte, values []float32) {
	var most float32 // the first value of the largest magnitude
	for _, v := range values {
		if abs(v) > abs(most) {
			most = v
		}
	}
	d, inverse := most/-8, float32(0)
	if d != 0 {
		inverse = 1 / d
	}
	binary.LittleEndian.PutUint16(dst, toF16(d))
	level := func(v float32) byte { return byte(min(15, int(float32(v*inverse)+8.5))) }
	for i := range q4Values / 2 {
		dst[2+i] = level(values[i]) | level(values[i+q4Values/2])<<4
	}
}

func abs(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ (1 << 31)) }

// toF16 rounds to the nearest IEEE 754 binary16 value, ties to even; values
// that are too large become infinite.
func toF16(v float32) uint16 {
	bits := math.Float32bits(v)
	sign, magnitude := uint16(bits>>16)&0x8000, float64(abs(v))
	switch {
	case v != v:
		return sign | 0x7e00
	case magnitude >= 65520: // at least halfway from the largest value, 65504, to 65536
		return sign | 0x7c00
	case magnitude < 0x1p-14: // subnormal: a whole number of 2⁻²⁴
		return sign | uint16(math.RoundToEven(magnitude*0x1p24))
	}
	fraction, exponent := math.Frexp(magnitude) // fraction in [½, 1)
	// There are 11 significant bits, of which the first is implied. A fraction that rounds up to
	// the next power of two correctly carries into the exponent.
	return sign | uint16(math.RoundToEven(fraction*2048)) - 1024 + uint16(exponent-1+15)<<10
}
