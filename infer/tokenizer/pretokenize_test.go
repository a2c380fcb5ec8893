package tokenizer

import (
	"slices"
	"testing"
)

// split cuts text into pieces as Encode does.
func split(text string) []string {
	var pieces []string
	for text != "" {
		n := pieceLen(text)
		pieces = append(pieces, text[:n])
		text = text[n:]
	}
	return pieces
}

// TestSplitPattern checks the split pattern, alternative by alternative.
func TestSplitPattern(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		{"Hello world", []string{"Hello", " world"}},
		{"a1b22", []string{"a", "1", "b", "22"}},
		{" 12 ab ,;", []string{" 12", " ab", " ,;"}},
		{"snake_case", []string{"snake", "_", "case"}},

		// Contractions: only in lower case, and only at the start of a piece.
		{"I'm he's I'd", []string{"I", "'m", " he", "'s", " I", "'d"}},
		{"we'll you've they're don't", []string{"we", "'ll", " you", "'ve", " they", "'re", " don", "'t"}},
		{"WE'LL DON'T", []string{"WE", "'", "LL", " DON", "'", "T"}},
		{"'lx 'vx 'rx", []string{"'", "lx", " '", "vx", " '", "rx"}},
		{"'tis 'sa", []string{"'t", "is", " '", "sa"}}, // after a space the apostrophe is punctuation
		{"''s", []string{"''", "s"}},
		{"!'s", []string{"!'", "s"}},
		{"'s's", []string{"'s", "'s"}},
		{"x'", []string{"x", "'"}},
		{"x'l", []string{"x", "'", "l"}},
		{"it’s", []string{"it", "’", "s"}}, // U+2019 is not an apostrophe here

		// Whitespace: the last of several characters belongs to the next piece.
		{" ", []string{" "}},
		{"a ", []string{"a", " "}},
		{"a   ", []string{"a", "   "}},
		{"a  b", []string{"a", " ", " b"}},
		{"a    b", []string{"a", "   ", " b"}},
		{"a\nb", []string{"a", "\n", "b"}},
		{"a\n\nb", []string{"a", "\n", "\n", "b"}},
		{"a \nb", []string{"a", " ", "\n", "b"}},
		{"a\n b", []string{"a", "\n", " b"}},
		{"a\t\t!", []string{"a", "\t", "\t", "!"}},
		{"a \t\r\n", []string{"a", " \t\r\n"}},
		{"  'll", []string{" ", " '", "ll"}},
		{"\n'll", []string{"\n", "'ll"}},

		// Whitespace beyond ASCII: never joined to the next piece.
		{"a\u0085b", []string{"a", "\u0085", "b"}},
		{"a\u00a0b", []string{"a", "\u00a0", "b"}},
		{"a\u2003\u2003b", []string{"a", "\u2003", "\u2003", "b"}},
		{"a\u3000 b", []string{"a", "\u3000", " b"}},
		{"a \u3000b", []string{"a", " ", "\u3000", "b"}},
		{"a\u2028\u1680", []string{"a", "\u2028\u1680"}},
		{"a\u200bb", []string{"a", "\u200b", "b"}},   // zero width space: not White_Space
		{" \ufeffb", []string{" \ufeff", "b"}},       // nor is the byte order mark
		{"a\u180e b", []string{"a", "\u180e", " b"}}, // nor the Mongolian vowel separator
		{"\x1c\x1d", []string{"\x1c\x1d"}},           // nor ASCII's separators

		// Letters and numbers of other scripts.
		{"Größe αβγ жук", []string{"Größe", " αβγ", " жук"}},
		{"日本語テキスト", []string{"日本語テキスト"}},
		{"ªʰǅ", []string{"ªʰǅ"}}, // Lo, Lm and Lt are letters too
		{"e\u0301t", []string{"e", "\u0301", "t"}},
		{"हिन्दी", []string{"ह", "ि", "न", "्", "द", "ी"}},
		{"x² ½Ⅳ٣", []string{"x", "²", " ½Ⅳ٣"}}, // No, Nl and Nd are numbers

		// All other characters in sequence form one piece.
		{"hi 😀👩‍👩‍👧!", []string{"hi", " 😀👩‍👩‍👧!"}},
		{"<|endoftext|>", []string{"<|", "endoftext", "|>"}},

		// Each byte that is not valid UTF-8 counts as one such character.
		{"a\xff\xfeb", []string{"a", "\xff\xfe", "b"}},
		{" \xc3 \xa9", []string{" \xc3", " \xa9"}},
		{"a  \x80", []string{"a", " ", " \x80"}},
		{"\xe2\x80", []string{"\xe2\x80"}},
	}
	for _, tt := range tests {
		if got := split(tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("%q is cut into %q, want %q", tt.text, got, tt.want)
		}
	}
}
