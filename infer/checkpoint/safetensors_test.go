package checkpoint

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

// file assembles a safetensors file from a header and data, which need not be valid.
func file(header string, data ...byte) []byte {
	prefix := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return slices.Concat(prefix, []byte(header), data)
}

// stored is a tensor to write, with its values encoded as in the file.
type stored struct {
	name  string
	dtype string
	shape []int
	data  []byte
}

// writeSafetensors returns a file with the tensors one after another.
func writeSafetensors(tensors ...stored) []byte {
	entries := []string{`"__metadata__":{"format":"pt"}`}
	var data []byte
	for _, t := range tensors {
		shape := strings.ReplaceAll(fmt.Sprint(t.shape), " ", ",")
		begin := len(data)
		data = append(data, t.data...)
		entries = append(
			entries,
			fmt.Sprintf(`%q:{"dtype":%q,"shape":%s,"data_offsets":[%d,%d]}`, t.name, t.dtype, shape, begin, len(data)),
		)
	}
	return file("{"+strings.Join(entries, ",")+"}", data...)
}

func words16(words ...uint16) (data []byte) {
	for _, w := range words {
		data = binary.LittleEndian.AppendUint16(data, w)
	}
	return data
}

func words32(words ...uint32) (data []byte) {
	for _, w := range words {
		data = binary.LittleEndian.AppendUint32(data, w)
	}
	return data
}

// fromBytes opens a file without a model folder around it.
func fromBytes(t *testing.T, data []byte) *Checkpoint {
	t.Helper()
	r := bytes.NewReader(data)
	tensors, err := parseSafetensors(r, r.Size())
	if err != nil {
		t.Fatal(err)
	}
	return &Checkpoint{tensors: tensors, weights: inMemory(r)}
}

// fileWeights is like inMemory, but takes a file's bytes.
func fileWeights(data []byte) *weights { return inMemory(bytes.NewReader(data)) }

// inMemory returns weights that consist of a single file.
func inMemory(r *bytes.Reader) *weights {
	w := &weights{}
	w.add(shard{name: weightsFile, ReaderAt: r, Closer: io.NopCloser(nil), size: r.Size()})
	return w
}

func TestWidenByHand(t *testing.T) {
	negativeZero := float32(math.Copysign(0, -1))
	tests := []struct {
		dtype string
		data  []byte
		want  []float32
	}{
		{"F32", words32(
			0x3f800000, // 2^0
			0xc0490fdb, // -π
			0x00000001, // smallest subnormal, 2^-149
			0x80000000, // -0
			0x7f7fffff, // largest
		), []float32{1, -math.Pi, 0x1p-149, negativeZero, math.MaxFloat32}},
		{"F16", words16(
			0x3c00, // exponent 15: 2^0
			0xc500, // exponent 17, fraction 256/1024: -2^2 × 1.25
			0x3555, // exponent 13, fraction 341/1024: 2^-2 × 1365/1024
			0x7bff, // exponent 30, fraction 1023/1024: 2^15 × 2047/1024
			0x0400, // exponent 1: smallest normal, 2^-14
			0x03ff, // exponent 0: largest subnormal, 1023 × 2^-24
			0x0001, // smallest subnormal, 2^-24
			0x8200, // -512 × 2^-24
			0x8000, // -0
		), []float32{1, -5, 1365.0 / 4096, 65504, 0x1p-14, 1023 * 0x1p-24, 0x1p-24, -0x1p-15, negativeZero}},
		{"BF16", words16(
			0x3f80, // exponent 127: 2^0
			0xc0a0, // exponent 129, fraction 32/128: -2^2 × 1.25
			0x3eab, // exponent 125, fraction 43/128: 2^-2 × 171/128
			0x0080, // smallest normal, 2^-126
			0x0001, // smallest subnormal, 2^-133
			0x8000, // -0
			0x7f7f, // largest: 2^127 × 255/128
		), []float32{1, -5, 171.0 / 512, 0x1p-126, 0x1p-133, negativeZero, 255 * 0x1p120}},
	}
	for _, test := range tests {
		t.Run(test.dtype, func(t *testing.T) {
			c := fromBytes(t, writeSafetensors(stored{"w", test.dtype, []int{len(test.want)}, test.data}))
			got, err := c.Float32("w", len(test.want))
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range test.want {
				if math.Float32bits(got[i]) != math.Float32bits(want) {
					t.Errorf("value %d is %g, want %g", i, got[i], want)
				}
			}
			if c.Bytes() != int64(len(test.data)) {
				t.Errorf("Bytes() = %d, want %d", c.Bytes(), len(test.data))
			}
		})
	}
}

// TestEveryF16Value: every half-precision number must equal its definition: (-1)^s × 2^(e-15) × (1
// + f/1024), or f × 2^-24 if e is 0.
func TestEveryF16Value(t *testing.T) {
	for h := range 1 << 16 {
		sign, e, f := 1-2*float64(h>>15), h>>10&31, float64(h&1023)
		want := sign * math.Ldexp(1+f/1024, e-15)
		switch {
		case e == 0:
			want = sign * math.Ldexp(f, -24)
		case e == 31 && f == 0:
			want = math.Inf(int(sign))
		case e == 31:
			want = math.NaN()
		}
		got := float64(fromF16(uint16(h)))
		if got != want && (got == got || want == want) || math.Signbit(got) != (h>>15 == 1) {
			t.Fatalf("%#04x is %g, want %g", h, got, want)
		}
	}
}

// TestWidenAcrossBuffers: a tensor that is longer than the read buffer and follows another tensor
// is read completely.
func TestWidenAcrossBuffers(t *testing.T) {
	const rows, columns = 3, widenBuffer / 4
	var long []uint32
	for i := range rows * columns {
		long = append(long, math.Float32bits(float32(i)))
	}
	c := fromBytes(t, writeSafetensors(
		stored{"first", "F16", []int{1}, words16(0x3c00)},
		stored{"scalar", "BF16", []int{}, words16(0x4000)},
		stored{"empty", "F32", []int{0, 5}, nil},
		stored{"long", "F32", []int{rows, columns}, words32(long...)},
	))
	got, err := c.Float32("long", rows, columns)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if v != float32(i) {
			t.Fatalf("value %d is %v, want %d", i, v, i)
		}
	}
	if scalar, err := c.Float32("scalar"); err != nil || !slices.Equal(scalar, []float32{2}) {
		t.Errorf("scalar is %v, %v, want [2]", scalar, err)
	}
	if empty, err := c.Float32("empty", 0, 5); err != nil || len(empty) != 0 {
		t.Errorf("empty is %v, %v, want no values", empty, err)
	}
}

func TestFloat32RefusesWrongTensors(t *testing.T) {
	const q = "model.layers.3.self_attn.q_proj.weight"
	const inf32, nan16, inf16 = 0x7f800000, 0x7e00, 0xff80
	last := make([]byte, 2*widenBuffer)
	binary.LittleEndian.PutUint16(last[len(last)-2:], inf16)
	c := fromBytes(t, writeSafetensors(
		stored{q, "F32", []int{2, 3}, words32(0, 0, 0, 0, 0, inf32)},
		stored{"model.norm.weight", "F16", []int{2}, words16(nan16, 0)},
		stored{"last", "BF16", []int{2, widenBuffer / 2}, last},
	))
	tests := []struct {
		name  string
		shape []int
		want  string
	}{
		{q, []int{2, 3}, "layer 3: self_attn.q_proj.weight[1 2] is +Inf"},
		{q, []int{3, 2}, "layer 3: self_attn.q_proj has shape [2 3], want [3 2]"},
		{q, []int{6}, "layer 3: self_attn.q_proj has shape [2 3], want [6]"},
		{"model.norm.weight", []int{2}, "model.norm.weight[0] is NaN"},
		{"last", []int{2, widenBuffer / 2}, fmt.Sprintf("last[1 %d] is -Inf", widenBuffer/2-1)},
		{"model.layers.3.mlp.up_proj.weight", []int{1}, "layer 3: missing mlp.up_proj.weight"},
		{"lm_head.weight", nil, "missing lm_head.weight"},
	}
	for _, test := range tests {
		if _, err := c.Float32(test.name, test.shape...); err == nil || err.Error() != test.want {
			t.Errorf("Float32(%q, %v): %v, want %s", test.name, test.shape, err, test.want)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Float32("last", 2, widenBuffer/2); err == nil || err.Error() != "last: checkpoint is closed" {
		t.Errorf("after Close: got error %v, want the error %q", err, "last: checkpoint is closed")
	}
}

// malformed lists malformed files, each with part of the expected message. Where the length of the
// data matters, it is 8 bytes.
var malformed = []struct {
	name string
	file []byte
	want string
}{
	{"empty file", nil, "file has 0 bytes, want at least 8"},
	{"seven bytes", make([]byte, 7), "file has 7 bytes, want at least 8"},
	{
		"header beyond limit", binary.LittleEndian.AppendUint64(nil, 1<<62),
		"header length of 4611686018427387904 bytes exceeds the limit of 104857600",
	},
	{
		"header length negative as int64", binary.LittleEndian.AppendUint64(nil, 1<<63+5),
		"header length of 9223372036854775813 bytes",
	},
	{"header beyond file", binary.LittleEndian.AppendUint64(nil, 100), "header length is 100 bytes, but only 0 bytes"},
	{"no header", file(``), "header ends unexpectedly, want '{'"},
	{"not an object", file(`[]`), "header byte 0: found '[', want '{'"},
	{"cut off", file(`{"a":{"dtype":"F32",`), "header ends unexpectedly, want '\"'"},
	{"open string", file(`{"a`), "unterminated string"},
	{"ends in escape", file(`{"a\`), "unterminated string"},
	{"control character", file("{\"a\nb\":{}}"), "control character"},
	{"broken UTF-8", file("{\"a\xff\":{}}"), "not valid UTF-8"},
	{"bad escape", file(`{"\x":{}}`), "invalid character 'x'"},
	{"long name", file(`{"` + strings.Repeat("n", 257) + `":{}}`), "name of 257 bytes; the limit is 256"},
	{"trailing text", file(`{} {}`), "header byte 3: found '{', want the end of the header"},
	{"tensor is a number", file(`{"a":1}`), `tensor "a": header byte 5: found '1', want '{'`},
	{"metadata is nested", file(`{"__metadata__":{"a":{}}}`), `found '{', want '"'`},
	{"metadata twice", file(`{"__metadata__":{},"__metadata__":{}}`), "__metadata__ appears twice"},
	{"no dtype", file(`{"a":{"shape":[],"data_offsets":[0,0]}}`), `tensor "a": header byte 38: missing dtype`},
	{"no shape", file(`{"a":{"dtype":"F32","data_offsets":[0,0]}}`), "missing shape"},
	{"no offsets", file(`{"a":{"dtype":"F32","shape":[]}}`), "missing data_offsets"},
	{"dtype twice", file(`{"a":{"dtype":"F32","dtype":"F32"}}`), "dtype appears twice"},
	{"unknown field", file(`{"a":{"dtype":"F32","Shape":[1]}}`), `unknown field "Shape"`},
	{
		"other dtype", file(`{"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}`, make([]byte, 8)...),
		`tensor "a" has type I64; supported types are F32, F16 and BF16`,
	},
	{
		"negative dimension", file(`{"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}`, make([]byte, 8)...),
		"found '-', want a nonnegative integer",
	},
	{
		"fractional dimension", file(`{"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}}`, make([]byte, 8)...),
		"found '.', want ','",
	},
	{
		"leading zero", file(`{"a":{"dtype":"F32","shape":[02],"data_offsets":[0,8]}}`, make([]byte, 8)...),
		"leading zero",
	},
	{
		"absurd dimension", file(`{"a":{"dtype":"F32","shape":[2147483648],"data_offsets":[0,8]}}`, make([]byte, 8)...),
		"dimension of 2147483648; the limit is 2147483647",
	},
	{
		"dimension beyond int64", file(`{"a":{"dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,8]}}`),
		"number too large for 64 bits",
	},
	{
		"nine dimensions",
		file(`{"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}}`, make([]byte, 4)...),
		"more than 8 dimensions",
	},
	{
		"product overflows to the right size",
		file(`{"a":{"dtype":"F32","shape":[1073741824,1073741824,1073741824,4],"data_offsets":[0,0]}}`),
		"more values than the 0 bytes",
	},
	{
		"more values than data", file(`{"a":{"dtype":"F16","shape":[2,3],"data_offsets":[0,8]}}`, make([]byte, 8)...),
		"has shape [2 3] and dtype F16, which take 12 bytes, but spans 8",
	},
	{
		"shape larger than span", file(`{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}`, make([]byte, 8)...),
		"has shape [3] and dtype F32, which take 12 bytes, but spans 8",
	},
	{
		"shape smaller than span", file(`{"a":{"dtype":"BF16","shape":[3],"data_offsets":[0,8]}}`, make([]byte, 8)...),
		"has shape [3] and dtype BF16, which take 6 bytes, but spans 8",
	},
	{
		"offsets reversed", file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}`, make([]byte, 8)...),
		`tensor "a" begins at byte 8, which is after its end at byte 0`,
	},
	{
		"beyond the data", file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}`, make([]byte, 8)...),
		"ends at byte 12, beyond the 8 bytes of data",
	},
	{
		"a byte beyond the data", file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, make([]byte, 7)...),
		"ends at byte 8, beyond the 7 bytes of data",
	},
	{
		"one offset", file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[8]}}`, make([]byte, 8)...),
		"data_offsets has 1 numbers, want 2",
	},
	{
		"three offsets", file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,8]}}`, make([]byte, 8)...),
		"data_offsets has more than 2 numbers",
	},
	{
		"name twice",
		file(
			`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},`+
				`"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`,
			make([]byte, 8)...,
		),
		`tensor "a" appears twice`,
	},
	{
		"name twice by an escape",
		file(
			`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},`+
				`"\u0061":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`,
			make([]byte, 8)...,
		),
		`tensor "a" appears twice`,
	},
	{
		"overlap",
		file(
			`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},`+
				`"b":{"dtype":"F16","shape":[2],"data_offsets":[2,6]}}`,
			make([]byte, 8)...,
		),
		`tensors "a" and "b" overlap`,
	},
	{
		"same bytes",
		file(
			`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},`+
				`"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`,
			make([]byte, 8)...,
		),
		`tensors "a" and "b" overlap`,
	},
	{
		"empty inside another",
		file(
			`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},`+
				`"b":{"dtype":"F32","shape":[0],"data_offsets":[4,4]}}`,
			make([]byte, 8)...,
		),
		`tensors "a" and "b" overlap`,
	},
	{
		"hole",
		file(
			`{"a":{"dtype":"F16","shape":[1],"data_offsets":[0,2]},`+
				`"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`,
			make([]byte, 8)...,
		),
		"bytes 2 to 4 of the data are not part of any tensor",
	},
	{
		"hole in front", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, make([]byte, 8)...),
		"bytes 0 to 4 of the data are not part of any tensor",
	},
}

func TestMalformedSafetensors(t *testing.T) {
	for _, test := range malformed {
		t.Run(test.name, func(t *testing.T) {
			_, err := parseSafetensors(bytes.NewReader(test.file), int64(len(test.file)))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want a message with %q", err, test.want)
			}
		})
	}
}
