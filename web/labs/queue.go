package labs

import (
	"context"
	"slices"
	"sync"

	"github.com/tokenbytoken/viz/infer/terms"
)

// mostWaiting is how many measurements may wait and run: more would wait for
// minutes.
const mostWaiting = 32

// errFull is returned to those who would wait too long.
var errFull = &terms.Refusal{
	Code: terms.CodeBusy, Message: "Too many measurements are waiting on this server. Try again in a minute.",
}

// queue runs one measurement at a time, first come, first served.
type queue struct {
	mu   sync.Mutex
	line []*place // the first one is running
}

// place is one measurement, waiting or running.
type place struct {
	turn  chan struct{} // closed when it may run
	moved chan struct{} // of capacity 1: someone ahead of it has left
}

func newQueue() *queue { return &queue{} }

// enter waits for its turn. It calls tell with the number of measurements
// ahead, first and whenever that changes. The caller must call leave at the
// end, unless there is an error: ctx's or [errFull].
func (q *queue) enter(ctx context.Context, tell func(before int)) (leave func(), err error) {
	p := &place{make(chan struct{}), make(chan struct{}, 1)}
	q.mu.Lock()
	if len(q.line) >= mostWaiting {
		q.mu.Unlock()
		return nil, errFull
	}
	q.line = append(q.line, p)
	if len(q.line) == 1 {
		close(p.turn)
	}
	q.mu.Unlock()
	for {
		if before := q.before(p); before > 0 && tell != nil {
			tell(before)
		}
		select {
		case <-p.turn:
			return func() { q.leave(p) }, nil
		case <-p.moved:
		case <-ctx.Done():
			q.leave(p)
			return nil, ctx.Err()
		}
	}
}

func (q *queue) before(p *place) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Index(q.line, p)
}

func (q *queue) leave(p *place) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := slices.Index(q.line, p)
	q.line = slices.Delete(q.line, at, at+1)
	for i := at; i < len(q.line); i++ {
		if i == 0 {
			close(q.line[0].turn)
		}
		select {
		case q.line[i].moved <- struct{}{}:
		default:
		}
	}
}
