package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/load"
)

// badNetwork is a class in which each phone has its own bad network.
type badNetwork struct {
	t          *testing.T
	rng        *rand.Rand
	instructor *load.Instructor
	phones     []*stayer
	lines      []*badLine
	lost       *atomic.Int64 // number of lost connections in all schedules
}

// troubles are ways to delay, slice and cut connections, in either direction.
var troubles = []func(r *rand.Rand) trouble{
	func(r *rand.Rand) trouble {
		return trouble{up: r.IntN(2) == 0, late: ms(r.IntN(80)), jitter: ms(r.IntN(60))}
	},
	func(r *rand.Rand) trouble { // 20 to 420 KB a second
		return trouble{slice: 1 << 10, pause: time.Second / time.Duration(20+r.IntN(400))}
	},
	func(r *rand.Rand) trouble {
		return trouble{slice: 64 + r.IntN(900), pause: time.Duration(r.IntN(300)) * time.Microsecond}
	},
	func(r *rand.Rand) trouble {
		return trouble{up: true, slice: 4 + r.IntN(30), pause: time.Duration(r.IntN(2000)) * time.Microsecond}
	},
	func(r *rand.Rand) trouble { return trouble{limit: 1 + r.IntN(60<<10)} },
	func(r *rand.Rand) trouble { return trouble{up: true, limit: 1 + r.IntN(400)} },
	func(r *rand.Rand) trouble { return trouble{cut: ms(1 + r.IntN(150)), reset: true} },
	func(r *rand.Rand) trouble { return trouble{silent: true, cut: ms(1 + r.IntN(150))} },
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// TestClassOverBadNetworks: whatever happens on the networks between a server and its phones, every
// phone moves only forward and ends at the last stage, snapshots with the same number are the same
// on all phones, and exactly the votes with a receipt count.
// Promise: On bad networks, phones never go back a stage, and exactly the confirmed votes count.
func TestClassOverBadNetworks(t *testing.T) {
	fixture.Long(t)
	const schedules = 1000
	s := start(t, "-addr", "127.0.0.1:0", "-no-open")
	defer s.end()
	free := make(chan struct{}, 4) // limits the number of concurrent schedules
	var all sync.WaitGroup
	var lost, held atomic.Int64
	for seed := range schedules {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			t.Run(fmt.Sprint("schedule ", seed), func(t *testing.T) {
				held.Add(1)
				badSchedule(t, s.url, uint64(seed), &lost)
			})
		})
	}
	all.Wait()
	if t.Logf("%d connections were lost on the way", lost.Load()); lost.Load() < held.Load() {
		t.Errorf("%d connections were lost in %d schedules, want at least one in each", lost.Load(), held.Load())
	}
}

// badSchedule runs a short class over bad networks.
func badSchedule(t *testing.T, url string, seed uint64, lost *atomic.Int64) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	b := &badNetwork{t: t, rng: rand.New(rand.NewPCG(seed, 12)), lost: lost}
	b.gather(ctx, url)
	spoiling, stop := context.WithCancel(ctx)
	var spoilers sync.WaitGroup
	for _, l := range b.lines {
		rng := rand.New(rand.NewPCG(b.rng.Uint64(), 0))
		spoilers.Go(func() { spoil(spoiling, t, l, rng) })
	}
	b.walk(ctx, 2+b.rng.IntN(12))
	b.vote(ctx)
	b.walk(ctx, 1+b.rng.IntN(8))
	if err := b.instructor.Do(ctx, "alone-on"); err != nil {
		t.Error(err)
	}
	stop()
	spoilers.Wait()
	b.end(ctx)
}

// gather creates a room. One phone is on a good network; three are on networks that become bad
// later.
func (b *badNetwork) gather(ctx context.Context, url string) {
	b.t.Helper()
	var err error
	if b.instructor, err = load.NewInstructor(ctx, url); err != nil {
		b.t.Fatal(err)
	}
	host := strings.TrimPrefix(url, "http://")
	b.phones = []*stayer{newStayer(b.t, "the phone with a good line", url, b.instructor.Code, "", false)}
	for i := range 3 {
		l := newBadLine(b.t, host)
		b.lines = append(b.lines, l)
		b.phones = append(b.phones, newStayer(b.t, fmt.Sprint("phone ", i), url, b.instructor.Code, l.addr, false))
	}
	for _, p := range b.phones {
		if _, err := p.until(ctx, func() bool { return len(p.shots) > 0 }); err != nil {
			b.t.Fatal(err)
		}
	}
	if err := b.instructor.Do(ctx, "start", "prompt", load.Prompts[b.rng.IntN(len(load.Prompts))]); err != nil {
		b.t.Fatal(err)
	}
}

// spoil subjects a network to one disturbance after another until ctx ends, and then restores it.
func spoil(ctx context.Context, t *testing.T, l *badLine, rng *rand.Rand) {
	wait := func(most time.Duration) bool {
		select {
		case <-time.After(rand.N(most)):
			return true
		case <-ctx.Done():
			return false
		}
	}
	for wait(100 * time.Millisecond) {
		if rng.IntN(4) == 0 { // silent, as in an elevator
			l.stop()
			wait(200 * time.Millisecond)
			if err := l.start(); err != nil {
				t.Error(err)
				return
			}
			continue
		}
		bad := troubles[rng.IntN(len(troubles))](rng)
		l.become(&bad)
		wait(250 * time.Millisecond)
		l.become(nil)
	}
}

// walk moves forward by the given number of stages. After some randomly chosen stages, it waits for
// the phone on the good network; after the others, it continues immediately.
func (b *badNetwork) walk(ctx context.Context, stages int) {
	b.t.Helper()
	for range stages {
		arrived := more(b.phones[:1], snapshots)
		err := b.instructor.Do(ctx, "forward")
		var r *load.Refused
		if errors.As(err, &r) { // the text has ended
			err = b.instructor.Do(ctx, "start", "prompt", load.Prompts[b.rng.IntN(len(load.Prompts))])
		}
		if err != nil {
			b.t.Fatal(err)
		}
		if b.rng.IntN(2) == 0 {
			arrived(ctx, 1)
		}
	}
}

// vote opens a poll at a stage before the draw, and closes it after some of the votes have
// arrived over the bad networks.
func (b *badNetwork) vote(ctx context.Context) {
	b.t.Helper()
	good := b.phones[0]
	for {
		if err := b.instructor.Do(ctx, "ask-next", "n", "4", "where", "here"); err == nil {
			break
		} else if r := new(load.Refused); !errors.As(err, &r) {
			b.t.Fatalf("got error %v, want an error of type *load.Refused", err)
		}
		b.walk(ctx, 1) // the token is drawn: continue with the next turn
	}
	sh, err := good.until(ctx, func() bool { return good.last().Poll != nil })
	if err != nil {
		b.t.Fatal(err)
	}
	var casting sync.WaitGroup
	voted := more(b.phones, receipts)
	for i, p := range b.phones {
		rng := rand.New(rand.NewPCG(b.rng.Uint64(), uint64(i)))
		casting.Go(func() {
			if _, err := p.until(ctx, func() bool { return p.last().Poll != nil }); err != nil {
				b.t.Error(err)
				return
			}
			for n := range 3 { // every phone changes its choice twice
				choice := sh.Poll.Options[rng.IntN(len(sh.Poll.Options))].Key
				if err := p.cast(ctx, sh.Poll.ID, sh.Poll.Round, choice, int64(1+n)); err != nil &&
					!errors.Is(err, errPollOver) {
					b.t.Error(err)
				}
			}
		})
	}
	voted(ctx, 1+b.rng.IntN(2*len(b.phones)))
	for _, cmd := range []string{"close", "spread"} {
		if err := b.instructor.Do(ctx, cmd); err != nil {
			b.t.Fatal(err)
		}
	}
	casting.Wait()
	b.count(ctx, sh.Poll.ID, sh.Poll.Round)
}

// count compares the counts with the receipts. A vote without a receipt may count, because the
// receipt might have been lost. In that case, the counted vote must be the one that the server
// sends to the phone on a new connection.
func (b *badNetwork) count(ctx context.Context, poll string, round int) {
	b.t.Helper()
	good := b.phones[0]
	sh, err := good.until(ctx, func() bool { p := good.last().Poll; return p != nil && p.Phase == "spread" })
	if err != nil {
		b.t.Fatal(err)
	}
	want := map[string]int{}
	for _, p := range b.phones {
		counted, err := p.standing(ctx, poll, round)
		if err != nil {
			b.t.Fatal(err)
		}
		p.mu.Lock()
		confirmed := p.confirmed(poll, round)
		p.mu.Unlock()
		if counted.Number < confirmed.Number ||
			counted.Number == confirmed.Number && counted.Choice != confirmed.Choice {
			b.t.Errorf("%s: vote %+v was confirmed, but %+v counts", p.name, confirmed, counted)
		}
		if counted.Number > 0 {
			want[counted.Choice]++
		}
	}
	if got := roundCounts(sh.Shared); fmt.Sprint(got) != fmt.Sprint(want) {
		b.t.Errorf("got counts %v, want %v according to the votes that count", got, want)
	}
}

// end waits until all phones are at the instructor's stage, and checks the snapshots that they have
// received so far. The last change to the class is a mark that every phone must see, so no phone
// can be missing a stage.
func (b *badNetwork) end(ctx context.Context) {
	b.t.Helper()
	places := map[int]bool{}
	for _, p := range b.phones {
		sh, err := p.until(ctx, func() bool { return p.last().Alone })
		if err != nil {
			b.t.Fatal(err)
		}
		places[sh.at()] = true
		p.mu.Lock()
		b.lost.Add(int64(p.connections - 1))
		p.mu.Unlock()
	}
	if len(places) != 1 {
		b.t.Errorf("the phones end on stages %v, want the same for all", places)
	}
	checkTogether(b.t, b.phones)
	for _, p := range b.phones {
		p.end()
	}
	if err := b.instructor.Do(ctx, "delete"); err != nil {
		b.t.Error(err)
	}
}
