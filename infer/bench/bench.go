// Package bench measures how fast a model runs on this machine and how much int8 deviates from
// float32. The viz bench command prints the rows, and labs show them, so the same code produces
// both the curves on pages and the tables in terminals.
//
// A measurement repeats rounds of a few tokens until the given time has passed. It reports the best
// round and the median round; other work on the machine hardly affects the median. All
// configurations of a quantization take turns, a few rounds each, so a slow period of the machine
// affects all of them.
package bench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/kernel"
	"github.com/tokenbytoken/viz/infer/pool"
)

// Phase is the kind of work to measure.
type Phase string

// The phases.
const (
	Kernel  Phase = "kernel"  // multiplying only the blocks' matrices, with as many vectors as in a full pass
	Prefill Phase = "prefill" // reading a prompt of Tokens tokens, then computing the scores at its last position
	Decode  Phase = "decode"  // generating Tokens tokens greedily, starting at the first position
)

// Case is one configuration to measure.
type Case struct {
	Phase   Phase       `json:"phase"`
	Quant   infer.Quant `json:"quant"`
	Threads int         `json:"threads"` // processor threads in use
	Texts   int         `json:"texts"`   // concurrent texts; if more than one, they share passes through a pool
	Tokens  int         `json:"tokens"`  // tokens of each text in a round, or vectors for the kernel phase
}

// Row is a case with its measurements.
type Row struct {
	Case
	Path   string  `json:"kernel"`  // the kernel path: portable, avx2 or avx512
	Rounds int     `json:"rounds"`  // number of rounds
	Rate   float64 `json:"rate"`    // tokens/s of all texts together in the median round
	Best   float64 `json:"best"`    // tokens/s of all texts together in the best round
	GFLOPS float64 `json:"gflop_s"` // 10⁹ multiplications and additions per second in the median round
}

// Plan describes what to measure.
type Plan struct {
	Quants  []infer.Quant
	Threads []int
	Texts   []int
	Prompt  int           // length of the prompt to prefill
	Written int           // tokens to decode
	Time    time.Duration // for each case
}

// DefaultPlan returns a plan that measures both quantizations, with one thread and with all
// threads, and with single texts and batches. It takes about as long as a coffee break.
func DefaultPlan() Plan {
	threads := []int{1}
	if n := runtime.NumCPU(); n > 1 {
		threads = append(threads, n)
	}
	return Plan{
		Quants: []infer.Quant{infer.QuantNone, infer.QuantInt8}, Threads: threads, Texts: []int{1, 4, 16},
		Prompt: 256, Written: 255, Time: time.Second,
	}
}

// Cases lists the measurements of a plan for one quantization, in order.
func (p Plan) Cases(q infer.Quant) []Case {
	var all []Case
	for _, t := range p.Threads {
		all = append(all, Case{Kernel, q, t, 1, columns})
		for _, n := range p.Texts {
			all = append(all, Case{Prefill, q, t, n, p.Prompt})
		}
		for _, n := range p.Texts {
			all = append(all, Case{Decode, q, t, n, p.Written})
		}
	}
	return all
}

// columns is the number of vectors in each product of the kernel phase, the same as in a full pass.
const columns = 32

// Check returns an error if the plan cannot be measured with a model of the given context size.
func (p Plan) Check(context int) error {
	for what, list := range map[string][]int{"threads": p.Threads, "texts at once": p.Texts} {
		for _, n := range list {
			if n < 1 || n > 256 {
				return fmt.Errorf("got %d %s, want 1 to 256", n, what)
			}
		}
	}
	if most := max(p.Prompt, p.Written); p.Prompt < 1 || p.Written < 1 || most > context {
		return fmt.Errorf(
			"got a prompt of %d tokens and %d tokens to generate, want 1 to %d (the model's context) for each",
			p.Prompt, p.Written, context,
		)
	}
	if p.Time <= 0 {
		return fmt.Errorf("got a measurement time of %v, want more than 0", p.Time)
	}
	return nil
}

// Progress is called before each turn of each case, with the number of finished turns and the total
// number of turns.
type Progress func(done, of int, c Case)

// turns is the number of turns of each case.
const turns = 4

// Run measures every case of a plan. It calls load once for each quantization. If ctx is canceled,
// it returns ctx's error.
func Run(ctx context.Context, p Plan, load func(infer.Quant) (*infer.Model, error), progress Progress) ([]Row, error) {
	var rows []Row
	each := len(p.Cases("")) * turns
	for i, q := range p.Quants {
		m, err := load(q)
		if err != nil {
			return nil, err
		}
		if err := p.Check(m.Config().Context); err != nil {
			return nil, err
		}
		cases := p.Cases(q)
		found := make([][]round, len(cases))
		for turn := range turns {
			for j, c := range cases {
				progress(i*each+turn*len(cases)+j, len(p.Quants)*each, c)
				got, err := measure(ctx, m, c, p.Time/turns)
				if err != nil {
					return nil, err
				}
				found[j] = append(found[j], got...)
			}
		}
		for j, c := range cases {
			rows = append(rows, row(c, found[j]))
		}
	}
	return rows, nil
}

// round holds the measurements of one round.
type round struct {
	took time.Duration
	ops  int64 // multiply-adds
}

// row summarizes rounds.
func row(c Case, rounds []round) Row {
	slices.SortFunc(rounds, func(a, b round) int { return int(a.took - b.took) })
	median, tokens := rounds[len(rounds)/2], float64(c.Tokens*c.Texts)
	return Row{
		Case: c, Path: kernel.Current().String(), Rounds: len(rounds),
		Rate: tokens / median.took.Seconds(), Best: tokens / rounds[0].took.Seconds(),
		GFLOPS: 2 * float64(median.ops) / 1e9 / median.took.Seconds(),
	}
}

// measure repeats a case for at least the given time, and at least once.
func measure(ctx context.Context, m *infer.Model, c Case, atLeast time.Duration) ([]round, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(c.Threads))
	once, end := prepare(m, c)
	defer end()
	if _, err := once(ctx); err != nil { // warm up: grow the caches and map the memory pages
		return nil, err
	}
	var rounds []round
	for start := time.Now(); len(rounds) == 0 || time.Since(start) < atLeast; {
		began := time.Now()
		ops, err := once(ctx)
		if err != nil {
			return nil, err
		}
		rounds = append(rounds, round{time.Since(began), ops})
	}
	return rounds, nil
}

// prepare returns two functions: one that runs a round and returns its multiply-adds, and one that
// cleans up.
func prepare(m *infer.Model, c Case) (once func(context.Context) (int64, error), end func()) {
	nothing := func() {}
	if c.Phase == Kernel {
		return together(c.Threads, func(int) func(context.Context) (int64, error) { return products(m, c) }), nothing
	}
	text := func(m *infer.Model, i int) func(context.Context) (int64, error) {
		if c.Phase == Prefill {
			return prefill(m, c.Tokens, i)
		}
		return decode(m, c.Tokens, i)
	}
	if c.Texts == 1 {
		return text(m, 0), nothing
	}
	pool := pool.New(m, c.Threads)
	return together(c.Texts, func(i int) func(context.Context) (int64, error) {
		return text(pool.Slot().Model(), i)
	}), pool.Close
}

// together returns a function that runs n functions concurrently and returns the sum of their
// multiply-adds.
func together(n int, function func(i int) func(context.Context) (int64, error)) func(context.Context) (int64, error) {
	var all []func(context.Context) (int64, error)
	for i := range n {
		all = append(all, function(i))
	}
	return func(ctx context.Context) (int64, error) {
		ops, errs := make([]int64, n), make([]error, n)
		var wg sync.WaitGroup
		for i, f := range all {
			wg.Go(func() {
				errs[i] = fault.Try(func() (err error) {
					ops[i], err = f(ctx)
					return err
				})
			})
		}
		wg.Wait()
		var sum int64
		for i, err := range errs {
			if err != nil {
				return 0, err
			}
			sum += ops[i]
		}
		return sum, nil
	}
}

// products returns a function that multiplies the blocks' matrices by c.Tokens vectors.
func products(m *infer.Model, c Case) func(context.Context) (int64, error) {
	most := 0
	for _, w := range m.BlockMatrices() {
		most = max(most, w.Rows, w.Cols)
	}
	x, dst := make([]float32, c.Tokens*most), make([]float32, c.Tokens*most)
	for i := range x {
		x[i] = float32(i%13) - 6
	}
	return func(ctx context.Context) (int64, error) {
		var ops int64
		for _, w := range m.BlockMatrices() {
			ops += w.Mul(dst[:c.Tokens*w.Rows], x[:c.Tokens*w.Cols], c.Tokens)
		}
		return ops, ctx.Err()
	}
}

// prefill returns a function that runs a prompt of n tokens and computes the scores at its last
// position. Each text has different tokens.
func prefill(m *infer.Model, n, text int) func(context.Context) (int64, error) {
	cache, ids := m.NewCache(), make([]int, n)
	for i := range ids {
		ids[i] = (i*7 + text) % m.Config().Vocab
	}
	last, z := make([]float32, m.Config().Width), make([]float32, m.Config().Vocab)
	return func(ctx context.Context) (int64, error) {
		cache.Truncate(0)
		read, err := m.ForwardTo(ctx, cache, ids, last)
		if err != nil {
			return 0, err
		}
		scored, err := m.LogitsTo(ctx, last, z)
		return read.Plus(scored).Total(), err
	}
}

// decode returns a function that generates n tokens greedily. Each text starts with a different
// token.
func decode(m *infer.Model, n, text int) func(context.Context) (int64, error) {
	cache := m.NewCache()
	last, z := make([]float32, m.Config().Width), make([]float32, m.Config().Vocab)
	token := make([]int, 1)
	return func(ctx context.Context) (int64, error) {
		cache.Truncate(0)
		token[0] = text * 31 % m.Config().Vocab
		var tally cost.Parts
		for range n {
			read, err := m.ForwardTo(ctx, cache, token, last)
			if err != nil {
				return 0, err
			}
			scored, err := m.LogitsTo(ctx, last, z)
			if err != nil {
				return 0, err
			}
			tally = tally.Plus(read).Plus(scored)
			token[0] = largest(z)
		}
		return tally.Total(), nil
	}
}

func largest(z []float32) int {
	best := 0
	for i, v := range z {
		if v > z[best] {
			best = i
		}
	}
	return best
}
