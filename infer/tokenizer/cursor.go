package tokenizer

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// A cursor iterates over JSON token by token. vocab and merges are long lists of short strings.
// Reading them in place takes a fraction of the time needed to decode them into Go values, and an
// error can name the item.
//
// Its input must be JSON that encoding/json has accepted as valid. The cursor can therefore treat
// commas and colons as blanks, and never reads past the end.
type cursor struct {
	rest string
}

// next returns the next token: one of { } [ ], a string in quotes, or a number
// or literal. At the end it returns an empty token.
func (c *cursor) next() string {
	n := 0
	for n < len(c.rest) && blank(c.rest[n]) {
		n++
	}
	rest := c.rest[n:]
	n = tokenLen(rest)
	c.rest = rest[n:]
	return rest[:n]
}

func blank(b byte) bool {
	return b == ' ' || b == '\n' || b == ',' || b == ':' || b == '\t' || b == '\r'
}

// tokenLen returns the length of the first token of s.
func tokenLen(s string) int {
	if s == "" {
		return 0
	}
	switch s[0] {
	case '{', '}', '[', ']':
		return 1
	case '"':
		n := 1
		for s[n] != '"' {
			if s[n] == '\\' {
				n++
			}
			n++
		}
		return n + 1
	}
	if n := strings.IndexAny(s, " \t\r\n,:{}[]"); n >= 0 {
		return n
	}
	return len(s)
}

// text returns the value of token if it is a string. Otherwise, ok is false.
func text(token string) (string, bool) {
	if token == "" || token[0] != '"' {
		return "", false
	}
	inside := token[1 : len(token)-1]
	if strings.IndexByte(inside, '\\') < 0 && utf8.ValidString(inside) {
		return inside, true
	}
	return unescape(token)
}

// unescape is like text, but for a string with escapes or invalid UTF-8.
func unescape(token string) (s string, ok bool) {
	return s, json.Unmarshal([]byte(token), &s) == nil
}

// is reports whether token is the delimiter d.
func is(token string, d byte) bool { return len(token) == 1 && token[0] == d }
