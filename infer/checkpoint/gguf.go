package checkpoint

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
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
// A string is stored as its length (uint64) and its bytes. An array is stored as the type of its
// elements (uint32), their number (uint64) and the elements.

// Limits for a GGUF file, far above the sizes of any real file.
const (
	ggufMagic        = "GGUF"
	maxPairs         = 1 << 16
	maxKeyBytes      = 1 << 8
	maxKeptText      = 1 << 16 // longer strings are skipped
	maxTemplateBytes = 1 << 20 // of a chat template that is kept
	maxListed        = 1 << 19 // elements of a kept array
	maxAlignment     = 1 << 16
	maxArrayNesting  = 4
	maxListedBytes   = 24 << 20 // strings of a kept array
	ggufBufferedSize = 64 << 10
)

// The types of metadata values.
const (
	ggufString = 8
	ggufArray  = 9
)

// ggufLists holds the keys of the arrays that are kept.
var ggufLists = []string{
	"tokenizer.ggml.tokens", "tokenizer.ggml.scores", "tokenizer.ggml.token_type", "tokenizer.ggml.merges",
}

// templateKey is the key of the chat template. Other keys' strings are dropped if they are longer
// than maxKeptText bytes.
const templateKey = "tokenizer.chat_template"

// ggufSizes holds the size of a value in bytes, by type. Strings and arrays have no fixed size.
var ggufSizes = map[uint32]int64{0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}

// ggufTypes maps ggml's numbers to the formats of tensors. The missing numbers belong to formats
// that were abandoned before any file used them.
var ggufTypes = map[uint32]dtype{
	0: dtypeF32, 1: dtypeF16, 2: dtypeQ4, 3: dtypeQ41, 6: dtypeQ5, 7: dtypeQ51, 8: dtypeQ8, 9: "Q8_1",
	10: "Q2_K", 11: "Q3_K",
	12: dtypeQ4K, 13: dtypeQ5K, 14: dtypeQ6K, 15: "Q8_K", 16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S",
	20: dtypeIQ4NL, 21: "IQ3_S", 22: "IQ2_S", 23: "IQ4_XS", 24: "I8", 25: "I16", 26: "I32", 27: "I64", 28: "F64",
	29: "IQ1_M", 30: dtypeBF16, 34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4", 40: "NVFP4", 41: "Q1_0", 42: "Q2_0",
}

// gguf is the header of a GGUF file: the metadata and the descriptions of the tensors.
type gguf struct {
	version  int
	pairs    map[string]any // float64, bool, string, []string or []float32; nil if skipped
	tensors  map[string]tensor
	problems error // problems with individual tensors, if the header could be read

	incomplete bool // some parts of a split file, and the tensors in them, are missing
}

// readGGUF reads the header of a GGUF file of size bytes.
func readGGUF(file io.ReaderAt, size int64) (*gguf, error) {
	r := &ggufReader{r: bufio.NewReaderSize(io.NewSectionReader(file, 0, size), ggufBufferedSize), size: size}
	if magic := r.bytes(4); r.err == nil && string(magic) != ggufMagic {
		r.fail("begins with %s, want %s", quote(string(magic)), quote(ggufMagic))
	}
	g := &gguf{version: int(r.uint32()), pairs: map[string]any{}, tensors: map[string]tensor{}}
	if r.err == nil && g.version != 2 && g.version != 3 {
		r.fail("unsupported version %d; want little-endian version 2 or 3", g.version)
	}
	tensors, pairs := r.count("tensors", 24, maxTensors), r.count("metadata pairs", 12, maxPairs)
	for range pairs {
		if g.readPair(r); r.err != nil {
			break
		}
	}
	var names []string
	for range tensors {
		if r.err != nil {
			break
		}
		names = append(names, g.readTensor(r))
	}
	if r.err != nil {
		return nil, r.err
	}
	alignment, err := g.alignment()
	if err != nil {
		return g, err
	}
	start := (r.at + alignment - 1) / alignment * alignment
	g.place(names, start, alignment, size)
	g.problems = collect(g.problems, g.checkEnd(file, start, alignment, size))
	return g, nil
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

// Limits for the numbers that describe a tensor. They are far above the numbers of any real tensor,
// but low enough that sums and products do not overflow.
const (
	maxValues = 1 << 50
	maxOffset = 1 << 60
)

// readTensor reads one tensor's name, shape and type; its offset is still
// relative to the start of the data.
func (g *gguf) readTensor(r *ggufReader) string {
	name := r.text(maxNameBytes)
	if _, taken := g.tensors[name]; taken && r.err == nil {
		r.fail("tensor %s appears twice", quote(name))
	}
	rank := r.uint32()
	if r.err == nil && (rank == 0 || rank > maxRank) {
		r.fail("tensor %s has %d dimensions, want 1 to %d", quote(name), rank, maxRank)
	}
	t := tensor{name: name}
	values := int64(1)
	for range rank {
		n := r.uint64()
		if r.err == nil && (n == 0 || n > maxDim || values > maxValues/int64(n)) {
			r.fail("tensor %s has a dimension of %d, more than the file can hold", quote(name), n)
		}
		if r.err != nil {
			return name
		}
		values *= int64(n)
		t.shape = append(t.shape, int(n))
	}
	kind, offset := r.uint32(), r.uint64()
	if offset > maxOffset {
		r.fail("tensor %s begins at byte %d, beyond the end of the file at byte %d", quote(name), offset, r.size)
	}
	if r.err != nil {
		return name
	}
	t.dtype = cmp.Or(ggufTypes[kind], dtype(fmt.Sprintf("number %d", kind)))
	if f, known := formats[t.dtype]; known {
		if t.shape[0]%f.values != 0 {
			g.problems = collect(
				g.problems,
				fmt.Errorf(
					"tensor %s has rows of %d values, but %s requires a multiple of %d",
					quote(name), t.shape[0], t.dtype, f.values,
				),
			)
		}
		t.bytes = values / int64(f.values) * int64(f.bytes)
	}
	slices.Reverse(t.shape)
	t.offset = int64(offset)
	g.tensors[name] = t
	return name
}

// alignment returns the tensors' alignment: every offset is a multiple of it.
func (g *gguf) alignment() (int64, error) {
	a, ok := g.pairs["general.alignment"].(float64)
	if !ok {
		return 32, nil
	}
	if !(a >= 1 && a <= maxAlignment) {
		return 0, fmt.Errorf("general.alignment is %v, want 1 to %d", a, maxAlignment)
	}
	return int64(a), nil
}

// place converts the tensors' offsets, which are relative to the start of the data, to offsets from
// the start of the file, and checks that the tensors are inside the file and do not overlap. It
// adds problems to g.problems.
func (g *gguf) place(names []string, start, alignment, size int64) {
	for name, t := range g.tensors {
		t.offset += start
		g.tensors[name] = t
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(g.tensors[a].offset, g.tensors[b].offset) })
	beyond, first := 0, ""
	for i, name := range names {
		t := g.tensors[name]
		if at := t.offset - start; at%alignment != 0 {
			g.problems = collect(
				g.problems,
				fmt.Errorf(
					"tensor %s begins at byte %d of the data, want a multiple of %d", quote(name), at, alignment,
				),
			)
		}
		if t.offset+t.bytes > size {
			if beyond++; beyond == 1 {
				first = name
			}
		}
		if i == 0 {
			continue
		}
		if before := g.tensors[names[i-1]]; before.offset+before.bytes > t.offset {
			g.problems = collect(g.problems, fmt.Errorf("tensors %s and %s overlap", quote(names[i-1]), quote(name)))
		}
	}
	if beyond > 0 {
		g.problems = collect(g.problems, beyondEnd(g.tensors[first], beyond, size))
	}
}

// checkEnd rejects bytes after the last tensor, since a file could hide data there. It allows
// zeros, because some programs pad the last tensor like the tensors before it.
func (g *gguf) checkEnd(file io.ReaderAt, start, alignment, size int64) error {
	end := start
	for _, t := range g.tensors {
		if _, known := formats[t.dtype]; !known {
			return nil // the end is unknown because of a problem for which the file is rejected anyway
		}
		end = max(end, t.offset+t.bytes)
	}
	if end >= size {
		return nil
	}
	if padded := start + (end-start+alignment-1)/alignment*alignment; padded < size {
		return fmt.Errorf("unexpected data after the last tensor (bytes %d to %d)", padded, size)
	}
	rest := make([]byte, size-end)
	if err := readFull(file, rest, end); err != nil {
		return err
	}
	if i := bytes.IndexFunc(rest, func(r rune) bool { return r != 0 }); i >= 0 {
		return fmt.Errorf("nonzero padding at byte %d, after the last tensor", end+int64(i))
	}
	return nil
}

// beyondEnd returns the error for n tensors that extend beyond the end of a file of size bytes. t
// is the first of these tensors.
func beyondEnd(t tensor, n int, size int64) error {
	said := fmt.Sprintf("tensor %s ends at byte %d, but the file ends at byte %d",
		quote(t.name), t.offset+t.bytes, size)
	if t.offset > size {
		said = fmt.Sprintf("tensor %s begins at byte %d, beyond the end of the file at byte %d",
			quote(t.name), t.offset, size)
	}
	if n > 1 {
		said += fmt.Sprintf("; %d tensors extend beyond its end, so the file is truncated", n)
	}
	return errors.New(said)
}

// unreadable returns an error for each format that cannot be read, with the names of the tensors in
// that format. can lists the readable formats.
func unreadable(tensors map[string]tensor, can string) error {
	count, first := map[dtype]int{}, map[dtype]string{}
	for name, t := range tensors {
		if formats[t.dtype].widen == nil {
			if count[t.dtype]++; first[t.dtype] == "" || name < first[t.dtype] {
				first[t.dtype] = name
			}
		}
	}
	var all error
	for _, d := range slices.Sorted(maps.Keys(count)) {
		more := ""
		if n := count[d] - 1; n == 1 {
			more = " (and so does one more)"
		} else if n > 1 {
			more = fmt.Sprintf(" (and so do %d more)", n)
		}
		all = collect(all, fmt.Errorf("tensor %s has type %s%s; %s", quote(first[d]), d, more, can))
	}
	return all
}
