package web

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// runs is the registry of all runs. It decides which may begin, which are
// dropped and which lose their caches.
type runs struct {
	model  *infer.Model
	limits Limits
	log    *slog.Logger
	pool   *infer.Pool // runs the model for all runs
	ids    ids

	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup

	total atomic.Int64 // memory of all runs' caches and traces

	mu   sync.Mutex
	byID map[string]*run
}

func newRuns(m *infer.Model, limits Limits, log *slog.Logger, ids ids) *runs {
	rs := &runs{
		model: m, limits: limits, log: log, ids: ids,
		pool: infer.NewPool(m, 0),
		byID: map[string]*run{},
	}
	rs.ctx, rs.stop = context.WithCancel(context.Background())
	rs.wg.Go(rs.expire)
	return rs
}

// close ends every run and waits for them, no longer than ctx.
func (rs *runs) close(ctx context.Context) error {
	rs.stop()
	err := waitFor(ctx, &rs.wg)
	rs.pool.Close()
	return err
}

// find returns a learner's run, or nil.
func (rs *runs) find(learner, id string) *run {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if r := rs.byID[id]; r != nil && r.learner == learner {
		r.touch()
		return r
	}
	return nil
}

// join makes v a viewer of a learner's run, of a new one if there is none
// with that id. found tells which. The new one has that id too if the learner
// was given it: so the pages of a run that is gone meet again. The error, for
// people, says that there is no room for another.
func (rs *runs) join(learner, id string, v *viewer) (r *run, found bool, err *terms.Refusal) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r, found = rs.byID[id]
	if !found || r.learner != learner {
		found = false
		if err := rs.makeRoom(learner); err != nil {
			return nil, false, err
		}
		if rs.byID[id] != nil || !rs.ids.gave(learner, id) {
			id = rs.ids.newRunID(learner)
		}
		r = rs.begin(learner, id)
	}
	r.touch()
	r.watch(v)
	return r, found, nil
}

// leave ends what join began. A run that was never started leaves with its
// last viewer.
func (rs *runs) leave(r *run, v *viewer) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r.touch()
	if r.unwatch(v) == 0 && !r.started.Load() {
		rs.drop(r)
	}
}

// begin makes a new run. mu is held.
func (rs *runs) begin(learner, id string) *run {
	ctx, stop := context.WithCancel(rs.ctx)
	seat := rs.pool.Seat()
	r := &run{
		id: id, learner: learner, log: rs.log, seat: seat, total: &rs.total, most: rs.limits.MemoryBytes,
		grown:    rs.settle,
		requests: make(chan request), evict: make(chan struct{}, 1), stop: stop, done: make(chan struct{}),
		viewers: map[*viewer]struct{}{},
	}
	s := session.New(seat.Model(), session.Limits{PromptBytes: rs.limits.PromptBytes})
	r.latest.Store(s.State())
	r.touch()
	rs.byID[r.id] = r
	rs.wg.Go(func() {
		r.loop(ctx, s)
		stop()
		rs.mu.Lock()
		if rs.byID[r.id] == r { // after a panic; otherwise it is gone already
			delete(rs.byID, r.id)
		}
		rs.mu.Unlock()
	})
	return r
}

// drop ends a run. mu is held.
func (rs *runs) drop(r *run) {
	delete(rs.byID, r.id)
	r.stop()
}

// makeRoom drops the run that was used least recently of those that nobody
// watches, first among the learner's own, where there are too many. mu is held.
func (rs *runs) makeRoom(learner string) *terms.Refusal {
	var own []*run
	all := make([]*run, 0, len(rs.byID))
	for _, r := range rs.byID {
		all = append(all, r)
		if r.learner == learner {
			own = append(own, r)
		}
	}
	if len(own) >= rs.limits.RunsPerLearner {
		r := oldestUnwatched(own)
		if r == nil {
			return &terms.Refusal{Code: terms.CodeFull, Message: fmt.Sprintf(
				"You have %d runs open, the limit for one person. Close a tab and try again.", len(own))}
		}
		rs.drop(r)
		return nil
	}
	if len(all) >= rs.limits.Runs {
		r := oldestUnwatched(all)
		if r == nil {
			return &terms.Refusal{Code: terms.CodeFull, Message: fmt.Sprintf(
				"The server already has %d runs, its limit. Try again later.", len(all))}
		}
		rs.drop(r)
	}
	return nil
}

func oldestUnwatched(list []*run) *run {
	var oldest *run
	for _, r := range list {
		if !r.kept && !r.watched() && (oldest == nil || r.used.Load() < oldest.used.Load()) {
			oldest = r
		}
	}
	return oldest
}

// settle brings the memory of all runs under the budget again after one has
// grown: runs at rest are evicted, first those that nobody watches, the least
// recently used first. It is called by the goroutine of the run that grew,
// which is left alone. The answer is false where that is not enough.
func (rs *runs) settle(grown *run) bool {
	total := rs.total.Load()
	if total <= rs.limits.MemoryBytes {
		return true
	}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	var resting []*run
	for _, r := range rs.byID {
		if r != grown && !r.kept && r.bytes.Load() > 0 && !r.playing.Load() {
			resting = append(resting, r)
		}
	}
	rank := func(r *run) int {
		if r.watched() {
			return 1
		}
		return 0
	}
	slices.SortFunc(resting, func(a, b *run) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.used.Load(), b.used.Load()))
	})
	for _, r := range resting {
		if total <= rs.limits.MemoryBytes {
			return true
		}
		total -= r.bytes.Load()
		select {
		case r.evict <- struct{}{}:
		default: // asked already
		}
	}
	return total <= rs.limits.MemoryBytes
}

// expire drops runs that nobody has used for long.
func (rs *runs) expire() {
	tick := time.NewTicker(max(rs.limits.IdleExpiry/60, time.Second))
	defer tick.Stop()
	for {
		select {
		case <-rs.ctx.Done():
			return
		case <-tick.C:
		}
		before := time.Now().Add(-rs.limits.IdleExpiry).UnixNano()
		rs.mu.Lock()
		for _, r := range rs.byID {
			if !r.kept && !r.watched() && r.used.Load() < before {
				rs.drop(r)
			}
		}
		rs.mu.Unlock()
	}
}

// waitFor waits for a group, no longer than ctx.
func waitFor(ctx context.Context, wg *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
