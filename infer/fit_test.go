package infer_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
)

// TestHugePromptsAreNotEncoded: a text with so many bytes that it cannot fit in the context,
// whatever its tokens, is rejected because of its length in bytes. A text that is one byte shorter
// is encoded and then rejected because of its number of tokens.
func TestHugePromptsAreNotEncoded(t *testing.T) {
	t.Parallel()
	m := testmodel.Target(t)
	longest := 0
	for id := range m.Config().Vocab {
		longest = max(longest, len(m.Token(id).Text))
	}
	most := longest * m.Config().Context
	for n, want := range map[int]string{most: "tokens long", most + 1: "bytes long"} {
		_, err := m.Fit(chat.Text{Text: strings.Repeat("x", n)})
		r := new(terms.RangeError)
		if !errors.As(err, &r) || !strings.Contains(r.Got.String(), want) || r.Field != "prompt" {
			t.Errorf("%d bytes: got %v, want a refusal as too many %s", n, err, want)
		}
	}
}
