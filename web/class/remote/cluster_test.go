package remote

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/session"
)

// sameStage fails the test unless two views show the same stage, with the same numbers.
func sameStage(t *testing.T, got, want *class.View) {
	t.Helper()
	if got.Link() != want.Link() || got.State == nil {
		t.Fatalf("the view shows %q (%v), want %q", got.Link(), got.State, want.Link())
	}
	if session.LinkOf(got.State) != got.Link() {
		t.Error("the state does not match its link")
	}
	if !reflect.DeepEqual(got.State.Dist, want.State.Dist) {
		t.Error("the same stage has different probabilities on another server")
	}
	for i, s := range want.State.Steps {
		if g := got.State.Steps[i]; g.Chosen != s.Chosen || g.Ran != s.Ran || g.Drawn != s.Drawn {
			t.Errorf("step %d differs on another server", s.N)
		}
	}
}

// watched checks every view of a room that a server publishes, until stop is called.
func watched(p *post, l *classtest.Lesson) (stop func()) {
	notes, unsubscribe := p.Broker().Subscribe(l.Code())
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		last := l.View()
		for {
			select {
			case <-notes:
			case <-ended:
				return
			}
			v := l.View()
			if v.Seq < last.Seq || v.Epoch < last.Epoch {
				p.u.t.Errorf(
					"%s: got view %d of epoch %d after view %d of epoch %d, want rising numbers",
					p.name, v.Seq, v.Epoch, last.Seq,
					last.Epoch,
				)
			}
			if last.State != nil && v.State == nil && !v.Gone {
				p.u.t.Errorf("%s: view %d of epoch %d has no stage, but an earlier view had one",
					p.name, v.Seq, v.Epoch)
			}
			last = v
		}
	}()
	return func() {
		unsubscribe()
		close(ended)
		<-done
	}
}

func TestClassSpansThreeServers(t *testing.T) {
	t.Parallel()
	u := newUnion(t)
	a, b, c := u.server("a"), u.server("b"), u.server("c")
	l := a.teach(class.Options{Title: "Physics", Nicknames: true})
	l.Start("The cat")
	onB, onC := b.enters(l, 1, 2, 3), c.enters(l, 4, 5, 6)
	defer watched(b, onB)()
	defer watched(c, onC)()
	all := func(v *class.View) bool { return v.Here == 6 && v.Members == 6 }
	for _, on := range []*classtest.Lesson{l, onB, onC} {
		on.Settled("six are here", all)
	}

	l.Does(class.Drive{Do: session.StepStage{}}, class.Drive{Do: session.StepToken{}},
		class.Drive{Do: session.StepStage{}})
	at := l.View()
	isThere := func(v *class.View) bool { return v.Link() == at.Link() }
	sameStage(t, onB.Settled("the stage is there", isThere), at)
	sameStage(t, onC.Settled("the stage is there", isThere), at)

	p := l.Does(class.AskNext{Choices: 4, Where: class.Here}).Poll
	key := func(id int) string { return classtest.Keys(p)[id%2] }
	onB.MustCast(1, class.Ballot{Poll: p.ID, Choice: key(1), N: 1})
	onC.MustCast(4, class.Ballot{Poll: p.ID, Choice: key(4), N: 1})

	// The owner dies while people vote.
	var voting sync.WaitGroup
	for id, on := range map[int]*classtest.Lesson{2: onB, 3: onB, 5: onC, 6: onC} {
		voting.Go(func() {
			if _, err := on.Cast(id, class.Ballot{Poll: p.ID, Choice: key(id), N: 1}); err != nil {
				t.Errorf("member %d's vote failed: %v", id, err)
			}
		})
	}
	a.kill()
	voting.Wait()
	// The votes that the dead owner confirmed still count, and resending one of them changes
	// nothing.
	onC.MustCast(1, class.Ballot{Poll: p.ID, Choice: key(1), N: 1})

	next := b.teaches(l)
	v := next.Does(class.Close{}, class.ShowSpread{})
	sum := 0
	for _, n := range classtest.Counts(v.Poll) {
		sum += n
	}
	if v.Poll.Votes != 6 || sum != 6 {
		t.Errorf(
			"got %d votes, counts %v; want the six confirmed votes", v.Poll.Votes, classtest.Counts(v.Poll),
		)
	}
	onC.Settled(
		"how the class voted", func(v *class.View) bool { return v.Poll != nil && v.Poll.Phase == class.Spread },
	)
	v = next.Does(class.Reveal{}, class.AppendMajority{}, class.Drive{Do: session.StepStage{}})
	sameStage(t, onC.Settled("the class goes on", func(x *class.View) bool { return x.Link() == v.Link() }), v)
	onC.Settled("who is here", all)
	s, err := onC.Standing(t.Context(), classtest.Learner(5))
	if err != nil || s.Name != "Pupil 5" {
		t.Errorf("a member after the owner's death: got %+v, %v; want no error, Name = %q", s, err, "Pupil 5")
	}
	sheet, err := onC.Summary(t.Context(), l.Secret)
	if err != nil || sheet.Voters != 6 {
		t.Errorf("the summary from another server: got %+v, %v; want no error, Voters = 6", sheet, err)
	}
	next.Does(class.Delete{})
	onC.Settled("the room is gone", func(v *class.View) bool { return v.Gone })
	if _, err := c.Enter(t.Context(), l.Code(), classtest.Caller("p1")); err != class.ErrNoRoom {
		t.Errorf("a deleted room: got %v, want %v", err, class.ErrNoRoom)
	}
}

// TestOwnerThatLostItsLeaseConfirmsNothing: an owner that was paused, and has not noticed
// that it lost its lease, cannot confirm anything.
func TestOwnerThatLostItsLeaseConfirmsNothing(t *testing.T) {
	t.Parallel()
	u := newUnion(t)
	a, b := u.server("a"), u.server("b")
	l := a.teach(class.Options{})
	onA, onB := a.enters(l, 1), b.enters(l, 2)
	p := l.Does(class.AskQuestion{ID: "q-order"}).Poll
	a.pause()
	b.shared().relayOf(l.Code()).lose(b.shared().relayOf(l.Code()).lease) // as after an unanswered request
	onB.MustCast(2, class.Ballot{Poll: p.ID, Choice: p.Options[0].Key, N: 1})
	if old := a.shared().relayOf(l.Code()).here; old == nil {
		t.Fatal("the owner has already noticed that it lost the lease")
	}
	if r := onA.MustCast(1, class.Ballot{Poll: p.ID, Choice: p.Options[1].Key, N: 1}); r.N != 1 ||
		r.Choice != p.Options[1].Key {
		t.Errorf("the vote was confirmed as %+v, want N = 1, Choice = %q", r, p.Options[1].Key)
	}
	v := b.teaches(l).Does(class.Close{}, class.ShowSpread{})
	if v.Poll.Votes != 2 || !slices.Equal(classtest.Counts(v.Poll)[:2], []int{1, 1}) {
		t.Errorf("got counts %v of %d votes, want one each", classtest.Counts(v.Poll), v.Poll.Votes)
	}
	if want := []string{"a", "b"}; !slices.Equal(u.acts, want) {
		t.Errorf("the owners were %v, want %v", u.acts, want)
	}
}

// TestBadCommandIsRefusedEverywhere: a command with a bad field is refused in the same way on every
// server, even if the field is too large for a request.
func TestBadCommandIsRefusedEverywhere(t *testing.T) {
	t.Parallel()
	u := newUnion(t)
	a, b := u.server("a"), u.server("b")
	l := a.teach(class.Options{Walk: "cache"})
	for name, r := range map[string]*classtest.Lesson{"the owner": l, "another server": b.teaches(l)} {
		form := class.Form{Name: "goto", Fields: map[string]string{"step": strings.Repeat("<", 60<<10)}}
		_, err := r.Present(t.Context(), classtest.Instructor, l.Secret, form)
		if refusal, ok := terms.AsRefusal(err); !ok || refusal.Field != "step" {
			t.Errorf("%s: got error %v, want a refusal of the field step", name, err)
		}
	}
}

// TestCommandIsNotRepeated: a command that might have been executed is not resent.
func TestCommandIsNotRepeated(t *testing.T) {
	t.Parallel()
	u := newUnion(t)
	a, b := u.server("a"), u.server("b")
	l := a.teach(class.Options{})
	l.Start("The cat")
	far := b.teaches(l)
	before := l.View()
	b.is(func() bool { b.loseAnswers = 1; return true })
	_, err := far.Do(t.Context(), class.Drive{Do: session.StepStage{}})
	if err != class.ErrUnsure {
		t.Fatalf("a command without an answer: got %v, want %v", err, class.ErrUnsure)
	}
	after := l.Settled("it was executed", func(v *class.View) bool { return v.Link() != before.Link() })
	if got, want := after.State.Shown(), before.State.Shown()+1; got != want {
		t.Errorf("got stage %d after one step from %d, want %d", got, before.State.Shown(), want)
	}
}

// TestDeadServersPagesAreDropped: the pages of a dead server are no longer counted; the
// pages of other servers still are.
func TestDeadServersPagesAreDropped(t *testing.T) {
	t.Parallel()
	u := newUnion(t)
	a, b, c := u.server("a"), u.server("b"), u.server("c")
	l := a.teach(class.Options{})
	onB := b.enters(l, 1, 2)
	c.enters(l, 3)
	onB.Settled("three are here", func(v *class.View) bool { return v.Here == 3 })
	c.kill()
	onB.Settled("two are left", func(v *class.View) bool { return v.Here == 2 && v.Members == 3 })
	onB.Leave(classtest.Learner(1))
	onB.Settled("one is left", func(v *class.View) bool { return v.Here == 1 })
}

// TestNewOwnerDropsPagesOfItsPreviousOwnership: when a server becomes the owner of a room again, it
// does not count the pages that were reported to it while it was the owner before.
func TestNewOwnerDropsPagesOfItsPreviousOwnership(t *testing.T) {
	t.Parallel()
	u := newUnion(t)
	a, c := u.server("a"), u.server("c")
	l := a.teach(class.Options{})
	c.enters(l, 3)
	l.Settled("one is here", func(v *class.View) bool { return v.Here == 1 })
	c.kill()
	f := a.shared().relayOf(l.Code())
	first, _, err := f.locate(t.Context(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	u.lapse(l.Code())
	<-first.Done()
	for again := first; again == first; {
		if again, _, err = f.locate(t.Context(), time.Time{}); err != nil {
			t.Fatal(err)
		}
		if v := again.View(); again != first && v.Here != 0 {
			t.Errorf("the new owner counts %d pages, want 0", v.Here)
		}
	}
}

// TestLongOutageIsReportedAtOnce: during a long outage, requests fail immediately with an
// explanation.
func TestLongOutageIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	u := newUnion(t)
	a, b := u.server("a"), u.server("b")
	b.shared().c.Paces.Call, b.shared().c.Paces.Try = time.Hour, time.Hour
	l := a.teach(class.Options{})
	onB := b.enters(l, 1)
	p := l.Does(class.AskQuestion{ID: "q-order"}).Poll
	set := func(away bool) {
		u.mu.Lock()
		defer u.mu.Unlock()
		b.cut, b.away = away, away
	}
	set(true)
	ctx, cancel := context.WithTimeout(t.Context(), classtest.Patience)
	defer cancel()
	ballot := class.Ballot{Poll: p.ID, Choice: p.Options[0].Key, N: 1}
	if r, err := onB.Vote(ctx, classtest.Learner(1), ballot); !errors.Is(err, class.ErrAway) {
		t.Errorf("a vote: %+v, %v, want %v", r, err, class.ErrAway)
	}
	if _, _, err := b.Create(ctx, classtest.Caller("another"), class.Options{}); !errors.Is(err, class.ErrAway) {
		t.Errorf("a new room: got error %v, want %v", err, class.ErrAway)
	}
	if _, err := b.Enter(ctx, class.NewCode(), classtest.Caller("another")); !errors.Is(err, class.ErrAway) {
		t.Errorf("a code that this server has not looked up: got error %v, want %v", err, class.ErrAway)
	}
	set(false)
	if _, err := onB.Cast(1, ballot); err != nil {
		t.Errorf("after the outage: %v", err)
	}
}

// TestThousandsOfPagesAreReported: thousands of open pages on one server are counted
// correctly.
func TestThousandsOfPagesAreReported(t *testing.T) {
	t.Parallel()
	u := newUnion(t)
	a, b := u.server("a"), u.server("b")
	l := a.teach(class.Options{})
	onB := b.enters(l, 1, 2, 3)
	onB.Settled("three are here", func(v *class.View) bool { return v.Here == 3 })
	for i := range 12_000 { // too many for one message
		onB.Room.(*relay).count(onB.Room.(*relay).pages, fmt.Sprintf("%032d", i), 1)
	}
	onB.Leave(classtest.Learner(1))
	onB.Settled("two are left", func(v *class.View) bool { return v.Here == 2 })
}

// TestOutOfOrderViewsAreHandled: a server catches up when views arrive out of order or are
// lost.
func TestOutOfOrderViewsAreHandled(t *testing.T) {
	t.Parallel()
	u := newUnion(t)
	a, b := u.server("a"), u.server("b")
	l := a.teach(class.Options{})
	l.Start("The cat")
	onB := b.enters(l, 1)
	defer watched(b, onB)()
	b.swap()
	for range 9 {
		l.Does(class.Drive{Do: session.StepStage{}})
	}
	at := l.View()
	sameStage(t, onB.Settled("the newest stage", func(v *class.View) bool { return v.Link() == at.Link() }), at)
	if n := b.driver.Count(); n != 1 {
		t.Errorf("%d runs were opened, want a single run that continues", n)
	}
}

// TestServerFollowsRoomsShownOnScreens: a server follows a room while a screen connected to that
// server shows the room, even if the room has no members.
func TestServerFollowsRoomsShownOnScreens(t *testing.T) {
	t.Parallel()
	u := newUnion(t)
	a, b := u.server("a"), u.server("b")
	shown, left := a.teach(class.Options{}), a.teach(class.Options{})
	shown.Start("The cat")
	if _, err := b.Enter(t.Context(), shown.Code(), classtest.Caller("wall")); err != nil {
		t.Fatal(err)
	}
	_, stop := b.Broker().Subscribe(shown.Code())
	defer stop()
	if _, err := b.Enter(t.Context(), left.Code(), classtest.Caller("wall")); err != nil {
		t.Fatal(err)
	}
	follows := func(l *classtest.Lesson) bool {
		f := b.shared().relayOf(l.Code())
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.follows
	}
	for late, tick := time.After(classtest.Patience), time.NewTicker(quick.Beat); follows(left); {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("a room that nobody requests is still followed")
		}
	}
	if !follows(shown) {
		t.Fatal("a room that is shown is not followed")
	}
	at := shown.Does(class.Drive{Do: session.StepStage{}})
	wall := &classtest.Lesson{Room: b.shared().relayOf(shown.Code()), T: t, Secret: shown.Secret, Broker: b.Broker()}
	sameStage(t, wall.Settled("the stage is there", func(v *class.View) bool { return v.Link() == at.Link() }), at)
}

// TestMemberSurvivesTheOwner: a member who was admitted is known to the next owner, even if
// the old owner dies immediately afterwards.
func TestMemberSurvivesTheOwner(t *testing.T) {
	t.Parallel()
	u := newUnion(t)
	a, b := u.server("a"), u.server("b")
	l := a.teach(class.Options{Nicknames: true})
	p := l.Does(class.AskQuestion{ID: "q-order"}).Poll
	onB := b.enters(l, 1)
	a.kill()
	onB.MustCast(1, class.Ballot{Poll: p.ID, Choice: p.Options[0].Key, N: 1})
	if s, err := onB.Standing(t.Context(), classtest.Learner(1)); err != nil || s.ID != 1 || s.Name != "Pupil 1" {
		t.Errorf("got %+v, %v; want no error, ID = 1, Name = %q", s, err, "Pupil 1")
	}
}

// TestVoteIsConfirmedAgainAfterTheClose: a saved vote that is resent after the poll has closed is
// confirmed again, because the previous owner might have died before it could confirm the vote. New
// votes are refused.
func TestVoteIsConfirmedAgainAfterTheClose(t *testing.T) {
	t.Parallel()
	u := newUnion(t)
	a, b := u.server("a"), u.server("b")
	l := a.teach(class.Options{})
	onB := b.enters(l, 1)
	p := l.Does(class.AskQuestion{ID: "q-order"}).Poll
	first := class.Ballot{Poll: p.ID, Choice: p.Options[0].Key, N: 5}
	want := onB.MustCast(1, first)
	l.Does(class.Close{})
	if got := onB.MustCast(1, first); got != want {
		t.Errorf("sent again: %+v, want %+v", got, want)
	}
	if _, err := onB.Cast(1, class.Ballot{Poll: p.ID, Choice: p.Options[1].Key, N: 6}); err == nil {
		t.Error("a new vote after the close was accepted")
	}
	if v := l.Does(class.ShowSpread{}); v.Poll.Votes != 1 || v.Poll.Options[0].Count != 1 {
		t.Errorf("got counts %v, want 1 vote for the first option", classtest.Counts(v.Poll))
	}
}

// TestFormVotesOnSeveralServers: votes from a page without scripts have no number; each vote
// replaces the previous one, whichever server receives it.
func TestFormVotesOnSeveralServers(t *testing.T) {
	t.Parallel()
	u := newUnion(t)
	a, b := u.server("a"), u.server("b")
	l := a.teach(class.Options{})
	onA, onB := a.enters(l, 1), b.enters(l, 1)
	p := l.Does(class.AskQuestion{ID: "q-order"}).Poll
	for i, on := range []*classtest.Lesson{onB, onA, onB, onA} {
		choice := p.Options[i%3].Key
		if r := on.MustCast(1, class.Ballot{Poll: p.ID, Choice: choice}); r.Choice != choice {
			t.Errorf("vote %d counts as %q, want %q", i, r.Choice, choice)
		}
	}
}
