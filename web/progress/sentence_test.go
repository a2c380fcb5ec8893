package progress

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress/saved"
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

// TestOldSentencesAreDeleted: when a learner changes or removes their sentence, the log does not keep the
// old one. If that fails, the learner gets the error, and saving the sentence again completes it.
func TestOldSentencesAreDeleted(t *testing.T) {
	logs, c := &uncompacted{Journal: journal.NewMemory()}, &clock{t: morning}
	s := New(logs, memory(t), course(), c.now)
	must(t, s.Visit(ctx, ada, "loop#steps"))
	logHas := func(want ...string) {
		t.Helper()
		var got []string
		for _, r := range recordsOf(t, s, ada) {
			if r.Type == saved.TypeSetting {
				got = append(got, string(r.Data))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("the log has the settings %q, want %q", got, want)
		}
		if m := mapOf(t, s, ada); m.All.Seen != 1 {
			t.Errorf("got %d visits, want 1", m.All.Seen)
		}
	}
	const first, second = `{"name":"sentence","value":"one"}`, `{"name":"sentence","value":"two"}`
	must(t, s.SetSentence(ctx, ada, "one"))
	logHas(first)
	must(t, s.SetSentence(ctx, ada, "two"))
	logHas(second)
	logs.fail = errors.New("the disk is gone")
	if err := s.SetSentence(ctx, ada, "one"); !errors.Is(err, logs.fail) {
		t.Errorf("without a compaction: got error %v, want %v", err, logs.fail)
	}
	logHas(second, first)
	logs.fail = nil
	must(t, s.SetSentence(ctx, ada, "one"))
	logHas(first)
	must(t, s.SetSentence(ctx, ada, ""))
	logHas()
	must(t, s.SetSentence(ctx, ada, "two"))
	logHas(second)
}

// uncompacted is a journal whose logs cannot be compacted while fail is set.
type uncompacted struct {
	journal.Journal
	fail error
}

func (u *uncompacted) Compact(ctx context.Context, o journal.Owner, gone []journal.Key) error {
	if u.fail != nil {
		return u.fail
	}
	return u.Journal.Compact(ctx, o, gone)
}
