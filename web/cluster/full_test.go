package cluster

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/journal/stream/streamtest"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/store"
)

// limit sets the size limit of each stream of the logs to the stream's current size plus more
// bytes. If more is -1, it removes the limits.
func (p *post) limit(more int64) {
	t := p.u.t
	t.Helper()
	js, err := jetstream.New(p.joined.nc)
	must(t, err)
	for s := range js.ListStreams(t.Context()).Info() {
		if strings.HasPrefix(s.Config.Name, p.u.prefix+"_") && len(s.Config.Name) == len(p.u.prefix)+2 {
			if s.Config.MaxBytes = more; more >= 0 {
				s.Config.MaxBytes += int64(s.State.Bytes)
			}
			_, err := js.UpdateStream(t.Context(), s.Config)
			must(t, err)
		}
	}
}

// TestFullStreamsRefuseWrites: when the streams are full, requests are refused with an error that
// says so. All screens still show the class, which continues when there is space again, and
// confirmed votes count. Promise: When a cluster has no space left, votes are refused with that
// reason and the class stays on its screens.
func TestFullStreamsRefuseWrites(t *testing.T) {
	t.Parallel()
	u := newUnion(t, streamtest.Node(t, t.TempDir()))
	a, b := u.server("a"), u.server("b")
	l := a.teach(class.Options{})
	l.does(class.Drive{Do: session.Start{Prompt: "The cat"}})
	onB := b.enters(l, 1, 2)
	p := l.does(class.AskQuestion{ID: "q-order"}).Poll
	onB.votes(1, class.Ballot{Poll: p.ID, Choice: p.Options[0].Key, N: 1})
	onB.settled("the question", func(v *class.View) bool { return v.Poll != nil && v.Poll.ID == p.ID })

	a.limit(1)
	why := store.Why(store.ErrFull)
	refused := func(what string, err error) {
		t.Helper()
		if r, ok := terms.AsRefusal(err); !ok || r.Code != class.CodeKept || !strings.Contains(r.Message, why) {
			t.Errorf("%s: got error %v, want a refusal with code %q and text %q", what, err, class.CodeKept, why)
		}
	}
	_, err := onB.vote(2, class.Ballot{Poll: p.ID, Choice: p.Options[0].Key, N: 1})
	refused("a vote", err)
	_, err = classtest.Execute(t.Context(), l.Room, instructor, l.secret, class.Close{})
	refused("closing the poll", err)
	_, _, err = b.Create(t.Context(), caller("another"), class.Options{})
	refused("a new room", err)
	if err := a.joined.Ready(); err != nil {
		t.Errorf("while there is space for leases, Ready returns %v", err)
	}
	if v := onB.View(); v.Poll == nil || v.Poll.ID != p.ID || v.State == nil {
		t.Error("the stage has disappeared from the screen")
	}

	a.limit(-1)
	persist(t, func() error {
		_, err := onB.vote(2, class.Ballot{Poll: p.ID, Choice: p.Options[1].Key, N: 2})
		if r, ok := terms.AsRefusal(err); ok && r.Code == class.CodeKept {
			return class.ErrAway // the new limit is not in effect yet
		}
		return err
	})
	v := l.does(class.Close{}, class.ShowSpread{})
	if v.Poll.Votes != 2 || v.Poll.Options[0].Count != 1 || v.Poll.Options[1].Count != 1 {
		t.Errorf(
			"the poll is %+v after two confirmed votes, want Votes = 2, Options[0].Count = 1, "+
				"Options[1].Count = 1",
			v.Poll,
		)
	}
}

// TestFullNodeIsNotReady: a server that cannot even store a lease is not ready, and reports
// why.
func TestFullNodeIsNotReady(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	u := newUnion(t, streamtest.Node(t, t.TempDir()))
	u.life = time.Second
	a := u.server("a")
	js, err := jetstream.New(a.joined.nc)
	must(t, err)
	s, err := js.Stream(t.Context(), "KV_"+a.joined.leases.keys.bucket)
	must(t, err)
	cfg := s.CachedInfo().Config
	cfg.MaxBytes = 1
	_, err = js.UpdateStream(t.Context(), cfg)
	must(t, err)
	ready(t, a.joined, false)
	if err := a.joined.Ready(); !errors.Is(err, store.ErrFull) || !errors.Is(err, ErrAway) {
		t.Errorf("Ready returns %v, want %v, %v", err, store.ErrFull, ErrAway)
	}
	cfg.MaxBytes = -1
	_, err = js.UpdateStream(t.Context(), cfg)
	must(t, err)
	ready(t, a.joined, true)
}
