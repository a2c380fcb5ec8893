package tokenizer

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// A cursor walks through JSON token by token. vocab and merges are long lists
// of short strings: read like this they cost a fraction of what decoding them
// into Go values would, and an error can name the item.
//
// It may only be given JSON that encoding/json has found valid. That is why it
// can treat commas and colons as blanks, and why it never runs off the end.
type cursor struct {
	rest []byte
}

// next returns the next token: one of { } [ ], a string in its quotes, or a
// number or literal. It is empty at the end.
func (c *cursor) next() []byte {
	rest := bytes.TrimLeft(c.rest, " \t\r\n,:")
	n := tokenLen(rest)
	c.rest = rest[n:]
	return rest[:n]
}

// tokenLen returns the length of the token that b begins with.
func tokenLen(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case '{', '}', '[', ']':
		return 1
	case '"':
		n := 1
		for b[n] != '"' {
			if b[n] == '\\' {
				n++
			}
			n++
		}
		return n + 1
	}
	if n := bytes.IndexAny(b, " \t\r\n,:{}[]"); n >= 0 {
		return n
	}
	return len(b)
}

// text returns the string that token holds; ok is false when it holds none.
func text(token []byte) (s string, ok bool) {
	if len(token) == 0 || token[0] != '"' {
		return "", false
	}
	inside := token[1 : len(token)-1]
	if bytes.IndexByte(inside, '\\') < 0 && utf8.Valid(inside) {
		return string(inside), true
	}
	return s, json.Unmarshal(token, &s) == nil
}

// is reports whether token is the delimiter d.
func is(token []byte, d byte) bool { return len(token) == 1 && token[0] == d }
