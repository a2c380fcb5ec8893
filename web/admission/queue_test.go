package admission

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// A journal records what workers do, in order.
type journal struct {
	mu    sync.Mutex
	notes []string
}

func (j *journal) note(s string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.notes = append(j.notes, s)
}

// read returns the notes added since the last call.
func (j *journal) read() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	notes := j.notes
	j.notes = nil
	return notes
}

// worker enters a queue, records its name when its turn begins, and works for exactly its estimated
// time.
func worker(q *Queue, j *journal, learner, name string, takes time.Duration) {
	go func() {
		_, leave, err := q.Enter(context.Background(), Caller{Learner: learner}, takes, nil)
		if err != nil {
			j.note(err.Error())
			return
		}
		j.note(name)
		<-time.After(takes) // on the clock of the synctest bubble
		leave()
	}()
	synctest.Wait()
}

// TestQueueIsFair: a learner with many tasks delays another learner by only one of them.
// Otherwise, the shortest task runs first.
// Promise: A learner's many measurements delay another learner by at most one of them.
func TestQueueIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(Backlog{100, 50}, 0)
		var j journal
		for i := range 3 {
			worker(q, &j, "long", fmt.Sprint("long ", i), time.Minute)
		}
		worker(q, &j, "middle", "middle", 2*time.Second)
		worker(q, &j, "short", "short", time.Second)
		fixture.Pass(time.Hour)
		if got, want := j.read(), []string{"long 0", "short", "middle", "long 1", "long 2"}; !slices.Equal(got, want) {
			t.Errorf("got order %q, want %q", got, want)
		}
	})
}

// TestQueueShortestFirstIsBounded: a stream of short jobs from new learners does not delay a
// long job forever.
func TestQueueShortestFirstIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(Backlog{100, 50}, 0)
		var j journal
		worker(q, &j, "first", "first", time.Second)
		worker(q, &j, "long", "long", 10*time.Second)
		for i := range 60 { // another learner each second for a minute
			worker(q, &j, fmt.Sprint(i), fmt.Sprint("short ", i), time.Second)
			fixture.Pass(time.Second)
		}
		fixture.Pass(time.Hour)
		// The long job takes 10 s, so nothing can overtake it after 40 s.
		if i := slices.Index(j.read(), "long"); i < 30 || i > 45 {
			t.Errorf("the long work was number %d, want at least 30 and at most 45", i)
		}
	})
}

// TestQueueChargesUnderestimates: a learner whose work takes longer than estimated waits longer for
// the next turn. A learner who gives up while waiting does not.
func TestQueueChargesUnderestimates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(Backlog{100, 50}, 0)
		var j journal
		go func() {
			_, leave, _ := q.Enter(context.Background(), Caller{Learner: "liar"}, time.Second, nil)
			<-time.After(time.Minute)
			leave()
		}()
		synctest.Wait()
		worker(q, &j, "liar", "liar", time.Second)
		worker(q, &j, "honest", "honest 1", 10*time.Second)
		worker(q, &j, "honest", "honest 2", 10*time.Second)
		ctx, cancel := context.WithCancel(context.Background())
		gaveUp := make(chan error, 1)
		go func() {
			_, _, err := q.Enter(ctx, Caller{Learner: "other"}, time.Hour, nil)
			gaveUp <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-gaveUp; !errors.Is(err, context.Canceled) {
			t.Errorf("giving up: got error %v, want %v", err, context.Canceled)
		}
		worker(q, &j, "other", "other", time.Second)
		fixture.Pass(time.Hour)
		if got, want := j.read(), []string{"other", "honest 1", "honest 2", "liar"}; !slices.Equal(got, want) {
			t.Errorf("got order %q, want %q", got, want)
		}
	})
}

// TestQueueLimits: the number of waiting turns is limited, both overall and for each learner.
// Waiting learners see how many turns are ahead of them.
func TestQueueLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(Backlog{3, 2}, 0)
		var j journal
		worker(q, &j, "a", "a1", time.Minute)
		var ahead []int
		go func() {
			record := func(n int) { ahead = append(ahead, n) }
			_, leave, err := q.Enter(context.Background(), Caller{Learner: "b"}, time.Minute, record)
			if err == nil {
				leave()
			}
		}()
		synctest.Wait()
		worker(q, &j, "a", "a2", time.Minute)
		worker(q, &j, "c", "c1", time.Second)
		worker(q, &j, "d", "d1", time.Second) // three turns are waiting
		if got, want := j.read(), []string{"a1", ErrQueueFull.Error()}; !slices.Equal(got, want) {
			t.Errorf("got order %q, want %q", got, want)
		}
		fixture.Pass(time.Hour)
		if want := []int{1, 2, 1}; !slices.Equal(slices.Compact(ahead), want) {
			t.Errorf("turns ahead of b: got %v, want %v", ahead, want)
		}
		worker(q, &j, "a", "", time.Minute)
		for range 2 {
			worker(q, &j, "a", "", time.Minute)
		}
		j.read()
		worker(q, &j, "a", "", time.Minute)
		if got, want := j.read(), []string{ErrQueueFull.Error()}; !slices.Equal(got, want) {
			t.Errorf("a learner's third turn in the queue: got %q, want %q", got, want)
		}
		fixture.Pass(time.Hour)
	})
}

// TestQueueSliceEndsWhenOthersWait: work that has used up its slice is ended as soon as
// another learner is waiting, but not if only the same learner is waiting.
func TestQueueSliceEndsWhenOthersWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(Backlog{10, 10}, time.Minute)
		began := time.Now()
		ended := make(chan error, 1)
		go func() {
			turn, leave, _ := q.Enter(context.Background(), Caller{Learner: "long"}, time.Hour, nil)
			<-turn.Done()
			ended <- context.Cause(turn)
			leave()
		}()
		synctest.Wait()
		var j journal
		worker(q, &j, "long", "long", time.Second)
		fixture.Pass(40 * time.Second)
		worker(q, &j, "short", "short", time.Second)
		if err := <-ended; !errors.Is(err, ErrYield) || time.Since(began) != time.Minute {
			t.Errorf("the turn ended after %v with %v; want %v, %v", time.Since(began), err, time.Minute, ErrYield)
		}
		fixture.Pass(time.Minute)
		if got, want := j.read(), []string{"short", "long"}; !slices.Equal(got, want) {
			t.Errorf("got order %q, want %q", got, want)
		}
	})
}

// TestQueueSharesByAddress: all newcomers from one address together get as much of the queue's time
// as one known learner or as another address, and they cannot fill the queue.
func TestQueueSharesByAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(Backlog{6, 4}, 0)
		var j journal
		work := func(who Caller, name string) {
			go func() {
				_, leave, err := q.Enter(t.Context(), who, time.Second, nil)
				if err != nil {
					j.note(name + ": " + err.Error())
					return
				}
				j.note(name)
				<-time.After(time.Second)
				leave()
			}()
			synctest.Wait()
		}
		newcomer := func(address netip.Prefix, name string) Caller {
			return Caller{Learner: name, Address: address, Since: time.Now()}
		}
		for i := range 9 { // one turn runs, six wait, two are refused
			name := fmt.Sprint("flood ", i)
			work(newcomer(home, name), name)
		}
		full := ": " + ErrQueueFull.Error()
		if got, want := j.read(), []string{"flood 0", "flood 7" + full, "flood 8" + full}; !slices.Equal(got, want) {
			t.Errorf("the flood of requests: got %q, want %q", got, want)
		}
		for i := range 2 {
			work(Caller{Learner: "known"}, fmt.Sprint("known ", i))
		}
		work(newcomer(school, "new"), "new")
		fixture.Pass(time.Hour)
		want := []string{
			"flood 6" + full, "flood 5" + full, "flood 4" + full,
			"known 0", "new", "flood 1", "known 1", "flood 2", "flood 3",
		}
		if got := j.read(); !slices.Equal(got, want) {
			t.Errorf("got order %q, want %q", got, want)
		}
	})
}
