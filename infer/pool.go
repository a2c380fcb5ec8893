package infer

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/fault"
)

// maxBatch is the maximum number of texts in one round. The matrices are read once for all of these
// texts. A larger batch would gain little, and a learner who steps through a text would wait longer
// for the round in progress.
const maxBatch = 16

// ErrPoolClosed is returned by passes on a closed pool.
var ErrPoolClosed = errors.New("the worker pool is closed")

// Pool runs the passes of many texts on a bounded number of workers. Passes that wait at the same
// time are batched into rounds of up to 16 texts and 32 positions; each text's results are
// bit-identical to the results that it would get alone. A prompt is read in several rounds if other
// texts are waiting.
//
// Every text has a [Slot]. A slot whose learner steps through the text ([Slot.Step]) is served
// before slots that are playing, but a slot never waits more than twice as many rounds as it would
// if all slots were served in turn.
type Pool struct {
	model *Model

	mu      sync.Mutex
	wake    sync.Cond // wakes workers when a job is queued
	queue   queue
	idle    int // waiting workers
	closed  bool
	stats   PoolStats
	workers sync.WaitGroup
}

// PoolStats holds totals since the pool was created.
type PoolStats struct {
	Rounds    int64 // passes through the weights
	Served    int64 // jobs served by rounds; a prompt counts once for each of its rounds
	Positions int64 // tokens read by rounds, both prompt tokens and generated ones
	Waited    int64 // total number of rounds that jobs waited before their own round
	Longest   int64 // the longest wait of one job, in rounds
}

// NewPool starts a pool of workers for m. If workers ≤ 0, it starts GOMAXPROCS workers, as many as
// can run simultaneously. Close stops the workers.
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

// Close stops each worker after its round in progress. Waiting passes and all later passes return
// [ErrPoolClosed].
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

// refuse ends a job that a closed pool will not run.
func (p *Pool) refuse(j *job) {
	if j.cache != nil {
		j.cache.Truncate(j.start)
	}
	j.err = ErrPoolClosed
	j.done <- struct{}{}
}

// Stats returns the totals so far.
func (p *Pool) Stats() PoolStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}

// work is the loop of a worker: it runs rounds until the pool is closed.
func (p *Pool) work() {
	b := &batch{model: p.model, s: newScratch(p.model.config)}
	b.jobs = make([]*job, 0, maxBatch)
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		for p.queue.len() == 0 && !p.closed {
			if cap(b.z) > 4*p.model.config.Vocab {
				b.z = nil // free the scores of a large batch, which take megabytes for a large vocabulary
			}
			p.idle++
			p.wake.Wait()
			p.idle--
		}
		if p.closed {
			return
		}
		// The texts of the last round queue their next jobs as soon as their goroutines get to run.
		// A round that began before that would serve few texts.
		p.mu.Unlock()
		breathe()
		p.mu.Lock()
		if p.queue.len() == 0 {
			continue
		}
		// Leave a share of the queue for each idle worker.
		n := (p.queue.len() + p.idle) / (p.idle + 1)
		b.jobs = p.queue.take(min(n, maxBatch), b.jobs[:0])
		p.count(b.jobs)
		if p.queue.len() > 0 && p.idle > 0 {
			p.wake.Signal()
		}
		p.mu.Unlock()
		start := time.Now()
		b.runSafely()
		b.forget()
		took := time.Since(start)
		p.mu.Lock()
		p.stats.Positions += b.positions
		b.positions = 0
		for i, j := range b.jobs {
			b.jobs[i] = nil
			j.ran += took
			switch {
			case j.over:
				j.done <- struct{}{}
			case p.closed:
				p.refuse(j)
			default: // part of the prompt is left
				p.queue.join(j)
			}
		}
	}
}

// count records that a round serves these jobs. The caller must hold mu.
func (p *Pool) count(jobs []*job) {
	p.stats.Rounds++
	for _, j := range jobs {
		waited := p.queue.rounds - 1 - j.since
		p.stats.Served++
		p.stats.Waited += waited
		p.stats.Longest = max(p.stats.Longest, waited)
	}
}

// runSafely is like run, except that a panic reaches only the goroutine whose job caused it. After
// a panic, the unfinished jobs are run one by one.
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
			j.fault, j.over = v, true
		}
	}
	b.jobs = jobs
}

// try calls run and returns a *[fault.Fault] if it panics.
func (b *batch) try() error {
	err := fault.Try(func() error { b.run(); return nil })
	if err != nil {
		b.rows = b.rows[:0]
	}
	return err
}

// Slot represents one text in a pool. It is a [Runner] whose passes take turns with the passes of
// other slots. Except for Step, only one goroutine at a time may use it. An unused slot takes a few
// hundred bytes and does not need to be closed.
type Slot struct {
	pool   *Pool
	job    job
	step   atomic.Bool
	waited time.Duration
}

// Slot returns a new slot, in playing mode.
func (p *Pool) Slot() *Slot {
	return &Slot{pool: p, job: job{done: make(chan struct{}, 1)}}
}

// Model returns the pool's model with its passes run through this slot.
func (s *Slot) Model() *Model { return s.pool.model.Through(s) }

// Step sets the slot's mode for its next passes: if on is true, a learner is stepping through the
// text and waits for each pass; otherwise, the text is playing.
func (s *Slot) Step(on bool) { s.step.Store(on) }

// Waited implements [Runner]. For every text in a round, the whole round counts as running, not as
// waiting.
func (s *Slot) Waited() time.Duration { return s.waited }

// ForwardTo implements [Runner]. If ctx ends while the pass is queued, ForwardTo returns
// immediately; if ctx ends while the pass runs, it returns before the next block.
func (s *Slot) ForwardTo(ctx context.Context, c *Cache, tokens []int, out []float32) (cost.Parts, error) {
	if err := s.pool.model.checkPass(c, tokens, out); err != nil {
		return cost.Parts{}, err
	}
	s.job.cache, s.job.start, s.job.tokens, s.job.out = c, c.positions, tokens, out
	return s.wait(ctx)
}

// LogitsTo implements [Runner].
func (s *Slot) LogitsTo(ctx context.Context, last, z []float32) (cost.Parts, error) {
	s.job.last, s.job.z = last, z
	return s.wait(ctx)
}

// wait runs the slot's job and returns its error.
func (s *Slot) wait(ctx context.Context) (cost.Parts, error) {
	j, p := &s.job, s.pool
	done, start := j.done, time.Now()
	defer func() {
		s.waited = time.Since(start) - j.ran
		*j = job{done: done} // drop the references to the caller's data
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
		<-done // a worker has taken the job and will finish it
	}
	if j.fault != nil {
		panic(j.fault)
	}
	if j.err != nil {
		return cost.Parts{}, j.err
	}
	return j.tally, nil
}
