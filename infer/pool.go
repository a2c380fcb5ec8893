package infer

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tokenbytoken/viz/infer/cost"
)

// maxBatch is how many texts one round serves. The matrices are read once for
// all of them; a larger batch would gain little more and let a learner who
// steps wait longer for the round in progress to end.
const maxBatch = 16

// ErrPoolClosed is what a pass gets from a pool that has been closed.
var ErrPoolClosed = errors.New("the pool of workers is closed")

// Pool runs the passes of many texts on a bounded number of workers. Passes
// that wait at the same time go through the weights together, a round of up to
// 16 texts and 32 positions at a time: each text's numbers are what they would
// be alone, bit for bit. A prompt is read in several rounds where others wait.
//
// Every text has a [Seat]. One at which a learner steps ([Seat.Step]) is served
// before those that play by themselves, but nobody waits more than twice the
// rounds of a fair share.
type Pool struct {
	model *Model

	mu      sync.Mutex
	wake    sync.Cond // workers, when a job has joined
	queue   queue
	idle    int // workers that wait
	closed  bool
	stats   PoolStats
	workers sync.WaitGroup
}

// PoolStats are sums since the pool was made.
type PoolStats struct {
	Rounds  int64 // passes through the weights
	Served  int64 // jobs taken into rounds; a prompt of several rounds counts for each
	Waited  int64 // rounds that began between a job's joining and its own, summed
	Longest int64 // the most that one waited
}

// NewPool starts a pool of workers for m; with workers ≤ 0 there are
// GOMAXPROCS of them, which is what the machine can run at a time. Close ends
// them.
func NewPool(m *Model, workers int) *Pool {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	direct := *m
	direct.runner = nil
	p := &Pool{model: &direct}
	p.wake.L = &p.mu
	for range workers {
		p.workers.Go(p.work)
	}
	return p
}

// Close ends the workers when their rounds in progress are done. Passes that
// wait, and all later ones, get [ErrPoolClosed].
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	for _, j := range p.queue.take(p.queue.len(), nil) {
		p.refuse(j)
	}
	p.wake.Broadcast()
	p.mu.Unlock()
	p.workers.Wait()
}

// refuse ends a job that a closed pool will not run any more.
func (p *Pool) refuse(j *job) {
	if j.cache != nil {
		j.cache.Truncate(j.start)
	}
	j.err = ErrPoolClosed
	j.done <- struct{}{}
}

// Stats returns the sums so far.
func (p *Pool) Stats() PoolStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}

// work is a worker: it takes rounds until the pool is closed.
func (p *Pool) work() {
	b := &batch{model: p.model, s: newScratch(p.model.config)}
	b.jobs = make([]*job, 0, maxBatch)
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		for p.queue.len() == 0 && !p.closed {
			p.idle++
			p.wake.Wait()
			p.idle--
		}
		if p.closed {
			return
		}
		// Those that were served by the last round are about to come back, as far
		// as they are let run: a round that begins without them serves few.
		p.mu.Unlock()
		runtime.Gosched()
		p.mu.Lock()
		if p.queue.len() == 0 {
			continue
		}
		// Workers that are idle take their part of what waits.
		n := (p.queue.len() + p.idle) / (p.idle + 1)
		b.jobs = p.queue.take(min(n, maxBatch), b.jobs[:0])
		p.count(b.jobs)
		if p.queue.len() > 0 && p.idle > 0 {
			p.wake.Signal()
		}
		p.mu.Unlock()
		start := time.Now()
		b.runSafely()
		took := time.Since(start)
		p.mu.Lock()
		for i, j := range b.jobs {
			b.jobs[i] = nil
			j.ran += took
			switch {
			case j.over:
				j.done <- struct{}{}
			case p.closed:
				p.refuse(j)
			default: // there is more of the prompt
				p.queue.join(j)
			}
		}
	}
}

// count notes that a round has taken jobs. mu is held.
func (p *Pool) count(jobs []*job) {
	p.stats.Rounds++
	for _, j := range jobs {
		waited := p.queue.rounds - 1 - j.since
		p.stats.Served++
		p.stats.Waited += waited
		p.stats.Longest = max(p.stats.Longest, waited)
	}
}

// runSafely is run, except that a panic reaches only the goroutine that waits
// for the job at fault: after one the jobs that are not over are run alone.
func (b *batch) runSafely() {
	if b.try() == nil {
		return
	}
	jobs := b.jobs
	for i, j := range jobs {
		if j.over {
			continue
		}
		b.jobs = jobs[i : i+1]
		if v := b.try(); v != nil {
			j.panicked, j.over = v, true
		}
	}
	b.jobs = jobs
}

// try is run. It returns what the run panicked with, or nil.
func (b *batch) try() (panicked any) {
	defer func() {
		if v := recover(); v != nil {
			panicked = fmt.Sprintf("%v\n%s", v, debug.Stack())
			b.rows = b.rows[:0]
		}
	}()
	b.run()
	return nil
}

// Seat is one text's place at a pool: a [Runner] whose passes take their turn
// among those of the other seats. It belongs to one goroutine at a time, but
// for Step. A seat that is not used costs a few hundred bytes and needs no
// closing.
type Seat struct {
	pool   *Pool
	job    job
	step   atomic.Bool
	waited time.Duration
}

// Seat returns a new seat, at which nobody steps.
func (p *Pool) Seat() *Seat {
	return &Seat{pool: p, job: job{done: make(chan struct{}, 1)}}
}

// Model returns the pool's model with its passes run at this seat.
func (s *Seat) Model() *Model { return s.pool.model.Through(s) }

// Step says whether a learner waits for each pass from now on, rather than
// watching a text that plays by itself.
func (s *Seat) Step(on bool) { s.step.Store(on) }

// Waited implements [Runner]. The time of a round counts in full for each text
// that has a part in it.
func (s *Seat) Waited() time.Duration { return s.waited }

// ForwardTo implements [Runner]. Where ctx ends it returns at once if its turn
// has not come, and before the next block if it has.
func (s *Seat) ForwardTo(ctx context.Context, c *Cache, tokens []int, out []float32) (cost.Parts, error) {
	if err := s.pool.model.checkPass(c, tokens, out); err != nil {
		return cost.Parts{}, err
	}
	s.job.cache, s.job.start, s.job.tokens, s.job.out = c, c.positions, tokens, out
	return s.wait(ctx)
}

// LogitsTo implements [Runner].
func (s *Seat) LogitsTo(ctx context.Context, last, z []float32) (cost.Parts, error) {
	s.job.last, s.job.z = last, z
	return s.wait(ctx)
}

// wait has the seat's job run and returns how it ended.
func (s *Seat) wait(ctx context.Context) (cost.Parts, error) {
	j, p := &s.job, s.pool
	done, start := j.done, time.Now()
	defer func() {
		s.waited = time.Since(start) - j.ran
		*j = job{done: done} // nothing of the caller's is held on to
	}()
	if err := ctx.Err(); err != nil {
		return cost.Parts{}, err
	}
	j.ctx, j.urgent = ctx, s.step.Load()
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return cost.Parts{}, ErrPoolClosed
	}
	p.queue.join(j)
	p.wake.Signal()
	p.mu.Unlock()
	select {
	case <-done:
	case <-ctx.Done():
		p.mu.Lock()
		waiting := p.queue.leave(j)
		p.mu.Unlock()
		if waiting {
			if j.cache != nil {
				j.cache.Truncate(j.start)
			}
			return cost.Parts{}, ctx.Err()
		}
		<-done // a worker has it, and will let go of it
	}
	if j.panicked != nil {
		panic(j.panicked)
	}
	if j.err != nil {
		return cost.Parts{}, j.err
	}
	return j.tally, nil
}
