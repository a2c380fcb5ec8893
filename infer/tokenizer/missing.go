package tokenizer

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A MissingByteError reports a byte of a text that has no token. A vocabulary that was not trained
// with all bytes as its initial alphabet lacks the bytes that never occurred in the training data:
// SmolLM's lacks 21 bytes, and GPT-NeoX's lacks 13.
type MissingByteError struct {
	Byte byte
	Char string // the character that contains the byte, or the byte alone if there is none

	Offset       int // the character's offset in the text, in bytes
	Line, Column int // the character's position, from 1; columns are counted in characters
}

// Error returns a message such as
//
//	the vocabulary has no token for byte 0x03 of "\x03" (U+0003) at line 1, character 6
func (e *MissingByteError) Error() string {
	return "the vocabulary has no token for " + e.What() + " at " + e.Place()
}

// What describes the byte and the character that it belongs to.
func (e *MissingByteError) What() string {
	if r, size := utf8.DecodeRuneInString(e.Char); r != utf8.RuneError || size > 1 {
		return fmt.Sprintf("byte 0x%02X of %+q (%U)", e.Byte, e.Char, r)
	}
	return fmt.Sprintf("byte 0x%02X, which is not part of a character,", e.Byte)
}

// Place describes the character's position in the text.
func (e *MissingByteError) Place() string {
	return fmt.Sprintf("line %d, character %d", e.Line, e.Column)
}

// explain returns the error for byte `lost` of a piece that begins at byte `at` of the
// normalized fragment.
func (e *encoder) explain(piece string, lost, at int) *MissingByteError {
	from := lost
	for from > 0 && lost-from < utf8.UTFMax-1 && !utf8.RuneStart(piece[from]) {
		from--
	}
	_, size := utf8.DecodeRuneInString(piece[from:])
	if from+size <= lost { // the byte does not belong to the preceding character
		from, size = lost, 1
	}
	place := origin{t: e.t, source: e.origin.source}
	at = e.from + place.of(at-(lost-from))
	before := e.text[:at]
	return &MissingByteError{
		Byte: piece[lost], Char: piece[from : from+size], Offset: at,
		Line:   1 + strings.Count(before, "\n"),
		Column: 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]),
	}
}

// An origin maps the characters of a normalized fragment to the characters that they come from.
type origin struct {
	t      *Tokenizer
	source string // the fragment

	begun       bool
	same        bool      // normalization does not change the fragment
	from, at    int       // offsets of the next character in source and normalized
	width, size int       // its length in source and normalized; width is 0 if it is not known yet
	composed    norm.Iter // yields the characters of form NFC
}

// of returns the offset in the fragment of the character at byte `at` of its normalized form. In
// the normalized form, each ▁ counts as a space. at must not decrease from one call to the next.
func (o *origin) of(at int) int {
	if !o.begun {
		o.begin()
	}
	if o.same {
		return max(0, at)
	}
	for o.from < len(o.source) {
		if o.width == 0 {
			o.measure()
		}
		if at < o.at+o.size {
			return o.from
		}
		o.from, o.at, o.width = o.from+o.width, o.at+o.size, 0
	}
	return len(o.source)
}

func (o *origin) begin() {
	o.begun = true
	switch {
	case o.t.characters:
		if o.t.prefix == prefixAlways && !o.t.metaspace {
			o.at = 1 // the space in front
		}
	case o.t.nfc && !norm.NFC.IsNormalString(o.source):
		o.composed.InitString(norm.NFC, o.source)
	default:
		o.same = true
	}
}

// measure computes the length of the next character.
func (o *origin) measure() {
	switch rest := o.source[o.from:]; {
	case !o.t.characters:
		o.size = len(o.composed.Next())
		o.width = o.composed.Pos() - o.from
	case strings.HasPrefix(rest, metaspace):
		o.width, o.size = len(metaspace), len(" ")
	default:
		_, o.width = utf8.DecodeRuneInString(rest)
		o.size = o.width
	}
}
