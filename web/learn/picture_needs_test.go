package learn

import (
	"errors"
	"testing"

	"github.com/tokenbytoken/viz/lessons"
)

// TestLessonsAreTrueOfTheirSentence: what the lessons claim of a state's sentence is true of the
// lesson's own.
func TestLessonsAreTrueOfTheirSentence(t *testing.T) {
	t.Parallel()
	s := newSite(t).withDraft()
	for _, l := range s.pages.Course.Lessons {
		a := newArtist(s.pages.environment(""), l.Sentence)
		a.strict = true
		for _, pic := range l.Pictures() {
			if !l.TakesSentence(pic) {
				continue
			}
			if _, err := a.picture(t.Context(), pic); err != nil {
				t.Errorf("%s: state %q needs %q: %v", l.Slug, pic.Name, pic.Needs, err)
			}
		}
	}
}

// TestPicturesNeedTheirPoint: a state shows the learner's sentence only if what its text claims is true of
// the sentence. A state without a need can also have a claim: a draw or a new column needs a token that
// continues the text.
func TestPicturesNeedTheirPoint(t *testing.T) {
	t.Parallel()
	s := newSite(t).withDraft()
	for _, row := range []struct {
		sentence, state string
		shown           bool
	}{
		// The model is nearly sure of ·Paris.
		{"The capital of France is", "another", false},
		{"The capital of France is", "close", false},
		{"The capital of France is", "colder", false},
		{"The capital of France is", "fewer", false},
		// The first draw ends the text, and only the second one continues it.
		{"And they lived happily ever after.", "draw", false},
		{"And they lived happily ever after.", "another", false},
		// The first token ends the text, so no column follows.
		{"The capital of France is Paris.", "cache", false},
		// The third guess ends the text, and all three are kept.
		{"The capital of Japan is", "kept", true},
		// The draft's only guess, which is kept, ends the text.
		{"The capital of France is Paris.", "kept", false},
	} {
		a := newArtist(s.pages.environment(""), row.sentence)
		a.strict = true
		var err error
		for _, pic := range leadingTo(t, s, row.state) {
			_, err = a.picture(t.Context(), pic)
		}
		if err != nil && !errors.Is(err, errPoint) || (err == nil) != row.shown {
			t.Errorf("%q, state %q: got error %v, want it shown: %t", row.sentence, row.state, err, row.shown)
		}
	}
}

// leadingTo returns the first state of the course with a need or, without a need, of a kind. Before it
// come the draws before it in its lesson.
func leadingTo(t *testing.T, s *site, state string) (list []lessons.Picture) {
	t.Helper()
	for _, l := range s.pages.Course.Lessons {
		list = nil
		for _, pic := range l.Pictures() {
			if string(pic.Needs) == state || pic.Needs == "" && string(pic.Kind) == state {
				return append(list, pic)
			}
			if pic.Kind == lessons.PictureDraw {
				list = append(list, pic)
			}
		}
	}
	t.Fatalf("no state is %q", state)
	return nil
}
