package cluster

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/class/remote"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/journal/stream/streamtest"
	"github.com/tokenbytoken/viz/web/session"
)

// persist calls f until it succeeds. Until then, f may return only errors saying that the class
// cannot be reached or that a command may have been executed.
func persist(t *testing.T, f func() error) {
	t.Helper()
	for late := time.Now().Add(patience); ; {
		err := f()
		if err == nil {
			return
		} else if !errors.Is(err, class.ErrAway) && !errors.Is(err, class.ErrUnsure) || time.Now().After(late) {
			t.Fatal(err)
		}
	}
}

// ready waits until a server is ready or, if want is false, until it is not.
func ready(t *testing.T, c *Cluster, want bool) {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for late := time.After(patience); (c.Ready() == nil) != want; {
		select {
		case <-look.C:
		case <-late:
			t.Fatal("Ready still returns ", c.Ready())
		}
	}
}

// TestNATSAwayAndBack: while NATS is down, nothing is confirmed, and requests are refused
// with a message. When NATS is back, everything continues from the confirmed state.
func TestNATSAwayAndBack(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	dir := t.TempDir()
	first := streamtest.Node(t, dir)
	u := newUnion(t, first)
	u.answer, u.paces.Call = time.Second, 2*time.Second
	a, b := u.server("a"), u.server("b")
	l := a.teach(class.Options{})
	l.does(class.Drive{Do: session.Start{Prompt: "The cat"}})
	onB := b.enters(l, 1, 2, 3)
	p := l.does(class.AskQuestion{ID: "q-order"}).Poll
	onB.votes(1, class.Ballot{Poll: p.ID, Choice: p.Options[0].Key, N: 1})

	for _, x := range []*post{a, b} {
		x.net.cut()
	}
	streamtest.Stop(first)
	for _, on := range []*lesson{l, onB} {
		r, err := on.vote(2, class.Ballot{Poll: p.ID, Choice: p.Options[0].Key, N: 1})
		if !errors.Is(err, class.ErrAway) {
			t.Errorf("a vote while NATS is down: got %+v, %v, want %v", r, err, class.ErrAway)
		}
	}
	if _, _, err := b.Create(t.Context(), caller("another"), class.Options{}); !errors.Is(err, class.ErrAway) {
		t.Errorf("creating a room while NATS is down: got error %v, want %v", err, class.ErrAway)
	}
	ready(t, a.joined, false)
	ready(t, b.joined, false)
	if v := onB.View(); v.Poll == nil || v.Poll.ID != p.ID || v.State == nil {
		t.Error("the stage has disappeared from the screen")
	}

	u.nats = streamtest.Node(t, dir)
	for _, x := range []*post{a, b} {
		x.net.to.Store(u.nats)
		ready(t, x.joined, true)
	}
	persist(t, func() error {
		_, err := onB.vote(2, class.Ballot{Poll: p.ID, Choice: p.Options[1].Key, N: 2})
		return err
	})
	persist(t, func() error {
		_, err := classtest.Execute(t.Context(), l.Room, instructor, l.secret, class.Close{})
		return err
	})
	persist(t, func() error {
		_, err := classtest.Execute(t.Context(), l.Room, instructor, l.secret, class.ShowSpread{})
		return err
	})
	v := onB.settled("how the class voted", func(v *class.View) bool {
		return v.Poll != nil && v.Poll.Phase == class.Spread
	})
	if v.Poll.Votes != 2 || v.Poll.Options[0].Count != 1 || v.Poll.Options[1].Count != 1 {
		t.Errorf(
			"the poll is %+v after two confirmed votes, want Votes = 2, Options[0].Count = 1, "+
				"Options[1].Count = 1",
			v.Poll,
		)
	}
	a.teaches(l).settled("how the class voted", func(v *class.View) bool {
		return v.Poll != nil && v.Poll.Phase == class.Spread
	})
	a.end() // the servers must be stopped before NATS
	b.end()
}

// TestCutOffOwnerConfirmsNothing: an owner that has lost its connection confirms nothing, and its
// later appends are refused. The class continues on another server. After the first server has
// reconnected, its pages follow the class on the other server.
func TestCutOffOwnerConfirmsNothing(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	u := newUnion(t, streamtest.Node(t, t.TempDir()))
	u.answer, u.paces.Call = time.Second, 2*time.Second
	a, b := u.server("a"), u.server("b")
	l := a.teach(class.Options{})
	onA, onB := a.enters(l, 1), b.enters(l, 2)
	p := l.does(class.AskQuestion{ID: "q-order"}).Poll
	choice := func(i int) string { return p.Options[i].Key }
	a.net.cut()
	if r, err := onA.vote(1, class.Ballot{Poll: p.ID, Choice: choice(0), N: 1}); !errors.Is(err, class.ErrAway) {
		t.Errorf("the disconnected owner returns %+v, %v, want %v", r, err, class.ErrAway)
	}
	persist(t, func() error {
		_, err := onB.vote(2, class.Ballot{Poll: p.ID, Choice: choice(1), N: 1})
		return err
	})
	a.net.to.Store(u.nats)
	ready(t, a.joined, true)
	late := journal.Batch{
		Owner: journal.Owner{Kind: journal.Room, Name: l.Code()}, At: time.Now(),
		Records: []journal.Record{{Type: "vote", ID: "1.1.1.1", Data: []byte(`{"poll":1,"round":1,"member":1}`)}},
	}
	if _, err := a.joined.Rooms().Fence.AppendAs(context.Background(), late, 1); !errors.Is(err, remote.ErrFenced) {
		t.Errorf("an append by the previous owner: got error %v, want %v", err, remote.ErrFenced)
	}
	persist(t, func() error {
		_, err := onA.vote(1, class.Ballot{Poll: p.ID, Choice: choice(2), N: 2})
		return err
	})
	v := b.teaches(l).does(class.Close{}, class.ShowSpread{})
	if v.Poll.Votes != 2 || v.Poll.Options[1].Count != 1 || v.Poll.Options[2].Count != 1 {
		t.Errorf("the poll is %+v, want Votes = 2, Options[1].Count = 1, Options[2].Count = 1", v.Poll)
	}
	onA.settled("how the class voted", func(v *class.View) bool {
		return v.Poll != nil && v.Poll.Phase == class.Spread
	})
}

// TestServerLeavesNodeThatStoresNothing: if a NATS node responds but does not store data, the
// servers connected to it switch to another node.
func TestServerLeavesNodeThatStoresNothing(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	dir := t.TempDir()
	apart := streamtest.Node(t, dir)
	u := newUnion(t, apart)
	u.life = time.Second
	a, net := u.join()
	must(t, apart.DisableJetStream())
	ready(t, a, false)
	net.to.Store(streamtest.Node(t, dir))
	ready(t, a, true)
	if l := take(t, a, "ROOM"); !mine(l) {
		t.Errorf("on the other node, the server has the lease %+v, want its own", l)
	}
}
