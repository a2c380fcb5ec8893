package admission

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// ErrQueueFull is what [Queue.Enter] returns to a caller for whom there is no room to
// wait.
var ErrQueueFull = errors.New("admission: too many are waiting")

// ErrYield is the cause with which a turn's context ends early, for another's turn.
var ErrYield = errors.New("admission: others are waiting")

// patience is how many times as long as its work takes a turn may wait before even
// shorter work has to let it go first.
const patience = 4

// Queue does work one piece at a time. Learners take turns by the time that their
// work has taken (start-time fair queuing, Goyal et al. 1996), so that one with a
// hundred pieces of work delays another by one of them. Among those who are equal
// the shortest work goes first.
type Queue struct {
	most, each int
	slice      time.Duration
	now        func() time.Time

	mu      sync.Mutex
	waiting []*turn
	running *turn
	yield   *time.Timer              // ends the running turn after its slice; nil while nobody waits
	virtual time.Duration            // the start tag of the turn that runs, or ran last
	finish  map[string]time.Duration // by learner: the start tag of their next turn
}

// turn is one piece of work that waits or runs.
type turn struct {
	learner string
	end     context.CancelCauseFunc
	takes   time.Duration // as estimated
	start   time.Duration // virtual time from which it may run
	due     time.Time     // among those with the same start the earliest is first
	began   time.Time
	granted chan struct{} // closed when it may run
	moved   chan struct{} // of capacity 1: the order has changed
}

// NewQueue returns an empty queue in which most pieces of work may wait, and each of
// one learner. Work that has run for a slice ends when somebody else waits; a slice
// of 0 is as long as the work.
func NewQueue(most, each int, slice time.Duration) *Queue {
	return &Queue{most: most, each: each, slice: slice, now: time.Now, finish: map[string]time.Duration{}}
}

// Enter waits for the turn of work that will take about so long. before, which may be
// nil, is called with how many go first, now and whenever that changes. The work must
// end with the turn's context, whose cause is [ErrYield] if it ends early, and then
// call leave. The error is ctx's or [ErrQueueFull].
func (q *Queue) Enter(
	ctx context.Context, learner string, takes time.Duration, before func(n int),
) (turn context.Context, leave func(), err error) {
	turn, end := context.WithCancelCause(ctx)
	t, err := q.add(learner, takes, end)
	if err != nil {
		end(err)
		return nil, nil, err
	}
	for {
		if n := q.before(t); n > 0 && before != nil {
			before(n)
		}
		select {
		case <-t.granted:
			return turn, sync.OnceFunc(func() { q.leave(t) }), nil
		case <-t.moved:
		case <-ctx.Done():
			q.leave(t)
			return nil, nil, ctx.Err()
		}
	}
}

func (q *Queue) add(learner string, takes time.Duration, end context.CancelCauseFunc) (*turn, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	own := 0
	for _, w := range q.waiting {
		if w.learner == learner {
			own++
		}
	}
	if len(q.waiting) >= q.most || own >= q.each {
		return nil, ErrQueueFull
	}
	start := max(q.virtual, q.finish[learner])
	q.finish[learner] = start + takes
	t := &turn{
		learner: learner, end: end, takes: takes, start: start, due: q.now().Add(patience * takes),
		granted: make(chan struct{}), moved: make(chan struct{}, 1),
	}
	q.waiting = append(q.waiting, t)
	q.next()
	return t, nil
}

// leave ends a turn, or its waiting.
func (q *Queue) leave(t *turn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.end(context.Canceled)
	if q.running == t {
		q.running = nil
		q.correct(t, q.now().Sub(t.began))
	} else if i := slices.Index(q.waiting, t); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		q.correct(t, 0)
	}
	q.next()
}

// correct replaces the estimate of a turn by the time it took in what follows from
// it: when later turns of its learner may run. mu is held.
func (q *Queue) correct(t *turn, took time.Duration) {
	off := took - t.takes
	q.finish[t.learner] += off
	for _, w := range q.waiting {
		if w.learner == t.learner && w.start > t.start {
			w.start += off
		}
	}
}

// next starts the first turn, if none runs, and tells the others that the order has
// changed. mu is held.
func (q *Queue) next() {
	slices.SortStableFunc(q.waiting, func(a, b *turn) int {
		return cmp.Or(cmp.Compare(a.start, b.start), a.due.Compare(b.due))
	})
	if q.running == nil && len(q.waiting) > 0 {
		t := q.waiting[0]
		q.waiting = slices.Delete(q.waiting, 0, 1)
		q.running, q.virtual, t.began = t, t.start, q.now()
		close(t.granted)
	}
	if q.running == nil {
		q.virtual = 0
		clear(q.finish)
	}
	q.limit()
	for _, t := range q.waiting {
		select {
		case t.moved <- struct{}{}:
		default:
		}
	}
}

// limit sees to it that the running turn ends after its slice, if another learner
// waits. mu is held.
func (q *Queue) limit() {
	if q.yield != nil {
		q.yield.Stop()
		q.yield = nil
	}
	t := q.running
	other := func(w *turn) bool { return w.learner != t.learner }
	if t == nil || q.slice == 0 || !slices.ContainsFunc(q.waiting, other) {
		return
	}
	q.yield = time.AfterFunc(q.slice-q.now().Sub(t.began), func() { t.end(ErrYield) })
}

// Len is how many pieces of work run or wait.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(q.waiting)
	if q.running != nil {
		n++
	}
	return n
}

// before is how many turns end before this one begins.
func (q *Queue) before(t *turn) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, t); i >= 0 {
		return i + 1
	}
	return 0
}
