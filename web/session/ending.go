package session

import (
	"fmt"
	"strings"

	"github.com/tokenbytoken/viz/infer"
)

// SpaceAtEnd explains why a prompt should not end with a space.
type SpaceAtEnd struct {
	Head, Say string // sentences
	Act       string // the text of a button that removes the space
	Prompt    string // without the spaces
}

// NewSpaceAtEnd returns the explanation for a prompt. It returns false if the prompt does not end
// with spaces that hinder the model: see [infer.Model.SpacesAtEnd].
func NewSpaceAtEnd(m *infer.Model, prompt string) (SpaceAtEnd, bool) {
	n := m.SpacesAtEnd(prompt)
	if n == 0 {
		return SpaceAtEnd{}, false
	}
	s := SpaceAtEnd{
		Head: "The prompt ends with a space.", Act: "Remove the space",
		Say: "This model learned most words as one token with the space in front. After a space of its own it can " +
			"only write such a word with a second space, and often writes nonsense instead.",
		Prompt: strings.TrimRight(prompt, " "),
	}
	if n > 1 {
		s.Head, s.Act = fmt.Sprintf("The prompt ends with %d spaces.", n), "Remove the spaces"
	}
	return s, true
}
