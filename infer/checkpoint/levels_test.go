package checkpoint

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// TestLevelsAreTheWidenedValues: for each format in levels, the levels times their scales are the widened
// values, in the order of the layout.
func TestLevelsAreTheWidenedValues(t *testing.T) {
	for _, kind := range []dtype{dtypeQ8, dtypeQ5, dtypeQ4, dtypeIQ4NL} {
		for _, o := range []order{{}, {interleaved: 2}} {
			x := levelTensor(kind, 8, 64)
			x.order = o
			data := make([]byte, x.bytes)
			for i := range data {
				data[i] = byte(i*37 + i/7)
			}
			for at := 0; at < len(data); at += formats[kind].bytes {
				data[at+1] = 0x2c + byte(at%3) // a scale between 0.06 and 0.3
				if kind == dtypeQ8 {
					for i, b := range data[at+2 : at+34] {
						if b == 0x80 {
							data[at+2+i] = 1
						}
					}
				}
			}
			want, err := x.widen(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			l, err := x.readLevels(bytes.NewReader(data))
			if err != nil || l == nil {
				t.Fatalf("%s: got %v, %v", kind, l, err)
			}
			var got []float32
			for i, q := range l.Values {
				got = append(got, float32(q)*l.Scales[i/32])
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, %+v: got %v, want %v", kind, o, got, want)
			}
		}
	}
}

// levelTensor returns a matrix at the start of a file.
func levelTensor(kind dtype, rows, cols int) tensor {
	f := formats[kind]
	return tensor{name: "w", dtype: kind, shape: []int{rows, cols}, bytes: int64(rows * cols / f.values * f.bytes)}
}

// TestLevelsByHand: of two rows with a block each, the second has a scale of 0.5 (0x3800) and the levels 1,
// −1, 127 and −127.
func TestLevelsByHand(t *testing.T) {
	data := append(make([]byte, 34), append([]byte{0x00, 0x38, 1, 0xff, 127, 0x81}, make([]byte, 28)...)...)
	l, err := levelTensor(dtypeQ8, 2, 32).readLevels(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := l.Values[32:36], []int8{1, -1, 127, -127}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if want := []float32{0, 0.5}; !slices.Equal(l.Scales, want) {
		t.Errorf("got scales %v, want %v", l.Scales, want)
	}
}

// TestLevelsRefuseDamage: an infinite scale, NaN and a truncated matrix are errors, as when values are
// widened. A value of −128 is none, but the matrix must then be widened.
func TestLevelsRefuseDamage(t *testing.T) {
	x := levelTensor(dtypeQ8, 2, 32)
	for name, c := range map[string]struct {
		change func(data []byte) []byte
		want   string
	}{
		"infinite scale, level 0": {func(d []byte) []byte { d[35] = 0x7c; return d }, "[1 0] is NaN"},
		"infinite scale, level 3": {func(d []byte) []byte { d[35], d[36] = 0x7c, 3; return d }, "[1 0] is +Inf"},
		"NaN":                     {func(d []byte) []byte { d[1], d[2] = 0x7e, 3; return d }, "[0 0] is NaN"},
		"truncated":               {func(d []byte) []byte { return d[:50] }, "EOF"},
	} {
		data := c.change(make([]byte, 68))
		_, wide := x.widen(bytes.NewReader(data))
		_, err := x.readLevels(bytes.NewReader(data))
		if err == nil || !strings.Contains(err.Error(), c.want) || wide == nil || wide.Error() != err.Error() {
			t.Errorf("%s: got %v, and %v when widened; want %q", name, err, wide, c.want)
		}
	}
	data := make([]byte, 68)
	data[40] = 0x80
	if l, err := x.readLevels(bytes.NewReader(data)); l != nil || err != nil {
		t.Errorf("a value of −128: got %v, %v, want neither", l, err)
	}
}
