package infer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/terms"
)

// PromptOf returns a prompt that consists of the tokens with the given ids. As with text, the
// model's start token comes first, whether or not ids include it. PromptOf returns a
// *[terms.RangeError] if an id is unknown, if there are no tokens, or if there are more than fit in
// the context.
func (m *Model) PromptOf(ids []int) (chat.Text, error) {
	if bos := m.config.BOS; bos >= 0 && (len(ids) == 0 || ids[0] != bos) {
		ids = append([]int{bos}, ids...)
	}
	if err := m.checkLength(ids); err != nil {
		return chat.Text{}, err
	}
	if err := m.CheckIDs(ids); err != nil {
		return chat.Text{}, err
	}
	text := m.spelled(ids)
	if again, err := m.EncodeChat(text); err != nil || !slices.Equal(again, ids) {
		text.IDs = ids
	}
	return text, nil
}

// CheckIDs returns a *[terms.RangeError] for the first id that the vocabulary does not have.
func (m *Model) CheckIDs(ids []int) error {
	for _, id := range ids {
		if id < 0 || id >= m.config.Vocab {
			return terms.NewRangeError(
				"prompt", terms.PhraseOf("got.ids", "id", fmt.Sprint(id)),
				terms.PhraseOf("want.ids", "last", fmt.Sprint(m.config.Vocab-1)),
			)
		}
	}
	return nil
}

// TokenOf returns the ordinary token that spells exactly this text, if there is one.
func (m *Model) TokenOf(text string) (id int, ok bool) { return m.tok.Lookup(text) }

// Decode returns the text of tokens, with U+FFFD for each byte that is not part of a complete
// character. Special tokens represent no text.
func (m *Model) Decode(ids []int) string { return ValidText([]byte(m.tok.Decode(ids))) }

// DecodeNamed is [Model.Decode] with special tokens shown by name.
func (m *Model) DecodeNamed(ids []int) string {
	text, _ := m.named(ids)
	return text
}

// named returns the text of tokens, with special tokens shown by name, and the offsets of these
// names.
func (m *Model) named(ids []int) (text string, marks []int) {
	var b strings.Builder
	from := 0
	for i, id := range ids {
		if name, special := m.tok.Special(id); special {
			b.WriteString(m.Decode(ids[from:i]))
			marks, from = append(marks, b.Len()), i+1
			b.WriteString(name)
		}
	}
	b.WriteString(m.Decode(ids[from:]))
	return b.String(), marks
}

// spelled returns the text of the tokens with the given ids, which need not encode back to the same
// tokens. If there are no other special tokens, it omits the start token, which precedes every
// text.
func (m *Model) spelled(ids []int) chat.Text {
	plain := ids
	if m.config.BOS >= 0 && len(ids) > 0 && ids[0] == m.config.BOS {
		plain = ids[1:]
	}
	if _, marks := m.named(plain); len(marks) == 0 {
		return chat.Text{Text: m.Decode(plain)}
	}
	text, marks := m.named(ids)
	return chat.Text{Text: text, Marks: marks}
}
