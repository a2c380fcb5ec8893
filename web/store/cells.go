package store

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// The kinds of pages that contain rows. Rows of a table WITHOUT ROWID and entries of an
// index are also in inner pages.
const (
	pageOfRows    = 0x0d // with rowids
	pageOfKeys    = 0x0a
	pageAboveKeys = 0x02
)

// foundRow is a row that was found in a page.
type foundRow struct {
	keyed  bool     // the row is from a table WITHOUT ROWID, or from an index
	rowid  int64    // 0 if keyed
	values []any    // nil, int64, float64, string, []byte
	raw    [][]byte // the bytes of each value in the file
}

// mostCell is the maximum length of a row, which limits how much a damaged length can make
// this program read. Records have at most 256 KiB (web/journal), and snapshots a few MiB.
const mostCell = 64 << 20

// rows calls f for all readable rows in the pages of a database, whichever tables they
// belong to. It skips pages of other kinds and cells that are not completely valid rows.
func (p *pages) rows(f func(foundRow) error) error {
	page := make([]byte, p.size)
	for n := uint32(1); n <= p.count; n++ {
		if p.read(n, page) != nil {
			continue // a bad sector; other pages may be readable
		}
		head := page
		if n == 1 {
			head = page[100:] // skips the header of the file
		}
		pointers := 8
		switch head[0] {
		case pageOfRows, pageOfKeys:
		case pageAboveKeys:
			pointers = 12
		default:
			continue
		}
		cells := int(binary.BigEndian.Uint16(head[3:]))
		for i := range cells {
			at := pointers + 2*i
			if at+2 > len(head) {
				break
			}
			row, ok := p.cell(page, int(binary.BigEndian.Uint16(head[at:])), head[0])
			if !ok {
				continue
			}
			if err := f(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// cell decodes the cell at an offset of a page.
func (p *pages) cell(page []byte, at int, kind byte) (row foundRow, ok bool) {
	if at < 8 || at >= len(page) {
		return row, false
	}
	b := page[at:]
	row.keyed = kind != pageOfRows
	if kind == pageAboveKeys { // skip the number of the child page
		if len(b) < 4 {
			return row, false
		}
		b = b[4:]
	}
	size, n := varint(b)
	if n == 0 || size < 1 || size > mostCell {
		return row, false
	}
	b = b[n:]
	if !row.keyed {
		if row.rowid, n = varint(b); n == 0 {
			return row, false
		}
		b = b[n:]
	}
	if payload, ok := p.payload(b, int(size), row.keyed); ok {
		if row.values, row.raw, ok = decodeRow(payload); ok {
			return row, true
		}
	}
	// The row's header also implies its length. If the two lengths differ in one bit, that
	// bit of the cell's length has flipped.
	told, ok := toldLength(b)
	if !ok || told > mostCell || bits.OnesCount64(uint64(told)^uint64(size)) != 1 {
		return row, false
	}
	payload, ok := p.payload(b, int(told), row.keyed)
	if !ok {
		return row, false
	}
	row.values, row.raw, ok = decodeRow(payload)
	return row, ok
}

// toldLength returns the length of a row according to its header. b must contain the whole
// header.
func toldLength(b []byte) (length int64, ok bool) {
	length, n := varint(b)
	if n == 0 || length < int64(n) || length > int64(len(b)) {
		return 0, false
	}
	for head := b[n:length]; len(head) > 0; {
		kind, n := varint(head)
		if n == 0 {
			return 0, false
		}
		size, ok := valueLength(kind)
		if !ok || size > mostCell {
			return 0, false
		}
		head, length = head[n:], length+size
	}
	return length, true
}

// payload returns the bytes of a row, including those in overflow pages if the row does not
// fit into one page.
func (p *pages) payload(b []byte, size int, keyed bool) ([]byte, bool) {
	most := p.size - 35
	if keyed {
		most = (p.size-12)*64/255 - 23
	}
	if size <= most {
		if size > len(b) {
			return nil, false
		}
		return b[:size], true
	}
	least := (p.size-12)*32/255 - 23
	here := least + (size-least)%(p.size-4)
	if here > most {
		here = least
	}
	if here+4 > len(b) {
		return nil, false
	}
	// Allocate memory as data is read, and not according to size, which may be damaged.
	all := append([]byte(nil), b[:here]...)
	next := binary.BigEndian.Uint32(b[here:])
	page := make([]byte, p.size)
	for len(all) < size {
		if p.read(next, page) != nil {
			return nil, false
		}
		all = append(all, page[4:min(len(page), 4+size-len(all))]...)
		next = binary.BigEndian.Uint32(page)
	}
	return all, true
}

// decodeRow decodes the values of a row. They must fill the row's bytes exactly.
func decodeRow(b []byte) (values []any, raw [][]byte, ok bool) {
	size, n := varint(b)
	if n == 0 || size < int64(n) || size > int64(len(b)) {
		return nil, nil, false
	}
	head, body := b[n:size], b[size:]
	for len(head) > 0 {
		kind, n := varint(head)
		if n == 0 {
			return nil, nil, false
		}
		head = head[n:]
		v, length, ok := value(kind, body)
		if !ok {
			return nil, nil, false
		}
		values, raw, body = append(values, v), append(raw, body[:length]), body[length:]
	}
	return values, raw, len(body) == 0
}

// valueLength returns the number of bytes that a value of a kind has. ok is false for
// reserved kinds.
func valueLength(kind int64) (length int64, ok bool) {
	switch {
	case kind < 0, kind == 10, kind == 11: // reserved
		return 0, false
	case kind < 10: // NULL, integers, a float, 0 and 1
		return [...]int64{0, 1, 2, 3, 4, 6, 8, 8, 0, 0}[kind], true
	}
	return (kind - 12) / 2, true
}

// value decodes one value and returns its length.
func value(kind int64, b []byte) (v any, length int64, ok bool) {
	length, ok = valueLength(kind)
	if !ok || length > int64(len(b)) {
		return nil, 0, false
	}
	b = b[:length]
	switch {
	case kind == 0:
		return nil, 0, true
	case kind == 8, kind == 9: // the numbers 0 and 1
		return kind - 8, 0, true
	case kind == 7:
		return math.Float64frombits(binary.BigEndian.Uint64(b)), length, true
	case kind < 7:
		x := int64(int8(b[0]))
		for _, c := range b[1:] {
			x = x<<8 | int64(c)
		}
		return x, length, true
	case kind%2 == 0:
		return append([]byte{}, b...), length, true
	}
	return string(b), length, true
}

// varint decodes a variable-length integer and returns it with its length n, from one to
// nine bytes. n is 0 if the integer is incomplete.
func varint(b []byte) (x int64, n int) {
	for i := range min(len(b), 9) {
		if i == 8 {
			return x<<8 | int64(b[i]), 9
		}
		x = x<<7 | int64(b[i]&0x7f)
		if b[i] < 0x80 {
			return x, i + 1
		}
	}
	return 0, 0
}
