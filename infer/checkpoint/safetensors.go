package checkpoint

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Limits for a safetensors file. They are far above the sizes of any real model, and low enough to
// reject a hostile file before it costs much memory or time.
const (
	maxHeaderBytes = 100 << 20 // the format's own limit
	maxTensors     = 1 << 16
	maxNameBytes   = 1 << 8
	maxRank        = 8
	maxDim         = 1<<31 - 1
)

// tensor locates one tensor's values in the file.
type tensor struct {
	name   string // its name in the file
	dtype  dtype
	shape  []int // its shape in the file
	offset int64 // of the first value, from the start of the file
	bytes  int64 // size of the values, in whole blocks
	order  order // of the values, relative to the layout
}

// parseSafetensors reads the header of a safetensors file of size bytes and
// returns its tensors by name. The layout is: the header length in 8 bytes,
// little-endian; a JSON header; then the values of all tensors one after
// another.
//
// Nothing in the header is trusted before it is checked: the header must be inside the file; each
// tensor must be inside the data after the header and have a byte count that matches its shape; and
// the tensors, in any order, must fill the data to the end of the file without overlaps or gaps. No
// values are read. If some tensors have an unreadable format, parseSafetensors returns all tensors
// and an error that names the unreadable ones.
func parseSafetensors(r io.ReaderAt, size int64) (map[string]tensor, error) {
	header, err := readHeader(r, size)
	if err != nil {
		return nil, err
	}
	entries, err := scanHeader(header)
	if err != nil {
		return nil, err
	}
	dataStart := int64(8 + len(header))
	tensors := make(map[string]tensor, len(entries))
	for name, e := range entries {
		t, err := e.resolve(dataStart, size-dataStart)
		if err != nil {
			return nil, fmt.Errorf("tensor %s %w", quote(name), err)
		}
		t.name = name
		tensors[name] = t
	}
	if err := checkContiguous(tensors, dataStart, size); err != nil {
		return nil, err
	}
	return tensors, unreadable(tensors, readableSafetensors)
}

// readHeader returns the JSON header. Its length is checked against the file's size before memory
// of that length is allocated.
func readHeader(r io.ReaderAt, size int64) ([]byte, error) {
	if size < 8 {
		return nil, fmt.Errorf("file has %d bytes, want at least 8 for the header length", size)
	}
	var prefix [8]byte
	if err := readFull(r, prefix[:], 0); err != nil {
		return nil, fmt.Errorf("header length: %w", err)
	}
	length := binary.LittleEndian.Uint64(prefix[:])
	if length > maxHeaderBytes {
		return nil, fmt.Errorf("header length of %d bytes exceeds the limit of %d", length, maxHeaderBytes)
	}
	if int64(length) > size-8 {
		return nil, fmt.Errorf("header length is %d bytes, but only %d bytes follow", length, size-8)
	}
	header := make([]byte, length)
	if err := readFull(r, header, 8); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	return header, nil
}

// resolve checks one header entry against the dataSize bytes that start at
// dataStart in the file.
func (e entry) resolve(dataStart, dataSize int64) (tensor, error) {
	begin, end := e.offsets[0], e.offsets[1]
	switch {
	case begin > end:
		return tensor{}, fmt.Errorf("begins at byte %d, which is after its end at byte %d", begin, end)
	case end > dataSize:
		return tensor{}, fmt.Errorf("ends at byte %d, beyond the %d bytes of data", end, dataSize)
	}
	values := int64(1)
	for _, n := range e.shape {
		// The product is limited to the number of values that the data could hold at one bit per
		// value, the smallest possible size. This limit is far too low for the product to overflow.
		if n > 0 && values > 8*dataSize/int64(n) {
			return tensor{}, fmt.Errorf(
				"has shape %v, more values than the %d bytes of data can hold", e.shape, dataSize,
			)
		}
		values *= int64(n)
	}
	f, known := formats[e.dtype]
	if want := values * int64(f.bytes); known && want != end-begin {
		return tensor{}, fmt.Errorf(
			"has shape %v and dtype %v, which take %d bytes, but spans %d", e.shape, e.dtype, want, end-begin,
		)
	}
	return tensor{dtype: e.dtype, shape: e.shape, offset: dataStart + begin, bytes: end - begin}, nil
}

// checkContiguous rejects overlapping tensors, and bytes that belong to no tensor, between
// dataStart and the end of the file (size).
func checkContiguous(tensors map[string]tensor, dataStart, size int64) error {
	names := slices.SortedFunc(maps.Keys(tensors), func(a, b string) int {
		ta, tb := tensors[a], tensors[b]
		return cmp.Or(cmp.Compare(ta.offset, tb.offset), cmp.Compare(ta.bytes, tb.bytes), cmp.Compare(a, b))
	})
	at := dataStart
	for i, name := range names {
		t := tensors[name]
		if t.offset < at {
			return fmt.Errorf("tensors %s and %s overlap", quote(names[i-1]), quote(name))
		}
		if t.offset > at {
			return fmt.Errorf("bytes %d to %d of the data are not part of any tensor", at-dataStart, t.offset-dataStart)
		}
		at += t.bytes
	}
	if at != size {
		return fmt.Errorf("unexpected data after the last tensor (bytes %d to %d)", at-dataStart, size-dataStart)
	}
	return nil
}

// readFull fills p with the bytes from offset `at` on. A reader may return io.EOF together with the
// last byte, so only missing bytes are an error.
func readFull(r io.ReaderAt, p []byte, at int64) error {
	n, err := r.ReadAt(p, at)
	if n == len(p) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("read %d of %d bytes: %w", n, len(p), err)
}

// quote quotes a name from a file for an error message. It escapes the name and truncates it to a
// readable length.
func quote(name string) string {
	if len(name) > 80 {
		return fmt.Sprintf("%.80q…", name)
	}
	return fmt.Sprintf("%q", name)
}
