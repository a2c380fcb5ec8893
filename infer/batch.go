package infer

import (
	"context"
	"time"

	"github.com/tokenbytoken/viz/infer/cost"
)

// Runner runs passes on behalf of a model, possibly later or batched with the passes of other
// texts. A Runner must produce the same results and the same changes to the cache as
// [Model.ForwardTo] and [Model.LogitsTo], bit for bit. The arguments have already been checked: the
// tokens are in the vocabulary and fit in the context window.
type Runner interface {
	ForwardTo(ctx context.Context, c *Cache, tokens []int, out []float32) (cost.Parts, error)
	LogitsTo(ctx context.Context, last, z []float32) (cost.Parts, error)
	// Waited returns how long the last call's pass waited for other passes.
	Waited() time.Duration
}

// Waited returns how much of the last pass's time was spent waiting for other passes.
func (m *Model) Waited() time.Duration {
	if m.runner == nil {
		return 0
	}
	return m.runner.Waited()
}

// Through returns the same model, sharing all weights, with its passes run by r. Loops, replays and
// speculation can use the result like any other model. [Model.Inspect] does not go through r, since
// its passes are not part of a text.
func (m *Model) Through(r Runner) *Model {
	through := *m
	through.runner = r
	return &through
}

// A job is a pass that a caller is waiting for: tokens to read into a cache, or vectors to score.
// Each [Slot] has one job, which it reuses.
type job struct {
	ctx context.Context

	// For a reading job: the tokens still to read, and space for the vectors of its last tokens.
	cache  *Cache
	tokens []int
	out    []float32 // [n, width]
	start  int       // positions in the cache before the job

	// For a scoring job: the vectors to score, and space for the scores.
	last []float32 // [n, width]
	z    []float32 // [n, vocab]

	tally cost.Parts
	ran   time.Duration // total time of the rounds in which the job took part
	err   error
	fault error         // the value with which the waiting goroutine must panic
	done  chan struct{} // capacity 1; gets a value when the job is done

	from, n int // the job's positions in the running pass, or its rows
	over    bool

	// Set while the job is queued.
	prev, next *job
	urgent     bool
	queued     bool
	since      int64 // the number of the last round before it was queued
}

// batch runs the jobs of several texts through the weights together: one pass over the blocks for
// all jobs that read tokens, and one product with the output matrix for all jobs that score
// vectors. It belongs to one worker and does not allocate once its buffers have grown.
type batch struct {
	model *Model
	s     *scratch
	jobs  []*job
	reads []*job    // unfinished reading jobs
	rows  []toScore // vectors collected for scoring
	z     []float32 // [up to chunk, vocab]

	positions int64 // read since the pool last counted them
}

// run runs one round of b.jobs. It sets the over field of the jobs that it finishes; the other jobs
// still have tokens to read. A job whose context ends is dropped before the next block, without
// affecting the others.
func (b *batch) run() {
	b.read()
	b.score()
}

// deal divides the chunk positions of a pass among the reading jobs. Each job gets an equal share,
// or less if it has fewer tokens; any remaining positions go to the first jobs with more tokens to
// read. So decoding a token never waits for another text's prompt. Every job gets a position, since
// there are at most chunk jobs.
func (b *batch) deal() {
	b.reads = b.reads[:0]
	for _, j := range b.jobs {
		if j.cache != nil && !j.over {
			b.reads = append(b.reads, j)
		}
	}
	left := chunk
	for _, j := range b.reads {
		j.n = min(len(j.tokens), chunk/len(b.reads))
		left -= j.n
	}
	inputs := b.s.inputs[:0]
	for _, j := range b.reads {
		more := min(len(j.tokens)-j.n, left)
		j.n, left = j.n+more, left-more
		j.from = len(inputs)
		c := j.cache
		c.reserve(c.positions + j.n)
		for i, id := range j.tokens[:j.n] {
			inputs = append(inputs, passInput{cache: c, at: c.positions + i, token: id})
		}
	}
	b.s.inputs = inputs
}

// read runs one pass over the blocks.
func (b *batch) read() {
	if b.deal(); len(b.reads) == 0 {
		return
	}
	m, s, d := b.model, b.s, b.model.config.Width
	m.enter(s, s.inputs)
	for l := range m.blocks {
		if b.letGo(); len(b.reads) == 0 {
			return
		}
		m.block(s, l, s.inputs)
	}
	for _, j := range b.reads {
		for _, p := range s.inputs[j.from : j.from+j.n] {
			j.tally = j.tally.Plus(p.tally)
		}
		j.cache.positions += j.n
		b.positions += int64(j.n)
		j.tokens = j.tokens[j.n:]
		if wanted := len(j.out) - len(j.tokens)*d; wanted > 0 {
			end := (j.from + j.n) * d
			copy(j.out, s.x[end-wanted:end])
			j.out = j.out[wanted:]
		}
		j.over = len(j.tokens) == 0
	}
}

// letGo drops the jobs whose context has ended and closes the gaps that they leave in the pass.
func (b *batch) letGo() {
	s, d := b.s, b.model.config.Width
	kept := b.reads[:0]
	gap := 0
	for _, j := range b.reads {
		if err := j.ctx.Err(); err != nil {
			j.cache.Truncate(j.start)
			j.err, j.over = err, true
			gap += j.n
			continue
		}
		if gap > 0 {
			to := j.from - gap
			copy(s.x[to*d:], s.x[j.from*d:(j.from+j.n)*d])
			copy(s.inputs[to:], s.inputs[j.from:j.from+j.n])
			j.from = to
		}
		kept = append(kept, j)
	}
	b.reads, s.inputs = kept, s.inputs[:len(s.inputs)-gap]
}

// forget clears all pointers to the texts' data. A worker may wait for hours before its next round,
// and until then these pointers would prevent this round's caches from being freed.
func (b *batch) forget() {
	b.s.inputs, b.reads, b.rows = emptied(b.s.inputs), emptied(b.reads), emptied(b.rows)
}

// emptied zeroes the elements of a list and returns it with length 0.
func emptied[T any](list []T) []T {
	list = list[:cap(list)]
	clear(list)
	return list[:0]
}

// toScore identifies a vector that is waiting to be scored: row `at` of a job's vectors.
type toScore struct {
	job *job
	at  int
}

// score multiplies all waiting vectors by the output matrix, up to chunk vectors at a time.
func (b *batch) score() {
	d, v := b.model.config.Width, b.model.config.Vocab
	for _, j := range b.jobs {
		if j.cache != nil || j.over {
			continue
		}
		if j.err = j.ctx.Err(); j.err != nil {
			j.over = true
			continue
		}
		for at := range len(j.last) / d {
			if b.rows = append(b.rows, toScore{j, at}); len(b.rows) == chunk {
				b.flush()
			}
		}
	}
	b.flush()
	for _, j := range b.jobs {
		if j.cache == nil && !j.over {
			j.err, j.over = finite(j.z, v), true
		}
	}
}

// flush scores the vectors collected so far.
func (b *batch) flush() {
	m, s, d, v, n := b.model, b.s, b.model.config.Width, b.model.config.Vocab, len(b.rows)
	if n == 0 {
		return
	}
	for i, r := range b.rows {
		copy(s.x[i*d:(i+1)*d], r.job.last[r.at*d:])
	}
	if cap(b.z) < n*v {
		b.z = make([]float32, n*v)
	}
	z := b.z[:n*v]
	spent := m.score(s, s.x[:n*d], z, n) / int64(n)
	for i, r := range b.rows {
		copy(r.job.z[r.at*v:(r.at+1)*v], z[i*v:])
		r.job.tally.Output += spent
	}
	b.rows = b.rows[:0]
}
