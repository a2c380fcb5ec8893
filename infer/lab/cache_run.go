package lab

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// cacheRun is a run of the cache lab.
type cacheRun struct {
	*running
	m       *infer.Model
	meter   *meter
	v       terms.Values
	ids     []int // prompt and generated
	prompt  int
	kept    *infer.Cache // grows with the text
	again   *infer.Cache // cleared for every token
	result  Cache
	columns Columns
	spreads []Spread
	sums    [2][]time.Duration // of all steps so far, by way (cached, recomputed) and repeat
}

// Estimate implements [Lab].
func (cacheLab) Estimate(env Env, v terms.Values) (Estimate, error) {
	m, tokens, err := env.room(v, "tokens")
	if err != nil {
		return Estimate{}, err
	}
	if err := env.checkColumn(v, m+tokens-1); err != nil {
		return Estimate{}, err
	}
	s := env.Target.Shape()
	_, recomputed := s.Generate(m, tokens)
	once := written(s, m, tokens).plus(work{passes: recomputed.Total()})
	return guess(env, once.times(v.Int("repeats")), tokens, 2*s.KVBytes(m+tokens, 4)), nil
}

// checkColumn rejects a block that the model does not have, or a position that the run will not
// have. It always accepts the first two positions; if the run has only one, that one is shown.
func (e Env) checkColumn(v terms.Values, positions int) error {
	if n := e.Target.Config().Layers; v.Int("block") > n {
		return terms.NewRangeError("block", v.Int("block"), e.words().T("lab.refused.block", "n", fmt.Sprint(n)))
	}
	if v.Int("position") >= max(positions, 2) {
		return terms.NewRangeError(
			"position", v.Int("position"), e.words().T("lab.refused.position", "n", fmt.Sprint(positions-1)),
		)
	}
	return nil
}

// Run implements [Lab].
func (cacheLab) Run(ctx context.Context, env Env, v terms.Values, progress func(Progress)) (*Report, error) {
	prompt, tokens, err := env.room(v, "tokens")
	if err != nil {
		return nil, err
	}
	if err := env.checkColumn(v, prompt+tokens-1); err != nil {
		return nil, err
	}
	r := &cacheRun{running: start(ctx, "cache", env, v, progress), v: v, prompt: prompt}
	r.m, r.meter = env.target()
	r.fill = r.fillReport
	r.of = tokens
	r.ids = r.m.Encode(v["prompt"])
	r.kept, r.again = r.m.NewCache(), r.m.NewCache()
	r.result = Cache{Shape: r.m.Shape(), Prompt: tokensOf(r.m, r.ids), Repeats: v.Int("repeats"), SameLogits: true}
	r.result.BreakEven = breakEven(r.result.Shape)
	for n := 1; n <= tokens; n++ {
		if err := r.step(n); err != nil {
			return r.end(err)
		}
		r.tell(1, Text("lab.cache.run", "n", fmt.Sprint(n), "all", fmt.Sprint(tokens)))
	}
	return r.end(nil)
}

// breakEven returns the n for which 2·L·h·s·n = L·A + d·V, at which cached attention costs as much
// as all the matrices. A layer with a sliding window attends to at most as many positions as the
// window has; if the windows of all layers are too short, there is no such n, and the result is 0.
func breakEven(s cost.Shape) float64 {
	matrices := int64(s.Layers)*(s.Projections()+s.FeedForward()) + s.Output().Total()
	attended := float64(matrices) / float64(2*s.Heads*s.HeadDim) // positions, summed over the layers
	n := attended / float64(s.Layers)
	if s.WindowLayers == 0 || n <= float64(s.Window) {
		return n
	}
	if s.WindowLayers == s.Layers {
		return 0
	}
	return (attended - float64(s.WindowLayers*s.Window)) / float64(s.Layers-s.WindowLayers)
}

// side is one of the two ways to compute a token's scores.
type side struct {
	cache *infer.Cache
	keep  int   // number of columns in the cache before the pass
	read  []int // tokens to read
	z     []float32
	times []time.Duration
	sums  []time.Duration // by repeat: the total of the earlier steps
	parts cost.Parts
}

// step measures both ways to compute the n-th token, alternating between them, compares the
// results, and chooses a token.
func (r *cacheRun) step(n int) error {
	from := 0
	if n > 1 {
		from = len(r.ids) - 1
	}
	cached := &side{cache: r.kept, keep: from, read: r.ids[from:], sums: r.sums[0]}
	recomputed := &side{cache: r.again, read: r.ids, sums: r.sums[1]}
	if n == 1 { // touch memory and grow the caches before timing anything
		if err := r.once(&side{cache: r.kept, read: r.ids}); err != nil {
			return err
		}
	}
	for range r.result.Repeats {
		for _, s := range []*side{cached, recomputed} {
			if err := r.once(s); err != nil {
				r.kept.Truncate(from) // restore the cache, to compare its columns later
				return err
			}
		}
	}
	row := CacheStep{Step: n, Positions: len(r.ids), Different: differentBits(cached.z, recomputed.z)}
	row.SameLogits = row.Different == 0
	shape := r.result.Shape
	formula := shape.Step(len(r.ids))
	if n == 1 {
		formula = shape.Pass(len(r.ids))
	}
	row.Cached = r.side(cached, formula, func(s CacheStep) CacheSide { return s.Cached })
	row.Recomputed = r.side(recomputed, shape.Pass(len(r.ids)), func(s CacheStep) CacheSide { return s.Recomputed })
	r.sums = [2][]time.Duration{cached.sums, recomputed.sums}
	r.spreads = append(r.spreads, row.Cached.Ms, row.Recomputed.Ms)

	seed := uint64(r.v.Float("seed"))
	d := sampling.Context{Text: r.ids, Seed: seed, Step: n}.Decide(cached.z, samplingOf(r.v))
	id := int(d.Order[d.Draw(sampling.U(seed, n))])
	row.Token = tokenOf(r.m, id)
	r.compareColumns(n)
	r.result.Logits = largest(r.m, cached.z, recomputed.z)
	r.ids = append(slices.Clip(r.ids), id)
	r.result.Steps = append(r.result.Steps, row)
	r.result.Tokens = append(r.result.Tokens, row.Token)
	r.result.SameLogits = r.result.SameLogits && row.SameLogits
	r.result.Compared += int64(len(cached.z))
	return nil
}

// once runs one side's pass and computes its scores.
func (r *cacheRun) once(s *side) error {
	s.cache.Truncate(s.keep)
	last := make([]float32, r.m.Config().Width)
	z := make([]float32, r.m.Config().Vocab)
	before := r.meter.tally
	if _, err := r.m.ForwardTo(r.ctx, s.cache, s.read, last); err != nil {
		return err
	}
	if _, err := r.m.LogitsTo(r.ctx, last, z); err != nil {
		return err
	}
	s.z, s.parts = z, minus(r.meter.parts, before.parts)
	s.times = append(s.times, r.meter.took-before.took)
	return nil
}

func minus(a, b cost.Parts) cost.Parts {
	return cost.Parts{
		Projections: a.Projections - b.Projections, FeedForward: a.FeedForward - b.FeedForward,
		Attention: a.Attention - b.Attention, Output: a.Output - b.Output,
	}
}

// side returns the result of one side for this step. Its sums include the previous steps.
func (r *cacheRun) side(s *side, formula cost.Parts, of func(CacheStep) CacheSide) CacheSide {
	row := CacheSide{
		Read: len(s.read), Parts: s.parts, MultAdds: s.parts.Total(), Formula: formula.Total(),
		Ms: spreadOfTimes(s.times),
	}
	if s.sums == nil {
		s.sums = make([]time.Duration, len(s.times))
	}
	for i, took := range s.times {
		s.sums[i] += took
	}
	row.TotalParts, row.TotalMs = row.Parts, spreadOfTimes(s.sums)
	if n := len(r.result.Steps); n > 0 {
		before := of(r.result.Steps[n-1])
		row.TotalParts = before.TotalParts.Plus(row.Parts)
	}
	row.TotalMultAdds = row.TotalParts.Total()
	return row
}

// largest returns the cached and recomputed logits of the most probable tokens.
func largest(m *infer.Model, cached, recomputed []float32) []SameLogit {
	const most = 6
	var list []SameLogit
	for _, id := range sampling.Top(cached, most) {
		a, b := cached[id], recomputed[id]
		list = append(list, SameLogit{
			Token: tokenOf(m, int(id)), Cached: a, Recomputed: b,
			CachedBits: fmt.Sprintf("%08x", math.Float32bits(a)), RecomputedBits: fmt.Sprintf(
				"%08x", math.Float32bits(b),
			),
		})
	}
	return list
}

// differentBits returns the number of values whose bits differ.
func differentBits(a, b []float32) int {
	n := 0
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			n++
		}
	}
	return n
}

// compareColumns compares every key and value in the cache with the keys and values that were
// recomputed for the n-th token.
func (r *cacheRun) compareColumns(n int) {
	c := Columns{
		Block: r.v.Int("block"), Position: min(r.v.Int("position"), r.kept.Positions()-1), WrittenAt: 1, MadeAt: n,
	}
	if c.Position >= r.prompt {
		c.WrittenAt = c.Position - r.prompt + 2 // a token is read one step after it was chosen
	}
	c.Token = tokenOf(r.m, r.ids[c.Position])
	for block := range r.result.Shape.Layers {
		for position := range r.kept.Positions() {
			keyA, valueA := r.kept.Column(block, position)
			keyB, valueB := r.again.Column(block, position)
			c.Compared += int64(len(keyA) + len(valueA))
			c.Different += int64(differentBits(keyA, keyB) + differentBits(valueA, valueB))
			if block == c.Block-1 && position == c.Position {
				c.KeyA, c.KeyB, c.ValueA, c.ValueB = keyA, keyB, valueA, valueB
			}
		}
	}
	r.columns = c
}

func (r *cacheRun) fillReport(to *Report) {
	if len(r.result.Steps) == 0 {
		return
	}
	result := r.result
	result.Steps, result.Tokens = slices.Clip(result.Steps), slices.Clip(result.Tokens)
	result.Columns = r.columns
	result.Fits = result.fits()
	last := result.Steps[len(result.Steps)-1].Recomputed
	result.Attention = []Share{{len(result.Steps), float64(last.TotalParts.Attention) / float64(last.TotalMultAdds)}}
	for _, n := range []int{512, 4096} {
		result.Attention = append(result.Attention, attentionShare(result.Shape, len(result.Prompt), n))
	}
	to.Result, to.Noise = &result, noise(r.spreads)
}

// attentionShare returns attention's share of the cost of generating n tokens after m positions
// without a cache.
func attentionShare(s cost.Shape, m, n int) Share {
	_, whole := s.Generate(m, n)
	return Share{n, float64(whole.Attention) / float64(whole.Total())}
}

// tables returns the raw rows.
func (c *Cache) tables() []Table {
	names := []any{"step", "", "positions", "", "token", "", "same_logits", ""}
	for _, way := range []string{"cached.", "recomputed."} {
		names = append(names, way+"read", "positions", way+"projections", "", way+"feed_forward", "",
			way+"attention", "", way+"output", "",
			way+"mult_adds", "", way+"formula", "", way+"median", "ms", way+"lower", "ms", way+"upper", "ms",
			way+"so_far", "", way+"so_far.median", "ms", way+"so_far.lower", "ms", way+"so_far.upper", "ms")
	}
	steps := Table{Name: "steps", Title: Text("lab.cache.steps"), Columns: columns(names...)}
	for _, s := range c.Steps {
		cells := []any{s.Step, s.Positions, s.Token.Text, s.SameLogits}
		for _, x := range []CacheSide{s.Cached, s.Recomputed} {
			cells = append(cells, x.Read, x.Parts.Projections, x.Parts.FeedForward, x.Parts.Attention, x.Parts.Output,
				x.MultAdds, x.Formula, x.Ms.Median, x.Ms.Q1, x.Ms.Q3, x.TotalMultAdds, x.TotalMs.Median, x.TotalMs.Q1,
				x.TotalMs.Q3)
		}
		steps.add(cells...)
	}
	fits := Table{
		Name: "fits", Title: Text("lab.cache.fits"),
		Columns: columns(
			"curve", "", "of", "", "variable", "", "power", "", "fitted", "", "formula", "", "share_at_end", "",
			"R²", "", "in_letters", "",
		),
	}
	for _, f := range c.Fits {
		for _, p := range f.Parts {
			var formula any
			if p.Formula != nil {
				formula = *p.Formula
			}
			fits.add(f.Name, f.Of, f.Variable, p.Power, p.Fitted, formula, p.Share, f.R2, p.Term)
		}
	}
	column := Table{
		Name: "column", Title: Text(
			"lab.cache.column", "n", fmt.Sprint(c.Columns.Position), "block", fmt.Sprint(c.Columns.Block),
		),
		Columns: columns(
			"index", "", "key_cached", "", "key_recomputed", "", "value_cached", "", "value_recomputed", "",
		),
	}
	for i := range c.Columns.KeyA {
		column.add(
			i, float64(c.Columns.KeyA[i]), float64(c.Columns.KeyB[i]), float64(c.Columns.ValueA[i]),
			float64(c.Columns.ValueB[i]),
		)
	}
	logits := Table{
		Name: "logits", Title: Text("lab.cache.logits"),
		Columns: columns(
			"token", "", "id", "", "cached", "", "recomputed", "", "cached_bits", "", "recomputed_bits", "",
		),
	}
	for _, x := range c.Logits {
		logits.add(x.Token.Text, x.Token.ID, float64(x.Cached), float64(x.Recomputed), x.CachedBits, x.RecomputedBits)
	}
	return []Table{steps, fits, column, logits}
}
