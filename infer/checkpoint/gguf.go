package checkpoint

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// A GGUF file, versions 2 and 3, all numbers little-endian:
//
//	"GGUF", version uint32, tensors uint64, pairs uint64
//	pairs     key string, type uint32, value
//	tensors   name string, rank uint32, dimensions uint64 (the fastest first),
//	          type uint32, offset uint64 from the start of the data
//	padding, then the data of the tensors, each at a multiple of the alignment
//
// A string is its length, uint64, and its bytes. An array is the type of its
// elements, uint32, their number, uint64, and the elements.

// Limits on a GGUF file, far above any real one.
const (
	ggufMagic        = "GGUF"
	maxPairs         = 1 << 16
	maxKeyBytes      = 1 << 8
	maxKeptText      = 1 << 16 // longer texts, such as chat templates, are passed over
	maxListed        = 1 << 19 // elements of an array that is kept
	maxAlignment     = 1 << 16
	maxArrayNesting  = 4
	maxListedBytes   = 24 << 20 // texts of an array that is kept
	ggufBufferedSize = 64 << 10
)

// The types of metadata values.
const (
	ggufString = 8
	ggufArray  = 9
)

// ggufLists are the arrays that are kept.
var ggufLists = []string{"tokenizer.ggml.tokens", "tokenizer.ggml.scores", "tokenizer.ggml.token_type", "tokenizer.ggml.merges"}

// ggufSizes are the bytes of a value, by type; strings and arrays have none.
var ggufSizes = map[uint32]int64{0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}

// ggufTypes are ggml's numbers of the formats of tensors. Those that are left
// out were given up before they had files.
var ggufTypes = map[uint32]dtype{
	0: dtypeF32, 1: dtypeF16, 2: dtypeQ4, 3: dtypeQ41, 6: dtypeQ5, 7: dtypeQ51, 8: dtypeQ8, 9: "Q8_1", 10: "Q2_K", 11: "Q3_K",
	12: dtypeQ4K, 13: dtypeQ5K, 14: dtypeQ6K, 15: "Q8_K", 16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S",
	20: dtypeIQ4NL, 21: "IQ3_S", 22: "IQ2_S", 23: "IQ4_XS", 24: "I8", 25: "I16", 26: "I32", 27: "I64", 28: "F64",
	29: "IQ1_M", 30: dtypeBF16, 34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4", 40: "NVFP4", 41: "Q1_0", 42: "Q2_0",
}

// gguf is the head of a GGUF file.
type gguf struct {
	version int
	pairs   map[string]any // numbers as float64, bool, string, []string, []float32; nil for what is passed over
	tensors map[string]tensor
}

// ggufReader reads the head from front to back. After the first error every
// method returns zero values.
type ggufReader struct {
	r    *bufio.Reader
	at   int64 // bytes read
	size int64 // of the file
	err  error
}

// readGGUF reads the head of a GGUF file of size bytes.
func readGGUF(file io.ReaderAt, size int64) (*gguf, error) {
	r := &ggufReader{r: bufio.NewReaderSize(io.NewSectionReader(file, 0, size), ggufBufferedSize), size: size}
	if magic := r.bytes(4); r.err == nil && string(magic) != ggufMagic {
		r.fail("begins with %s, want %s", quote(string(magic)), quote(ggufMagic))
	}
	g := &gguf{version: int(r.uint32()), pairs: map[string]any{}, tensors: map[string]tensor{}}
	if r.err == nil && g.version != 2 && g.version != 3 {
		r.fail("version %d; versions 2 and 3 can be read, in little-endian order", g.version)
	}
	tensors, pairs := r.count("tensors", 24, maxTensors), r.count("metadata pairs", 12, maxPairs)
	for range pairs {
		g.readPair(r)
	}
	var names []string
	for range tensors {
		names = append(names, g.readTensor(r))
		if r.err != nil {
			break
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	return g, g.place(names, r.at, size)
}

// readPair reads one key with its value.
func (g *gguf) readPair(r *ggufReader) {
	key := r.text(maxKeyBytes)
	if _, taken := g.pairs[key]; taken && r.err == nil {
		r.fail("key %s appears twice", quote(key))
	}
	kind := r.uint32()
	if r.err != nil {
		return
	}
	value := r.value(key, kind, 0)
	if r.err != nil {
		r.err = fmt.Errorf("key %s: %w", quote(key), r.err)
		return
	}
	g.pairs[key] = value
}

// readTensor reads one tensor's name, shape and type; its offset stands from
// the start of the data yet.
func (g *gguf) readTensor(r *ggufReader) string {
	name := r.text(maxNameBytes)
	if _, taken := g.tensors[name]; taken && r.err == nil {
		r.fail("tensor %s appears twice", quote(name))
	}
	rank := r.uint32()
	if r.err == nil && (rank == 0 || rank > maxRank) {
		r.fail("tensor %s has %d dimensions, want 1 to %d", quote(name), rank, maxRank)
	}
	var t tensor
	values := int64(1)
	for range rank {
		n := r.uint64()
		if r.err == nil && (n == 0 || n > maxDim || values > 16*r.size/int64(n)) { // no type takes less than a bit a value
			r.fail("tensor %s has a dimension of %d, more than the file can hold", quote(name), n)
		}
		if r.err != nil {
			return name
		}
		values *= int64(n)
		t.shape = append(t.shape, int(n))
	}
	kind, offset := r.uint32(), r.uint64()
	if r.err != nil {
		return name
	}
	t.dtype = ggufTypes[kind]
	f := formats[t.dtype]
	if f.widen == nil {
		r.fail("tensor %s has type %s; %s", quote(name), cmp.Or(string(t.dtype), fmt.Sprintf("number %d", kind)), readableGGUF)
		return name
	}
	if t.shape[0]%f.values != 0 {
		r.fail("tensor %s has rows of %d values, %s needs a multiple of %d", quote(name), t.shape[0], t.dtype, f.values)
	}
	if offset > uint64(r.size) {
		r.fail("tensor %s begins at byte %d of a file of %d", quote(name), offset, r.size)
	}
	slices.Reverse(t.shape)
	t.offset, t.bytes = int64(offset), values/int64(f.values)*int64(f.bytes)
	g.tensors[name] = t
	return name
}

// place turns the tensors' offsets into those from the start of the file, the
// head being headBytes long, and checks that they lie inside the file without
// sharing bytes.
func (g *gguf) place(names []string, headBytes, size int64) error {
	alignment := int64(32)
	if a, ok := g.pairs["general.alignment"].(float64); ok {
		if alignment = int64(a); alignment < 1 || alignment > maxAlignment {
			return fmt.Errorf("general.alignment is %v, want 1 to %d", a, maxAlignment)
		}
	}
	start := (headBytes + alignment - 1) / alignment * alignment
	for name, t := range g.tensors {
		if t.offset%alignment != 0 {
			return fmt.Errorf("tensor %s begins at byte %d of the data, not a multiple of %d", quote(name), t.offset, alignment)
		}
		if t.offset += start; t.offset+t.bytes > size {
			return fmt.Errorf("tensor %s ends at byte %d, the file at %d", quote(name), t.offset+t.bytes, size)
		}
		g.tensors[name] = t
	}
	slices.SortFunc(names, func(a, b string) int { return int(min(max(g.tensors[a].offset-g.tensors[b].offset, -1), 1)) })
	for i, name := range names[min(1, len(names)):] {
		if before := g.tensors[names[i]]; before.offset+before.bytes > g.tensors[name].offset {
			return fmt.Errorf("tensors %s and %s overlap", quote(names[i]), quote(name))
		}
	}
	return nil
}

// value reads a metadata value. Only what a model's description needs is kept:
// all numbers, short texts, and lists of texts and numbers of the tokenizer.
func (r *ggufReader) value(key string, kind uint32, depth int) any {
	switch kind {
	case ggufString:
		if n := r.length(1); n > maxKeptText {
			r.skip(n)
			return nil
		} else {
			return string(r.bytes(n))
		}
	case ggufArray:
		return r.array(key, depth)
	}
	size, ok := ggufSizes[kind]
	if !ok {
		r.fail("unknown type %d", kind)
		return nil
	}
	raw := r.bytes(size)
	if r.err != nil {
		return nil
	}
	return ggufNumber(kind, raw)
}

// ggufNumber decodes a number or a truth value.
func ggufNumber(kind uint32, raw []byte) any {
	le := binary.LittleEndian
	switch kind {
	case 0:
		return float64(raw[0])
	case 1:
		return float64(int8(raw[0]))
	case 2:
		return float64(le.Uint16(raw))
	case 3:
		return float64(int16(le.Uint16(raw)))
	case 4:
		return float64(le.Uint32(raw))
	case 5:
		return float64(int32(le.Uint32(raw)))
	case 6:
		return float64(math.Float32frombits(le.Uint32(raw)))
	case 7:
		return raw[0] != 0
	case 10:
		return float64(le.Uint64(raw))
	case 11:
		return float64(int64(le.Uint64(raw)))
	}
	return math.Float64frombits(le.Uint64(raw))
}

// array reads an array, or passes over it.
func (r *ggufReader) array(key string, depth int) any {
	kind := r.uint32()
	if depth == maxArrayNesting {
		r.fail("arrays in arrays, more than %d deep", maxArrayNesting)
	}
	size := ggufSizes[kind]
	if size == 0 && kind != ggufString && kind != ggufArray {
		r.fail("array of unknown type %d", kind)
	}
	if size == 0 {
		size = 8 // what a string or an array takes at least
	}
	n := r.length(size)
	keep := depth == 0 && slices.Contains(ggufLists, key)
	if keep && r.err == nil && n > maxListed {
		r.fail("%d elements, more than the limit of %d", n, maxListed)
	}
	switch {
	case r.err != nil:
	case kind == ggufString && keep:
		return r.texts(n)
	case kind == ggufString || kind == ggufArray:
		for range n {
			if r.value("", kind, depth+1); r.err != nil {
				break
			}
		}
	case !keep:
		r.skip(n * size)
	default:
		numbers := make([]float32, n)
		for i := range numbers {
			switch v := r.value("", kind, depth+1).(type) {
			case float64:
				numbers[i] = float32(v)
			case bool:
				numbers[i] = 1
			}
		}
		return numbers
	}
	return nil
}

// texts reads n strings.
func (r *ggufReader) texts(n int64) []string {
	list := make([]string, 0, n)
	total := int64(0)
	for i := range n {
		text := r.text(maxKeptText)
		if total += int64(len(text)); r.err == nil && total > maxListedBytes {
			r.fail("texts of more than %d bytes", maxListedBytes)
		}
		if r.err != nil {
			r.err = fmt.Errorf("[%d]: %w", i, r.err)
			return nil
		}
		list = append(list, text)
	}
	return list
}

// text reads a string of at most limit bytes.
func (r *ggufReader) text(limit int64) string {
	n := r.length(1)
	if r.err == nil && n > limit {
		r.fail("text of %d bytes, the limit is %d", n, limit)
	}
	return string(r.bytes(n))
}

// length reads how many elements follow, each of at least that many bytes, and
// compares it with what is left of the file.
func (r *ggufReader) length(least int64) int64 {
	n := r.uint64()
	if left := r.size - r.at; r.err == nil && n > uint64(left)/uint64(least) {
		r.fail("length %d, but only %d bytes are left", n, left)
	}
	if r.err != nil {
		return 0
	}
	return int64(n)
}

// count is length with a limit of its own.
func (r *ggufReader) count(what string, least, limit int64) int64 {
	n := r.length(least)
	if r.err == nil && n > limit {
		r.fail("%d %s, the limit is %d", n, what, limit)
	}
	if r.err != nil {
		return 0
	}
	return n
}

func (r *ggufReader) uint32() uint32 {
	if raw := r.bytes(4); r.err == nil {
		return binary.LittleEndian.Uint32(raw)
	}
	return 0
}

func (r *ggufReader) uint64() uint64 {
	if raw := r.bytes(8); r.err == nil {
		return binary.LittleEndian.Uint64(raw)
	}
	return 0
}

// bytes reads the next n bytes, which are valid until the next call. Callers
// have compared n with a limit.
func (r *ggufReader) bytes(n int64) []byte {
	if r.err != nil {
		return nil
	}
	var raw []byte
	if n <= ggufBufferedSize {
		raw, r.err = r.r.Peek(int(n))
	}
	if r.err == nil {
		r.skip(n)
	}
	if r.err != nil {
		r.err = nil
		r.fail("the file ends, want %d bytes more", n)
		return nil
	}
	return raw
}

// skip passes over n bytes.
func (r *ggufReader) skip(n int64) {
	for r.err == nil && n > 0 {
		step, err := r.r.Discard(int(min(n, 1<<30)))
		n -= int64(step)
		r.at += int64(step)
		if r.err = err; errors.Is(err, io.EOF) {
			r.err = fmt.Errorf("byte %d: the file ends, want %d bytes more", r.at, n)
		}
	}
}

func (r *ggufReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("byte %d: %s", r.at, fmt.Sprintf(format, args...))
	}
}
