//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/journal/stream"
	"github.com/tokenbytoken/viz/web/load"
)

// clusterClass is a class on three servers and three NATS nodes, each a separate process.
// A fault strikes in every poll.
type clusterClass struct {
	t          *testing.T
	nodes      *natsNodes
	servers    *vizServers
	instructor *load.Instructor
	phones     []*stayer // phone i connects through way i
	rng        *rand.Rand
	casting    sync.WaitGroup
	took       []time.Duration // times from a fault until all phones showed the effect of the instructor's next command
}

// phonesOfCluster is the number of phones, spread evenly over the servers.
const phonesOfCluster = 9

func newClusterClass(ctx context.Context, t *testing.T, f clusterFault) *clusterClass {
	t.Helper()
	c := &clusterClass{t: t, rng: rand.New(rand.NewPCG(24, 1))}
	var stores map[int]string
	if f.stores != nil {
		stores = f.stores(t)
	}
	c.nodes = newNatsNodes(ctx, t, stores)
	c.servers = newVizServers(ctx, t, c.nodes, phonesOfCluster+1, f.clocks)
	var err error
	if c.instructor, err = load.NewInstructor(ctx, "http://"+c.servers.ways[phonesOfCluster].addr); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.instructor.HangUp)
	for i := range phonesOfCluster {
		c.phones = append(
			c.phones,
			newStayer(t, fmt.Sprint("phone ", i+1), "http://"+c.servers.ways[i].addr, c.instructor.Code, "", false),
		)
	}
	c.all(ctx, func(sh shot) bool { return sh.seq > 0 })
	c.press(ctx, func(sh shot) bool { return sh.at() == 1 }, "start", "prompt", load.Prompts[0])
	return c
}

// all waits until `is` returns true for the last snapshot of every phone.
func (c *clusterClass) all(ctx context.Context, is func(shot) bool) {
	c.t.Helper()
	for _, p := range c.phones {
		if _, err := p.until(ctx, func() bool { return is(p.last()) }); err != nil {
			c.fatal(err)
		}
	}
}

// fatal logs the output of all processes and ends the test.
func (c *clusterClass) fatal(args ...any) {
	c.t.Helper()
	for i, p := range c.phones {
		p.mu.Lock()
		c.t.Logf(
			"%s: server %d, connection %d, %+v, refused %q, %v", p.name, c.servers.ways[i].server()+1, p.connections,
			p.last(), p.refusal, p.problems,
		)
		p.mu.Unlock()
	}
	for i := range c.servers.running {
		c.servers.kill(i)
		b := c.servers.errors[i].String()
		c.t.Logf("server %d: …%s", i+1, b[max(0, len(b)-3000):])
	}
	c.nodes.showLogs()
	c.t.Fatal(args...)
}

// newest returns the newest snapshot that any phone has.
func (c *clusterClass) newest() (sh shot) {
	for _, p := range c.phones {
		p.mu.Lock()
		if last := p.last(); last.seq > sh.seq {
			sh = last
		}
		p.mu.Unlock()
	}
	return sh
}

// press sends a command from the instructor repeatedly until the phones show its effect. If the
// command may already have been executed, press checks the phones before it sends the command
// again, as an instructor would.
func (c *clusterClass) press(ctx context.Context, seen func(shot) bool, cmd string, fields ...string) {
	c.t.Helper()
	for tries := 1; ; tries++ {
		try, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := c.instructor.Do(try, cmd, fields...)
		cancel()
		if err == nil { // the command was executed
			c.t.Helper()
			late, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			c.one(late, seen, cmd)
			return
		}
		c.instructor.HangUp() // the load balancer chooses a server for each request
		if ctx.Err() != nil {
			c.fatal("pressing ", cmd, ": ", err)
		}
		for look := 0; look < 4; look++ {
			if seen(c.newest()) {
				return
			}
			<-time.After(50 * time.Millisecond) // the interval between attempts; a person does not press faster
		}
	}
}

// one waits until `is` returns true for the last snapshot of any phone.
func (c *clusterClass) one(ctx context.Context, is func(shot) bool, what string) {
	c.t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	seen := make(chan error, len(c.phones))
	for _, p := range c.phones {
		go func() {
			_, err := p.until(ctx, func() bool { return is(p.last()) })
			seen <- err
		}()
	}
	if err := <-seen; err != nil {
		c.fatal("after ", what, ": ", err)
	}
}

// round asks the class for the next token, causes a fault, and continues. If waits is false, the
// instructor closes the poll immediately after the fault, and round measures the time until all
// phones show the next stage.
func (c *clusterClass) round(ctx context.Context, f clusterFault, waits bool) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	c.toStage(ctx, 1+c.rng.IntN(4))
	c.press(ctx, func(sh shot) bool { return sh.Poll != nil && sh.Poll.Phase == "open" }, "ask-next", "n", "4",
		"where", "here", "seconds", f.seconds)
	c.all(ctx, func(sh shot) bool { return sh.Poll != nil && sh.Poll.Phase == "open" })
	asked := c.newest()
	for _, p := range c.phones {
		seed := c.rng.Uint64()
		c.casting.Go(func() { c.castTwice(ctx, p, asked, rand.New(rand.NewPCG(seed, 0))) })
	}
	undo, cut := f.strike(ctx, c)
	if cut == c.servers.ways[phonesOfCluster].prefers {
		c.instructor.HangUp() // an instructor cannot continue on that server, and moves to the next one
		c.servers.ready[cut].Store(false)
	}
	begin := time.Now()
	if waits {
		if cut != none {
			undo()
		}
		c.casting.Wait()
	}
	closed := func(sh shot) bool { return sh.Poll != nil && sh.Poll.Phase != "open" }
	c.press(ctx, closed, "close")
	for i, p := range c.phones {
		if c.servers.ways[i].prefers == cut {
			continue
		}
		if _, err := p.until(ctx, func() bool { return closed(p.last()) }); err != nil {
			c.fatal(err)
		}
	}
	if !waits {
		c.took = append(c.took, time.Since(begin))
	}
	if !waits || cut == none {
		undo()
	}
	spread := func(sh shot) bool { return sh.Poll != nil && sh.Poll.Phase == "spread" }
	c.press(ctx, spread, "spread")
	c.all(ctx, spread)
	c.casting.Wait()
	c.count(ctx, asked)
	c.press(ctx, func(sh shot) bool { return sh.Poll == nil }, "dismiss")
	to := asked.at() + 1
	c.press(ctx, func(sh shot) bool { return sh.at() == to }, "forward")
	c.all(ctx, func(sh shot) bool { return sh.at() == to })
	c.whole(ctx)
}

// whole waits until all servers and nodes are back and every way leads to its preferred server
// again.
func (c *clusterClass) whole(ctx context.Context) {
	c.servers.allReady(ctx)
	c.nodes.whole(ctx)
	for i, w := range c.servers.ways {
		w.cut(func(server int) bool { return server != w.prefers })
		if i < len(c.phones) {
			c.nodes.wait(ctx, fmt.Sprint("for phone ", i+1, " to be back"), w.home)
		}
	}
	last := c.newest()
	c.all(ctx, func(sh shot) bool { return sh.seq >= last.seq })
}

// toStage moves forward to one of the first stages of a turn, before the draw.
func (c *clusterClass) toStage(ctx context.Context, stage int) {
	c.t.Helper()
	last := c.newest()
	for n := (stage - last.Stage + 7) % 7; n > 0; n-- {
		if last.Step > 40 { // the text is long enough
			text := last.Text
			c.press(ctx, func(sh shot) bool { return sh.Text > text }, "start", "prompt", load.Prompts[0])
			break
		}
		to := last.at() + 1
		c.press(ctx, func(sh shot) bool { return sh.at() == to }, "forward")
		last = c.newest()
	}
}

// castTwice makes a phone vote and change its choice, unless the poll ends first.
func (c *clusterClass) castTwice(ctx context.Context, p *stayer, asked shot, rng *rand.Rand) {
	for n := range 2 {
		choice := asked.Poll.Options[rng.IntN(len(asked.Poll.Options))].Key
		err := p.cast(ctx, asked.Poll.ID, asked.Poll.Round, choice, int64(1+n))
		if err != nil && !errors.Is(err, errPollOver) {
			c.t.Error(err)
		}
	}
}

// count compares the poll's counts with the votes that the server considers valid, and these votes
// with the receipts. A vote without a receipt may count if its server was killed before it could
// confirm the vote.
func (c *clusterClass) count(ctx context.Context, asked shot) {
	c.t.Helper()
	want := map[string]int{}
	for _, p := range c.phones {
		var counted yourVote
		err := errors.New("not asked yet")
		for err != nil && ctx.Err() == nil { // the connection might lead to a server that is stopping
			counted, err = p.standing(ctx, asked.Poll.ID, asked.Poll.Round)
		}
		if err != nil {
			c.fatal(err)
		}
		p.mu.Lock()
		confirmed := p.confirmed(asked.Poll.ID, asked.Poll.Round)
		p.mu.Unlock()
		other := counted.Number == confirmed.Number && counted.Choice != confirmed.Choice
		if counted.Number < confirmed.Number || other {
			c.t.Errorf(
				"%s: vote %+v was confirmed, but %+v counts; want Number at least %d, other = false", p.name, confirmed,
				counted, confirmed.Number,
			)
		}
		if counted.Number > 0 {
			want[counted.Choice]++
		}
	}
	if got := roundCounts(c.newest().Shared); fmt.Sprint(got) != fmt.Sprint(want) {
		c.t.Errorf("got spread %v, want %v according to the votes that count", got, want)
	}
}

// oneOwner checks that the epochs of the room's owners are in increasing order in the room's log.
func (c *clusterClass) oneOwner(ctx context.Context) {
	c.t.Helper()
	j, err := stream.New(c.nodes.nc, stream.Config{})
	if err != nil {
		c.t.Fatal(err)
	}
	last := 0
	err = j.Read(ctx, journal.Owner{Kind: journal.Room, Name: c.instructor.Code}, 0, func(r journal.Record) error {
		if r.Type != "epoch" {
			return nil
		}
		epoch, err := strconv.Atoi(r.ID)
		if err != nil || epoch <= last {
			c.t.Errorf("got epoch %q after %d, want a larger number", r.ID, last)
		}
		last = epoch
		return nil
	})
	if err != nil || last == 0 {
		c.t.Errorf("the newest epoch is %d: %v; want not 0, <nil>", last, err)
	}
	c.t.Logf("%d epochs", last)
}

// TestKilledCluster: servers and NATS nodes are killed, stopped and cut off in the middle of polls.
// The class continues: exactly the confirmed votes count, each once; every phone sees everything in
// the right order, and no phone is left behind.
func TestKilledCluster(t *testing.T) {
	fixture.Long(t)
	rounds := 3
	if n, err := strconv.Atoi(os.Getenv("VIZ_CLUSTER_ROUNDS")); err == nil {
		rounds = n
	}
	for _, f := range clusterFaults {
		t.Run(f.name, func(t *testing.T) {
			ctx := context.Background()
			c := newClusterClass(ctx, t, f)
			for n := range rounds {
				c.round(ctx, f, n%3 == 2)
				if t.Failed() {
					c.fatal("after ", n+1, " times ", f.name)
				}
			}
			checkTogether(t, c.phones)
			c.oneOwner(ctx)
			if t.Failed() {
				c.fatal("in ", rounds, " times")
			}
			if list := c.took; len(list) > 0 {
				slices.Sort(list)
				at := func(percent int) time.Duration {
					return list[(len(list)*percent+99)/100-1].Round(time.Millisecond)
				}
				t.Logf("next stage on all phones, of %d: p50 %v, p90 %v, p99 %v, at most %v", len(list), at(50), at(90),
					at(99), at(100))
			}
		})
	}
}
