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
// speculation can use the result like any other model. The pass of [Model.Inspect] does not go
// through r, since it is not part of a text; its scores do. If r is nil, the passes run directly.
func (m *Model) Through(r Runner) *Model {
	through := *m
	through.runner = r
	return &through
}

// A Job is a pass that a [Batch] runs together with the passes of other texts. It either reads
// Tokens into Cache, or scores the vectors in Last. Its arguments are those of [Model.ForwardTo] or
// [Model.LogitsTo], which have been checked.
type Job struct {
	// Context ends the job early. Its cache is then as it was before the job.
	Context context.Context

	// For a reading job: the tokens still to read, and space for the vectors of its last tokens.
	Cache  *Cache
	Tokens []int
	Out    []float32 // [n, width]
	Start  int       // positions in the cache before the job

	// For a scoring job: the vectors to score, and space for the scores.
	Last []float32 // [n, width]
	Z    []float32 // [n, vocab]

	Over  bool // the job is finished, or Err is set
	Tally cost.Parts
	Err   error

	from, n int // the job's positions in the running pass
}

// Undo removes what the job has read from its cache.
func (j *Job) Undo() {
	if j.Cache != nil {
		j.Cache.Truncate(j.Start)
	}
}

// A Batch runs the jobs of several texts through the weights together: one pass over the blocks for
// all jobs that read tokens, and one product with the output matrix for all jobs that score
// vectors. Each job gets the results that it would get alone, bit for bit. Only one goroutine at a
// time may use a Batch. It does not allocate once its buffers have grown.
type Batch struct {
	Positions int64 // tokens read so far

	model *Model
	s     *scratch
	jobs  []*Job
	reads []*Job    // unfinished reading jobs
	rows  []toScore // vectors collected for scoring
	z     []float32 // [up to chunk, vocab]
}

// NewBatch returns a batch for passes of m.
func NewBatch(m *Model) *Batch { return &Batch{model: m, s: newScratch(m.config)} }

// Run runs one round of at most 32 jobs, the maximum number of positions in a pass. It sets the Over
// field of the jobs that it finishes; the other jobs still have tokens to read. A job whose context
// ends is dropped before the next block, without affecting the others.
func (b *Batch) Run(jobs []*Job) {
	b.jobs, b.rows = jobs, b.rows[:0]
	b.read()
	b.score()
}

// Forget clears all pointers to the texts' data. A long time may pass before the next round, and
// until then these pointers would prevent this round's caches from being freed.
func (b *Batch) Forget() {
	b.jobs, b.s.inputs, b.reads, b.rows = nil, emptied(b.s.inputs), emptied(b.reads), emptied(b.rows)
}

// Shrink frees the scores of a large batch, which take megabytes for a large vocabulary.
func (b *Batch) Shrink() {
	if cap(b.z) > 4*b.model.config.Vocab {
		b.z = nil
	}
}

// deal divides the chunk positions of a pass among the reading jobs. Each job gets an equal share,
// or less if it has fewer tokens; any remaining positions go to the first jobs with more tokens to
// read. So decoding a token never waits for another text's prompt. Every job gets a position, since
// there are at most chunk jobs.
func (b *Batch) deal() {
	b.reads = b.reads[:0]
	for _, j := range b.jobs {
		if j.Cache != nil && !j.Over {
			b.reads = append(b.reads, j)
		}
	}
	left := chunk
	for _, j := range b.reads {
		j.n = min(len(j.Tokens), chunk/len(b.reads))
		left -= j.n
	}
	inputs := b.s.inputs[:0]
	for _, j := range b.reads {
		more := min(len(j.Tokens)-j.n, left)
		j.n, left = j.n+more, left-more
		j.from = len(inputs)
		c := j.Cache
		c.reserve(c.positions + j.n)
		for i, id := range j.Tokens[:j.n] {
			inputs = append(inputs, passInput{cache: c, at: c.positions + i, token: id})
		}
	}
	b.s.inputs = inputs
}

// read runs one pass over the blocks.
func (b *Batch) read() {
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
			j.Tally = j.Tally.Plus(p.tally)
		}
		j.Cache.positions += j.n
		b.Positions += int64(j.n)
		j.Tokens = j.Tokens[j.n:]
		if wanted := len(j.Out) - len(j.Tokens)*d; wanted > 0 {
			end := (j.from + j.n) * d
			copy(j.Out, s.x[end-wanted:end])
			j.Out = j.Out[wanted:]
		}
		j.Over = len(j.Tokens) == 0
	}
}

// letGo drops the jobs whose context has ended and closes the gaps that they leave in the pass.
func (b *Batch) letGo() {
	s, d := b.s, b.model.config.Width
	kept := b.reads[:0]
	gap := 0
	for _, j := range b.reads {
		if err := j.Context.Err(); err != nil {
			j.Undo()
			j.Err, j.Over = err, true
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

// emptied zeroes the elements of a list and returns it with length 0.
func emptied[T any](list []T) []T {
	list = list[:cap(list)]
	clear(list)
	return list[:0]
}

// toScore identifies a vector that is waiting to be scored: row `at` of a job's vectors.
type toScore struct {
	job *Job
	at  int
}

// score multiplies all waiting vectors by the output matrix, up to chunk vectors at a time.
func (b *Batch) score() {
	d, v := b.model.config.Width, b.model.config.Vocab
	for _, j := range b.jobs {
		if j.Cache != nil || j.Over {
			continue
		}
		if j.Err = j.Context.Err(); j.Err != nil {
			j.Over = true
			continue
		}
		for at := range len(j.Last) / d {
			if b.rows = append(b.rows, toScore{j, at}); len(b.rows) == chunk {
				b.flush()
			}
		}
	}
	b.flush()
	for _, j := range b.jobs {
		if j.Cache == nil && !j.Over {
			j.Err, j.Over = finite(j.Z, v), true
		}
	}
}

// flush scores the vectors collected so far.
func (b *Batch) flush() {
	m, s, d, v, n := b.model, b.s, b.model.config.Width, b.model.config.Vocab, len(b.rows)
	if n == 0 {
		return
	}
	for i, r := range b.rows {
		copy(s.x[i*d:(i+1)*d], r.job.Last[r.at*d:])
	}
	if cap(b.z) < n*v {
		b.z = make([]float32, n*v)
	}
	z := b.z[:n*v]
	spent := m.score(s, s.x[:n*d], z, n) / int64(n)
	for i, r := range b.rows {
		copy(r.job.Z[r.at*v:(r.at+1)*v], z[i*v:])
		r.job.Tally.Output += spent
	}
	b.rows = b.rows[:0]
}
