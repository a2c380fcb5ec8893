package polls

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/testmodel"
)

// TestReadableSpecialTokens: a token that represents no text is described in words, so that
// no vote, receipt or summary prints its name, which is markup.
func TestReadableSpecialTokens(t *testing.T) {
	t.Parallel()
	m := testmodel.Target(t)
	special, ends := 0, 0
	for id := range m.Config().Vocab {
		text := TokenText(m, id)
		switch {
		case !m.Token(id).Special:
			if text != m.Token(id).Text {
				t.Errorf("token %d reads %q, want its text", id, text)
			}
			continue
		case m.EOS(id):
			ends++
			if text != "(end of the text)" {
				t.Errorf("the end token reads %q, want %q", text, "(end of the text)")
			}
		}
		special++
		if strings.ContainsAny(text, "<|>") {
			t.Errorf("special token %d reads %q, want a description without markup", id, text)
		}
	}
	if special == 0 || ends == 0 {
		t.Fatalf("the model has %d special tokens, %d of which end the text; want not 0, not 0", special, ends)
	}
}
