package session

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
)

// unmark converts the marks for white space back to white space.
var unmark = strings.NewReplacer("·", " ", "↵", "\n", "⇥", "\t")

// The ways in which a token can match a search, best first.
const (
	fitsWhole   = iota
	fitsSpaced  // matches except for a leading space
	fitsUncased // matches except for case
	fitsBeginning
	fitsInside
	fitsNot
)

// Find searches for tokens by their text, as typed or with white space marked (· ↵ ⇥). The first
// result is the token with exactly this text, followed by the token with a space before the text,
// tokens that differ only in case, tokens that begin with the text, and tokens that contain it.
// Within each group, tokens are sorted by their rank at the given step, whose logits stage must
// have run. Find returns the ids of at most `most` tokens, and the number of further matches.
func (s *State) Find(step int, text string, most int) (ids []int, more int) {
	if text == "" {
		return nil, 0
	}
	d := s.DistAt(step)
	if d == nil {
		return nil, 0
	}
	plain := unmark.Replace(text)
	type hit struct{ id, fit int }
	var hits []hit
	for _, id := range d.Order { // most probable first
		t := s.Model.Token(int(id))
		if fit := min(fits(t.Text, plain), fits(t.Text, text)); fit < fitsNot {
			hits = append(hits, hit{int(id), fit})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.fit, b.fit) })
	for _, h := range hits[:min(most, len(hits))] {
		ids = append(ids, h.id)
	}
	return ids, len(hits) - len(ids)
}

func fits(token, text string) int {
	lower, want := strings.ToLower(token), strings.ToLower(text)
	bare := strings.TrimPrefix(lower, " ")
	switch {
	case token == "":
		return fitsNot
	case token == text:
		return fitsWhole
	case token == " "+text:
		return fitsSpaced
	case lower == want, bare == want:
		return fitsUncased
	case strings.HasPrefix(lower, want), strings.HasPrefix(bare, want):
		return fitsBeginning
	case strings.Contains(lower, want):
		return fitsInside
	}
	return fitsNot
}

// DistAt returns the distribution of a step, computing it if necessary. It returns nil if the
// step's logits stage has not run.
func (s *State) DistAt(step int) *sampling.Distribution {
	if step < 1 || step > len(s.Steps) || s.Steps[step-1].Ran < infer.KindLogits {
		return nil
	}
	if step == s.Cursor.Step && s.Dist != nil {
		return s.Dist
	}
	return s.Steps[step-1].Distribution()
}
