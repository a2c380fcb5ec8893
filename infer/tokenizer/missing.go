package tokenizer

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A MissingByteError says which byte of a text has no token. Vocabularies
// trained without the alphabet of all bytes lack the bytes that never occurred
// in the training data: SmolLM's 21, GPT-NeoX's 13.
type MissingByteError struct {
	Byte byte
	Char string // the character that it is part of, or the byte alone if it is part of none

	Offset       int // of that character in the text, in bytes
	Line, Column int // likewise from 1, columns in characters
}

// Error returns a message such as
//
//	the vocabulary has no token for byte 0x03 of "\x03" (U+0003) at line 1, character 6
func (e *MissingByteError) Error() string {
	return "the vocabulary has no token for " + e.What() + " at " + e.Place()
}

// What describes the byte and its character.
func (e *MissingByteError) What() string {
	if r, size := utf8.DecodeRuneInString(e.Char); r != utf8.RuneError || size > 1 {
		return fmt.Sprintf("byte 0x%02X of %+q (%U)", e.Byte, e.Char, r)
	}
	return fmt.Sprintf("byte 0x%02X, which is part of no character,", e.Byte)
}

// Place says where in the text it is.
func (e *MissingByteError) Place() string {
	return fmt.Sprintf("line %d, character %d", e.Line, e.Column)
}

// explain makes the error for byte `lost` of a piece that begins at byte `at`
// of the normalized fragment.
func (e *encoder) explain(piece string, lost, at int) *MissingByteError {
	from := lost
	for from > 0 && lost-from < utf8.UTFMax-1 && !utf8.RuneStart(piece[from]) {
		from--
	}
	_, size := utf8.DecodeRuneInString(piece[from:])
	if from+size <= lost { // the byte does not belong to the character before it
		from, size = lost, 1
	}
	at = e.from + e.t.sourceOffset(e.source, at-(lost-from))
	before := e.text[:at]
	return &MissingByteError{
		Byte: piece[lost], Char: piece[from : from+size], Offset: at,
		Line:   1 + strings.Count(before, "\n"),
		Column: 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]),
	}
}

// sourceOffset returns where in the fragment the character at byte `at` of its
// normalized form comes from.
func (t *Tokenizer) sourceOffset(source string, at int) int {
	if t.characters {
		if t.prefix == prefixAlways && !t.metaspace {
			at-- // the space in front
		}
		for i, r := range source {
			size := utf8.RuneLen(r)
			if strings.HasPrefix(source[i:], metaspace) {
				size = len(" ")
			} else if r == utf8.RuneError {
				_, size = utf8.DecodeRuneInString(source[i:])
			}
			if at < size {
				return i
			}
			at -= size
		}
		return len(source)
	}
	if !t.nfc {
		return max(0, at)
	}
	var it norm.Iter
	it.InitString(norm.NFC, source)
	for !it.Done() {
		from := it.Pos()
		if at -= len(it.Next()); at < 0 {
			return from
		}
	}
	return len(source)
}
