package checkpoint

import (
	"bytes"
	"math"
	"testing"
)

// inputs returns the values that testdata/ggml/ask.c passes to ggml for rounding, computed in the
// same way: n blocks for the format with the given number.
func inputs(number uint64, n, values int) []float32 {
	state := number
	next := func() uint64 { // splitmix64
		state += 0x9e3779b97f4a7c15
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return z ^ z>>31
	}
	list := make([]float32, 0, n*values)
	for block := range n {
		unit := 1 / float32(int(1)<<(16+block%8))
		for range values {
			r := next()
			sum := int32(r&0xffff) + int32(r>>16&0xffff) + int32(r>>32&0xffff) + int32(r>>48) - 131070
			if block%8 == 7 {
				sum = sum / 16384 * 16384
			}
			if block == 0 {
				sum = 0
			}
			list = append(list, float32(sum)*unit)
		}
	}
	return list
}

// TestRoundQ4MatchesGGML: values are rounded to Q4_0 exactly as in ggml, to the last bit of every
// block.
func TestRoundQ4MatchesGGML(t *testing.T) {
	want := readGGML(t, dtypeQ4)
	values := inputs(2, want.rounded, q4Values)
	block := make([]byte, 18)
	for i := range want.rounded {
		if roundQ4(block, values[i*q4Values:][:q4Values]); !bytes.Equal(block, want.blocks[i*18:][:18]) {
			t.Fatalf(
				"block %d of %v is % x, want % x as in ggml", i, values[i*q4Values:][:q4Values], block,
				want.blocks[i*18:][:18],
			)
		}
	}
	if err := RoundQ4(values); err != nil {
		t.Fatal(err)
	}
	for i := range want.rounded {
		if block := values[i*q4Values:][:q4Values]; fnv1a(block) != want.hashes[i] {
			t.Fatalf("block %d, rounded and converted back, is %v, want fnv1a(block) = %d", i, block, want.hashes[i])
		}
	}
	if err := RoundQ4(make([]float32, 33)); err == nil {
		t.Error("got no error for 33 values")
	}
}

// TestToF16RoundsToEven: every binary16 value is unchanged after conversion to float32 and back. A
// value halfway between two binary16 values is rounded to the even one, and a value slightly above
// or below the middle is rounded to the nearer one.
func TestToF16RoundsToEven(t *testing.T) {
	for h := range uint16(0x7c00) {
		v := fromF16(h)
		if got := toF16(v); got != h {
			t.Fatalf("%v is %#04x, want %#04x", v, got, h)
		}
		if got := toF16(-v); got != h|0x8000 {
			t.Fatalf("%v is %#04x, want %#04x", -v, got, h|0x8000)
		}
		if h == 0x7bff {
			break
		}
		half := (v + fromF16(h+1)) / 2 // exact: one bit more than a binary16 has
		even := h + h&1
		below, above := math.Nextafter32(half, 0), math.Nextafter32(half, 1e6)
		if got := [3]uint16{toF16(below), toF16(half), toF16(above)}; got != [3]uint16{h, even, h + 1} {
			t.Fatalf("around %v: %#04x, want %#04x %#04x %#04x", half, got, h, even, h+1)
		}
	}
	for v, want := range map[float32]uint16{65519: 0x7bff, 65520: 0x7c00, 1e30: 0x7c00, -1e30: 0xfc00, 1e-30: 0} {
		if got := toF16(v); got != want {
			t.Errorf("%v is %#04x, want %#04x", v, got, want)
		}
	}
}
