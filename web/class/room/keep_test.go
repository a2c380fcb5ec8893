package room

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/session"
)

// TestRestartKeepsTheClass: a restart changes nothing visible. Members, names, flags, polls
// with two rounds, votes, the walkthrough's step and the stage stay the same, and sequence
// numbers continue where they stopped.
func TestRestartKeepsTheClass(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := begun(t, dir)
	l := s.room(class.Options{Title: "Nine o'clock", Walk: "loop", Nicknames: true, Alone: true})
	l.Enroll(5)
	l.Does(class.GoTo{Step: 1}, class.GoTo{Step: 2})
	choice := classtest.Keys(l.View().Poll)
	l.AllCast(4, func(id int) class.Ballot { return class.Ballot{Choice: choice[id-1], N: int64(id), Sure: 0.25} })
	l.Does(class.Close{}, class.Revote{})
	l.AllCast(5, func(int) class.Ballot { return class.Ballot{Choice: choice[2], N: 7} })
	l.Does(class.Remove{Member: 5}, class.DropName{Member: 4}, class.HideNames{On: true}, class.Lock{On: true},
		class.SetTimer{For: time.Hour}, class.ShowSpread{})
	before := l.View()
	sum, err := l.Summary(t.Context(), l.Secret)
	if err != nil {
		t.Fatal(err)
	}
	s.end()

	again := begun(t, dir)
	r, err := again.Instruct(t.Context(), l.Code(), l.Secret, classtest.Caller("here"))
	if err != nil {
		t.Fatal(err)
	}
	v := r.View()
	if v.Seq <= before.Seq || v.Link() != before.Link() || v.Title != before.Title || v.Walk.Step != 2 || !v.Locked ||
		!v.NamesHidden ||
		!v.Alone || !v.Timer.Equal(before.Timer) || v.Members != 4 || !v.Hidden {
		t.Errorf("after the restart, the view is %+v, want %+v", v, before)
	}
	if a, b := fmt.Sprintf("%+v", v.Poll), fmt.Sprintf("%+v", before.Poll); a != b {
		t.Errorf("after the restart, the poll is\n%s\nwant\n%s", a, b)
	}
	classtest.Same(t, "both rounds", append(classtest.Counts(v.Poll), v.Poll.Before...), 0, 0, 4, 0, 0, 1, 1, 1, 1, 0)
	sum2, err := r.Summary(t.Context(), l.Secret)
	if err != nil || fmt.Sprintf("%+v", sum2.Polls) != fmt.Sprintf("%+v", sum.Polls) || sum2.Voters != sum.Voters {
		t.Errorf("the summary is %+v, want %+v, %v", sum2, sum, err)
	}
	m, err := r.Join(t.Context(), classtest.Caller("p2"), "")
	if err != nil || m.Name != "Pupil 2" || m.ID != 2 {
		t.Errorf("after the restart, a member is %+v, %v; want no error, Name = %q, ID = 2", m, err, "Pupil 2")
	}
	if st, err := r.Standing(t.Context(), "p2"); err != nil || st.Vote == nil || st.Vote.Choice != choice[2] {
		t.Errorf("their vote is %+v, %v; want no error, st.Vote not nil, Choice = %q", st.Vote, err, choice[2])
	}
	if _, err := r.Join(t.Context(), classtest.Caller("p5"), ""); err != class.ErrRemoved {
		t.Errorf("a removed member: got %v, want %v", err, class.ErrRemoved)
	}
}

// TestVotesCountOnce: regardless of the order in which votes arrive, and how often each is sent,
// only each member's highest-numbered vote counts, in the view, in the receipts and in the log.
func TestVotesCountOnce(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	const members = 12
	l.Enroll(members)
	rapid.Check(t, func(rt *rapid.T) {
		if p := l.View().Poll; p != nil && p.Phase == class.Open {
			l.Does(class.Close{})
		}
		p := l.Does(class.AskQuestion{ID: "q-order"}).Poll
		want := map[int]class.Ballot{}
		var sent []func() error
		for id := 1; id <= members; id++ {
			for n := range rapid.IntRange(0, 3).Draw(rt, "changes") {
				b := class.Ballot{
					Poll: p.ID, Choice: rapid.SampledFrom(classtest.Keys(p)).Draw(rt, "choice"),
					N: int64(n + 1),
				}
				want[id] = b
				for range rapid.IntRange(1, 3).Draw(rt, "times") {
					sent = append(sent, func() error {
						kept, err := l.Vote(context.Background(), classtest.Learner(id), b)
						if err == nil && (kept.N < b.N || kept.N == b.N && kept.Choice != b.Choice) {
							err = fmt.Errorf("member %d sent %+v, but the receipt is %+v", id, b, kept)
						}
						return err
					})
				}
			}
		}
		order := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "order"), 0))
		order.Shuffle(len(sent), func(i, j int) { sent[i], sent[j] = sent[j], sent[i] })
		errs := make([]error, len(sent))
		var wg sync.WaitGroup
		for i, send := range sent {
			wg.Go(func() { errs[i] = send() })
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			rt.Fatal(err)
		}
		counted := make([]int, len(p.Options))
		for _, b := range want {
			counted[slices.Index(classtest.Keys(p), b.Choice)]++
		}
		end := l.Does(class.ShowSpread{}).Poll
		if !slices.Equal(classtest.Counts(end), counted) || end.Votes != len(want) {
			rt.Fatalf("got %d votes %v, want %d, %v", end.Votes, classtest.Counts(end), len(want), counted)
		}
		inLog(rt, s.logs, l.Code(), end.ID, want)
	})
}

// inLog compares a round's votes with the votes in the room's log.
func inLog(t rapid.TB, logs journal.Journal, code, poll string, want map[int]class.Ballot) {
	t.Helper()
	f, err := journal.Load(context.Background(), logs, journal.Owner{Kind: journal.Room, Name: code}, records.Folding)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for at, votes := range f.State.Votes {
		if fmt.Sprintf("%d-%d", at.Poll, at.N) != poll {
			continue
		}
		for id, v := range votes {
			if got := (class.Ballot{Poll: poll, Choice: v.Choice, N: v.N}); got != want[id] {
				t.Fatalf("member %d is saved with %+v, want %+v", id, got, want[id])
			}
			n++
		}
	}
	if n != len(want) {
		t.Fatalf("%d votes are saved, want %d", n, len(want))
	}
}

// TestUnnumberedVoteReplacesThePrevious: a vote without a number replaces the previous one.
func TestUnnumberedVoteReplacesThePrevious(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	l.Enroll(1)
	l.Does(class.AskQuestion{ID: "q-order"})
	for _, choice := range []string{"a", "b", "a", "c"} { // the clock does not advance
		if r := l.MustCast(1, class.Ballot{Choice: choice}); r.Choice != choice {
			t.Errorf("the vote was for %s, but the receipt has %s", choice, r.Choice)
		}
	}
}

// TestUnsavedChangesAreNotConfirmed: a change that cannot be saved is not confirmed and
// does not count; once saving works again, the class continues.
func TestUnsavedChangesAreNotConfirmed(t *testing.T) {
	t.Parallel()
	s := begun(t, t.TempDir())
	l := s.room(class.Options{})
	l.Enroll(2)
	l.Does(class.AskQuestion{ID: "q-order"})
	trigger := func(query string) {
		if err := s.db.Write(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.Exec(query)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	trigger("CREATE TRIGGER full BEFORE INSERT ON records BEGIN SELECT RAISE(FAIL, 'the disk is full'); END")
	if _, err := l.Cast(1, class.Ballot{Choice: "a"}); err != class.ErrKept {
		t.Errorf("the vote: got %v, want %v", err, class.ErrKept)
	}
	if _, err := l.Join(t.Context(), classtest.Caller("p3"), ""); err != nil {
		t.Error(err) // Join does not wait for the member to be saved; saving is retried
	}
	l.Refused(class.Close{}, class.ErrKept)
	l.Refused(class.Lock{On: true}, class.ErrKept)
	trigger("DROP TRIGGER full")
	l.MustCast(3, class.Ballot{Choice: "b"})
	if p := l.Does(class.Reveal{}).Poll; p.Votes != 1 {
		t.Errorf("%d votes count, want 1", p.Votes)
	}
	s.end()
	kept, err := restoredMembers(s, t)
	if err != nil || kept != 3 {
		t.Errorf("%d members are saved, %v; want 3, <nil>", kept, err)
	}
}

func restoredMembers(s *school, t *testing.T) (int, error) {
	again := begun(t, s.dir)
	return get(t.Context(), again.all()[0], func(c *core) (int, error) { return len(c.members), nil })
}

// TestViewsAreImmutable: views never change once published, and their sequence numbers never
// decrease.
func TestViewsAreImmutable(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	l.Enroll(2)
	l.Start("The capital of")
	type seen struct {
		v    *class.View
		text string
	}
	var all []seen
	note := func() {
		v := l.View()
		all = append(all, seen{v: v, text: fmt.Sprintf("%d %v %+v", v.Seq, v.State.Cursor, v.Poll)})
	}
	note()
	l.Does(class.AskNext{Where: class.Here})
	note()
	l.MustCast(1, class.Ballot{Choice: classtest.Keys(l.View().Poll)[0]})
	note()
	l.Does(class.Close{})
	note()
	l.Does(class.Reveal{})
	note()
	l.Does(class.AppendMajority{}, class.Drive{Do: session.Reset{}})
	note()
	for i, was := range all {
		if now := fmt.Sprintf("%d %v %+v", was.v.Seq, was.v.State.Cursor, was.v.Poll); now != was.text {
			t.Errorf("view %d has become %s, want %s", i, now, was.text)
		}
		if i > 0 && was.v.Seq < all[i-1].v.Seq {
			t.Errorf("view %d is numbered %d after %d, want rising numbers", i, was.v.Seq, all[i-1].v.Seq)
		}
	}
	made := 0
	for range 3 {
		l.View().Shared("html", func() any { made++; return made })
	}
	if made != 1 || l.View().Shared("html", nil) != 1 || l.View().Shared("json", func() any { return 2 }) != 2 {
		t.Errorf("the page was made %d times, want once, independent of the data", made)
	}
}

// TestRestartKeepsNumbersBehindAGap: a member who was never saved leaves a gap in the
// numbers. Later members keep their numbers, and the next member to join gets a new one.
func TestRestartKeepsNumbersBehindAGap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := begun(t, dir)
	l := s.room(class.Options{Nicknames: true})
	l.Enroll(4)
	s.end()

	again := begun(t, dir)
	room := journal.Owner{Kind: journal.Room, Name: l.Code()}
	var second []journal.Key
	if err := again.logs.Read(t.Context(), room, 0, func(r journal.Record) error {
		if strings.Contains(string(r.Data), `"member":2`) {
			second = append(second, r.Key())
		}
		return nil
	}); err != nil || len(second) != 2 { // one record for the member and one for the member's name
		t.Fatalf("the records of the second member are %v, %v; want 2, <nil>", second, err)
	}
	if err := again.logs.Compact(t.Context(), room, second); err != nil {
		t.Fatal(err)
	}
	again.end()

	last := begun(t, dir)
	r, err := last.Instruct(t.Context(), l.Code(), l.Secret, classtest.Caller("here"))
	if err != nil {
		t.Fatal(err)
	}
	for who, want := range map[string]int{"p1": 1, "p3": 3, "p4": 4} {
		if m, err := r.Join(t.Context(), classtest.Caller(who), ""); err != nil || m.ID != want {
			t.Errorf("after the restart, %s is %+v, %v; want number %d", who, m, err, want)
		}
	}
	if m, err := r.Join(t.Context(), classtest.Caller("p2"), ""); err != nil || m.ID != 5 {
		t.Errorf("the member who was never saved joins as %+v, %v; want number 5", m, err)
	}
}
