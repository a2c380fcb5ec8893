package pseudo

import (
	"slices"
	"testing"
)

// TestOfPageFindsWordsWithoutMarks: a text can be spread over several nodes, and attributes within
// it are checked separately.
func TestOfPageFindsWordsWithoutMarks(t *testing.T) {
	t.Parallel()
	for page, want := range map[string][]string{
		`<p>⟦Press ⟧<kbd>N</kbd>⟦ for the <b>next</b> token.⟧</p>`:                      nil,
		`<p>⟦Go to <a title="⟦Lessons⟧">the lessons</a> now.⟧</p>`:                      nil,
		`<p>⟦Go to⟧ the <b>next</b></p>`:                                                {"the in the", "next in next"},
		`<a>Token<i>·</i>by<i>·</i>Token</a>`:                                           nil,
		`<p aria-label="Your text">⟦Text⟧</p>`:                                          {"Your text in Your text"},
		`<p>Prompt <code>viz</code> <i lang="en">Failed</i> <i dir="auto">Text</i></p>`: nil,
	} {
		got, err := NewData([]string{"Prompt"}).OfPage(page)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v; want %q, <nil>", page, got, err, want)
		}
	}
}
