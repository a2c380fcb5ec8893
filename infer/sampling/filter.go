package sampling

import (
	"slices"
	"sort"
)

// Rule names the filter that cut a token. Filters are asked in the order
// top-k, top-p, min-p, and a token carries the first that cut it.
type Rule string

// The rules, in the order in which they are asked.
const (
	RuleNone   Rule = ""       // kept
	RuleGreedy Rule = "greedy" // temperature 0 keeps one token
	RuleTopK   Rule = "top_k"
	RuleTopP   Rule = "top_p"
	RuleMinP   Rule = "min_p"
)

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
	Keep   int     // tokens kept: ranks 0 to Keep−1
	Mass   float64 // Σ p of the kept tokens

	// How many leading tokens each rule alone would keep (vocab where it is off).
	ReachTopK, ReachTopP, ReachMinP int
}

// Decide runs stages 3 and 4 on logits z [vocab].
func Decide(z []float32, s Settings) *Distribution {
	p, max, sum := Softmax(z, s.Temperature)
	return Filter(p, max, sum, Rank(z), s)
}

// Filter cuts p [vocab] (by token id, with max and sum as [Softmax] returned
// them) by top-k, top-p and min-p; order is [Rank] of the same scores. Each
// rule is measured on p before any cut. All three keep a leading part of the
// order, so the shortest of the three is what every rule keeps; the most
// probable token always stays. Filter keeps p and order without copying.
func Filter(p []float64, max, sum float64, order []int32, s Settings) *Distribution {
	d := &Distribution{Settings: s, Order: order, P: p, MaxZ: max, SumExp: sum}
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
	v := len(order)
	d.ReachTopK, d.ReachTopP, d.ReachMinP = v, v, v
	if s.TopK > 0 {
		d.ReachTopK = min(s.TopK, v)
	}
	if s.TopP < 1 {
		d.ReachTopP = prefixReaching(d.Cum, s.TopP)
	}
	if s.MinP > 0 {
		least := s.MinP * p[order[0]]
		d.ReachMinP = sort.Search(v, func(r int) bool { return p[order[r]] < least })
	}
	d.Keep = min(d.ReachTopK, d.ReachTopP, d.ReachMinP)
	if s.Greedy() {
		d.Keep = 1
	}
	d.Mass = d.Cum[d.Keep-1]
	return d
}

// CutBy returns the first rule that cuts rank r, or [RuleNone] if it is kept.
func (d *Distribution) CutBy(r int) Rule {
	switch {
	case r < d.Keep:
		return RuleNone
	case d.Settings.Greedy():
		return RuleGreedy
	case r >= d.ReachTopK:
		return RuleTopK
	case r >= d.ReachTopP:
		return RuleTopP
	}
	return RuleMinP
}

// Keeps reports whether a token is kept by every rule.
func (d *Distribution) Keeps(id int32) bool { return slices.Contains(d.Order[:d.Keep], id) }

// Q returns the renormalised probability of rank r: p / mass kept, or 0 if
// the token was cut.
func (d *Distribution) Q(r int) float64 {
	if r >= d.Keep {
		return 0
	}
	return d.P[d.Order[r]] / d.Mass
}

// Segment returns where the kept token of rank r lies on the strip from 0 to
// 1: it is drawn when from ≤ u < to.
func (d *Distribution) Segment(r int) (from, to float64) {
	return segment(d.Cum, d.Mass, r, d.Keep)
}

// Draw returns the rank on whose segment u in [0, 1) falls. Under greedy it
// is 0 whatever u is.
func (d *Distribution) Draw(u float64) int { return draw(d.Cum, d.Mass, u, d.Keep) }

// RankOf returns the rank of a token id. It searches the order.
func (d *Distribution) RankOf(id int32) int {
	return slices.Index(d.Order, id)
}

// KeepRenormalising returns how many tokens stay when each filter works on
// what the one before it kept and rescaled, as some libraries do. Rescaling
// raises every probability, so top-p is reached sooner and fewer may stay.
func (d *Distribution) KeepRenormalising() int {
	if d.Settings.Greedy() {
		return 1
	}
	keep := d.ReachTopK
	if s := d.Settings; s.TopP < 1 {
		keep = min(keep, prefixReaching(d.Cum[:keep], s.TopP*d.Cum[keep-1]))
	}
	return min(keep, d.ReachMinP) // a ratio of two probabilities: rescaling leaves it alone
}
