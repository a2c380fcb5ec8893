package runs

import (
	"cmp"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// The memory of runs is bounded in two ways. First, the size of their caches and traces is counted,
// and kept within [Limits.MemoryBytes] by evicting idle runs as others grow. Second, the memory of
// the whole process is checked every second, because garbage, pages and connections also use
// memory. Above [Limits.ResidentBytes], idle runs are evicted, playing runs pause, and no new run
// begins until enough memory is free.

const (
	// lookEvery is how often the process's memory is checked.
	lookEvery = time.Second
	// restedAfter is how long a run without viewers or commands keeps its cache and trace. It is
	// longer than it takes a page to reload.
	restedAfter = 30 * time.Second
	// A run whose passes took longer than quickToRebuild is not evicted while there is enough
	// memory, because its learner would have to wait that long for the rebuild.
	quickToRebuild = 10 * time.Second
	// mostRebuilding is the maximum number of runs that are rebuilt at the same time. There is a
	// limit because the memory of a run is counted only after it has been rebuilt. Other runs wait.
	mostRebuilding = 8
	// returnEvery is the minimum time between two moments at which memory is returned to the
	// system. It is long because returning memory requires a full garbage collection.
	// worthReturning is the minimum amount to return.
	returnEvery    = 5 * time.Second
	worthReturning = 8 << 20
)

// ledger counts the memory of all runs.
type ledger struct {
	total atomic.Int64 // bytes of caches and traces
	freed atomic.Int64 // since memory was last returned to the system
}

// change records that the memory of a run has changed by the given number of bytes.
func (l *ledger) change(by int64) {
	l.total.Add(by)
	if by < 0 {
		l.freed.Add(-by)
	}
}

// fit brings all runs back within the memory budget after one of them has grown, by evicting idle
// runs. It is called by the goroutine of the run that has grown, which is not evicted. It returns
// false if evicting idle runs is not enough, or if the process uses more memory than allowed.
func (rs *Registry) fit(grown *Run) bool {
	return rs.evict(rs.memory.total.Load()-rs.cfg.Limits.MemoryBytes, grown) && !rs.full.Load()
}

// evict evicts idle runs until they have released at least the given bytes. Runs without viewers go
// first, runs whose viewers have not yet been sent the newest state go last, and within each group
// the least recently used runs go first. It returns false if there are not enough idle runs.
func (rs *Registry) evict(bytes int64, but *Run) bool {
	if bytes <= 0 {
		return true
	}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	var idle []*Run
	for _, r := range rs.byID {
		if r != but && !r.pinned && r.bytes.Load() > 0 && !r.playing.Load() {
			idle = append(idle, r)
		}
	}
	slices.SortFunc(idle, func(a, b *Run) int {
		return cmp.Or(cmp.Compare(a.claim(), b.claim()), cmp.Compare(a.used.Load(), b.used.Load()))
	})
	for _, r := range idle {
		if bytes <= 0 {
			break
		}
		bytes -= r.bytes.Load()
		r.giveUp()
	}
	return bytes <= 0
}

// giveUp asks the run's goroutine to evict the run.
func (r *Run) giveUp() {
	select {
	case r.evictions <- struct{}{}:
	default: // already requested
	}
}

// watchMemory checks the process's memory until the registry is closed.
func (rs *Registry) watchMemory() {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var returned time.Time
	for {
		select {
		case <-rs.ctx.Done():
			return
		case now := <-tick.C:
			_ = fault.Do(rs.cfg.Log, "monitoring memory", func() error {
				over := rs.lookAtMemory(now)
				if (over || rs.memory.freed.Load() >= worthReturning) && now.Sub(returned) >= returnEvery {
					rs.returnMemory()
					returned = now
				}
				return nil
			})
		}
	}
}

// lookAtMemory evicts the runs that have been idle for restedAfter. If the process uses too much
// memory, lookAtMemory also evicts other runs, keeps runs from growing or beginning, and returns
// true.
func (rs *Registry) lookAtMemory(now time.Time) (over bool) {
	rs.evictRested(now.Add(-restedAfter))
	limit, used := rs.cfg.Limits.ResidentBytes, rs.cfg.Resident()
	over = limit > 0 && used > limit
	if over {
		rs.evict(used-limit+limit/20, nil)
	}
	if rs.full.Swap(over) != over {
		say := "the process exceeds its memory limit; refusing new runs"
		if !over {
			say = "the process is within its memory limit again; accepting new runs"
		}
		rs.cfg.Log.Warn(say, "limit", terms.BytesShort(limit), "resident", terms.BytesShort(used))
	}
	return over
}

// returnMemory returns the memory of evicted runs to the system, which the runtime
// would do only after several minutes.
func (rs *Registry) returnMemory() {
	rs.memory.freed.Store(0)
	debug.FreeOSMemory()
	debug.FreeOSMemory() // only the second collection empties a sync.Pool
}

// awaitMemory waits for a limited time until there is enough memory for a run to begin.
func (rs *Registry) awaitMemory() {
	if !rs.full.Load() {
		return
	}
	late, look := time.After(rs.cfg.Limits.MemoryWait), time.NewTicker(lookEvery/10)
	defer look.Stop()
	for rs.full.Load() {
		select {
		case <-look.C:
		case <-late:
			return
		case <-rs.ctx.Done():
			return
		}
	}
}

// evictRested evicts the runs that have no viewers, have not been used since the given time, and
// can be rebuilt quickly. If such a run is already evicted, evictRested puts it to rest.
func (rs *Registry) evictRested(since time.Time) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, r := range rs.byID {
		if r.pinned || r.playing.Load() || !r.started.Load() || r.used.Load() > since.UnixNano() || r.watched() {
			continue
		}
		if st := r.latest.Load(); st == nil || passes(st) <= quickToRebuild {
			r.giveUp()
		}
	}
}

// passes returns the total duration of the model's passes that led to a state.
func passes(st *session.State) (all time.Duration) {
	for _, step := range st.Steps {
		for _, took := range step.Took {
			all += took
		}
	}
	return all
}
