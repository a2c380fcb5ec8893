package checkpoint

import (
	"encoding/json"
	"fmt"
	"math"
	"unicode/utf8"
)

// entry is one tensor as described in the header. The sizes and the number of dimensions are
// bounded, but the entry has not been checked against the file yet.
type entry struct {
	dtype   dtype
	shape   []int
	offsets [2]int64 // begin, end; from the start of the data
}

// scanHeader reads the JSON header of a safetensors file:
//
//	{"__metadata__": {"format": "pt"},
//	 "model.norm.weight": {"dtype": "F32", "shape": [192], "data_offsets": [0, 768]}}
//
// The scanner is hand-written, because encoding/json accepts duplicate names, keeping only the last
// value, ignores case in names, and needs several times the header's size in memory. The scanner
// allocates only the entries that it returns.
func scanHeader(text []byte) (map[string]entry, error) {
	s := &scanner{text: text}
	entries := map[string]entry{}
	metadata := false
	s.object(func(key []byte) {
		name := string(key)
		_, seen := entries[name]
		switch {
		case name == "__metadata__":
			if metadata {
				s.fail("__metadata__ appears twice")
			}
			metadata = true
			s.object(func([]byte) { s.rawString() })
		case seen:
			s.fail("tensor %s appears twice", quote(name))
		case len(entries) == maxTensors:
			s.fail("more than %d tensors", maxTensors)
		default:
			e := s.entry()
			if s.err == nil {
				entries[name] = e
			} else {
				s.err = fmt.Errorf("tensor %s: %w", quote(name), s.err)
			}
		}
	})
	if s.space(); s.err == nil && s.at < len(s.text) {
		s.unexpected("the end of the header")
	}
	if s.err != nil {
		return nil, s.err
	}
	return entries, nil
}

// scanner scans the header. After the first error, kept in err, every method does nothing and
// returns zero values.
type scanner struct {
	text []byte
	at   int
	err  error
}

func (s *scanner) entry() (e entry) {
	var seen struct{ dtype, shape, offsets bool }
	once := func(key string, field *bool) {
		if *field {
			s.fail("%s appears twice", key)
		}
		*field = true
	}
	s.object(func(key []byte) {
		switch key := string(key); key {
		case "dtype":
			once(key, &seen.dtype)
			e.dtype = s.dtype()
		case "shape":
			once(key, &seen.shape)
			e.shape = s.shape()
		case "data_offsets":
			once(key, &seen.offsets)
			e.offsets = s.offsets()
		default:
			s.fail("unknown field %s", quote(key))
		}
	})
	switch {
	case !seen.dtype:
		s.fail("missing dtype")
	case !seen.shape:
		s.fail("missing shape")
	case !seen.offsets:
		s.fail("missing data_offsets")
	}
	return e
}

// dtype reads the name of a format, which may be unsupported.
func (s *scanner) dtype() dtype {
	name := string(s.string())
	if s.err == nil && !isDtype(name) {
		s.fail("dtype %s; %s", quote(name), readableSafetensors)
	}
	return dtype(name)
}

// isDtype reports whether a name can be the name of a format: at most 16 capital letters, digits
// and underscores, beginning with a letter. It does not use a regular expression, because a browser
// would take longer to compile package regexp than to read the whole header.
func isDtype(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'A' && c <= 'Z':
		case i > 0 && (c >= '0' && c <= '9' || c == '_'):
		default:
			return false
		}
	}
	return name != "" && len(name) <= 16
}

func (s *scanner) shape() []int {
	shape := []int{}
	s.array(func(i int) {
		n := s.integer()
		switch {
		case i == maxRank:
			s.fail("shape has more than %d dimensions", maxRank)
		case n > maxDim:
			s.fail("shape has a dimension of %d; the limit is %d", n, maxDim)
		default:
			shape = append(shape, int(n))
		}
	})
	return shape
}

func (s *scanner) offsets() (offsets [2]int64) {
	count := 0
	s.array(func(i int) {
		n := s.integer()
		if count++; i < 2 {
			offsets[i] = n
		} else {
			s.fail("data_offsets has more than 2 numbers")
		}
	})
	if count < 2 {
		s.fail("data_offsets has %d numbers, want 2", count)
	}
	return offsets
}

// object reads an object and calls value with each key, to read that key's value.
func (s *scanner) object(value func(key []byte)) {
	s.expect('{')
	if s.accept('}') {
		return
	}
	for s.err == nil {
		key := s.string()
		s.expect(':')
		if s.err != nil {
			return
		}
		value(key)
		if s.accept('}') {
			return
		}
		s.expect(',')
	}
}

// array reads an array and calls value with each index, to read the value there.
func (s *scanner) array(value func(i int)) {
	s.expect('[')
	if s.accept(']') {
		return
	}
	for i := 0; s.err == nil; i++ {
		value(i)
		if s.accept(']') {
			return
		}
		s.expect(',')
	}
}

// integer reads a whole number from 0 to 2⁶³-1. All numbers in a header have this form.
func (s *scanner) integer() (n int64) {
	s.space()
	start := s.at
	for ; s.err == nil && s.at < len(s.text) && '0' <= s.text[s.at] && s.text[s.at] <= '9'; s.at++ {
		digit := int64(s.text[s.at] - '0')
		if n > (math.MaxInt64-digit)/10 {
			s.fail("number too large for 64 bits")
			return 0
		}
		n = 10*n + digit
	}
	if s.at == start {
		s.unexpected("a nonnegative integer")
	} else if s.text[start] == '0' && s.at > start+1 {
		s.fail("number with a leading zero")
	}
	return n
}

// string reads a string of at most maxNameBytes bytes and resolves its escapes.
func (s *scanner) string() []byte {
	raw, escaped := s.rawString()
	if s.err != nil {
		return nil
	}
	if len(raw) > maxNameBytes {
		s.fail("name of %d bytes; the limit is %d", len(raw), maxNameBytes)
		return nil
	}
	if !utf8.Valid(raw) {
		s.fail("name is not valid UTF-8")
		return nil
	}
	if !escaped {
		return raw
	}
	var text string
	if err := json.Unmarshal(s.text[s.at-len(raw)-2:s.at], &text); err != nil {
		s.fail("string: %v", err)
	}
	return []byte(text)
}

// rawString reads a string of any length. It returns the bytes between the quotes and whether they
// contain an escape.
func (s *scanner) rawString() (raw []byte, escaped bool) {
	s.expect('"')
	if s.err != nil {
		return nil, false
	}
	start := s.at
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return s.text[start : s.at-1], escaped
		case c == '\\':
			escaped = true
			s.at++
		case c < ' ':
			s.fail("control character in a string")
			return nil, false
		}
	}
	s.at = len(s.text)
	s.fail("unterminated string")
	return nil, false
}

func (s *scanner) expect(c byte) {
	if !s.accept(c) {
		s.unexpected(fmt.Sprintf("%q", c))
	}
}

// accept consumes c if it is the next character that is not white space.
func (s *scanner) accept(c byte) bool {
	s.space()
	if s.err != nil || s.at >= len(s.text) || s.text[s.at] != c {
		return false
	}
	s.at++
	return true
}

func (s *scanner) space() {
	for s.err == nil && s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

func (s *scanner) unexpected(want string) {
	if s.at < len(s.text) {
		s.fail("found %q, want %s", s.text[s.at], want)
	} else {
		s.fail("header ends unexpectedly, want %s", want)
	}
}

func (s *scanner) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("header byte %d: %s", s.at, fmt.Sprintf(format, args...))
	}
}
