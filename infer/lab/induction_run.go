package lab

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/why"
)

// rowLength returns the length of each row and the number of rows.
func (e Env) rowLength(v terms.Values) (length, rows int, err error) {
	m, l := e.Target, e.words()
	own, err := e.ownRow(v)
	switch {
	case err != nil:
		return 0, 0, err
	case own != nil:
		return len(own), 1, nil
	}
	if length = v.Int("length"); length > why.LongestRow(m) {
		return 0, 0, terms.NewRangeError(
			"length", l.Counted(length, "token"),
			l.T("lab.refused.length", "most", fmt.Sprint(why.LongestRow(m))),
		)
	}
	return length, v.Int("rows"), nil
}

// Estimate implements [Lab].
func (inductionLab) Estimate(env Env, v terms.Values) (Estimate, error) {
	m := env.Target
	length, rows, err := env.rowLength(v)
	if err != nil {
		return Estimate{}, err
	}
	c, positions := m.Config(), 2*length+1
	pass, _ := m.Shape().Generate(positions, 1)
	scores := int64(positions) * int64(c.Width) * int64(c.Vocab)
	passes := int64(rows) * int64(1+2*min(v.Int("off"), c.Layers*c.Heads))
	memory := int64(rows) * int64(positions) * int64(c.Layers) * int64(positions*c.Heads+4*c.Width) * 4
	return guess(env, work{passes: passes * (pass.Total() + scores)}, 0, memory), nil
}

// inductionRun is a run of the induction lab.
type inductionRun struct {
	*running
	texts  *why.Repeats
	result Induction
}

// Run implements [Lab].
func (inductionLab) Run(ctx context.Context, env Env, v terms.Values, progress func(Progress)) (*Report, error) {
	m := env.Target
	length, rows, err := env.rowLength(v)
	if err != nil {
		return nil, err
	}
	r := &inductionRun{running: start(ctx, "induction", env, v, progress)}
	r.fill = r.fillReport
	r.result = Induction{Rows: rows, Passing: why.Passing, Layers: m.Config().Layers}
	own, _ := env.ownRow(v) // rowLength has checked for an error
	list := [][]int{own}
	if r.result.Own = own != nil; !r.result.Own {
		list = nil
		rng := rand.New(rand.NewPCG(uint64(v.Float("seed")), 0))
		for range rows {
			list = append(list, why.RandomRow(rng, m, length))
		}
	}
	r.result.Row = tokensOf(m, list[0])
	off := min(v.Int("off"), m.Config().Layers*m.Config().Heads/2)
	r.of = 1 + 2*off
	if r.texts, err = why.Repeat(ctx, m, list); err != nil {
		return r.end(err)
	}
	r.measure()
	r.tell(1, Text("lab.induction.run.heads"))
	return r.end(r.switchOff(off))
}

// measure computes where each head attends.
func (r *inductionRun) measure() {
	previous, start := r.texts.Heads(why.HabitPrevious), r.texts.Heads(why.HabitStart)
	for i, h := range r.texts.Heads(why.HabitInduction) {
		r.result.Heads = append(r.result.Heads, HeadRead{
			Part: h.Part.String(), Block: h.Part.Block, Head: h.Part.Head, Induction: h.Score,
			Previous: previous[i].Score, Start: start[i].Score,
		})
		if h.Pass {
			r.result.Pass++
		}
	}
	r.result.First, r.result.Second = r.texts.First, r.texts.Second
}

// switchOff measures the second reading without each of the n strongest and n weakest heads in
// turn.
func (r *inductionRun) switchOff(n int) error {
	heads := r.texts.Heads(why.HabitInduction)
	slices.SortStableFunc(heads, func(a, b why.Measured) int { return cmp.Compare(b.Score, a.Score) })
	for i := range 2 * n {
		head, to := heads[i%n], &r.result.Strong
		if i >= n {
			head, to = heads[len(heads)-1-i%n], &r.result.Weak
		}
		second, err := r.texts.Without(r.ctx, head.Part)
		if err != nil {
			return err
		}
		*to = append(*to, HeadOff{head.Part.String(), head.Score, second})
		r.tell(1, Text("lab.induction.run.without", "head", HeadName(head.Part.String())))
	}
	return nil
}

func (r *inductionRun) fillReport(to *Report) {
	if len(r.result.Heads) == 0 {
		return
	}
	result := r.result
	result.Strong, result.Weak = slices.Clone(r.result.Strong), slices.Clone(r.result.Weak)
	to.Result = &result
}
