package tokenizer

import (
	"unicode"
	"unicode/utf8"
)

// GPT-2 cuts a text into pieces with this pattern. The first alternative that matches wins, and
// each repetition is as long as possible:
//
//	'(?:[sdmt]|ll|ve|re)    a contraction, lower case only
//	 ?\p{L}+                letters, with at most one space in front
//	 ?\p{N}+                digits and other numbers, likewise
//	 ?[^\s\p{L}\p{N}]+      anything else that is not whitespace, likewise
//	\s+(?!\S)               whitespace, but its last character is left for the
//	                        next piece when something follows
//	\s+                     the one whitespace character that is still left
//
// Go's regexp has no look-ahead, so pieceLen implements it by hand. \s is the Unicode property
// White_Space (which includes U+0085, but not U+FEFF). Only U+0020 can be the optional space in
// front.

// A class is a kind of character that the pattern distinguishes.
type class uint8

const (
	other class = iota // [^\s\p{L}\p{N}]
	letter
	number
	space
)

// pieceLen returns the length in bytes, at least 1, of the first piece of text,
// which must not be empty.
func pieceLen(text string) int {
	if n := contractionLen(text); n > 0 {
		return n
	}
	lead := 0
	if text[0] == ' ' && len(text) > 1 {
		lead = 1
	}
	if c, _ := firstClass(text[lead:]); c != space {
		return lead + runLen(text[lead:], c)
	}
	return spaceLen(text)
}

// contractionLen returns the length of the contraction at the front of text, or 0 if there is none.
func contractionLen(text string) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	switch text[1] {
	case 's', 'd', 'm', 't':
		return 2
	}
	if len(text) >= 3 {
		switch text[1:3] {
		case "ll", "ve", "re":
			return 3
		}
	}
	return 0
}

// spaceLen returns the length of a whitespace piece at the front of text: all the whitespace if the
// text ends after it, and otherwise all of it except its last character, but at least one
// character.
func spaceLen(text string) int {
	last, end := 0, 0 // start and end of the last whitespace character
	for end < len(text) {
		c, size := firstClass(text[end:])
		if c != space {
			break
		}
		last, end = end, end+size
	}
	if end == len(text) || last == 0 {
		return end
	}
	return last
}

// runLen returns the length of the sequence of characters of class c at the front of text.
func runLen(text string, c class) int {
	n := 0
	for n < len(text) {
		got, size := firstClass(text[n:])
		if got != c {
			break
		}
		n += size
	}
	return n
}

// firstClass returns the class of the first character of text and its size in bytes. A byte that
// does not begin a valid UTF-8 sequence is one character of class other, because it decodes to
// U+FFFD, which is a symbol.
func firstClass(text string) (class, int) {
	r, size := utf8.DecodeRuneInString(text)
	switch {
	case unicode.IsLetter(r):
		return letter, size
	case unicode.IsSpace(r):
		return space, size
	case unicode.IsNumber(r):
		return number, size
	}
	return other, size
}
