package progress

import (
	"errors"
	"strings"
	"testing"
)

// TestSentence: a learner's sentence can be changed and removed. It is exported and imported with the
// progress, and deleted with it.
func TestSentence(t *testing.T) {
	s, _ := newStore(t)
	want := func(learner, want string) {
		t.Helper()
		if got, err := s.Sentence(ctx, learner); err != nil || got != want {
			t.Errorf("%s's sentence is %q, %v; want %q", learner, got, err, want)
		}
	}
	want(ada, "")
	must(t, s.SetSentence(ctx, ada, " Once there was a lonely "))
	want(ada, "Once there was a lonely")
	for _, bad := range []string{"one\ntwo", "\xff", strings.Repeat("a", MaxSentence+1)} {
		if err := s.SetSentence(ctx, ada, bad); !errors.Is(err, ErrInput) {
			t.Errorf("the sentence %.20q: got error %v, want ErrInput", bad, err)
		}
	}
	file, err := s.Export(ctx, ada)
	must(t, err)
	_, err = s.Import(ctx, bob, file)
	must(t, err)
	want(bob, "Once there was a lonely")
	must(t, s.SetSentence(ctx, ada, "عاش في بيت"))
	want(ada, "عاش في بيت")
	want(bob, "Once there was a lonely")
	must(t, s.SetSentence(ctx, ada, ""))
	want(ada, "")
	must(t, s.Delete(ctx, bob))
	want(bob, "")
}

// TestSameSentenceIsSavedOnce: saving the sentence that a learner already has adds no record.
func TestSameSentenceIsSavedOnce(t *testing.T) {
	s, _ := newStore(t)
	for range 3 {
		must(t, s.SetSentence(ctx, ada, "Once there was a lonely"))
	}
	must(t, s.use(ctx, ada, func(l *learner) error {
		if n := l.State().Changes; n != 1 {
			t.Errorf("got %d changes, want 1", n)
		}
		return nil
	}))
}
