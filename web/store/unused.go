package store

import (
	"bytes"
	"encoding/binary"
)

// zeroUnused overwrites the unused parts of a page of a database with zeros and reports whether it
// changed anything. It skips pages that have no unused parts or do not look like b-tree pages. Two
// kinds of pages do not: overflow pages of long records, whose first four bytes are a page number
// below 1<<24, and free pages, which secure_delete has overwritten.
//
// When SQLite moves rows to other pages, it does not overwrite the originals. The format of a page
// is defined in https://sqlite.org/fileformat2.html, section 1.6. It consists of a header, an array
// of two bytes per cell, a gap, and then cells with free blocks between them. Up to three
// consecutive bytes can be in neither a cell nor a free block; they are left unchanged.
func zeroUnused(page []byte, number int) (changed bool) {
	header := 0
	if number == 1 {
		header = 100 // the header of the file
	}
	array := header + 8
	switch page[header] {
	case 2, 5: // inner pages
		array += 4
	case 10, 13: // leaves
	default:
		return false
	}
	word := func(at int) int { return int(binary.BigEndian.Uint16(page[at:])) }
	gap, content := array+2*word(header+3), word(header+5)
	if content == 0 {
		content = 1 << 16
	}
	if gap > content || content > len(page) {
		return false // damaged
	}
	changed = zero(page[gap:content])
	for block := word(header + 1); block >= content && block+4 <= len(page); {
		next, end := word(block), block+word(block+2)
		if end < block+4 || end > len(page) || next != 0 && next < end {
			break // damaged
		}
		changed = zero(page[block+4:end]) || changed
		block = next
	}
	return changed
}

// zero overwrites bytes with zeros and reports whether any byte was nonzero.
func zero(part []byte) bool {
	if len(bytes.TrimLeft(part, "\x00")) == 0 {
		return false
	}
	clear(part)
	return true
}
