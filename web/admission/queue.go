package admission

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// ErrQueueFull is returned by [Queue.Enter] if too many turns are waiting, in total or for this
// learner.
var ErrQueueFull = errors.New("admission: the queue is full")

// ErrYield is the cancellation cause of a turn's context if the turn was cut short because others
// are waiting.
var ErrYield = errors.New("admission: other turns are waiting")

// patience limits how long a turn can be overtaken by shorter ones, as a multiple of its estimated
// duration.
const patience = 4

// A Queue runs one task at a time. Learners share its time equally (start-time fair queuing, Goyal
// et al. 1996), so a learner with a hundred tasks delays another learner by only one of them. All
// newcomers from an address share a single learner's portion, so collecting cookies is useless.
// Among equals, the shortest task runs first.
type Queue struct {
	most, each int
	slice      time.Duration
	now        func() time.Time

	mu      sync.Mutex
	waiting []*task
	running *task
	yield   *time.Timer              // ends the running turn after its slice; nil while nobody waits
	virtual time.Duration            // start tag of the current or last turn
	finish  map[string]time.Duration // the start tag of each learner's next turn, by learner
	parted  time.Duration            // virtual time of parts (a known learner, or an address's newcomers)
	spent   map[string]time.Duration // like finish, for the parts
}

// A task is a turn that is waiting or running.
type task struct {
	learner string
	part    string
	end     context.CancelCauseFunc
	takes   time.Duration // estimated time
	start   time.Duration // the learner's virtual time from which the task can run
	rank    time.Duration // the part's virtual time from which the task can run
	due     time.Time     // breaks ties: the task with the earliest time runs first
	began   time.Time
	granted chan struct{} // closed when the task can run
	moved   chan struct{} // signals that the order has changed; has capacity 1
}

// NewQueue returns an empty queue. When the queue is full, a new turn can displace the last waiting
// turn of the known learner, or of the group of newcomers from one address, with the most waiting
// turns. A turn that has run for slice ends if another learner is waiting; a slice of 0 means no
// limit.
func NewQueue(l Backlog, slice time.Duration) *Queue {
	return &Queue{
		most: l.Most, each: l.PerLearner, slice: slice, now: time.Now,
		finish: map[string]time.Duration{}, spent: map[string]time.Duration{},
	}
}

// Enter waits for a turn to run a task with the estimated duration takes. If before is not nil, it
// is called with the number of turns ahead, immediately and whenever that number may have changed,
// unless the number is 0. The task must end when the context turn ends, and the caller must then
// call leave. If the turn ends early, the cause of its context is [ErrYield]. If no turn is
// granted, the error is ctx.Err() or [ErrQueueFull].
func (q *Queue) Enter(
	ctx context.Context, who Caller, takes time.Duration, before func(n int),
) (turn context.Context, leave func(), err error) {
	turn, end := context.WithCancelCause(ctx)
	t, err := q.add(who, takes, end)
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
		case <-turn.Done():
			q.leave(t)
			return nil, nil, cmp.Or(ctx.Err(), ErrQueueFull)
		}
	}
}

func (q *Queue) add(who Caller, takes time.Duration, end context.CancelCauseFunc) (*task, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	learner, part := who.Learner, "learner "+who.Learner
	if !who.Known(q.now()) {
		part = "address " + who.Address.String()
	}
	own := 0
	for _, w := range q.waiting {
		if w.learner == learner {
			own++
		}
	}
	if own >= q.each || len(q.waiting) >= q.most && !q.makeRoom(part) {
		return nil, ErrQueueFull
	}
	start := max(q.virtual, q.finish[learner])
	q.finish[learner] = start + takes
	t := &task{
		learner: learner, part: part, end: end, takes: takes, start: start, due: q.now().Add(patience * takes),
		granted: make(chan struct{}), moved: make(chan struct{}, 1),
	}
	q.waiting = append(q.waiting, t)
	q.next()
	return t, nil
}

// makeRoom drops the last turn of the part with the most waiting turns, if that part has more turns
// than the given part would have after adding one. The caller holds mu.
func (q *Queue) makeRoom(part string) bool {
	counts := map[string]int{}
	for _, w := range q.waiting {
		counts[w.part]++
	}
	worst := part
	for other, n := range counts {
		if n > max(counts[worst], counts[part]+1) {
			worst = other
		}
	}
	for i := len(q.waiting) - 1; i >= 0 && worst != part; i-- {
		if t := q.waiting[i]; t.part == worst {
			t.end(ErrQueueFull)
			q.waiting = slices.Delete(q.waiting, i, i+1)
			q.correct(t, 0)
			return true
		}
	}
	return false
}

// leave ends a turn that is running or waiting.
func (q *Queue) leave(t *task) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.end(context.Canceled)
	if q.running == t {
		q.running = nil
		took := q.now().Sub(t.began)
		q.spent[t.part] += took - t.takes
		q.correct(t, took)
	} else if i := slices.Index(q.waiting, t); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		q.correct(t, 0)
	}
	q.next()
}

// correct shifts the start of the learner's later turns by the difference between a turn's actual
// and estimated durations. The caller holds mu.
func (q *Queue) correct(t *task, took time.Duration) {
	off := took - t.takes
	q.finish[t.learner] += off
	for _, w := range q.waiting {
		if w.learner == t.learner && w.start > t.start {
			w.start += off
		}
	}
}

// next starts the first turn if none is running, and notifies the others that the order has
// changed. The caller holds mu.
func (q *Queue) next() {
	q.sort()
	if q.running == nil && len(q.waiting) > 0 {
		t := q.waiting[0]
		q.waiting = slices.Delete(q.waiting, 0, 1)
		q.running, q.virtual, t.began = t, t.start, q.now()
		q.parted, q.spent[t.part] = t.rank, t.rank+t.takes
		close(t.granted)
	}
	if q.running == nil {
		q.virtual, q.parted = 0, 0
		clear(q.finish)
		clear(q.spent)
	}
	q.limit()
	for _, t := range q.waiting {
		select {
		case t.moved <- struct{}{}:
		default:
		}
	}
}

// sort orders the waiting turns by the time that their parts have used and, within a part, by the
// time that their learners have used. The caller holds mu.
func (q *Queue) sort() {
	slices.SortStableFunc(q.waiting, func(a, b *task) int {
		return cmp.Or(cmp.Compare(a.start, b.start), a.due.Compare(b.due))
	})
	next := map[string]time.Duration{}
	for _, t := range q.waiting {
		if _, ok := next[t.part]; !ok {
			next[t.part] = max(q.parted, q.spent[t.part])
		}
		t.rank = next[t.part]
		next[t.part] += t.takes
	}
	slices.SortStableFunc(q.waiting, func(a, b *task) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), a.due.Compare(b.due))
	})
}

// limit makes the running turn end after its slice if another learner is waiting. The caller holds
// mu.
func (q *Queue) limit() {
	if q.yield != nil {
		q.yield.Stop()
		q.yield = nil
	}
	t := q.running
	other := func(w *task) bool { return w.learner != t.learner }
	if t == nil || q.slice == 0 || !slices.ContainsFunc(q.waiting, other) {
		return
	}
	q.yield = time.AfterFunc(q.slice-q.now().Sub(t.began), func() { t.end(ErrYield) })
}

// Len returns the number of turns that are running or waiting.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(q.waiting)
	if q.running != nil {
		n++
	}
	return n
}

// before returns the number of turns ahead of this one.
func (q *Queue) before(t *task) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, t); i >= 0 {
		return i + 1
	}
	return 0
}
