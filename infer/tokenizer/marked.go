package tokenizer

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// EncodeMarked is like [Tokenizer.Encode], but for a text that contains special tokens, such as a
// chat. marks are ascending byte offsets, at each of which there is the name of a special token. If
// several names match at an offset, the longest is used. If the vocabulary specifies it, the token
// swallows the whitespace next to it. Everything else is plain text, whatever it contains.
//
// EncodeMarked returns an error if no name begins at an offset, and a *[MissingByteError] if a byte
// has no token.
func (t *Tokenizer) EncodeMarked(text string, marks []int) ([]int, error) {
	longest := 0
	for name := range t.names {
		longest = max(longest, len(name))
	}
	e := encoder{t: t, ids: make([]int, 0, len(text)/3+1), text: text}
	from := 0 // of the plain text after the last token
	for next := 0; len(marks) > 0; marks = marks[1:] {
		at := marks[0]
		if at < next || at >= len(text) {
			return nil, fmt.Errorf("the mark at byte %d is out of order or out of range", at)
		}
		id, size := int32(-1), min(longest, len(text)-at)
		for ; size > 0; size-- {
			if found, ok := t.names[text[at:at+size]]; ok {
				id = found
				break
			}
		}
		if id < 0 {
			return nil, fmt.Errorf("no special token starts at byte %d", at)
		}
		to := at
		if t.strips[id].left {
			to = max(from, len(strings.TrimRightFunc(text[:at], unicode.IsSpace)))
		}
		if from < to {
			e.part(from, to)
		}
		e.ids = append(e.ids, int(id))
		next = at + size
		if from = next; t.strips[id].right {
			from = len(text) - len(strings.TrimLeftFunc(text[next:], unicode.IsSpace))
		}
	}
	if from < len(text) {
		e.part(from, len(text))
	}
	if e.missing != nil {
		return nil, e.missing
	}
	return e.ids, nil
}

// strip specifies the sides on which a special token swallows whitespace.
type strip struct{ left, right bool }

// Added returns the names of the added tokens that are not special, in no particular order.
func (t *Tokenizer) Added() []string { return slices.Collect(maps.Keys(t.added)) }

// Marking returns a tokenizer that treats the added tokens with these names like special tokens: it
// recognizes them only at marks ([Tokenizer.EncodeMarked]). Names without a token are ignored.
func (t *Tokenizer) Marking(names []string) *Tokenizer {
	marking := *t
	marking.names, marking.strips = maps.Clone(t.names), maps.Clone(t.strips)
	if marking.strips == nil {
		marking.strips = map[int32]strip{}
	}
	marked := map[int32]bool{}
	for _, name := range names {
		if id, ok := t.added[name]; ok {
			marking.names[name], marked[id] = id, true
		}
	}
	for _, m := range []*matcher{&marking.raw, &marking.normal} {
		m.tokens = maps.Clone(m.tokens)
		for text, match := range m.tokens {
			if marked[match.id] {
				if match.lstrip || match.rstrip {
					marking.strips[match.id] = strip{match.lstrip, match.rstrip}
				}
				match.special = true
				m.tokens[text] = match
			}
		}
	}
	return &marking
}
