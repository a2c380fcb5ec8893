package tokenizer

import (
	"unicode/utf8"
)

// A splitter is a way of cutting text into pieces.
type splitter struct {
	name   string
	regex  string                // as in a tokenizer.json
	digits bool                  // number characters are split off one by one before anything else
	length func(text string) int // returns the length of the first piece, at least 1
}

// The supported patterns. Llama-3's and Qwen2's patterns differ from GPT-2's: contractions may be
// in upper or lower case; a sequence of letters can include one character in front of it, of any
// kind except a number or a line break; number characters come in groups of at most three, or one
// by one; and line breaks end a sequence of punctuation or of whitespace.
var (
	splitGPT2 = &splitter{
		name:   "GPT-2 split",
		regex:  `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`,
		length: pieceLen,
	}
	// SmolLM uses the Digits pre-tokenizer, then GPT-2's pattern.
	splitGPT2Digits = &splitter{name: "GPT-2 split, digits alone", digits: true, length: pieceLen}
	splitLlama3     = &splitter{
		name: "Llama-3 split",
		regex: `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|` +
			` ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
		length: func(text string) int { return modernLen(text, 3) },
	}
	splitQwen2 = &splitter{
		name: "Qwen2 split",
		regex: `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|` +
			` ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
		length: func(text string) int { return modernLen(text, 1) },
	}
	splits = []*splitter{splitGPT2, splitLlama3, splitQwen2}
)

// segment returns the length of the first part of text. Each part is split separately, as if the
// text ended there.
func (s *splitter) segment(text string) int {
	if !s.digits {
		return len(text)
	}
	for i := 0; i < len(text); {
		c, size := firstClass(text[i:])
		if c == number {
			if i == 0 {
				return size
			}
			return i
		}
		i += size
	}
	return len(text)
}

// modernLen is like pieceLen, but for the patterns of Llama 3 and Qwen2, in which a piece contains
// at most `digits` number characters. The alternatives are, in order:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)   a contraction
//	[^\r\n\p{L}\p{N}]?\p{L}+       letters, at most one character in front
//	\p{N}{1,3} or \p{N}            numbers
//	 ?[^\s\p{L}\p{N}]+[\r\n]*      anything else, and the line breaks after it
//	\s*[\r\n]+                     whitespace up to its last line break
//	\s+(?!\S)|\s+                  as in GPT-2
func modernLen(text string, digits int) int {
	if n := foldedContractionLen(text); n > 0 {
		return n
	}
	first, size := firstClass(text)
	if first == letter {
		return runLen(text, letter)
	}
	if first == number {
		n := size
		for i := 1; i < digits; i++ {
			c, size := firstClass(text[n:])
			if n == len(text) || c != number {
				break
			}
			n += size
		}
		return n
	}
	if text[0] != '\r' && text[0] != '\n' {
		if n := runLen(text[size:], letter); n > 0 {
			return size + n
		}
	}
	lead := 0
	if text[0] == ' ' {
		lead = 1
	}
	if n := runLen(text[lead:], other); n > 0 {
		n += lead
		for n < len(text) && (text[n] == '\r' || text[n] == '\n') {
			n++
		}
		return n
	}
	blanks := text[:runLen(text, space)]
	for i := len(blanks) - 1; i >= 0; i-- {
		if blanks[i] == '\r' || blanks[i] == '\n' {
			return i + 1
		}
	}
	return spaceLen(text)
}

// foldedContractionLen is like contractionLen, but ignores case. Only one non-ASCII character folds
// to a letter that occurs in contractions: ſ (U+017F) folds to s.
func foldedContractionLen(text string) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	switch text[1] | 0x20 {
	case 's', 'd', 'm', 't':
		return 2
	}
	if r, size := utf8.DecodeRuneInString(text[1:]); r == 'ſ' {
		return 1 + size
	}
	if len(text) >= 3 {
		switch string([]byte{text[1] | 0x20, text[2] | 0x20}) {
		case "ll", "ve", "re":
			return 3
		}
	}
	return 0
}
