package runs

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/memory"
	"github.com/tokenbytoken/viz/web/session"
)

// Config configures a [Registry].
type Config struct {
	// Model generates the texts.
	Model *infer.Model
	// Slot returns a new slot for a run.
	Slot func() Slot
	// MAC returns a message authentication code for a text, computed with the server's secret. The
	// code has at least 8 bytes. It marks the ids that the registry has issued.
	MAC func(text string) []byte
	// Limits bounds the runs. For fields that are zero, [DefaultLimits] applies.
	Limits Limits
	// Places limits the number of runs, in total and per learner; nil means the limits in
	// [admission.DefaultLimits].
	Places *admission.Pool
	// Grammars is the queue in which grammars are compiled, and BadGrammars counts unusable ones;
	// nil means the defaults in [admission.DefaultLimits].
	Grammars    *admission.Queue
	BadGrammars *admission.Meter
	// Resident returns how much memory the process uses; nil means [memory.Resident].
	Resident func() int64
	// Log records failures, but never prompts.
	Log *slog.Logger
}

// Slot is one run's access to the model, which all runs share through a queue. Except in tests, it
// is a [pool.Slot].
type Slot interface {
	// Model returns the model whose passes wait in the queue.
	Model() *infer.Model
	// Step sets whether a learner is waiting for the next passes, as opposed to watching a run that
	// plays.
	Step(on bool)
}

// Registry holds all runs. It decides which runs may begin, and which are dropped or evicted.
type Registry struct {
	cfg Config

	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup

	memory ledger
	full   atomic.Bool // the process uses more memory than allowed

	rebuilding chan struct{} // contains a value for each run that is being rebuilt

	mu      sync.Mutex
	byID    map[string]*Run
	resting map[string]resting // by id; disjoint from byID

	refused Stats // only Full and OwnFull are used; guarded by mu
}

// New returns a registry without runs. It starts goroutines that [Registry.Close] stops.
func New(cfg Config) *Registry {
	cfg.Limits = cfg.Limits.orDefaults()
	if cfg.Places == nil {
		cfg.Places = admission.NewPool(admission.DefaultLimits().Runs, nil)
	}
	if cfg.Grammars == nil {
		cfg.Grammars = admission.NewQueue(admission.DefaultLimits().Grammars, 0)
	}
	if cfg.BadGrammars == nil {
		cfg.BadGrammars = admission.NewMeter(admission.DefaultLimits().BadGrammars, nil)
	}
	if cfg.Resident == nil {
		cfg.Resident = memory.Resident
	}
	rs := &Registry{
		cfg: cfg, byID: map[string]*Run{}, resting: map[string]resting{},
		rebuilding: make(chan struct{}, mostRebuilding),
	}
	rs.ctx, rs.stop = context.WithCancel(context.Background())
	rs.wg.Go(rs.expire)
	rs.wg.Go(rs.watchMemory)
	return rs
}

// Close ends every run, and waits until all runs have ended or ctx is done. A run that begins after
// that ends immediately.
func (rs *Registry) Close(ctx context.Context) error {
	rs.mu.Lock() // Close waits for the goroutines started so far; no other is started from now on
	rs.stop()
	rs.mu.Unlock()
	done := make(chan struct{})
	go func() {
		rs.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Limits returns the registry's limits.
func (rs *Registry) Limits() Limits { return rs.cfg.Limits }

// NewSession returns a session with the model and the limits of all runs. The registry keeps no
// reference to it.
func (rs *Registry) NewSession() *session.Session { return rs.newSession(rs.cfg.Slot()) }

func (rs *Registry) newSession(slot Slot) *session.Session {
	return session.New(slot.Model(), rs.limits())
}

func (rs *Registry) limits() session.Limits {
	return session.Limits{PromptBytes: rs.cfg.Limits.PromptBytes}
}

// Find returns a learner's run, or nil.
func (rs *Registry) Find(learner, id string) *Run {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if r := rs.running(learner, id); r != nil && r.learner == learner {
		r.touch()
		return r
	}
	return nil
}

// running returns the run with the given id, or nil. It wakes a resting run of the learner, and
// drops a run that has ended on its own. mu is held.
func (rs *Registry) running(learner, id string) *Run {
	r := rs.byID[id]
	if r == nil {
		return rs.wake(learner, id)
	}
	select {
	case <-r.done:
		rs.drop(r)
		return nil
	default:
		return r
	}
}

// Join makes v a viewer of a learner's run. If the learner has no run with that id, Join begins a
// new one; found reports whether the run existed. If the id was issued to the learner, the new run
// has that id, so that all pages of a run that is gone join the same new run. It needs no permit
// until it starts. Each Join must be followed by [Registry.Leave].
func (rs *Registry) Join(c admission.Caller, id string, v *Viewer) (r *Run, found bool) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	learner := c.Learner
	r = rs.running(learner, id)
	found = r != nil && r.learner == learner
	if !found {
		if r != nil || !rs.issued(learner, id) {
			id = rs.newID(learner)
		}
		r = rs.begin(c, id, false)
	}
	r.touch()
	r.watch(v)
	return r, found
}

// Leave undoes [Registry.Join]. When the last viewer leaves a run that was never started, the run
// is dropped.
func (rs *Registry) Leave(r *Run, v *Viewer) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r.touch()
	if r.unwatch(v) == 0 && !r.started.Load() {
		rs.drop(r)
	}
}

// begin starts a new run. A pinned run is never evicted. mu is held.
func (rs *Registry) begin(c admission.Caller, id string, pinned bool) *Run {
	slot := rs.cfg.Slot()
	r := rs.newRun(c, id, pinned, slot)
	rs.start(r, rs.newSession(slot))
	return r
}

func (rs *Registry) newRun(c admission.Caller, id string, pinned bool, slot Slot) *Run {
	r := &Run{
		id: id, learner: c.Learner, caller: c, pinned: pinned, log: rs.cfg.Log,
		slot: slot, memory: &rs.memory, budget: rs.cfg.Limits.MemoryBytes,
		fits: rs.fit, rebuilding: rs.rebuilding, admit: rs.admit, rest: rs.rest, grammar: rs.Grammar,
		requests: make(chan request), evictions: make(chan struct{}, 1), done: make(chan struct{}),
		viewers: map[*Viewer]struct{}{},
	}
	r.touch()
	return r
}

// start makes s the run's session and starts the goroutine that owns it. mu is held.
func (rs *Registry) start(r *Run, s *session.Session) {
	ctx, stop := context.WithCancel(rs.ctx)
	r.stop = stop
	if !s.Evicted() {
		r.latest.Store(s.State())
	}
	rs.byID[r.id] = r
	started := rs.async(func() {
		r.loop(ctx, s)
		stop()
		rs.mu.Lock()
		if rs.byID[r.id] == r { // true after a panic; otherwise the run has already been removed
			rs.drop(r)
		}
		rs.mu.Unlock()
	})
	if !started {
		rs.drop(r)
		close(r.done)
	}
}

// async calls f in a goroutine that [Registry.Close] waits for. It returns false, and does
// not call f, if the registry is closed. mu is held.
func (rs *Registry) async(f func()) bool {
	if rs.ctx.Err() != nil {
		return false
	}
	rs.wg.Go(f)
	return true
}

// drop ends a run. mu is held.
func (rs *Registry) drop(r *Run) {
	delete(rs.byID, r.id)
	r.release()
	r.stop()
}

// admit obtains a permit for a run that is about to start. It is called by the run's goroutine. The
// error is meant for users and says that no more runs are allowed.
func (rs *Registry) admit(r *Run) *terms.Refusal {
	if r.place.Load() == nil {
		rs.awaitMemory()
	}
	id := r.id
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if r.place.Load() != nil || rs.byID[id] != r { // already admitted, or dropped in the meantime
		return nil
	}
	var place *admission.Permit
	evict := func() { // does not reference r: a run at rest must not be kept alive
		rs.mu.Lock()
		defer rs.mu.Unlock()
		rs.endOf(id, place)
	}
	if r.pinned {
		evict = nil
	}
	var err *terms.Refusal
	if place, err = rs.permit(r.caller, evict); err == nil {
		r.place.Store(place)
	}
	return err
}

// permit obtains a permit for one of the caller's runs. If there are too many runs, it drops the
// least recently used run without viewers. If this learner has too many, it drops one of the
// learner's own. mu is held.
func (rs *Registry) permit(c admission.Caller, evict func()) (*admission.Permit, *terms.Refusal) {
	if rs.full.Load() {
		return nil, terms.Refuse(terms.CodeFull, "run.full.new")
	}
	for {
		place, refused := rs.cfg.Places.Hold(c, evict)
		if refused == admission.Admitted {
			return place, nil
		}
		switch {
		case rs.dropOldest(func(learner string) bool { return refused == admission.Full || learner == c.Learner }):
		case refused == admission.OwnFull:
			rs.refused.OwnFull++
			return nil, terms.Refuse(terms.CodeFull, "run.full.own")
		default:
			rs.refused.Full++
			return nil, terms.Refuse(terms.CodeFull, "run.full")
		}
	}
}

// dropOldest drops the least recently used run without viewers among the runs of learners for whom
// `of` returns true. It returns false if there is none. mu is held.
func (rs *Registry) dropOldest(of func(learner string) bool) bool {
	oldest, used := "", int64(math.MaxInt64)
	for id, r := range rs.byID {
		idle := r.place.Load() != nil && !r.pinned && !r.watched()
		if idle && of(r.learner) && r.used.Load() < used {
			oldest, used = id, r.used.Load()
		}
	}
	for id, x := range rs.resting {
		if of(x.place.Caller().Learner) && x.used < used {
			oldest, used = id, x.used
		}
	}
	rs.dropID(oldest)
	return oldest != ""
}

// dropID drops the run with the given id, if there is one. mu is held.
func (rs *Registry) dropID(id string) {
	if r := rs.byID[id]; r != nil {
		rs.drop(r)
	}
	if x, found := rs.resting[id]; found {
		delete(rs.resting, id)
		x.place.Release()
	}
}

// expire drops runs that have not been used for [Limits.IdleExpiry].
func (rs *Registry) expire() {
	tick := time.NewTicker(max(rs.cfg.Limits.IdleExpiry/60, time.Second))
	defer tick.Stop()
	for {
		select {
		case <-rs.ctx.Done():
			return
		case now := <-tick.C:
			_ = fault.Do(rs.cfg.Log, "dropping old runs", func() error {
				rs.dropUnusedSince(now.Add(-rs.cfg.Limits.IdleExpiry))
				return nil
			})
		}
	}
}

func (rs *Registry) dropUnusedSince(before time.Time) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, r := range rs.byID {
		if !r.pinned && !r.watched() && r.used.Load() < before.UnixNano() {
			rs.drop(r)
		}
	}
	for id, x := range rs.resting {
		if x.used < before.UnixNano() {
			rs.dropID(id)
		}
	}
}
