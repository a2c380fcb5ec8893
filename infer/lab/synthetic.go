package lab

import (
	"context"

	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/sampling"
)

// synthesize simulates rounds of speculative sampling with two models that each make the same
// prediction at every position: the draft predicts q and the target p, both [vocab]. Acceptance is
// then independent, with probability α = Σ min(p, q) each time, and rounds must yield E(α, γ)
// tokens on average. It does the same arithmetic as the engine: the same acceptance rule, the same
// residual, and the same u for each step and purpose.
func synthesize(ctx context.Context, p, q []float64, gamma, rounds int, seed uint64) (Synthetic, error) {
	s := Synthetic{Gamma: gamma, Alpha: overlap(p, q)}
	target, draft := sampling.FromVector(p), sampling.FromVector(q)
	residual, mass := sampling.Residual(p, q)
	rest := sampling.FromVector(residual)
	counts := make([]int, len(p))
	step, judged, accepted := 0, 0, 0
	for s.Rounds < rounds {
		if s.Rounds%256 == 0 && ctx.Err() != nil {
			break
		}
		refused := false
		for i := 0; i < gamma && !refused; i++ {
			step++
			x := draft.Order[draft.Draw(sampling.UFor(seed, step, sampling.ForDraft))]
			judged++
			if sampling.UFor(seed, step, sampling.ForAccept) < sampling.Acceptance(p[x], q[x]) {
				accepted++
			} else {
				refused = true
				x = rest.Order[rest.Draw(sampling.UFor(seed, step, sampling.ForDraw))]
			}
			counts[x]++
		}
		if !refused {
			step++
			counts[target.Order[target.Draw(sampling.UFor(seed, step, sampling.ForDraw))]]++
		}
		s.Rounds++
	}
	if mass == 0 {
		s.Alpha = 1
	}
	if s.Rounds == 0 {
		return s, ctx.Err()
	}
	s.Measured = ratio(accepted, judged)
	s.PerPass, s.Expected = ratio(step, s.Rounds), cost.ExpectedTokens(s.Alpha, gamma)
	s.Off = s.PerPass/s.Expected - 1
	byRank := make([]int, len(p))
	for rank, id := range target.Order {
		byRank[rank] = counts[id]
	}
	s.Distance = distance(byRank, step, target.Q)
	s.DistanceExpected = expectedDistance(step, target.Q, len(p))
	return s, ctx.Err()
}

// overlap returns Σ min(p, q): the probability that a proposal drawn from q is accepted.
func overlap(p, q []float64) float64 {
	sum := 0.0
	for i := range p {
		sum += min(p[i], q[i])
	}
	return min(sum, 1)
}
