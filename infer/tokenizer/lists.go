package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unsafe"
)

// A tokenizer.json consists almost entirely of three lists: the vocabulary, the merges and the
// added tokens. They are cut out of the file and read in place, and only the rest, a few thousand
// bytes, is decoded. The file is known to be valid JSON.

// lists holds the long lists and the rest of the file. If the file does not have a list, it is "".
type lists struct {
	added, vocab, merges string
	rest                 []byte // the file with null in place of the lists
	cuts                 []cut
}

// A cut describes a list that was cut out: the length of the rest before it, and the number of
// bytes removed.
type cut struct{ at, by int }

// cutLists cuts the lists out of text. It rejects duplicate lists; other errors are found when the
// rest is decoded.
func cutLists(text string) (l lists, err error) {
	done := 0 // number of bytes of text that have been handled
	keep := func(to int) error {
		if len(l.rest)+to-done > maxRestBytes {
			return fmt.Errorf(
				"the data other than the vocabulary, merges and added tokens exceeds %d bytes", maxRestBytes,
			)
		}
		l.rest = append(l.rest, text[done:to]...)
		return nil
	}
	take := func(list *string, name string, from, to int) error {
		if *list != "" {
			return fmt.Errorf("duplicate %s", name)
		}
		*list = text[from:to]
		if err := keep(from); err != nil {
			return err
		}
		l.rest = append(l.rest, "null"...)
		l.cuts = append(l.cuts, cut{len(l.rest), to - from - len("null")})
		done = to
		return nil
	}
	err = members(text, 0, func(key string, from, to int) error {
		switch key {
		case `"added_tokens"`:
			return take(&l.added, "added_tokens", from, to)
		case `"model"`:
		default:
			return nil
		}
		return members(text[:to], from, func(key string, from, to int) error {
			switch key {
			case `"vocab"`:
				return take(&l.vocab, "model.vocab", from, to)
			case `"merges"`:
				return take(&l.merges, "model.merges", from, to)
			}
			return nil
		})
	})
	if err == nil {
		err = keep(len(text))
	}
	return l, err
}

// offset converts an offset in the rest to the corresponding offset in the whole file.
func (l *lists) offset(at int64) int64 {
	moved := at
	for _, c := range l.cuts {
		if at > int64(c.at) {
			moved += int64(c.by)
		}
	}
	return moved
}

// members calls visit for each member of the object that begins at or after offset `from`, with the
// member's key (in quotes) and the start and end of its value. If the value there is not an object,
// it has no members.
func members(text string, from int, visit func(key string, from, to int) error) error {
	c := cursor{text[from:]}
	at := func() int { return len(text) - len(c.rest) }
	if !is(c.next(), '{') {
		return nil
	}
	for {
		key := c.next()
		if is(key, '}') {
			return nil
		}
		first := c.next()
		start := at() - len(first)
		for depth := opens(first); depth > 0; {
			depth += opens(c.next())
		}
		if err := visit(key, start, at()); err != nil {
			return err
		}
	}
}

// opens returns 1 for a token that opens an object or an array, −1 for a token that closes one, and
// 0 for any other token.
func opens(token string) int {
	switch {
	case is(token, '{'), is(token, '['):
		return 1
	case is(token, '}'), is(token, ']'):
		return -1
	}
	return 0
}

// decodeFile decodes the parts of a tokenizer.json, except for the long lists, which are kept as
// raw text.
func decodeFile(data []byte) (*file, error) {
	if !json.Valid(data) {
		return nil, explainJSON(json.Unmarshal(data, new(struct{})), nil)
	}
	// No copy: data does not change while it is read, and is not retained.
	l, err := cutLists(unsafe.String(unsafe.SliceData(data), len(data)))
	if err != nil {
		return nil, err
	}
	f := &file{added: l.added}
	if err := json.Unmarshal(l.rest, f); err != nil {
		return nil, explainJSON(err, &l)
	}
	if f.Model != nil {
		f.Model.vocab, f.Model.merges = l.vocab, l.merges
	}
	return f, nil
}

// explainJSON adds to an error the position in the file at which encoding/json stopped. l is nil if
// encoding/json was given the whole file.
func explainJSON(err error, l *lists) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("invalid JSON at byte %d: %w", syntax.Offset, err)
	}
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		at := wrong.Offset
		if l != nil {
			at = l.offset(at)
		}
		return fmt.Errorf("%w (near byte %d)", explainType("the file", "", err), at)
	}
	return err
}

// absent reports whether a list is missing or null.
func absent(list string) bool { return list == "" || strings.TrimSpace(list) == "null" }

// longer reports whether an array has more than n elements, or an object has more than n keys and
// values in total. For anything else it returns false.
func longer(list string, n int) bool {
	c := cursor{list}
	if opens(c.next()) != 1 {
		return false
	}
	for items := 0; items <= n; items++ {
		depth := opens(c.next())
		if depth < 0 {
			return false // the end of the list
		}
		for depth > 0 {
			depth += opens(c.next())
		}
	}
	return true
}

// mostStrings returns an upper bound on the number of strings in a list, found by counting quotes.
// It is exact unless a string contains a quote.
func mostStrings(list string) int { return strings.Count(list, `"`) / 2 }
