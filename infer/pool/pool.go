// Package pool lets many texts share a bounded number of workers. It decides whose pass runs next,
// and batches the passes that wait at the same time.
package pool

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/fault"
)

// maxBatch is the maximum number of texts in one round. The matrices are read once for all of these
// texts. A larger batch would gain little, and a learner who steps through a text would wait longer
// for the round in progress.
const maxBatch = 16

// ErrClosed is returned by passes on a closed pool.
var ErrClosed = errors.New("the worker pool is closed")

// Pool runs the passes of many texts on a bounded number of workers. Passes that wait at the same
// time are batched into rounds of up to 16 texts and 32 positions; each text's results are
// bit-identical to the results that it would get alone. A prompt is read in several rounds if other
// texts are waiting.
//
// Every text has a [Slot]. A slot whose learner steps through the text ([Slot.Step]) is served
// before slots that are playing, but a slot never waits more than twice as many rounds as it would
// if all slots were served in turn.
type Pool struct {
	model *infer.Model

	mu      sync.Mutex
	wake    sync.Cond // wakes workers when a job is queued
	queue   queue
	idle    int // waiting workers
	closed  bool
	stats   Stats
	workers sync.WaitGroup
}

// Stats holds totals since the pool was created.
type Stats struct {
	Rounds    int64 // passes through the weights
	Served    int64 // jobs served by rounds; a prompt counts once for each of its rounds
	Positions int64 // tokens read by rounds, both prompt tokens and generated ones
	Waited    int64 // total number of rounds that jobs waited before their own round
	Longest   int64 // the longest wait of one job, in rounds
}

// New starts a pool of workers for m. If workers ≤ 0, it starts GOMAXPROCS workers, as many as
// can run simultaneously. Close stops the workers.
func New(m *infer.Model, workers int) *Pool {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	p := &Pool{model: m.Through(nil)}
	p.wake.L = &p.mu
	for range workers {
		p.workers.Go(p.work)
	}
	return p
}

// Close stops each worker after its round in progress. Waiting passes and all later passes return
// [ErrClosed].
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
	j.Undo()
	j.Err = ErrClosed
	j.done <- struct{}{}
}

// Stats returns the totals so far.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}

// work is the loop of a worker: it runs rounds until the pool is closed.
func (p *Pool) work() {
	w := &worker{batch: infer.NewBatch(p.model)}
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		for p.queue.len() == 0 && !p.closed {
			w.batch.Shrink()
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
		w.jobs = p.queue.take(min(n, maxBatch), w.jobs[:0])
		p.count(w.jobs)
		if p.queue.len() > 0 && p.idle > 0 {
			p.wake.Signal()
		}
		p.mu.Unlock()
		start, before := time.Now(), w.batch.Positions
		w.run()
		took := time.Since(start)
		p.mu.Lock()
		p.stats.Positions += w.batch.Positions - before
		for i, j := range w.jobs {
			w.jobs[i] = nil
			j.ran += took
			switch {
			case j.Over:
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

// worker runs the rounds of one goroutine.
type worker struct {
	batch  *infer.Batch
	jobs   []*job
	passes []*infer.Job
}

// run runs a round. A panic reaches only the goroutine whose job caused it: after a panic, the
// unfinished jobs are run one by one.
func (w *worker) run() {
	defer w.batch.Forget()
	if w.try(w.jobs) == nil {
		return
	}
	for i, j := range w.jobs {
		if j.Over {
			continue
		}
		if v := w.try(w.jobs[i : i+1]); v != nil {
			j.fault, j.Over = v, true
		}
	}
}

// try runs a round of these jobs and returns a *[fault.Fault] if it panics.
func (w *worker) try(jobs []*job) error {
	w.passes = w.passes[:0]
	for _, j := range jobs {
		w.passes = append(w.passes, &j.Job)
	}
	defer func() { clear(w.passes) }()
	return fault.Try(func() error { w.batch.Run(w.passes); return nil })
}

// A job is a pass that a caller is waiting for. Each [Slot] has one job, which it reuses.
type job struct {
	infer.Job
	ran   time.Duration // total time of the rounds in which the job took part
	fault error         // the value with which the waiting goroutine must panic
	done  chan struct{} // capacity 1; gets a value when the job is done

	// Set while the job is queued.
	prev, next *job
	urgent     bool
	queued     bool
	since      int64 // the number of the last round before it was queued
}

// Slot represents one text in a pool. It is an [infer.Runner] whose passes take turns with the passes of
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
func (s *Slot) Model() *infer.Model { return s.pool.model.Through(s) }

// Step sets the slot's mode for its next passes: if on is true, a learner is stepping through the
// text and waits for each pass; otherwise, the text is playing.
func (s *Slot) Step(on bool) { s.step.Store(on) }

// Waited implements [infer.Runner]. For every text in a round, the whole round counts as running, not as
// waiting.
func (s *Slot) Waited() time.Duration { return s.waited }

// ForwardTo implements [infer.Runner]. If ctx ends while the pass is queued, ForwardTo returns
// immediately; if ctx ends while the pass runs, it returns before the next block.
func (s *Slot) ForwardTo(ctx context.Context, c *infer.Cache, tokens []int, out []float32) (cost.Parts, error) {
	s.job.Job = infer.Job{Cache: c, Start: c.Positions(), Tokens: tokens, Out: out}
	return s.wait(ctx)
}

// LogitsTo implements [infer.Runner].
func (s *Slot) LogitsTo(ctx context.Context, last, z []float32) (cost.Parts, error) {
	s.job.Job = infer.Job{Last: last, Z: z}
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
	j.Context, j.urgent = ctx, s.step.Load()
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return cost.Parts{}, ErrClosed
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
			j.Undo()
			return cost.Parts{}, ctx.Err()
		}
		<-done // a worker has taken the job and will finish it
	}
	if j.fault != nil {
		panic(j.fault)
	}
	if j.Err != nil {
		return cost.Parts{}, j.Err
	}
	return j.Tally, nil
}
