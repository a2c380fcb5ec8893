package polls

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/pseudo"
)

// TestOptionsAreWholeWords: options are whole words, because a class cannot make sense of parts of
// words or punctuation.
func TestOptionsAreWholeWords(t *testing.T) {
	t.Parallel()
	m := testmodel.Target(t)
	ids := map[string]int{}
	for id := range m.Config().Vocab {
		ids[m.Token(id).Text] = id
	}
	for text, want := range map[string]bool{
		" farmer": true, " a": true, " king": true, " the": true, " M": false, "ord": false, ".": false,
	} {
		id, known := ids[text]
		if !known {
			t.Fatalf("the model has no token %q", text)
		}
		if got := WholeWord(m, id); got != want {
			t.Errorf("%q is a whole word: got %t, want %t", text, got, want)
		}
	}
}

// TestLoggedTextsAreTranslated: the texts of polls in a room's log are English, and pages show them
// in their language.
func TestLoggedTextsAreTranslated(t *testing.T) {
	l := pseudo.Language(t)
	data := pseudo.NewData([]string{"What is a token?"})
	recall := Quiz(&lessons.Question{Prompt: "What is a token?", PromptText: "What is a token?"}, 1)
	texts := []string{class.TextIn(l, class.Untitled), class.HTMLIn(l, recall.Prompt)}
	for _, o := range recall.Options {
		texts = append(texts, class.TextIn(l, o.Text), class.HTMLIn(l, o.HTML))
	}
	left, err := data.OfPage(strings.Join(texts, "\n"))
	if err != nil || len(left) > 0 {
		t.Errorf("not translated: %q, %v", left, err)
	}
	for _, text := range append(texts, recall.Prompt) {
		if got := class.HTMLIn(terms.English, text); got != text {
			t.Errorf("in English, %q becomes %q", text, got)
		}
	}
}
