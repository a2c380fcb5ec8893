package admission

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A clock advances only when the test advances it.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

var (
	home   = netip.MustParsePrefix("192.0.2.1/32")
	school = netip.MustParsePrefix("192.0.2.2/32")
)

// A holder occupies places in a pool and records which of them are evicted.
type holder struct {
	t       *testing.T
	pool    *Pool
	evicted chan string
}

func newHolder(t *testing.T, s Share, c *clock) *holder {
	return &holder{t, NewPool(s, c.now), make(chan string, 100)}
}

func (h *holder) hold(c Caller, name string, want Refused) *Permit {
	h.t.Helper()
	x, got := h.pool.Hold(c, func() { h.evicted <- name })
	if got != want {
		h.t.Errorf("%s: got %v, want %v", name, got, want)
	}
	return x
}

func (h *holder) lost(want ...string) {
	h.t.Helper()
	select {
	case got := <-h.evicted:
		if !slices.Contains(want, got) {
			h.t.Errorf("%s was evicted, want %v", got, want)
		}
	case <-time.After(failed):
		h.t.Fatalf("no place was evicted, want %v", want)
	}
}

func (h *holder) held() int {
	h.pool.mu.Lock()
	defer h.pool.mu.Unlock()
	return len(h.pool.places)
}

// failed is how long a test waits for an event. Only a failing test waits that long.
const failed = 20 * time.Second

func newcomer(name string, from netip.Prefix, c *clock) Caller {
	return Caller{Learner: name, Address: from, Since: c.t}
}

func known(name string, from netip.Prefix) Caller { return Caller{Learner: name, Address: from} }

// TestPoolReservesForKnownLearners: part of the pool is reserved for known learners at any address,
// and a newcomer becomes known after [KnownAfter].
// Promise: Part of the server's capacity is reserved for learners whom it already knows.
func TestPoolReservesForKnownLearners(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	h := newHolder(t, Share{Most: 4, Newcomers: 2, PerLearner: 2}, c)
	a := newcomer("a", home, c)
	h.hold(a, "a1", Admitted)
	c.t = c.t.Add(time.Second)
	h.hold(a, "a2", Admitted)
	h.hold(a, "a3", OwnFull)
	h.hold(known("k", home), "k1", Admitted)
	h.hold(known("k", home), "k2", Admitted)
	h.hold(known("l", home), "l1", Admitted) // a and k have two places each
	h.lost("a1")                             // of these, a1 is the least recently used
	h.hold(known("m", home), "m1", Admitted)
	h.lost("k1", "k2")
	h.hold(newcomer("b", school, c), "b1", Full) // each has one place
	h.hold(known("n", home), "n1", Admitted)     // newcomers yield to known learners
	h.lost("a2")
	h.hold(known("o", home), "o1", Full) // each has one place
	c.t = c.t.Add(KnownAfter)
	if !a.Known(c.t) {
		t.Error("a is still a newcomer")
	}
}

// TestPoolFloodDisplacesOnlyItself: an address that floods a pool with newcomers displaces only
// its own callers. A newcomer from another address always gets a place and keeps it.
func TestPoolFloodDisplacesOnlyItself(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	h := newHolder(t, Share{Most: 20, Newcomers: 12, PerLearner: 3}, c)
	honest := h.hold(newcomer("honest", school, c), "honest", Admitted)
	for i := range 100 {
		c.t = c.t.Add(time.Millisecond)
		h.hold(newcomer(fmt.Sprint("bot ", i), home, c), "bot", Admitted)
	}
	for range 100 - 11 {
		h.lost("bot")
	}
	c.t = c.t.Add(time.Millisecond)
	h.hold(newcomer("second", school, c), "second", Admitted)
	h.lost("bot")
	if n := h.held(); n != 12 {
		t.Errorf("%d places are held, want 12", n)
	}
	honest.Release()
	honest.Release() // has no effect
	if n := h.held(); n != 11 {
		t.Errorf("%d places are held, want 11", n)
	}
}

// TestPoolEvictsBiggestHolderAtAddress: at one address, the learner with the most places loses a
// place first. Among equals, the least recently used place is evicted.
func TestPoolEvictsBiggestHolderAtAddress(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	h := newHolder(t, Share{Most: 100, PerAddress: 4}, c)
	tick := func() { c.t = c.t.Add(time.Second) }
	first := h.hold(newcomer("a", home, c), "a", Admitted)
	tick()
	for i := range 3 {
		h.hold(newcomer("greedy", home, c), fmt.Sprint("greedy ", i), Admitted)
		tick()
	}
	h.hold(newcomer("b", home, c), "b", Admitted)
	h.lost("greedy 0")
	h.hold(newcomer("c", home, c), "c", Admitted)
	h.lost("greedy 1")
	tick()
	first.Use()
	h.hold(newcomer("d", home, c), "d", Admitted) // a, b, c and greedy have one place each
	h.lost("greedy 2")
	h.hold(newcomer("e", school, c), "e", Admitted) // another address is not affected
}

// TestPoolNeverEvictsWithoutEvict: a place without an evict function is never evicted.
func TestPoolNeverEvictsWithoutEvict(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	p := NewPool(Share{Most: 1}, c.now)
	if _, refused := p.Hold(newcomer("a", home, c), nil); refused != Admitted {
		t.Fatalf("got refusal %d, want %d", refused, Admitted)
	}
	if _, refused := p.Hold(known("b", home), nil); refused != Full {
		t.Errorf("got %v, want Full", refused)
	}
}

// TestPoolInvariants: learners who want only one place each get it and keep it, no matter what
// clients at one address do with old and new cookies. The learners can be newcomers at another
// address or known learners at any address.
func TestPoolInvariants(t *testing.T) {
	share := Share{Most: 30, Newcomers: 20, PerAddress: 15, PerLearner: 4}
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		c := &clock{time.Unix(1e9, 0)}
		p := NewPool(share, c.now)
		var held []*Permit
		var honest int
		for range 400 {
			c.t = c.t.Add(time.Millisecond)
			switch op := rng.IntN(20); {
			case op == 0 && honest < 10: // another honest learner arrives
				who := newcomer(fmt.Sprint("honest ", honest), school, c)
				if honest%2 == 0 {
					who = known(who.Learner, home)
				}
				lost := func() { t.Errorf("seed %d: %s lost its place", seed, who.Learner) }
				if _, refused := p.Hold(who, lost); refused != Admitted {
					t.Errorf("seed %d: %s was refused", seed, who.Learner)
				}
				honest++
			case op < 4 && len(held) > 0:
				held[rng.IntN(len(held))].Release()
			case op < 6 && len(held) > 0:
				held[rng.IntN(len(held))].Use()
			default:
				who := newcomer(fmt.Sprint("bot ", rng.IntN(60)), home, c)
				if rng.IntN(3) == 0 { // there are fewer old cookies than free places
					who = known(fmt.Sprint("old bot ", rng.IntN(8)), home)
				}
				if x, refused := p.Hold(who, func() {}); refused == Admitted {
					held = append(held, x)
				}
			}
			checkPool(t, p, share)
		}
	}
}

// checkPool checks that a pool's counts match its places and that neither exceeds its
// limits.
func checkPool(t *testing.T, p *Pool, s Share) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	learners, addresses := map[string]int{}, map[netip.Prefix]int{}
	for x := range p.places {
		learners[x.caller.Learner]++
		addresses[x.caller.Address]++
	}
	if !maps.Equal(learners, p.learners) || !maps.Equal(addresses, p.addresses) {
		t.Fatal("the counts differ from the places")
	}
	for who, n := range learners {
		if n > s.PerLearner {
			t.Fatalf("%s holds %d places, want at most %d", who, n, s.PerLearner)
		}
	}
	new := p.newcomers(p.now())
	if len(p.places) > s.Most || len(new) > s.Newcomers || len(new.of(home)) > s.PerAddress {
		t.Fatalf(
			"got %d places, %d of newcomers; want len(p.places) at most %d, len(new) at most %d, "+
				"len(new.of(home)) at most %d",
			len(p.places), len(new), s.Most, s.Newcomers, s.PerAddress,
		)
	}
}

// TestSettleKeepsThePlace: settling a place does not change the count and replaces the place's
// evict function. A place that has been given to another caller cannot be settled.
func TestSettleKeepsThePlace(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	p := NewPool(Share{Most: 1, PerLearner: 1}, c.now)
	first, _ := p.Hold(newcomer("a", home, c), func() { t.Error("the old evict function was called") })
	var settled *Permit
	evicted := make(chan bool)
	settled = first.Settle(func() { close(evicted) })
	if settled == nil || settled.Caller().Learner != "a" || p.Stats().Held != 1 {
		t.Fatalf(
			"settled as %+v, with %d places; want settled not nil, Caller().Learner = %q, p.Stats().Held = 1", settled,
			p.Stats().Held, "a",
		)
	}
	first.Release() // has no effect
	if _, refused := p.Hold(newcomer("a", home, c), nil); refused != OwnFull {
		t.Errorf("a learner's second place: got %v, want %v", refused, OwnFull)
	}
	if _, refused := p.Hold(known("k", home), nil); refused != Admitted {
		t.Fatalf("a known learner: got %v, want %v", refused, Admitted)
	}
	<-evicted
	if settled.Settle(nil) != nil || p.Stats().Held != 1 {
		t.Error("a place that was given to another caller has been settled")
	}
}

// TestAwaitGetsFreedPlace: a waiting caller gets a place when it is freed.
func TestAwaitGetsFreedPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(Share{Most: 1}, nil)
		first, _ := p.Hold(Caller{Learner: "a"}, nil)
		over, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if place, err := p.Await(over, Caller{Learner: "b"}, nil); place != nil || err == nil {
			t.Errorf("while the place is held: got %v, %v; want nil, an error", place, err)
		}
		got := make(chan *Permit)
		for _, learner := range []string{"b", "c"} {
			go func() {
				place, err := p.Await(t.Context(), Caller{Learner: learner}, nil)
				if err != nil {
					t.Error(err)
				}
				got <- place
			}()
		}
		synctest.Wait()
		first.Release()
		(<-got).Release()
		(<-got).Release()
	})
}
