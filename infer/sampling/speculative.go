package sampling

import (
	"cmp"
	"slices"
)

// Speculative sampling (Leviathan et al. 2022; Chen et al. 2023): a small model proposes a token x
// with probability q(x), and the large model accepts it with probability min(1, p(x)/q(x)). A
// rejected token is replaced by a draw from norm(max(0, p − q)). For any q, the resulting token has
// probability
//
//	q(x)·min(1, p(x)/q(x)) + (1 − Σ min(p, q)) · max(0, p(x) − q(x)) / Σ max(0, p − q) = p(x)
//
// since 1 − Σ min(p, q) and Σ max(0, p − q) are equal: both are the total amount by which p exceeds
// q.

// Acceptance returns min(1, p/q): the probability that a token proposed with probability q
// > 0 is accepted if the target gives it probability p.
func Acceptance(p, q float64) float64 { return min(1, p/q) }

// Excess returns max(0, p − q): the amount by which the target's probability for a token exceeds
// the draft's.
func Excess(p, q float64) float64 { return max(0, p-q) }

// Residual returns norm(max(0, p − q)) [vocab], from which the replacement of a rejected proposal
// is drawn, and the mass Σ max(0, p − q) by which it was divided. If p is not above q for any
// token, tokens can be rejected only because of rounding, and Residual returns p itself, with mass
// 0. p and q are [vocab], and each sums to 1.
func Residual(p, q []float64) (r []float64, mass float64) {
	r = make([]float64, len(p))
	for i := range p {
		r[i] = Excess(p[i], q[i])
		mass += r[i]
	}
	if mass == 0 {
		return slices.Clone(p), 0
	}
	for i := range r {
		r[i] /= mass
	}
	return r, mass
}

// Vector returns the renormalized probabilities by token id [vocab], which are 0 for tokens that
// were cut.
func (d *Distribution) Vector() []float64 {
	v := make([]float64, len(d.Order))
	for i := range d.Keep {
		r := d.KeptRank(i)
		v[d.Order[r]] = d.Q(r)
	}
	return v
}

// FromVector returns a distribution to draw from, given probabilities p [vocab] by token id.
// Nothing is cut, the most probable token comes first, and ties are ordered by id. It retains p
// without copying.
func FromVector(p []float64) *Distribution {
	order, none := make([]int32, 0, len(p)), make([]int32, 0, len(p))
	for i, x := range p {
		if x > 0 {
			order = append(order, int32(i))
		} else { // most tokens of a residual, already in order
			none = append(none, int32(i))
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(p[b], p[a]), cmp.Compare(a, b)) })
	return Context{}.Filter(Scores{}, p, 0, 1, append(order, none...), Pure)
}

// Purpose is what a u is drawn for. A step can need several u, each for a different purpose. If all
// purposes shared one stream, these would be the same number, and the outcomes would be correlated.
type Purpose uint64

// The purposes.
const (
	ForDraw   Purpose = iota // the target's own draw, as in the plain loop: [U]
	ForDraft                 // the draft's proposal for this step
	ForAccept                // whether the proposal is accepted
	ForRule                  // the rule at index 0 in the chain; index 1 has the next number, and so on
)

// UFor returns the u of a step (1 for the first generated token) for a purpose. For ForDraw, it is
// [U]. For the others, it is U with a different seed: seed plus purpose times SplitMix64's
// increment, put through MurmurHash3's 64-bit finalizer (Appleby), so a seed's streams do not
// overlap those of neighboring seeds. Like U, it depends only on its arguments.
func UFor(seed uint64, step int, purpose Purpose) float64 {
	if purpose == ForDraw {
		return U(seed, step)
	}
	x := seed + uint64(purpose)*0x9e3779b97f4a7c15
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return U(x^x>>33, step)
}
