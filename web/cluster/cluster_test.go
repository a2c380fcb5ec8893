package cluster

import (
	"sync"
	"testing"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/journal/stream/streamtest"
	"github.com/tokenbytoken/viz/web/session"
)

// TestClassSpansThreeServers: a room that was created on one server is followed on a second one and
// presented from a third. The owner dies while people vote; the class continues, and every
// confirmed vote counts once.
// Promise: If the server of a class dies during a vote, the class continues and confirmed votes count once.
func TestClassSpansThreeServers(t *testing.T) {
	t.Parallel()
	u := newUnion(t, streamtest.Node(t, t.TempDir()))
	u.life = patience // no session expires, however slow the machine is
	a, b, c := u.server("a"), u.server("b"), u.server("c")
	l := a.teach(class.Options{Title: "Physics", Nicknames: true})
	l.does(class.Drive{Do: session.Start{Prompt: "The cat"}})
	onB, onC := b.enters(l, 1, 2, 3), c.enters(l, 4, 5, 6)
	onB.settled("six are here", func(v *class.View) bool { return v.Here == 6 && v.Members == 6 })

	at := c.teaches(l).does(class.Drive{Do: session.StepStage{}}, class.Drive{Do: session.StepToken{}})
	v := onB.settled("the stage is there", func(v *class.View) bool { return v.Link() == at.Link() })
	if v.State == nil || session.LinkOf(v.State) != at.Link() {
		t.Errorf("the stage on another server is %v, want %q", v.State, at.Link())
	}

	p := l.does(class.AskNext{Choices: 4, Where: class.Here}).Poll
	key := func(id int) string { return p.Options[id%2].Key }
	onB.votes(1, class.Ballot{Poll: p.ID, Choice: key(1), N: 1})
	onC.votes(4, class.Ballot{Poll: p.ID, Choice: key(4), N: 1})
	var voting sync.WaitGroup
	for id, on := range map[int]*lesson{2: onB, 3: onB, 5: onC, 6: onC} {
		voting.Go(func() {
			if _, err := on.vote(id, class.Ballot{Poll: p.ID, Choice: key(id), N: 1}); err != nil {
				t.Errorf("member %d's vote failed: %v", id, err)
			}
		})
	}
	a.kill()
	endSession(t, b.joined, a.joined) // as when a lease has expired
	voting.Wait()
	onC.votes(1, class.Ballot{Poll: p.ID, Choice: key(1), N: 1}) // resending this vote changes nothing

	next := b.teaches(l)
	v = next.does(class.Close{}, class.ShowSpread{})
	if v.Poll.Votes != 6 || sum(v.Poll) != 6 {
		t.Errorf("got %d votes, %d in the counts; want the 6 confirmed votes", v.Poll.Votes, sum(v.Poll))
	}
	v = next.does(class.Reveal{}, class.AppendMajority{}, class.Drive{Do: session.StepStage{}})
	onC.settled("the class goes on", func(x *class.View) bool { return x.Link() == v.Link() })
	if s, err := onC.Standing(t.Context(), learner(5)); err != nil || s.Name != "Pupil 5" {
		t.Errorf("a member after the owner's death: got %+v, %v; want no error, Name = %q", s, err, "Pupil 5")
	}
	all, err := b.joined.Secrets().Secrets(t.Context())
	if err != nil || len(all) != 1 || len(all[l.Code()]) == 0 {
		t.Errorf("the secrets are %v, %v; want no error, 1 element, len(all[l.Code()]) not 0", all, err)
	}
	next.does(class.Delete{})
	onC.settled("the room is gone", func(v *class.View) bool { return v.Gone })
	if _, err := c.Enter(t.Context(), l.Code(), caller("p1")); err != class.ErrNoRoom {
		t.Errorf("a deleted room: got %v, want %v", err, class.ErrNoRoom)
	}
	if all, err := b.joined.Secrets().Secrets(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("the secrets after the deletion are %v, %v; want 0 elements, <nil>", all, err)
	}
}

// TestEndingServerReleasesItsRooms: when a server stops, other servers can take over its
// rooms immediately.
func TestEndingServerReleasesItsRooms(t *testing.T) {
	t.Parallel()
	u := newUnion(t, streamtest.Node(t, t.TempDir()))
	u.life = patience // longer than the test could wait
	a, b := u.server("a"), u.server("b")
	l := a.teach(class.Options{})
	onB := b.enters(l, 1)
	p := l.does(class.AskQuestion{ID: "q-order"}).Poll
	if held := a.joined.Stats().Held; held != 1 {
		t.Errorf("the first server owns %d rooms, want 1", held)
	}
	a.end()
	onB.votes(1, class.Ballot{Poll: p.ID, Choice: p.Options[0].Key, N: 1})
	if s := b.joined.Stats(); s.Held != 1 || s.Taken != 1 || s.Lost != 0 || !s.Connected {
		t.Errorf("afterwards: got %+v, want Held = 1, Taken = 1, Lost = 0, Connected = true", s)
	}
	must(t, b.joined.Ready())
}
