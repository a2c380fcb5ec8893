package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// errGone is returned for a run that has ended while it was being asked.
var errGone = errors.New("this run has ended")

// run is one learner's run on the server. Its goroutine, [run.loop], owns the
// session; everybody else sends requests and reads the newest state.
type run struct {
	id, learner string
	// until its owner ends it: neither dropped nor evicted for want of room; the registry's mu guards it
	kept  bool
	log   *slog.Logger
	seat  *infer.Seat   // where the model's passes for this run take their turn
	total *atomic.Int64 // memory of all runs
	most  int64         // that all runs together may have
	// called after every change of the state; false when memory is used up and no other run can give any
	grown func(*run) bool

	requests chan request
	evict    chan struct{}
	stop     context.CancelFunc
	done     chan struct{} // closed when the goroutine has ended

	// latest is the newest state, nil while the run is evicted: its cache and
	// trace are free then, and the next request makes them again.
	latest  atomic.Pointer[session.State]
	started atomic.Bool
	playing atomic.Bool
	bytes   atomic.Int64
	used    atomic.Int64 // Unix nanoseconds of the last request or departure
	left    atomic.Int64 // Unix nanoseconds of the last viewer's departure

	mu      sync.Mutex
	viewers map[*viewer]struct{}
	pages   pageMarks // that have watched this run
}

// request asks a run's goroutine for something.
type request struct {
	command session.Command // nil only asks for the state
	from    *viewer         // whose command it is, or nil
	n       uint64          // the client's number of the command
	reply   chan result     // of capacity 1
}

type result struct {
	state *session.State
	err   error
}

// viewer is one connection that watches a run. It holds one thing to know
// (there is news) and no queue, so a slow one costs nothing.
type viewer struct {
	wake  chan struct{} // of capacity 1
	page  string        // that the connection belongs to, "" for none
	again bool          // the page has watched this run before

	mu       sync.Mutex
	ack      uint64 // number of the last command carried out
	answered int    // how many were
}

func newViewer(page string) *viewer { return &viewer{wake: make(chan struct{}, 1), page: page} }

func (v *viewer) notify() {
	select {
	case v.wake <- struct{}{}:
	default: // it has been woken and has not looked yet
	}
}

// acknowledge notes that command n has been carried out.
func (v *viewer) acknowledge(n uint64) {
	v.mu.Lock()
	v.ack, v.answered = n, v.answered+1
	v.mu.Unlock()
}

// progress returns the number of the last command carried out and how many
// there have been.
func (v *viewer) progress() (ack uint64, answered int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.ack, v.answered
}

// do has a command carried out. The answer to from is the state's next
// publication, or the error returned here: a *[terms.Refusal], errGone or
// ctx's.
func (r *run) do(ctx context.Context, c session.Command, from *viewer, n uint64) (*session.State, error) {
	req := request{c, from, n, make(chan result, 1)}
	select {
	case r.requests <- req:
	case <-r.done:
		return nil, errGone
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case res := <-req.reply:
		return res.state, res.err
	case <-r.done:
		return nil, errGone
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// current returns the newest state, rebuilt if the run was evicted.
func (r *run) current(ctx context.Context) (*session.State, error) {
	if s := r.latest.Load(); s != nil {
		return s, nil
	}
	return r.do(ctx, nil, nil, 0)
}

func (r *run) touch() { r.used.Store(time.Now().UnixNano()) }

func (r *run) watch(v *viewer) {
	r.mu.Lock()
	r.viewers[v] = struct{}{}
	v.ack, v.again = r.pages.meet(v.page)
	r.mu.Unlock()
	v.notify()
}

func (r *run) unwatch(v *viewer) (left int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.viewers, v)
	r.left.Store(time.Now().UnixNano())
	return len(r.viewers)
}

// deserted reports whether nobody has watched the run for a while. A page that
// loads again, or a connection that was cut, is back before.
func (r *run) deserted() bool {
	return !r.watched() && time.Since(time.Unix(0, r.left.Load())) > desertedAfter
}

func (r *run) watched() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.viewers) > 0
}

// loop owns s until ctx ends: it carries out requests in order, and between
// them plays.
func (r *run) loop(ctx context.Context, s *session.Session) {
	defer close(r.done)
	defer r.hold(0)
	defer func() {
		// A panic ends this run and no other. Its viewers see done closed.
		if err := recover(); err != nil {
			r.log.Error("panic in a run", "err", err, "stack", string(debug.Stack()))
			r.latest.Store(nil)
			r.stop()
		}
	}()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var last time.Time // of the last tick, or of the start of playing
	for {
		var due <-chan time.Time
		var now <-chan struct{}
		if !r.playing.Load() {
			last = time.Time{}
		} else if pause := s.Interval(); pause > 0 {
			if last.IsZero() {
				last = time.Now()
			}
			timer.Reset(time.Until(last.Add(pause)))
			due = timer.C
		} else {
			now = always
		}
		// Commands that wait go before a tick that is due.
		select {
		case req := <-r.requests:
			r.answer(ctx, s, req)
			continue
		default:
		}
		select {
		case <-ctx.Done():
			return
		case req := <-r.requests:
			r.answer(ctx, s, req)
		case <-r.evict:
			r.evictNow(s)
		case <-due:
			last = time.Now()
			r.tick(ctx, s)
		case <-now:
			r.tick(ctx, s)
		}
	}
}

// always is ready at any time.
var always = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// tick does one unit of playing. Nobody plays for an empty room, and memory
// that is used up is not a reason to fail: the run pauses and says why.
func (r *run) tick(ctx context.Context, s *session.Session) {
	if r.deserted() {
		r.pause(ctx, s, "")
		return
	}
	next, err := s.Tick(ctx)
	if err != nil && ctx.Err() == nil {
		r.log.Error("playing failed", "err", err)
	}
	r.touch()
	if !r.publish(s, next, nil) && next.Playing {
		r.pause(ctx, s, "Paused: the memory for runs is used up. Idle runs will make room; press Play to go on.")
	}
}

// pause stops playing and gives the reason, if there is one to tell.
func (r *run) pause(ctx context.Context, s *session.Session, why string) {
	if next, err := s.Apply(ctx, session.Pause{Why: why}); err == nil {
		r.publish(s, next, nil)
	}
}

// answer carries out one request.
func (r *run) answer(ctx context.Context, s *session.Session, req request) {
	r.seat.Step(true) // someone waits: before the runs that play
	defer r.seat.Step(false)
	r.touch()
	var next *session.State
	var err error
	switch {
	case req.command == nil, r.repeated(req):
		next, err = s.Restore(ctx)
	case r.tooLarge(req.command):
		next, err = s.State(), &terms.Refusal{Code: terms.CodeFull, Message: fmt.Sprintf(
			"This run uses %d MiB, all the memory there is for runs. Look back, or start another text.",
			r.bytes.Load()>>20)}
	default:
		next, err = s.Apply(ctx, req.command)
	}
	if s.Evicted() { // ctx ended before it was rebuilt
		req.reply <- result{nil, err}
		return
	}
	if err == nil {
		r.publish(s, next, &req)
	} else {
		r.publish(s, next, nil)
	}
	req.reply <- result{next, err}
}

// repeated tells whether a request is a command that has been carried out for
// an earlier connection of the same page, which never received it.
func (r *run) repeated(req request) bool {
	if req.from == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return req.n <= r.pages.done(req.from.page)
}

// publish makes a state the newest and wakes the viewers, the sender of the
// request that led to it even where nothing has changed: it waits for the
// acknowledgement, which is noted after the state so that whoever sees the one
// finds the other. It is false when memory is used up.
func (r *run) publish(s *session.Session, next *session.State, req *request) bool {
	changed := r.latest.Swap(next) != next
	if req != nil && req.from != nil {
		req.from.acknowledge(req.n)
		r.mu.Lock()
		r.pages.note(req.from.page, req.n)
		r.mu.Unlock()
		if !changed {
			req.from.notify()
		}
	}
	if !changed {
		return true
	}
	r.playing.Store(next.Playing)
	r.started.Store(next.Started())
	r.hold(s.Bytes())
	r.mu.Lock()
	for v := range r.viewers {
		v.notify()
	}
	r.mu.Unlock()
	return r.grown(r)
}

// tooLarge reports whether a command would make a run grow that has used up
// the memory of all runs by itself.
func (r *run) tooLarge(c session.Command) bool {
	switch c.(type) {
	case session.StepStage, session.StepToken, session.Play, session.Finish:
		return r.bytes.Load() > r.most
	}
	return false
}

// evictNow frees the cache and the trace of a run at rest. The run may have
// begun to play since it was chosen.
func (r *run) evictNow(s *session.Session) {
	if r.playing.Load() || s.Evicted() {
		return
	}
	s.Evict()
	r.latest.Store(nil)
	r.hold(0)
}

// hold notes how much memory the run has.
func (r *run) hold(bytes int64) { r.total.Add(bytes - r.bytes.Swap(bytes)) }
