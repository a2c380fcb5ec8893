package infer

import (
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer/tokenizer"
)

// Token is an entry of the vocabulary in displayable form.
type Token struct {
	ID int
	// Text is the token's bytes as text, with U+FFFD for each byte that is not part of a whole
	// UTF-8 character. For a special token, it is the token's name.
	Text string
	// Bytes is set only if the token's bytes are not valid UTF-8.
	Bytes []byte
	// Special marks tokens that represent no text, such as the end of text.
	Special bool
}

// describe returns the token with the given id. The text of an unknown id is empty. (A model may
// have more rows than its tokenizer has entries.)
func describe(tok *tokenizer.Tokenizer, id int) Token {
	if name, ok := tok.Special(id); ok {
		return Token{ID: id, Text: name, Special: true}
	}
	b := tok.Bytes(id)
	t := Token{ID: id, Text: string(b)}
	if !utf8.Valid(b) {
		t.Text = ValidText(b)
		t.Bytes = b
	}
	return t
}
