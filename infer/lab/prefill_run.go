package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// prefillRun is a run of the prefill lab.
type prefillRun struct {
	*running
	m       *infer.Model
	meter   *meter
	v       terms.Values
	ids     []int // the prompt's tokens
	lengths []int
	cache   *infer.Cache
	times   [][]time.Duration // by length
	counted []int64           // multiply-adds by length
	text    timedText
	result  Prefill
}

// timedText is a text that was generated repeatedly, with the times of its turns.
type timedText struct {
	steps []*infer.Step
	turns [][]time.Duration // by step
}

// lengthsFor divides the requested prompt lengths into those that fit in the context and those that
// do not.
func (e Env) lengthsFor(v terms.Values) (fit, tooLong []int, err error) {
	context, l := e.Target.Config().Context, e.words()
	for _, n := range v.List("lengths") {
		if n <= context {
			fit = append(fit, n)
		} else {
			tooLong = append(tooLong, n)
		}
	}
	if fit == nil {
		return nil, nil, terms.NewRangeError(
			"lengths", v["lengths"],
			l.T("lab.refused.context", "tokens", l.T("lab.refused.tokens", "n", fmt.Sprint(context))),
		)
	}
	slices.Sort(fit)
	return fit, tooLong, nil
}

// Estimate implements [Lab].
func (prefillLab) Estimate(env Env, v terms.Values) (Estimate, error) {
	prompt, tokens, err := env.room(v, "tokens")
	if err != nil {
		return Estimate{}, err
	}
	lengths, _, err := env.lengthsFor(v)
	if err != nil {
		return Estimate{}, err
	}
	all, err := prefillWork(env, v)
	if err != nil {
		return Estimate{}, err
	}
	return guess(
		env, all, v.Int("repeats")*(tokens+len(lengths)),
		env.Target.Shape().KVBytes(max(prompt+tokens, lengths[len(lengths)-1]), 4),
	), nil
}

// prefillWork returns the work of a run with the given values.
func prefillWork(env Env, v terms.Values) (work, error) {
	prompt, tokens, err := env.room(v, "tokens")
	if err != nil {
		return work{}, err
	}
	lengths, _, err := env.lengthsFor(v)
	if err != nil {
		return work{}, err
	}
	s := env.Target.Shape()
	once := written(s, prompt, tokens)
	for _, n := range lengths {
		once.passes += s.Pass(n).Total()
	}
	return once.times(v.Int("repeats")), nil
}

// Run implements [Lab].
func (prefillLab) Run(ctx context.Context, env Env, v terms.Values, progress func(Progress)) (*Report, error) {
	_, tokens, err := env.room(v, "tokens")
	if err != nil {
		return nil, err
	}
	r := &prefillRun{running: start(ctx, "prefill", env, v, progress), v: v}
	if r.lengths, r.result.LeftOut, err = env.lengthsFor(v); err != nil {
		return nil, err
	}
	r.m, r.meter = env.target()
	r.fill = r.fillReport
	repeats := v.Int("repeats")
	r.of = repeats * (len(r.lengths) + 1)
	r.ids = r.m.Encode(v["prompt"])
	r.result.Prompt, r.result.Stream, r.result.WeightBytes = len(r.ids), v.Bool("stream"), r.m.WeightBytes()
	r.cache, r.times, r.counted = r.m.NewCache(), make([][]time.Duration, len(r.lengths)), make([]int64, len(r.lengths))
	if err := r.once(len(r.lengths)-1, false); err != nil { // grow the cache and touch memory
		return r.end(err)
	}
	for i := range repeats {
		for at, n := range r.lengths {
			if err := r.once(at, true); err != nil {
				return r.end(err)
			}
			r.tell(1, Text("lab.prefill.run", "tokens", fmt.Sprint(n), "n", fmt.Sprint(i+1), "all",
				fmt.Sprint(repeats)))
		}
		if err := r.write(tokens); err != nil {
			return r.end(err)
		}
		r.result.Repeats = i + 1
		r.tell(1, Text(
			"lab.prefill.run.text", "tokens", fmt.Sprint(tokens), "n", fmt.Sprint(i+1), "all", fmt.Sprint(repeats),
		))
	}
	return r.end(nil)
}

// once reads a prompt of one of the lengths and draws its first token.
func (r *prefillRun) once(at int, keep bool) error {
	ids := make([]int, r.lengths[at])
	for i := range ids {
		ids[i] = r.ids[i%len(r.ids)] // the prompt repeated
	}
	r.cache.Truncate(0)
	last, z := make([]float32, r.m.Config().Width), make([]float32, r.m.Config().Vocab)
	before := r.meter.tally
	clock := watchOf(r.meter)
	if _, err := r.m.ForwardTo(r.ctx, r.cache, ids, last); err != nil {
		return err
	}
	if _, err := r.m.LogitsTo(r.ctx, last, z); err != nil {
		return err
	}
	seed := uint64(r.v.Float("seed"))
	sampling.Context{Text: ids, Seed: seed, Step: 1}.Decide(z, samplingOf(r.v)).Draw(sampling.U(seed, 1))
	took := clock.took()
	if keep {
		r.times[at] = append(r.times[at], took)
		r.counted[at] = minus(r.meter.parts, before.parts).Total()
	}
	return nil
}

// write generates the text once more and times every turn of the loop.
func (r *prefillRun) write(tokens int) error {
	loop, err := infer.NewLoop(r.m, r.v["prompt"], settingsOf(r.v, tokens))
	if err != nil {
		return err
	}
	var turns []time.Duration
	for {
		clock := watchOf(r.meter)
		_, err := turn(r.ctx, loop)
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		turns = append(turns, clock.took())
	}
	r.text.steps = loop.Steps()
	if r.text.turns == nil {
		r.text.turns = make([][]time.Duration, len(turns))
	}
	for i, t := range turns {
		r.text.turns[i] = append(r.text.turns[i], t)
	}
	return nil
}

func (r *prefillRun) fillReport(to *Report) {
	if len(r.times[0]) == 0 {
		return
	}
	result := r.result
	var spreads []Spread
	for i, n := range r.lengths {
		if len(r.times[i]) == 0 {
			break
		}
		p := PrefillPoint{
			Tokens: n, Ms: spreadOfTimes(r.times[i]), MultAdds: r.counted[i], Formula: r.m.Shape().Pass(n).Total(),
		}
		p.PerToken = p.Ms.Median / float64(n)
		result.Points, spreads = append(result.Points, p), append(spreads, p.Ms)
	}
	result.line()
	spreads = append(spreads, result.arrivals(r.m, r.text)...)
	result.compare(r.m, r.text)
	to.Result, to.Noise = &result, noise(spreads)
}

// line fits a straight line to the points.
func (p *Prefill) line() {
	last := p.Points[len(p.Points)-1]
	if p.PerToken = last.PerToken; len(p.Points) < 2 {
		return
	}
	var x, y []float64
	for _, q := range p.Points {
		x, y = append(x, float64(q.Tokens)), append(y, q.Ms.Median)
	}
	a, b := stat.LinearRegression(x, y, nil, false)
	if b > 0 { // otherwise noise exceeds the effect of the length
		p.Constant, p.PerToken = a, b
		p.R2 = finiteOr(stat.RSquared(x, y, nil, a, b), 0)
	}
}

// arrivals adds up the median times of the turns, and returns the spread of each turn.
func (p *Prefill) arrivals(m *infer.Model, text timedText) []Spread {
	var spreads []Spread
	var gaps []float64
	at := 0.0
	for i, s := range text.steps {
		spread := spreadOfTimes(text.turns[i])
		spreads = append(spreads, spread)
		at += spread.Median
		p.Arrivals = append(
			p.Arrivals, Arrival{Step: s.N, Token: tokenOf(m, s.Chosen), At: at, Gap: spread.Median, Text: s.Text},
		)
		if i == 0 {
			p.First = spread.Median
			continue
		}
		for _, t := range text.turns[i] {
			gaps = append(gaps, milliseconds(t))
		}
	}
	p.Gaps = spreadOf(gaps)
	p.Whole = Wait{First: at, Last: at}
	p.Streamed = Wait{First: at, Last: at}
	if i := slices.IndexFunc(p.Arrivals, func(a Arrival) bool { return a.Text != "" }); i >= 0 {
		p.Streamed.First = p.Arrivals[i].At
	}
	return spreads
}

// compare compares the time to generate a token (the median gap) with the time to read a token (the
// slope of the line fitted to the prompt lengths).
func (p *Prefill) compare(m *infer.Model, text timedText) {
	first, last := p.Points[0], p.Points[len(p.Points)-1]
	p.Input.Ms, p.Input.MultAdds = p.PerToken, float64(last.MultAdds)/float64(last.Tokens)
	if last.Tokens > first.Tokens {
		p.Input.MultAdds = float64(last.MultAdds-first.MultAdds) / float64(last.Tokens-first.Tokens)
	}
	if p.Gaps.N == 0 {
		return
	}
	var work []float64
	var passes []time.Duration
	for _, s := range text.steps[1:] {
		work = append(work, float64(s.Blocks.Plus(s.Output).Total()))
		passes = append(passes, s.Took[infer.KindForward]+s.Took[infer.KindLogits])
	}
	p.OutputPass = spreadOfTimes(passes).Median
	p.Output = PerToken{Ms: p.Gaps.Median, MultAdds: mean(work)}
	for _, t := range []*PerToken{&p.Input, &p.Output} {
		t.Rate = finiteOr(t.MultAdds/t.Ms/1e6, 0) // 10⁻³ s per ms, in units of 10⁹ per second
	}
	p.Ratio = finiteOr(p.Output.Ms/p.Input.Ms, 0)
	p.WorkRatio = finiteOr(p.Output.MultAdds/p.Input.MultAdds, 0)
}

// tables returns the raw rows.
func (p *Prefill) tables() []Table {
	points := Table{
		Name: "prompts", Title: Text("lab.prefill.prompts"),
		Columns: columns(
			"prompt", "tokens", "median", "ms", "lower", "ms", "upper", "ms", "a_token", "ms", "mult_adds", "",
			"formula", "",
		),
	}
	for _, x := range p.Points {
		points.add(x.Tokens, x.Ms.Median, x.Ms.Q1, x.Ms.Q3, x.PerToken, x.MultAdds, x.Formula)
	}
	arrivals := Table{
		Name: "arrivals", Title: Text("lab.prefill.arrivals"),
		Columns: columns("step", "", "token", "", "gap", "ms", "at", "ms", "text_to_show", ""),
	}
	for _, a := range p.Arrivals {
		arrivals.add(a.Step, a.Token.Text, a.Gap, a.At, a.Text)
	}
	waits := Table{
		Name: "waits", Title: Text("lab.prefill.waits"),
		Columns: columns("answer", "", "first_words", "ms", "all_of_it", "ms"),
	}
	waits.add(Text("lab.prefill.waits.streamed"), p.Streamed.First, p.Streamed.Last)
	waits.add(Text("lab.prefill.waits.whole"), p.Whole.First, p.Whole.Last)
	costs := Table{
		Name: "tokens", Title: Text("lab.prefill.tokens"),
		Columns: columns("token", "", "time", "ms", "mult_adds", "", "rate", "rate"),
	}
	costs.add(Text("lab.prefill.tokens.read"), p.Input.Ms, p.Input.MultAdds, p.Input.Rate)
	costs.add(Text("lab.prefill.tokens.written"), p.Output.Ms, p.Output.MultAdds, p.Output.Rate)
	return []Table{points, arrivals, waits, costs}
}
