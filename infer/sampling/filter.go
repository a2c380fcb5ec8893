package sampling

import "slices"

// Distribution is everything stages 3 to 5 know about one step, over the
// whole vocabulary. Ranks count from 0, the most probable token. It owns its
// slices and is not changed after [Filter] has made it.
type Distribution struct {
	Settings Settings
	Order    []int32   // [vocab] token id by rank
	P        []float64 // [vocab] probability by token id, after the temperature
	Cum      []float64 // [vocab] Σ p of ranks 0 to r
	// [vocab+1] Σ p of ranks r to the last, from the least probable up, so that small
	// ones are not lost beside large ones
	Tail   []float64
	MaxZ   float64 // the largest logit
	SumExp float64 // Σ e^{(z−max)/T}
	Keep   int     // how many tokens are kept
	Mass   float64 // Σ p of the kept tokens
	Cuts   Cuts    // the filters that are on, in their order; greedy is not among them
	// Fallback says that the filters keep no token in common, so that the most
	// probable one stays although some of them cut it.
	Fallback bool

	context Context
	scores  Scores
	cuts    Cuts // Cuts, and before them greedy where it is on
	kept    mask
	// Where the kept are not the most probable ones: their ranks, Σ p of them up to
	// each, and Σ p of those from each on [Keep+1].
	ranks     []int32
	cum, tail []float64
}

// Decide runs stages 3 and 4 on logits z [vocab], for rules that read nothing
// but scores.
func Decide(z []float32, s Settings) *Distribution { return Context{}.Decide(z, s) }

// Decide runs the chain on logits z [vocab].
func (c Context) Decide(z []float32, s Settings) *Distribution {
	scores := c.Score(z, s)
	p, max, sum := scores.Softmax()
	return c.Filter(scores, p, max, sum, Rank(scores.Z), s)
}

// Filter runs the rules that cut on p [vocab] (by token id, with max and sum as
// [Scores.Softmax] returned them); order is [Rank] of the same scores. Each is
// measured on p before any cut, and what all of them keep is kept; where that is
// nothing, the most probable token is. Filter keeps what it is given without
// copying.
func (c Context) Filter(scores Scores, p []float64, max, sum float64, order []int32, s Settings) *Distribution {
	d := &Distribution{Settings: s, Order: order, P: p, MaxZ: max, SumExp: sum, context: c, scores: scores}
	d.Cum, d.Tail = make([]float64, len(order)), make([]float64, len(order)+1)
	var total float64
	for r, id := range order {
		d.Tail[r] = p[id]
		total += p[id]
		d.Cum[r] = total
	}
	total = 0
	for r := len(order) - 1; r >= 0; r-- {
		total += d.Tail[r]
		d.Tail[r] = total
	}
	d.cuts, _ = c.cut(d.uncut(), s, OnUncut)
	d.Cuts = d.cuts
	if s.Greedy() {
		d.Cuts = d.cuts[1:]
	}
	d.kept, d.Fallback = d.common(d.cuts)
	d.Keep = d.kept.n
	d.lay()
	return d
}

// Score is a token's score after the rules that change scores, before the
// temperature.
func (d *Distribution) Score(id int) float32 { return d.scores.Z[id] }

// Entropy is that of P, in bits.
func (d *Distribution) Entropy() float64 {
	return SoftmaxEntropy(d.scores.Z, d.scores.T, d.P, d.MaxZ, d.SumExp)
}

// uncut is the field before any cut.
func (d *Distribution) uncut() field { return field{d.scores.Z, d.Order, d.P, d.Cum, 1} }

// common is what rules have in common. Where that is nothing that can be drawn, it is the most
// probable token, and fallback is set; greedy keeps that token whatever others do.
func (d *Distribution) common(cuts Cuts) (kept mask, fallback bool) {
	kept = mask{n: len(d.Order)}
	for _, c := range cuts {
		kept = kept.and(c.mask, len(d.Order))
	}
	if kept.n == 0 || d.empty(kept) {
		return mask{n: 1}, !d.Settings.Greedy()
	}
	return kept, false
}

// empty reports whether none of the tokens that are kept has a probability above 0.
// (The most probable one has.)
func (d *Distribution) empty(kept mask) bool {
	if kept.some == nil {
		return false
	}
	for r, has := range kept.some {
		if has && d.P[d.Order[r]] > 0 {
			return false
		}
	}
	return true
}

// Idle are the filters that are on and cut nothing that the others do not cut. Of
// two that cut the same the first in order counts as the one that cuts; under
// greedy all are idle.
func (d *Distribution) Idle() map[Rule]bool {
	idle := map[Rule]bool{}
	on := d.cuts
	for i := len(on) - 1; i >= 0; i-- {
		if on[i].Rule == RuleGreedy {
			continue
		}
		others := slices.Concat(on[:i], on[i+1:])
		if kept, _ := d.common(others); kept.same(d.kept) {
			idle[on[i].Rule], on = true, others
		}
	}
	return idle
}

// lay puts the kept tokens end to end.
func (d *Distribution) lay() {
	if d.kept.some == nil {
		d.Mass = d.Cum[d.Keep-1]
		return
	}
	d.ranks, d.cum, d.tail = make([]int32, 0, d.Keep), make([]float64, 0, d.Keep), make([]float64, d.Keep+1)
	for r, kept := range d.kept.some {
		if kept {
			d.Mass += d.P[d.Order[r]]
			d.ranks, d.cum = append(d.ranks, int32(r)), append(d.cum, d.Mass)
		}
	}
	var total float64
	for i := d.Keep - 1; i >= 0; i-- {
		total += d.P[d.Order[d.ranks[i]]]
		d.tail[i] = total
	}
}

// Leading reports whether the kept tokens are the most probable ones, ranks 0 to
// Keep−1, so that a line can be drawn below them.
func (d *Distribution) Leading() bool { return d.ranks == nil }

// Stays reports whether the token of rank r is kept.
func (d *Distribution) Stays(r int) bool { return d.kept.has(r) }

// KeptRank is the rank of the i-th token that is kept, from 0.
func (d *Distribution) KeptRank(i int) int {
	if d.ranks == nil {
		return i
	}
	return int(d.ranks[i])
}

// keptBefore is how many of the tokens more probable than rank r are kept.
func (d *Distribution) keptBefore(r int) int {
	if d.ranks == nil {
		return min(r, d.Keep)
	}
	i, _ := slices.BinarySearch(d.ranks, int32(r))
	return i
}

// KeptIn is how many of the ranks from, from+1, ... to−1 are kept, and Σ p of them.
func (d *Distribution) KeptIn(from, to int) (n int, p float64) {
	i, j := d.keptBefore(from), d.keptBefore(to)
	if d.ranks == nil {
		return j - i, d.Tail[i] - d.Tail[j]
	}
	return j - i, d.tail[i] - d.tail[j]
}

// Reach is how many tokens a filter alone keeps: all, where it is off.
func (d *Distribution) Reach(rule Rule) int { return d.Cuts.Reach(rule, len(d.Order)) }

// CutBy returns the first rule that cuts rank r, or [RuleNone] if it is kept.
func (d *Distribution) CutBy(r int) Rule { return d.Why(r).Rule }

// Why is the reason for which rank r is cut; its rule is [RuleNone] where it is
// kept.
func (d *Distribution) Why(r int) Reason {
	if d.kept.has(r) {
		return Reason{}
	}
	for _, c := range d.cuts {
		if !c.mask.has(r) {
			why := chain[c.place].reason(d, c.mask, r)
			why.Rule = c.Rule
			return why
		}
	}
	panic("sampling: a token is cut by no rule")
}

// Keeps reports whether a token stays.
func (d *Distribution) Keeps(id int32) bool {
	if d.ranks == nil {
		return slices.Contains(d.Order[:d.Keep], id)
	}
	return d.kept.has(d.RankOf(id))
}

// Q returns the renormalised probability of rank r: p / mass kept, or 0 if
// the token was cut.
func (d *Distribution) Q(r int) float64 {
	if !d.kept.has(r) {
		return 0
	}
	return d.P[d.Order[r]] / d.Mass
}

// Segment returns where the kept token of rank r lies on the strip from 0 to
// 1: it is drawn when from ≤ u < to.
func (d *Distribution) Segment(r int) (from, to float64) {
	if d.ranks == nil {
		return segment(d.Cum, d.Mass, r, d.Keep)
	}
	return segment(d.cum, d.Mass, d.keptBefore(r), d.Keep)
}

// Draw returns the rank on whose segment u in [0, 1) falls. Under greedy it
// is 0 whatever u is.
func (d *Distribution) Draw(u float64) int { return d.KeptRank(d.DrawKept(u)) }

// DrawKept is [Distribution.Draw], counted among the kept tokens, from 0.
func (d *Distribution) DrawKept(u float64) int {
	if d.ranks == nil {
		return draw(d.Cum, d.Mass, u, d.Keep)
	}
	return draw(d.cum, d.Mass, u, d.Keep)
}

// KeptQ is [Distribution.Q] of the i-th token that is kept, from 0.
func (d *Distribution) KeptQ(i int) float64 { return d.P[d.Order[d.KeptRank(i)]] / d.Mass }

// RankOf returns the rank of a token id. It searches the order.
func (d *Distribution) RankOf(id int32) int {
	return slices.Index(d.Order, id)
}

// KeepRenormalising returns how many tokens stay when each rule that cuts is
// measured [OnRest]. Other libraries chain theirs so, in orders of their own.
func (d *Distribution) KeepRenormalising() int {
	_, left := d.context.cut(d.uncut(), d.Settings, OnRest)
	return len(left.ids)
}
