package progress

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/lessons/fsrs"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
)

// TestExpireAbsentLearners: the data of learners who have been away for 400 days is deleted, as is
// the data of learners who have only read one section and saved a sentence, and been away for 30
// days. All other data stays, even of a learner who has seen that section often.
// Promise: A learner's data is deleted 400 days after they last did something.
func TestExpireAbsentLearners(t *testing.T) {
	logs := journal.NewMemory()
	c := &clock{t: morning}
	s := New(logs, memory(t), course(), c.now)
	review := func(who, id string) {
		t.Helper()
		_, err := s.Review(ctx, who, "c-draw", fsrs.Good, id)
		must(t, err)
	}
	must(t, s.Visit(ctx, "one-section", "loop#steps"))
	must(t, s.Visit(ctx, "one-section", "loop#steps"))
	must(t, s.SetSentence(ctx, "one-section", "Once there was a lonely"))
	for range fewRecords + 1 {
		must(t, s.Visit(ctx, "often", "loop#steps"))
		c.add(time.Millisecond)
	}
	must(t, s.Visit(ctx, "two-sections", "loop#steps"))
	must(t, s.Visit(ctx, "two-sections", "loop#draw"))
	must(t, s.Answer(ctx, "answered", Answer{ID: "1", Item: "q-order", Kind: Quiz, Credit: 1}))
	must(t, s.Answer(ctx, "drilled", Answer{ID: "1", Item: "softmax/1", Kind: Drill, Credit: 1}))
	_, err := s.Predict(ctx, "guessed", Prediction{ID: "1", Confidence: 0.5, Score: -1})
	must(t, err)
	review("reviewed", "1")
	review("returns", "1")
	expire := func(wantGone int, want ...string) {
		t.Helper()
		gone, err := s.Expire(ctx, c.now())
		must(t, err)
		list, err := logs.Owners(ctx, journal.Learner)
		must(t, err)
		var names []string
		for _, x := range list {
			names = append(names, x.Name)
		}
		if gone != wantGone || !slices.Equal(names, want) {
			t.Errorf("%d learners were deleted and %v are left; want %d and %v", gone, names, wantGone, want)
		}
	}
	all := []string{"answered", "drilled", "guessed", "often", "one-section", "returns", "reviewed", "two-sections"}
	c.add(AbandonedLife - time.Second)
	expire(0, all...)
	c.add(2 * time.Second)
	expire(1, "answered", "drilled", "guessed", "often", "returns", "reviewed", "two-sections")
	if m := mapOf(t, s, "one-section"); m.All.Seen != 0 {
		t.Errorf("a deleted learner has seen %d sections, want 0", m.All.Seen)
	}
	c.add(Life - AbandonedLife - 3*time.Second)
	expire(0, "answered", "drilled", "guessed", "often", "returns", "reviewed", "two-sections")
	review("returns", "2")
	c.add(3 * time.Second)
	expire(6, "returns")
	if n := deckOf(t, s, "returns").Cards; !slices.ContainsFunc(n, func(c CardState) bool { return c.Reviews == 2 }) {
		t.Errorf("the cards of a learner who returned: got %+v, want a card with 2 reviews", n)
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	if _, err := s.Expire(stopped, c.now()); err == nil {
		t.Error("a canceled Expire returned no error")
	}
}

// TestExpireQuarantinedData: the quarantined data of learners who have no other data is deleted
// after 30 days. Quarantined data of rooms, and of learners who still have a log, stays.
func TestExpireQuarantinedData(t *testing.T) {
	logs := journal.NewMemory()
	c := &clock{t: morning}
	s := New(logs, memory(t), course(), c.now)
	aside := func(kind, name string, seqs ...int64) {
		t.Helper()
		must(t, logs.SetAside(ctx, journal.Owner{Kind: kind, Name: name}, c.now(), seqs...))
	}
	put := func(kind, name string) []int64 {
		t.Helper()
		seqs, err := logs.Append(ctx, journal.Batch{
			Owner: journal.Owner{Kind: kind, Name: name}, At: c.now(),
			Records: []journal.Record{
				{Type: "visit", ID: "1", Data: []byte("{}")}, {Type: "visit", ID: "2", Data: []byte("{}")},
			},
		})
		must(t, err)
		return seqs
	}
	put(journal.Learner, "whole")
	aside(journal.Learner, "whole")
	aside(journal.Learner, "part", put(journal.Learner, "part")[0])
	put(journal.Room, "K7Q4MX")
	aside(journal.Room, "K7Q4MX")
	c.add(store.DamagedLife - time.Hour)
	put(journal.Learner, "later")
	aside(journal.Learner, "later")
	must(t, s.Visit(ctx, "part", "loop#steps"))
	left := func(want ...string) {
		t.Helper()
		_, err := s.Expire(ctx, c.now())
		must(t, err)
		list, err := logs.Owners(ctx, store.SetAsideKind)
		must(t, err)
		var names []string
		for _, x := range list {
			_, name := store.SetAsideOf(x.Name)
			names = append(names, name)
		}
		slices.Sort(names)
		if names = slices.Compact(names); !slices.Equal(names, want) {
			t.Errorf("the logs set aside are %v, want %v", names, want)
		}
	}
	left("K7Q4MX", "later", "part", "whole")
	c.add(2 * time.Hour)
	left("K7Q4MX", "later", "part")
}

// A short is a database with little space left.
type short struct {
	*store.DB
	space store.Space
	limit int64
}

func (s *short) Space(context.Context) store.Space { return s.space }
func (s *short) Limit() int64                      { return s.limit }

// TestScarceSpaceRefusesWrites: the less space there is, the fewer kinds of data are accepted. At
// the last level, only the answers and reviews of learners who have a log are accepted. Entries
// that already exist are still confirmed.
func TestScarceSpaceRefusesWrites(t *testing.T) {
	db := &short{DB: memory(t)}
	s := New(journal.NewMemory(), db, course(), time.Now)
	n := 0
	actions := map[string]func(who string) error{
		"import": func(who string) error {
			_, err := s.Import(ctx, who, []byte(strings.ReplaceAll(example, `"id":"`, fmt.Sprintf(`"id":"x%d`, n))))
			return err
		},
		"visit": func(who string) error { return s.Visit(ctx, who, "loop#steps") },
		"guess": func(who string) error {
			_, err := s.Predict(ctx, who, Prediction{ID: fmt.Sprint(n), Confidence: 0.5, Score: -1})
			return err
		},
		"answer": func(who string) error {
			return s.Answer(ctx, who, Answer{ID: fmt.Sprint(n), Item: "q-order", Kind: Quiz, Credit: 1})
		},
		"review": func(who string) error {
			_, err := s.Review(ctx, who, "c-draw", fsrs.Good, fmt.Sprint(n))
			return err
		},
	}
	must(t, s.Visit(ctx, ada, "loop#steps"))
	guess := Prediction{ID: "sent-again", Confidence: 0.5, Score: -1}
	_, err := s.Predict(ctx, ada, guess)
	must(t, err)
	for _, c := range []struct {
		space       store.Space
		known, newc string // the operations that are accepted
	}{
		{store.SpaceForAll, "answer guess import review visit", "answer guess import review visit"},
		{store.SpaceForSmall, "answer guess review visit", "answer guess review visit"},
		{store.SpaceForKnown, "answer guess review visit", ""},
		{store.SpaceForAnswers, "answer review", ""},
	} {
		db.space = c.space
		accepted := func(known bool) string {
			var list []string
			for what, do := range actions {
				n++
				who := ada
				if !known {
					who = fmt.Sprint("new-", n)
				}
				if err := do(who); err == nil {
					list = append(list, what)
				} else if !errors.Is(err, store.ErrScarce) {
					t.Errorf("%s: got error %v, want %v", what, err, store.ErrScarce)
				}
			}
			slices.Sort(list)
			return strings.Join(list, " ")
		}
		if known, newc := accepted(true), accepted(false); known != c.known || newc != c.newc {
			t.Errorf("at level %d: accepted %q from a known learner and %q from a new one; want %q and %q",
				c.space, known, newc, c.known, c.newc)
		}
	}
	if fresh, err := s.Predict(ctx, ada, guess); err != nil || fresh {
		t.Errorf("resending a saved guess: got %v, %v; want false, <nil>", fresh, err)
	}
}

// TestLearnerCannotExceedTheirShare: no learner can use more than their share of space.
// Promise: No learner can store more than their share of -data-limit.
func TestLearnerCannotExceedTheirShare(t *testing.T) {
	db := &short{DB: memory(t), limit: store.LearnerShare * 1000}
	s := New(journal.NewMemory(), db, course(), time.Now)
	answer := func(who string, n int) error {
		return s.Answer(ctx, who, Answer{
			ID: fmt.Sprint(n), Item: "q-order", Kind: Quiz, Credit: 1, Detail: strings.Repeat("x", 100),
		})
	}
	n := 0
	for ; n < 100; n++ {
		if err := answer(ada, n); errors.Is(err, ErrFull) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if n < 2 || n > 9 {
		t.Errorf(
			"%d answers of more than 100 bytes are accepted with a share of 1000 bytes, want at least 2 and at most 9",
			n,
		)
	}
	must(t, answer(bob, 1))
	if _, err := s.Import(ctx, ada, []byte(example)); !errors.Is(err, ErrFull) {
		t.Errorf("an import: got error %v, want ErrFull", err)
	}
	if before := mapOf(t, s, ada); before.All.Answered != 1 {
		t.Errorf("got %+v, want Answered = 1", before.All)
	}
}
