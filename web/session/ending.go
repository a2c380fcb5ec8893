package session

import (
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

// SpaceAtEnd explains why a prompt should not end with a space.
type SpaceAtEnd struct {
	Head, Say string // sentences
	Act       string // the text of a button that removes the space
	Prompt    string // without the spaces
}

// NewSpaceAtEnd returns the explanation for a prompt in language l. It returns false unless the
// prompt ends with spaces that make it harder to continue: see [infer.Model.SpacesAtEnd].
func NewSpaceAtEnd(l *terms.Language, m *infer.Model, prompt string) (SpaceAtEnd, bool) {
	n := m.SpacesAtEnd(prompt)
	if n == 0 {
		return SpaceAtEnd{}, false
	}
	return SpaceAtEnd{
		Head: l.T("run.space", "n", n), Say: l.T("run.space.say"), Act: l.T("run.space.act", "n", n),
		Prompt: strings.TrimRight(prompt, " "),
	}, true
}
