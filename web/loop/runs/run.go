package runs

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/grammar"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/session"
)

// ErrGone is returned for a command to a run that has ended.
var ErrGone = errors.New("this run has ended")

// Run is one run on the server. Its goroutine, [Run.loop], owns the session; other
// goroutines send requests and read the newest state.
type Run struct {
	id, learner string
	caller      admission.Caller                 // the caller who began it
	place       atomic.Pointer[admission.Permit] // the run's permit; nil until it starts
	pinned      bool                             // neither dropped nor evicted until its owner closes it
	log         *slog.Logger
	slot        Slot
	memory      *ledger // the memory of all runs
	budget      int64   // bytes for all runs together
	// fits is called after every change of the state. It returns false if memory is used up
	// and no other run can be evicted.
	fits func(*Run) bool
	// rebuilding is shared by all runs: see [mostRebuilding].
	rebuilding chan struct{}
	// grammar is [Registry.Grammar].
	grammar func(context.Context, admission.Caller, string) (*grammar.Grammar, error)
	// admit obtains a permit for the run before it starts, or returns the reason why it cannot.
	admit func(*Run) *terms.Refusal
	// rest puts an evicted run with its session to rest, unless the run is needed now. If it
	// returns true, the run's goroutine ends, and the run rests until its id is requested.
	rest func(*Run, *session.Session) bool

	requests  chan request
	evictions chan struct{} // has capacity 1
	stop      context.CancelFunc
	done      chan struct{} // closed when the goroutine has ended

	// latest is the newest state. It is nil while the run is evicted: its cache and trace
	// are freed, and the next request rebuilds them.
	latest  atomic.Pointer[session.State]
	version atomic.Uint64 // version of the newest state, evicted or not
	started atomic.Bool
	playing atomic.Bool
	bytes   atomic.Int64
	used    atomic.Int64 // Unix time, in nanoseconds, of the last request or departure
	left    atomic.Int64 // Unix time, in nanoseconds, of the last viewer's departure

	mu      sync.Mutex
	viewers map[*Viewer]struct{}
	pages   pageAcks // the pages that have watched this run
}

// request is a request to a run's goroutine.
type request struct {
	command session.Command // nil requests only the state
	from    *Viewer         // the viewer that sent the command, or nil
	n       uint64          // the client's number of the command
	reply   chan result     // has capacity 1
}

type result struct {
	state *session.State
	err   error
}

// ID returns the run's id in addresses.
func (r *Run) ID() string { return r.id }

// Latest returns the newest state, or nil while the run is evicted.
func (r *Run) Latest() *session.State { return r.latest.Load() }

// Version returns the version of the newest state, even if [Run.Latest] no longer returns that
// state.
func (r *Run) Version() uint64 { return r.version.Load() }

// Done returns a channel that is closed when the run has ended.
func (r *Run) Done() <-chan struct{} { return r.done }

// Do carries out a command. The viewer that sent the command, if any, is woken and finds the
// command's number, n, acknowledged. The error is a *[terms.Refusal], [ErrGone] or the context's
// error.
func (r *Run) Do(ctx context.Context, c session.Command, from *Viewer, n uint64) (*session.State, error) {
	req := request{c, from, n, make(chan result, 1)}
	select {
	case r.requests <- req:
	case <-r.done:
		return nil, ErrGone
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case res := <-req.reply:
		return res.state, res.err
	case <-r.done:
		return nil, ErrGone
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Current returns the newest state. If the run was evicted, Current first rebuilds it.
func (r *Run) Current(ctx context.Context) (*session.State, error) {
	if s := r.latest.Load(); s != nil {
		return s, nil
	}
	return r.Do(ctx, nil, nil, 0)
}

func (r *Run) touch() {
	r.used.Store(time.Now().UnixNano())
	if place := r.place.Load(); place != nil {
		place.Use()
	}
}

// release returns the run's permit, if it has one.
func (r *Run) release() {
	if place := r.place.Swap(nil); place != nil {
		place.Release()
	}
}

func (r *Run) watch(v *Viewer) {
	r.mu.Lock()
	r.viewers[v] = struct{}{}
	v.ack, v.again = r.pages.connect(v.page)
	r.mu.Unlock()
	v.notify()
}

func (r *Run) unwatch(v *Viewer) (left int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.viewers, v)
	r.left.Store(time.Now().UnixNano())
	return len(r.viewers)
}

// abandoned reports whether the run has had no viewers for longer than abandonedAfter. A page
// that is reloading, or whose connection was cut, returns sooner.
func (r *Run) abandoned() bool {
	return !r.watched() && time.Since(time.Unix(0, r.left.Load())) > abandonedAfter
}

func (r *Run) watched() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.viewers) > 0
}

// claim returns how urgently a run's viewers need its state. Viewers who have not been sent the
// newest state need it more than those who have.
func (r *Run) claim() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	claim := min(len(r.viewers), 1)
	for v := range r.viewers {
		if v.seen.Load() != r.version.Load() {
			claim = 2
		}
	}
	return claim
}

// loop owns s until ctx ends. It answers requests in order, and plays the run between requests.
func (r *Run) loop(ctx context.Context, s *session.Session) {
	defer close(r.done)
	defer r.setBytes(0)
	// If the run panics again when it is rebuilt, only this run ends. Its viewers notice because
	// done is closed.
	if fault.Do(r.log, "a run", func() error { r.serve(ctx, s); return nil }) != nil {
		r.latest.Store(nil)
		r.stop()
	}
}

// serve does the work of loop, without the cleanup.
func (r *Run) serve(ctx context.Context, s *session.Session) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var last time.Time // time of the last tick, or when playing began
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
		// Queued commands take precedence over a tick that is due.
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
		case <-r.evictions:
			if r.evictNow(s) && r.rest(r, s) {
				return
			}
		case <-due:
			last = time.Now()
			r.tick(ctx, s)
		case <-now:
			r.tick(ctx, s)
		}
	}
}

// always is a channel from which a receive never blocks.
var always = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// tick plays the run one step further. A run without viewers pauses. If memory is used up, the run
// pauses and explains why, instead of failing.
func (r *Run) tick(ctx context.Context, s *session.Session) {
	if r.abandoned() {
		r.pause(ctx, s, "")
		return
	}
	next, err := r.guard(ctx, s, func() (*session.State, error) { return s.Tick(ctx) })
	if broken(err) {
		r.pause(ctx, s, session.WhyFailed)
		return
	}
	if err != nil && ctx.Err() == nil && next.Stuck == nil {
		r.log.Error("playback failed", "err", err)
	}
	r.touch()
	if !r.publish(s, next, nil) && next.Playing {
		r.pause(ctx, s, session.WhyMemory)
	}
}

// pause stops playing and shows the reason, unless it is "".
func (r *Run) pause(ctx context.Context, s *session.Session, why string) {
	if next, err := s.Apply(ctx, session.Pause{Why: why}); err == nil {
		r.publish(s, next, nil)
	}
}

// answer carries out one request.
func (r *Run) answer(ctx context.Context, s *session.Session, req request) {
	r.slot.Step(true) // a learner is waiting, so these passes take precedence over playing runs
	defer r.slot.Step(false)
	r.touch()
	if s.Evicted() {
		select {
		case r.rebuilding <- struct{}{}:
			defer func() { <-r.rebuilding }()
		case <-ctx.Done():
		}
	}
	next, err := r.guard(ctx, s, func() (*session.State, error) { return r.carryOut(ctx, s, req) })
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

// errBroken is the error for a command that panicked.
var errBroken = terms.Refuse(terms.CodeModel, "run.broken")

func broken(err error) bool { return errors.Is(err, errBroken) }

// guard runs f on the session. If f panics, guard rebuilds the run as it was before and returns
// errBroken. If rebuilding panics too, so does guard.
func (r *Run) guard(
	ctx context.Context, s *session.Session, f func() (*session.State, error),
) (next *session.State, err error) {
	if fault.Do(r.log, "a command of a run", func() error {
		next, err = f()
		return nil
	}) == nil {
		return next, err
	}
	s.Recover()
	if next, err = s.Restore(ctx); err != nil {
		return next, err
	}
	r.releaseUnstarted(s)
	return next, errBroken
}

// releaseUnstarted returns the run's permit if the run has no text.
func (r *Run) releaseUnstarted(s *session.Session) {
	if st := s.State(); st != nil && !st.Started() {
		r.release()
	}
}

// carryOut carries out one request on the session.
func (r *Run) carryOut(ctx context.Context, s *session.Session, req request) (*session.State, error) {
	switch {
	case req.command == nil, r.repeated(req):
		return s.Restore(ctx)
	case r.tooLarge(req.command):
		return s.State(), terms.Refuse(terms.CodeFull, "run.full.memory", "n", int(r.bytes.Load()>>20))
	}
	return r.apply(ctx, s, req.command)
}

// apply carries out a command. A run obtains a permit before it starts, and gives it back if it
// does not start.
func (r *Run) apply(ctx context.Context, s *session.Session, c session.Command) (*session.State, error) {
	switch c.(type) {
	case session.Start, session.StartChat, session.Open, session.Rebuild, session.Try:
		if full := r.admit(r); full != nil {
			return s.State(), full
		}
	}
	held, err := r.compile(ctx, c)
	if err != nil {
		r.releaseUnstarted(s)
		return s.State(), err
	}
	defer runtime.KeepAlive(held)
	next, err := s.Apply(ctx, c)
	r.releaseUnstarted(s)
	return next, err
}

// repeated reports whether a request contains a command that was already carried out for the same
// page on an earlier connection. The page never received the answer on that connection. A command
// without a number is never a repetition.
func (r *Run) repeated(req request) bool {
	if req.from == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return req.n > 0 && req.n <= r.pages.last(req.from.page)
}

// publish makes the given state the newest one and wakes the viewers. It wakes the viewer whose
// request led to the state even if nothing has changed, because that viewer waits for the
// acknowledgement. The acknowledgement is recorded after the state, so a viewer that sees the
// acknowledgement also finds the state. publish returns false if memory is used up.
func (r *Run) publish(s *session.Session, next *session.State, req *request) bool {
	changed := r.latest.Swap(next) != next
	r.version.Store(next.Version)
	if req != nil && req.from != nil {
		req.from.acknowledge(req.n)
		r.mu.Lock()
		r.pages.done(req.from.page, req.n)
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
	r.setBytes(s.Bytes())
	r.mu.Lock()
	for v := range r.viewers {
		v.notify()
	}
	r.mu.Unlock()
	return r.fits(r)
}

// tooLarge reports whether a command would make the run grow although it already uses all the
// memory available for runs.
func (r *Run) tooLarge(c session.Command) bool {
	switch c.(type) {
	case session.StepStage, session.StepToken, session.Play, session.Finish:
		return r.bytes.Load() > r.budget
	}
	return false
}

// evictNow frees the cache and the trace of an idle run. If the run has begun to play since it was
// chosen, evictNow does nothing and returns false.
func (r *Run) evictNow(s *session.Session) bool {
	if r.playing.Load() {
		return false
	}
	s.Evict()
	if s.Evicted() {
		r.latest.Store(nil)
		r.setBytes(0)
	}
	return s.Evicted()
}

// setBytes records how much memory the run uses.
func (r *Run) setBytes(bytes int64) { r.memory.change(bytes - r.bytes.Swap(bytes)) }
