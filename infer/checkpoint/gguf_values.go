package checkpoint

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// ggufReader reads the header sequentially. After the first error, every method returns zero
// values.
type ggufReader struct {
	r    *bufio.Reader
	at   int64 // bytes read
	size int64 // of the file
	err  error
}

// value reads a metadata value. It keeps only the values needed for a model's description: all
// numbers, short strings, and the tokenizer's lists of strings and numbers.
func (r *ggufReader) value(key string, kind uint32, depth int) any {
	switch kind {
	case ggufString:
		n := r.length(1)
		if n > maxKeptText && (key != templateKey || n > maxTemplateBytes) {
			r.skip(n)
			return nil
		}
		return r.long(n)
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

// ggufNumber decodes a number or a boolean.
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

// array reads an array, or skips it if it is not needed.
func (r *ggufReader) array(key string, depth int) any {
	kind := r.uint32()
	if depth == maxArrayNesting {
		r.fail("arrays are nested more than %d deep", maxArrayNesting)
	}
	size := ggufSizes[kind]
	if size == 0 && kind != ggufString && kind != ggufArray {
		r.fail("array of unknown type %d", kind)
	}
	if size == 0 {
		size = 8 // size of the smallest string or array
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
			r.fail("strings of more than %d bytes", maxListedBytes)
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
		r.fail("string of %d bytes; the limit is %d", n, limit)
	}
	return string(r.bytes(n))
}

// long reads a string of n bytes in chunks that fit in the buffer.
func (r *ggufReader) long(n int64) string {
	var b strings.Builder
	for r.err == nil && n > 0 {
		piece := r.bytes(min(n, ggufBufferedSize))
		b.Write(piece)
		n -= int64(len(piece))
	}
	return b.String()
}

// length reads the number of elements that follow and checks that the rest of the file is long
// enough for them. Each element takes at least `least` bytes.
func (r *ggufReader) length(least int64) int64 {
	n := r.uint64()
	if left := r.size - r.at; r.err == nil && n > uint64(left)/uint64(least) {
		if least > 1 {
			r.fail("%d elements of at least %d bytes, but only %d bytes are left", n, least, left)
		}
		r.fail("length %d, but only %d bytes are left", n, left)
	}
	if r.err != nil {
		return 0
	}
	return int64(n)
}

// count is like length, but also checks the number against a limit.
func (r *ggufReader) count(what string, least, limit int64) int64 {
	n := r.length(least)
	if r.err == nil && n > limit {
		r.fail("%d %s; the limit is %d", n, what, limit)
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
// have checked n against a limit.
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
		r.fail("unexpected end of file, want %d more bytes", n)
		return nil
	}
	return raw
}

// skip skips n bytes.
func (r *ggufReader) skip(n int64) {
	for r.err == nil && n > 0 {
		step, err := r.r.Discard(int(min(n, 1<<30)))
		n -= int64(step)
		r.at += int64(step)
		if r.err = err; errors.Is(err, io.EOF) {
			r.err = fmt.Errorf("byte %d: unexpected end of file, want %d more bytes", r.at, n)
		}
	}
}

func (r *ggufReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("byte %d: %s", r.at, fmt.Sprintf(format, args...))
	}
}
