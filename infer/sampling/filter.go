package sampling

import "slices"

// Distribution holds the results of stages 3 to 5 for one step, over the whole vocabulary. Ranks
// are numbered from 0, the most probable token. A Distribution owns its slices and is not modified
// after [Filter] has created it.
type Distribution struct {
	Settings Settings
	Order    []int32   // [vocab] token id by rank
	P        []float64 // [vocab] probability by token id, after the temperature
	Cum      []float64 // [vocab] Σ p of ranks 0 to r
	// [vocab+1] Σ p from rank r to the last rank. The sum starts with the least probable token, so
	// small terms are not lost next to large ones.
	Tail   []float64
	MaxZ   float64 // the largest logit
	SumExp float64 // Σ e^{(z−max)/T}
	Keep   int     // number of kept tokens
	Mass   float64 // Σ p of the kept tokens
	Cuts   Cuts    // the filters that are on, in order, without the greedy rule
	// Fallback is set if no token passes all filters. The most probable token is then kept,
	// although some filters cut it.
	Fallback bool

	context Context
	scores  Scores
	cuts    Cuts // Cuts, and the greedy rule if it is on
	kept    mask
	// The weights with which the kept tokens are drawn: P or, if the temperature comes after a rule
	// that cuts or there is a grammar, the softmax over the scores of the remaining tokens. weight
	// is the sum of these weights over the kept tokens.
	w      []float64 // [vocab] by token id
	weight float64
	hot    bool // w is not P
	// These fields are set only if the kept tokens are not the most probable ones, or if w is not
	// P. They hold the ranks of the kept tokens, the sums of w up to each of these tokens, and the
	// sums [Keep+1] of w and of p from each of them to the last.
	ranks             []int32
	cum, tail, tailOf []float64
}

// Decide runs stages 3 and 4 on logits z [vocab], for rules that use only scores.
func Decide(z []float32, s Settings) *Distribution { return Context{}.Decide(z, s) }

// Decide runs the chain on logits z [vocab].
func (c Context) Decide(z []float32, s Settings) *Distribution {
	scores := c.Score(z, s)
	p, max, sum := scores.Softmax()
	return c.Filter(scores, p, max, sum, Rank(scores.Z), s)
}

// Filter applies the cutting rules to p [vocab], by token id. p, max and sum are the results of
// [Scores.Softmax], and order is [Rank] of the same scores. Filter keeps the tokens that pass all
// rules or, if there are none, the most probable token. Filter retains its arguments without
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
	cuts, left := c.cut(d.uncut(), s)
	d.cuts, d.w, d.hot = cuts, left.p, s.HeatsLate() || cuts.Reach(RuleGrammar, len(order)) < len(order)
	d.Cuts = slices.DeleteFunc(slices.Clone(cuts), func(cut Cut) bool { return cut.Rule == RuleGreedy })
	d.kept, d.Fallback = d.common(d.cuts)
	d.Keep = d.kept.n
	d.lay()
	return d
}

// Score returns a token's score after the rules that change scores, before the temperature.
func (d *Distribution) Score(id int) float32 { return d.scores.Z[id] }

// Entropy returns the entropy of P, in bits.
func (d *Distribution) Entropy() float64 {
	return SoftmaxEntropy(d.scores.Z, d.scores.T, d.P, d.MaxZ, d.SumExp)
}

// uncut returns the field before any cut.
func (d *Distribution) uncut() field { return field{d.scores.Z, d.Order, nil, d.P, d.Cum, 1} }

// common returns the tokens that pass all rules. If none of these can be drawn, it returns the most
// probable token that the grammar allows, and fallback is true. Greedy keeps that token regardless
// of the other rules.
func (d *Distribution) common(cuts Cuts) (kept mask, fallback bool) {
	kept = mask{n: len(d.Order)}
	for _, c := range cuts {
		kept = kept.and(c.mask, len(d.Order))
	}
	if kept.n == 0 || d.empty(kept) {
		return first(cuts, len(d.Order)), !d.Settings.Greedy()
	}
	return kept, false
}

// empty reports whether none of the kept tokens can be drawn. (The most probable token can always
// be drawn.)
func (d *Distribution) empty(kept mask) bool {
	if kept.some == nil {
		return false
	}
	for r, has := range kept.some {
		if has && d.w[d.Order[r]] > 0 {
			return false
		}
	}
	return true
}

// Idle returns the filters that are on but cut only tokens that other filters also cut. If two
// filters cut the same tokens, only the later of the two is idle; under greedy decoding, all
// filters are. If rules are measured on the rest, a rule is idle if it cuts nothing from the rest.
func (d *Distribution) Idle() map[Rule]bool {
	idle := map[Rule]bool{}
	on := d.cuts
	for i := len(on) - 1; i >= 0; i-- {
		if on[i].Rule == RuleGreedy || on[i].Rule == RuleGrammar {
			continue
		}
		if d.Settings.OrderInForce().Measure() == OnRest {
			idle[on[i].Rule] = on[i].Keeps == on[i].Of
			continue
		}
		others := slices.Concat(on[:i], on[i+1:])
		if kept, _ := d.common(others); kept.same(d.kept) {
			idle[on[i].Rule], on = true, others
		}
	}
	return idle
}

// lay computes the strip, which places the kept tokens end to end.
func (d *Distribution) lay() {
	if d.kept.some == nil && !d.hot {
		d.Mass = d.Cum[d.Keep-1]
		d.weight = d.Mass
		return
	}
	n := d.Keep
	d.ranks, d.cum = make([]int32, 0, n), make([]float64, 0, n)
	d.tail, d.tailOf = make([]float64, n+1), make([]float64, n+1)
	for r, id := range d.Order {
		if d.kept.has(r) {
			d.Mass += d.P[id]
			d.weight += d.w[id]
			d.ranks, d.cum = append(d.ranks, int32(r)), append(d.cum, d.weight)
		}
	}
	for i := n - 1; i >= 0; i-- {
		id := d.Order[d.ranks[i]]
		d.tail[i], d.tailOf[i] = d.tail[i+1]+d.w[id], d.tailOf[i+1]+d.P[id]
	}
}

// Leading reports whether the kept tokens are the most probable ones (ranks 0 to Keep−1), so that a
// list by rank can show a line below them.
func (d *Distribution) Leading() bool { return d.kept.some == nil }

// Stays reports whether the token with rank r is kept.
func (d *Distribution) Stays(r int) bool { return d.kept.has(r) }

// KeptRank returns the rank of the i-th kept token, where i starts at 0.
func (d *Distribution) KeptRank(i int) int {
	if d.ranks == nil {
		return i
	}
	return int(d.ranks[i])
}

// keptBefore returns how many of the tokens more probable than rank r are kept.
func (d *Distribution) keptBefore(r int) int {
	if d.ranks == nil {
		return min(r, d.Keep)
	}
	i, _ := slices.BinarySearch(d.ranks, int32(r))
	return i
}

// KeptIn returns how many of the ranks from, from+1, …, to−1 are kept, and the sums of p and of
// [Distribution.Q] over them.
func (d *Distribution) KeptIn(from, to int) (n int, p, q float64) {
	i, j := d.keptBefore(from), d.keptBefore(to)
	if d.ranks == nil {
		p = d.Tail[i] - d.Tail[j]
		return j - i, p, p / d.weight
	}
	return j - i, d.tailOf[i] - d.tailOf[j], (d.tail[i] - d.tail[j]) / d.weight
}

// Reach returns how many tokens a filter keeps ([Cuts.Reach]). A filter that is off keeps all
// tokens.
func (d *Distribution) Reach(rule Rule) int { return d.Cuts.Reach(rule, len(d.Order)) }

// CutBy returns the first rule that cuts rank r, or [RuleNone] if the rank is kept.
func (d *Distribution) CutBy(r int) Rule { return d.Why(r).Rule }

// Why returns the reason why rank r is cut. If the rank is kept, the reason's rule is [RuleNone].
func (d *Distribution) Why(r int) Reason {
	if d.kept.has(r) {
		return Reason{}
	}
	for _, c := range d.cuts {
		if !c.mask.has(r) {
			at, _ := c.field.indexOf(r) // always found, because no earlier rule has cut the token
			why := chain[c.index].reason(c.field, c.alone, at, d.Settings)
			why.Rule, why.Unit = c.Rule, chain[c.index].unit
			return why
		}
	}
	// At a temperature near 0, the probabilities of all kept tokens may be rounded to 0. Then only
	// the most probable token is drawn, as under greedy decoding.
	return Reason{Rule: RuleGreedy, Unit: RuleGreedy.link().unit}
}

// Keeps reports whether a token is kept.
func (d *Distribution) Keeps(id int32) bool {
	if d.kept.some == nil {
		return slices.Contains(d.Order[:d.Keep], id)
	}
	return d.kept.has(d.RankOf(id))
}

// Q returns the probability with which rank r is drawn: 0 if the token was cut, and otherwise p
// divided by the kept mass. If the temperature comes after a rule that cuts, Q includes its effect.
func (d *Distribution) Q(r int) float64 {
	if !d.kept.has(r) {
		return 0
	}
	return d.w[d.Order[r]] / d.weight
}

// Segment returns the segment of the kept token with rank r on the strip from 0 to 1. The token is
// drawn if from ≤ u < to.
func (d *Distribution) Segment(r int) (from, to float64) {
	if d.ranks == nil {
		return segment(d.Cum, d.weight, r, d.Keep)
	}
	return segment(d.cum, d.weight, d.keptBefore(r), d.Keep)
}

// Draw returns the rank whose segment contains u, which is in [0, 1). Under greedy decoding, the
// rank is always 0.
func (d *Distribution) Draw(u float64) int { return d.KeptRank(d.DrawKept(u)) }

// DrawKept is like [Distribution.Draw], but returns the token's index among the kept tokens, from
// 0.
func (d *Distribution) DrawKept(u float64) int {
	if d.ranks == nil {
		return draw(d.Cum, d.weight, u, d.Keep)
	}
	return draw(d.cum, d.weight, u, d.Keep)
}

// KeptQ returns [Distribution.Q] of the i-th kept token, where i starts at 0.
func (d *Distribution) KeptQ(i int) float64 { return d.w[d.Order[d.KeptRank(i)]] / d.weight }

// RankOf returns the rank of a token id, by searching the order.
func (d *Distribution) RankOf(id int32) int {
	return slices.Index(d.Order, id)
}

// KeepRenormalizing returns how many tokens would be kept if each rule that cuts were measured
// [OnRest], in the same order.
func (d *Distribution) KeepRenormalizing() int { return d.KeepIn(d.Settings.Order.On(OnRest)) }

// KeepIn returns how many tokens would be kept in another order.
func (d *Distribution) KeepIn(o Order) int {
	s := d.Settings
	if s.Order = o; o == d.Settings.Order {
		return d.Keep
	}
	f := d.uncut()
	if s.heatsFirst() != d.Settings.heatsFirst() {
		scores := Scores{d.scores.Z, 1}
		if s.heatsFirst() {
			scores.T = s.Temperature
		}
		f.p, _, _ = scores.Softmax()
		f.cum = make([]float64, len(f.ids))
		var total float64
		for i, id := range f.ids {
			total += f.p[id]
			f.cum[i] = total
		}
	}
	cuts, left := d.context.cut(f, s)
	if s.OrderInForce().Measure() == OnRest {
		return len(left.ids)
	}
	other := &Distribution{Settings: s, Order: d.Order, w: left.p}
	kept, _ := other.common(cuts)
	return kept.n
}
