package checkpoint

import (
	"encoding/json"
	"fmt"
	"strings"
)

// fields reads typed values from one JSON object. Keys must match exactly, and null counts as
// absent, as in Hugging Face's files. Errors are collected in err. After an error, methods return
// values that are safe to use.
type fields struct {
	place  string // the object's file or path: "config.json"
	raw    map[string]json.RawMessage
	err    error
	broken bool // the text is not an object; this is reported once, instead of every missing key
}

// parseFields parses an object. If text is nil, the object has no keys.
func parseFields(place string, text []byte) *fields {
	f := &fields{place: place}
	if text == nil {
		return f
	}
	if manyKeys(text) {
		f.fail("has more than %d keys", maxKeys)
	} else if err := json.Unmarshal(text, &f.raw); err != nil {
		f.fail("is not a JSON object: %v", err)
	} else if f.raw == nil {
		f.fail("is null, want a JSON object")
	}
	f.broken = f.err != nil
	return f
}

// maxKeys is the maximum number of keys of an object. It is limited because a map takes many times
// as much memory as its keys. Published files have fewer than a hundred.
const maxKeys = 1 << 12

// manyKeys reports whether the object has more than maxKeys keys. text need not be JSON.
func manyKeys(text []byte) bool {
	keys, depth, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
			if c == '\\' {
				i++
			}
		case c == '{', c == '[':
			depth++
		case c == '}', c == ']':
			depth--
		case c == ':' && depth == 1:
			keys++
		}
	}
	return keys > maxKeys
}

func (f *fields) fail(format string, args ...any) {
	if !f.broken {
		f.err = collect(f.err, fmt.Errorf("%s: %s", f.place, fmt.Sprintf(format, args...)))
	}
}

func (f *fields) adopt(err error) { f.err = collect(f.err, err) }

func (f *fields) has(key string) bool {
	raw, ok := f.raw[key]
	return ok && string(raw) != "null"
}

// value decodes key into v and reports whether it was present and of the right
// type.
func (f *fields) value(key, want string, v any) bool {
	if !f.has(key) {
		return false
	}
	if err := json.Unmarshal(f.raw[key], v); err != nil {
		f.fail("%s is %s, want %s", key, shorten(f.raw[key]), want)
		return false
	}
	return true
}

// size reads a whole number from 1 to limit. absent is the default; if it is 0, the key is
// required.
func (f *fields) size(key string, absent, limit int) int {
	n := absent
	if !f.has(key) && absent == 0 {
		f.fail("%s is missing", key)
	} else if read := f.value(key, "an integer", &n); (read || !f.has(key)) && (n < 1 || n > limit) {
		f.fail("%s is %d, want 1 to %d", key, n, limit)
	}
	return min(max(n, 1), limit) // safe to divide by, whatever the file contains
}

// count reads a whole number from 0 to limit.
func (f *fields) count(key string, absent, limit int) int {
	n := absent
	if f.value(key, "an integer", &n) && (n < 0 || n > limit) {
		f.fail("%s is %d, want 0 to %d", key, n, limit)
	}
	return n
}

func (f *fields) number(key string, absent, low, high float64) float64 {
	x := absent
	if f.value(key, "a number", &x) && (x < low || x > high) {
		f.fail("%s is %v, want %v to %v", key, x, low, high)
	}
	return x
}

func (f *fields) boolean(key string, absent bool) bool {
	b := absent
	f.value(key, "true or false", &b)
	return b
}

func (f *fields) text(key, absent string) string {
	s := absent
	f.value(key, "a string", &s)
	return s
}

func (f *fields) texts(key string) (list []string) {
	f.value(key, "a list of strings", &list)
	return list
}

func (f *fields) object(key string) *fields {
	sub := &fields{place: f.place + ": " + key}
	sub.broken = !f.value(key, "an object", &sub.raw)
	return sub
}

// maxIDs is the maximum length of a list of token ids. Chat models have two or three.
const maxIDs = 256

// ids reads one token id or a list of them, each below vocab.
func (f *fields) ids(key string, vocab int) (ids []int) {
	if f.err != nil || !f.has(key) {
		return nil
	}
	if strings.HasPrefix(string(f.raw[key]), "[") {
		f.value(key, "a token id or a list of them", &ids)
	} else {
		var id int
		f.value(key, "a token id or a list of them", &id)
		ids = []int{id}
	}
	if len(ids) > maxIDs {
		f.fail("%s has %d ids; the limit is %d", key, len(ids), maxIDs)
		return nil
	}
	for _, id := range ids {
		if id < 0 || id >= vocab {
			f.fail("%s is %d, want 0 to %d", key, id, vocab-1)
		}
	}
	return ids
}

// shorten truncates a JSON value to a length that is suitable for an error message.
func shorten(raw json.RawMessage) string {
	if len(raw) > 60 {
		return strings.ToValidUTF8(string(raw[:60]), "") + "…"
	}
	return string(raw)
}
