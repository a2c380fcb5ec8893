package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/cost"
)

// Pair is what a draft and a target take on this machine, in the terms of
// [cost.SpeedUp]. All three are medians of rounds that take turns, each a pass
// with its scores behind Positions of text.
type Pair struct {
	Gamma     int           `json:"gamma"`
	Positions int           `json:"positions"`
	Rounds    int           `json:"rounds"`
	Step      time.Duration `json:"step_ns"`   // one token by the target
	Draft     time.Duration `json:"draft_ns"`  // one token by the draft
	Verify    time.Duration `json:"verify_ns"` // γ + 1 tokens by the target in one pass
}

// C is the cost of a step of the draft in steps of the target: c of the formula.
func (p Pair) C() float64 { return float64(p.Draft) / float64(p.Step) }

// V is the cost of a verification in steps of the target: v of the formula.
func (p Pair) V() float64 { return float64(p.Verify) / float64(p.Step) }

// SpeedUp is what speculation would gain with these costs where a draft is
// accepted with probability alpha.
func (p Pair) SpeedUp(alpha float64) float64 { return cost.SpeedUp(alpha, p.Gamma, p.C(), p.V()) }

// MeasurePair measures the two models with gamma drafted tokens behind a text of
// that many positions, 1 or more, for some time, at least one round. Ending ctx
// ends it with ctx's error. Models that are not a pair give the error of
// [infer.CheckPair].
func MeasurePair(
	ctx context.Context, target, draft *infer.Model, gamma, positions int, atLeast time.Duration,
) (Pair, error) {
	p := Pair{Gamma: gamma, Positions: positions}
	if err := infer.CheckPair(target, draft); err != nil {
		return p, err
	}
	most := min(target.Config().Context, draft.Config().Context)
	if gamma < 1 || gamma > infer.MaxGamma || positions < 1 || positions+gamma+1 > most {
		return p, fmt.Errorf("%d drafted tokens behind %d positions; it must be 1 to %d tokens and at least one "+
			"position, within the context of %d",
			gamma, positions, infer.MaxGamma, most)
	}
	var passes []func(context.Context) error
	for _, c := range []struct {
		m *infer.Model
		n int
	}{{target, 1}, {draft, 1}, {target, gamma + 1}} {
		once, err := pass(ctx, c.m, c.n, positions)
		if err != nil {
			return p, err
		}
		passes = append(passes, once)
	}
	took := make([][]time.Duration, len(passes))
	for start := time.Now(); p.Rounds == 0 || time.Since(start) < atLeast; p.Rounds++ {
		for i, once := range passes {
			began := time.Now()
			if err := once(ctx); err != nil {
				return p, err
			}
			took[i] = append(took[i], time.Since(began))
		}
	}
	for i, to := range []*time.Duration{&p.Step, &p.Draft, &p.Verify} {
		slices.Sort(took[i])
		*to = took[i][len(took[i])/2]
	}
	return p, nil
}

// pass reads a text and returns a function that reads n tokens behind it, scores
// all of them and forgets them.
func pass(ctx context.Context, m *infer.Model, n, positions int) (func(context.Context) error, error) {
	ids := make([]int, positions+n)
	for i := range ids {
		ids[i] = i * 7 % m.Config().Vocab
	}
	d, cache := m.Config().Width, m.NewCache()
	out, z := make([]float32, n*d), make([]float32, n*m.Config().Vocab)
	if _, err := m.ForwardTo(ctx, cache, ids[:positions], out[:d]); err != nil {
		return nil, err
	}
	once := func(ctx context.Context) error {
		defer cache.Truncate(positions)
		if _, err := m.ForwardTo(ctx, cache, ids[positions:], out); err != nil {
			return err
		}
		_, err := m.LogitsTo(ctx, out, z)
		return err
	}
	return once, once(ctx) // caches grow, pages are touched
}
