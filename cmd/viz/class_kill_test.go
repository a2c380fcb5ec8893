//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/load"
)

// killedClass is a class whose server is killed repeatedly.
type killedClass struct {
	t          *testing.T
	dir        string
	addr       string
	viz        *exec.Cmd
	instructor *load.Instructor
	phones     []*stayer
	rng        *rand.Rand

	// may contains the possible positions of the run, in stages from the prompt: the last confirmed
	// position, and the requested position if the request was not answered.
	may     map[int]bool
	casting sync.WaitGroup
}

// startAgain starts the server on the same folder and address.
func (k *killedClass) startAgain() {
	k.t.Helper()
	viz, pipe, errors := process(k.t, "serve", "-no-open", "-addr", k.addr, "-data", k.dir)
	if _, err := bufio.NewReader(pipe).ReadString('\n'); err != nil {
		k.t.Fatalf("nothing printed: %v, %s", err, errors)
	}
	k.viz = viz
}

// kill ends the server as a power cut would.
func (k *killedClass) kill() {
	_ = k.viz.Process.Kill()
	_ = k.viz.Wait()
}

// TestKilledServerKeepsTheClass: the server is killed during a class, at random moments. After each
// restart, all phones are at the stage that was last confirmed to the instructor (or at the stage
// that was being requested), every confirmed vote counts once, and the class continues.
// Promise: A server killed during a class loses no confirmed vote and resumes at the class's stage.
func TestKilledServerKeepsTheClass(t *testing.T) {
	fixture.Long(t)
	for seed := range uint64(2) {
		t.Run(fmt.Sprint("class ", seed+1), func(t *testing.T) { killClass(t, 50, seed+1) })
	}
}

// killClass kills the server of a class the given number of times.
func killClass(t *testing.T, kills int, seed uint64) {
	const phones = 40
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(kills)*time.Minute)
	defer cancel()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	k := &killedClass{t: t, dir: t.TempDir(), addr: free.Addr().String(), rng: rand.New(rand.NewPCG(8, seed))}
	free.Close()
	k.startAgain()
	if k.instructor, err = load.NewInstructor(ctx, "http://"+k.addr); err != nil {
		t.Fatal(err)
	}
	for i := range phones {
		phone := newStayer(t, fmt.Sprint("phone ", i+1), k.instructor.URL, k.instructor.Code, "", true)
		k.phones = append(k.phones, phone)
	}
	for _, p := range k.phones {
		if _, err := p.until(ctx, func() bool { return len(p.shots) > 0 }); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.start(ctx); err != nil {
		t.Fatal(err)
	}
	var slowest time.Duration
	for n := range kills {
		killed, of, most := make(chan struct{}), snapshots, 20*phones
		if n%2 == 0 {
			of, most = receipts, 2*phones // these votes must have been stored already
		}
		arrived, some := more(k.phones, of), 1+k.rng.IntN(most)
		go func() {
			defer close(killed)
			late, cancel := context.WithTimeout(ctx, 10*time.Second)
			defer cancel()
			arrived(late, some)
			k.kill()
		}()
		err := k.teach(ctx)
		<-killed
		if ctx.Err() != nil {
			t.Fatal(err)
		}
		before := k.received()
		begin := time.Now()
		k.startAgain()
		k.back(ctx, before)
		slowest = max(slowest, time.Since(begin))
		k.finishPoll(ctx)
		if t.Failed() {
			break
		}
	}
	checkTogether(t, k.phones)
	t.Logf(
		"%d kills; the slowest of %d phones was back on the stage %v after the restart began", kills, phones,
		slowest.Round(time.Millisecond),
	)
}

// start starts the generation of a text, or restarts it.
func (k *killedClass) start(ctx context.Context) error {
	return k.go1(ctx, 1, "start", "prompt", "Once upon a time there was a")
}

// go1 sends one command that moves the run to a position, and records the run's possible positions.
func (k *killedClass) go1(ctx context.Context, to int, cmd string, fields ...string) error {
	if k.may == nil {
		k.may = map[int]bool{}
	}
	k.may[to] = true
	err := k.instructor.Do(ctx, cmd, fields...)
	var r *load.Refused
	switch {
	case err == nil:
		k.may = map[int]bool{to: true}
	case errors.As(err, &r):
		delete(k.may, to)
	}
	return err
}

// teach runs the class until the server is gone. It alternates between moving through some stages
// and holding a vote in which every phone changes its choice once.
func (k *killedClass) teach(ctx context.Context) error {
	for {
		at := 0
		for at = range k.may {
		}
		// Continue to one of the first four stages of a turn, before the draw.
		stage, target := (at-1)%7+1, 1+k.rng.IntN(4)
		for n := (target - stage + 7) % 7; n > 0; n-- {
			err := k.go1(ctx, at+1, "forward")
			var r *load.Refused
			if errors.As(err, &r) { // the text has ended
				if err := k.start(ctx); err != nil {
					return err
				}
				break
			} else if err != nil {
				return err
			}
			at++
		}
		if err := k.ask(ctx); err != nil {
			return err
		}
		for _, cmd := range []string{"close", "reveal", "dismiss"} {
			if err := k.instructor.Do(ctx, cmd); err != nil {
				return err
			}
		}
	}
}

// ask opens a poll and makes all phones vote twice. It returns when all of them have a receipt. If
// the server is gone, it returns an error, and the phones keep trying.
func (k *killedClass) ask(ctx context.Context) error {
	if err := k.instructor.Do(ctx, "ask-next", "n", "5", "where", "here"); err != nil {
		return err
	}
	k.casting.Wait() // wait for the votes of an interrupted poll
	for _, p := range k.phones {
		seed := k.rng.Uint64()
		k.casting.Go(func() { k.castTwice(ctx, p, rand.New(rand.NewPCG(seed, 0))) })
	}
	all := make(chan struct{})
	go func() {
		k.casting.Wait()
		close(all)
	}()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-all:
			return nil
		case <-tick.C: // check that the server is still running
			res, err := http.Get(k.instructor.URL + "/healthz")
			if err != nil {
				return err
			}
			res.Body.Close()
		}
	}
}

// castTwice makes a phone vote and change its choice.
func (k *killedClass) castTwice(ctx context.Context, p *stayer, rng *rand.Rand) {
	sh, err := p.until(ctx, func() bool { return p.last().Poll != nil && p.last().Poll.Phase == "open" })
	if err != nil {
		k.t.Error(err)
		return
	}
	for n := range 2 {
		choice := sh.Poll.Options[rng.IntN(len(sh.Poll.Options))].Key
		if err := p.cast(ctx, sh.Poll.ID, sh.Poll.Round, choice, int64(1+n)); err != nil &&
			!errors.Is(err, errPollOver) {
			k.t.Error(err)
		}
	}
}

// remembered is the data that a phone received before a kill: the number of its last snapshot, and
// its confirmed votes by poll and round.
type remembered struct {
	seq  uint64
	kept map[string]yourVote
}

func (k *killedClass) received() (list []remembered) {
	for _, p := range k.phones {
		p.mu.Lock()
		m := remembered{p.last().seq, map[string]yourVote{}}
		for _, v := range p.votes {
			m.kept[v.round()] = p.confirmed(v.Poll, v.Round)
		}
		p.mu.Unlock()
		list = append(list, m)
	}
	return list
}

// back waits until all phones have reconnected and see the same stage, which must be a
// possible position of the run.
func (k *killedClass) back(ctx context.Context, before []remembered) {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	places := map[int]bool{}
	for i, p := range k.phones {
		// A restart makes the snapshot numbers jump ahead.
		sh, err := p.until(ctx, func() bool { return p.last().seq > before[i].seq+1000 })
		if err != nil {
			k.t.Fatal(err)
		}
		places[sh.at()] = true
		if !k.may[sh.at()] {
			k.t.Fatalf(
				"%s is at %d (step %d, stage %d) after the restart, want one of the positions %v",
				p.name, sh.at(), sh.Step, sh.Stage, k.may,
			)
		}
		k.checkKept(p, sh, before[i].kept)
	}
	if len(places) != 1 {
		k.t.Fatalf("the phones are at positions %v, want the same for all", places)
	}
	k.may = places
}

// checkKept checks that a phone that has reconnected receives the vote that was confirmed
// before the kill.
func (k *killedClass) checkKept(p *stayer, sh shot, kept map[string]yourVote) {
	k.t.Helper()
	if sh.Poll == nil {
		return
	}
	was, voted := kept[yourVote{Poll: sh.Poll.ID, Round: sh.Poll.Round}.round()]
	if !voted {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, v := range p.votes {
		if v.connection == sh.connection && v.Poll == was.Poll && v.Round == was.Round {
			if v.Number < was.Number || v.Number == was.Number && v.Choice != was.Choice {
				k.t.Errorf("%s: vote %+v was confirmed, but after the restart it is %+v", p.name, was, v)
			}
			return
		}
	}
	k.t.Errorf("%s: vote %+v was confirmed, but after the restart there is none", p.name, was)
}

// finishPoll finishes a vote that a kill interrupted, and compares the counts with the
// receipts.
func (k *killedClass) finishPoll(ctx context.Context) {
	k.t.Helper()
	k.phones[0].mu.Lock()
	poll := k.phones[0].last().Poll
	k.phones[0].mu.Unlock()
	if poll == nil {
		return
	}
	if poll.Phase == "open" {
		k.casting.Wait() // eventually every phone gets its receipt
		if err := k.instructor.Do(ctx, "close"); err != nil {
			k.t.Fatal(err)
		}
	}
	if err := k.instructor.Do(ctx, "reveal"); err != nil {
		k.t.Fatal(err)
	}
	want := map[string]int{}
	for _, p := range k.phones {
		sh, err := p.until(ctx, func() bool { return p.last().Poll != nil && p.last().Poll.Phase == "revealed" })
		if err != nil {
			k.t.Fatal(err)
		}
		p.mu.Lock()
		if v := p.confirmed(sh.Poll.ID, sh.Poll.Round); v.Number > 0 {
			want[v.Choice]++
		}
		p.mu.Unlock()
	}
	k.phones[0].mu.Lock()
	got := roundCounts(k.phones[0].last().Shared)
	k.phones[0].mu.Unlock()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		k.t.Errorf("got counts %v, want %v according to the receipts", got, want)
	}
	if err := k.instructor.Do(ctx, "dismiss"); err != nil {
		k.t.Fatal(err)
	}
	for _, p := range k.phones {
		if _, err := p.until(ctx, func() bool { return p.last().Poll == nil }); err != nil {
			k.t.Fatal(err)
		}
	}
}
