package cluster

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/class/remote"
	"github.com/tokenbytoken/viz/web/journal/stream/streamtest"
)

// join adds a server without a hub to the cluster.
func (u *union) join() (*Cluster, *network) {
	u.t.Helper()
	n := &network{}
	n.to.Store(u.nats)
	c, err := Open(u.t.Context(), u.config(n))
	must(u.t, err)
	u.t.Cleanup(func() { _ = c.Close() }) // the server may be disconnected
	return c, n
}

// take takes the lease of a room, or returns the current holder's lease.
func take(t *testing.T, c *Cluster, code string) remote.Lease {
	t.Helper()
	for late := time.Now().Add(patience); ; {
		l, err := c.leases.Take(t.Context(), code)
		if err == nil {
			return l
		} else if time.Now().After(late) {
			t.Fatal(err)
		}
	}
}

func mine(l remote.Lease) bool { return l.Release != nil }

// taken waits until a server owns a room that another server has released or lost.
func taken(t *testing.T, c *Cluster, code string) remote.Lease {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for late := time.After(patience); ; {
		if l := take(t, c, code); mine(l) {
			return l
		}
		select {
		case <-look.C:
		case <-late:
			t.Fatal("the lease has not become free")
		}
	}
}

// TestOnlyOneServerGetsALease: if several servers request the same room at the same moment,
// one gets its lease, and the others learn which server that is.
func TestOnlyOneServerGetsALease(t *testing.T) {
	t.Parallel()
	u := newUnion(t, streamtest.Node(t, t.TempDir()))
	u.life = patience // so that no session ends in this test
	var all [3]*Cluster
	for i := range all {
		all[i], _ = u.join()
	}
	for round := range 10 {
		code := fmt.Sprint("ROOM", round)
		var got [3]remote.Lease
		var wg sync.WaitGroup
		for i, c := range all {
			wg.Go(func() { got[i] = take(t, c, code) })
		}
		wg.Wait()
		owners, owner := 0, remote.Lease{}
		for i, l := range got {
			if mine(l) {
				owners, owner = owners+1, l
				if l.Server != all[i].Server() {
					t.Errorf("%s has the lease of %s, want its own", all[i].Server(), l.Server)
				}
			}
		}
		for _, l := range got {
			if owners != 1 || l.Server != owner.Server || l.Term != owner.Term {
				t.Errorf(
					"got %d owners: %+v; want owners = 1, l.Server = %q, l.Term = %d", owners, got, owner.Server,
					owner.Term,
				)
			}
		}
		owner.Release()
		for i, c := range all {
			now := taken(t, c, code)
			if now.Term <= owner.Term {
				t.Errorf("server %d has term %d after %d, want a larger one", i, now.Term, owner.Term)
			}
			owner = now
			owner.Release()
		}
	}
}

// TestCutOffServerLosesItsLease: a disconnected server gives up its rooms, and then another
// server takes them. When the first server is connected again, it sees which server owns
// them.
func TestCutOffServerLosesItsLease(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	u := newUnion(t, streamtest.Node(t, t.TempDir()))
	a, net := u.join()
	b, _ := u.join()
	first := take(t, a, "ROOM")
	if l := take(t, b, "ROOM"); mine(l) || l.Server != a.Server() {
		t.Fatalf("the second server gets %+v, want the first one's lease", l)
	}
	net.cut()
	second := taken(t, b, "ROOM")
	next(t, first.Lost)
	if second.Term <= first.Term {
		t.Errorf("got term %d after %d, want a larger one", second.Term, first.Term)
	}
	if err := a.Ready(); !errors.Is(err, ErrAway) {
		t.Errorf("the disconnected server returns %v, want %v", err, ErrAway)
	}
	net.to.Store(u.nats)
	if l := take(t, a, "ROOM"); mine(l) || l.Server != b.Server() || l.Term != second.Term {
		t.Errorf("after reconnecting, the first server gets %+v", l)
	}
	must(t, a.Ready())
	if s := a.Stats(); s.Lost != 1 || s.Held != 0 || s.Reconnects == 0 {
		t.Errorf("its statistics are %+v, want Lost = 1, Held = 0, Reconnects not 0", s)
	}
}

// TestLostRenewalAnswersKeepTheLease: if some replies to renewals get lost, the server keeps its
// lease, and no other server gets it.
func TestLostRenewalAnswersKeepTheLease(t *testing.T) {
	t.Parallel()
	u := newUnion(t, streamtest.Node(t, t.TempDir()))
	u.life = patience // so that only lost replies could end the session
	a, _ := u.join()
	l := take(t, a, "ROOM")
	a.leases.mu.Lock()
	before := a.leases.session.revision
	a.leases.mu.Unlock()
	// The following does what keep does at each beat, but every other reply gets lost.
	a.leases.stop()
	<-a.leases.done
	var n atomic.Int64
	a.leases.keys.lose = func() error {
		if n.Add(1)%2 == 1 {
			return nats.ErrTimeout
		}
		return nil
	}
	a.leases.ctx = t.Context()
	for range 3 {
		a.leases.renew()
	}
	a.leases.mu.Lock()
	defer a.leases.mu.Unlock()
	if s := a.leases.session; s == nil || s.revision < before+6 {
		t.Fatalf("after three renewals that were sent twice: got %+v, from revision %d", s, before)
	}
	select {
	case <-l.Lost:
		t.Error("the lease was lost")
	default:
	}
}

// TestEndedSessionIsNoticed: if a server's session is ended by another server, the first
// server notices that at the next renewal and gives up its rooms.
func TestEndedSessionIsNoticed(t *testing.T) {
	t.Parallel()
	u := newUnion(t, streamtest.Node(t, t.TempDir()))
	a, _ := u.join()
	b, _ := u.join()
	l := take(t, a, "ROOM")
	endSession(t, b, a)
	if second := taken(t, b, "ROOM"); second.Term <= l.Term {
		t.Errorf("got term %d after %d, want a larger one", second.Term, l.Term)
	}
	next(t, l.Lost)
	if l := take(t, a, "ROOM"); mine(l) {
		t.Error("the server whose session was ended takes the room back from the next owner")
	}
}

// endSession makes one server end another server's session without that server knowing.
func endSession(t testing.TB, by, of *Cluster) {
	t.Helper()
	id := of.leases.current()
	if id != "" {
		must(t, by.leases.finish(t.Context(), id))
	}
}

// TestLeaseEndIsNotified: a server that has looked up an owner is notified when the owner dies, so
// it does not wait for replies from that owner.
func TestLeaseEndIsNotified(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	u := newUnion(t, streamtest.Node(t, t.TempDir()))
	a, net := u.join()
	b, _ := u.join()
	take(t, a, "ROOM")
	l := take(t, b, "ROOM")
	if mine(l) {
		t.Fatal("both servers own the room")
	}
	select {
	case <-l.Lost:
		t.Fatal("the owner is alive, but its lease is reported as ended")
	default:
	}
	net.cut()
	next(t, l.Lost)
	if now := take(t, b, "ROOM"); !mine(now) {
		t.Errorf("afterwards, the lease is not free: %+v", now)
	}
}
