package sampling

import (
	"cmp"
	"slices"
)

// Speculative sampling (Leviathan et al. 2022; Chen et al. 2023): a small
// model proposes a token x with probability q(x), the large one takes it with
// probability min(1, p(x)/q(x)), and what it refuses is replaced by a draw from
// norm(max(0, p − q)). Whatever q is, the token that comes out has probability
//
//	q(x)·min(1, p(x)/q(x)) + (1 − Σ min(p, q)) · max(0, p(x) − q(x)) / Σ max(0, p − q) = p(x)
//
// since both 1 − Σ min(p, q) and Σ max(0, p − q) are the part of p above q.

// Acceptance returns min(1, p/q): how likely a token that was proposed with
// probability q > 0 is taken where the target gives it probability p.
func Acceptance(p, q float64) float64 { return min(1, p/q) }

// Excess returns max(0, p − q): how far the target's probability of a token lies
// above the draft's.
func Excess(p, q float64) float64 { return max(0, p-q) }

// Residual returns norm(max(0, p − q)) [vocab] and the mass Σ max(0, p − q)
// that it was divided by: what a refused proposal is replaced from. Where p is
// nowhere above q, nothing is ever refused but by rounding; p itself is
// returned then, with mass 0. p and q are [vocab] and each sums to 1.
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

// Vector returns the renormalized probabilities by token id [vocab], 0 for
// tokens that were cut.
func (d *Distribution) Vector() []float64 {
	v := make([]float64, len(d.Order))
	for i := range d.Keep {
		r := d.KeptRank(i)
		v[d.Order[r]] = d.Q(r)
	}
	return v
}

// FromVector makes a distribution to draw from of probabilities p [vocab] by
// token id: nothing is cut, the most probable comes first, ties by the lower
// id. It keeps p without copying.
func FromVector(p []float64) *Distribution {
	order, none := make([]int32, 0, len(p)), make([]int32, 0, len(p))
	for i, x := range p {
		if x > 0 {
			order = append(order, int32(i))
		} else { // most of a residual, in order already
			none = append(none, int32(i))
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(p[b], p[a]), cmp.Compare(a, b)) })
	return Context{}.Filter(Scores{}, p, 0, 1, append(order, none...), Pure)
}

// Purpose tells what a u is drawn for. One step may need several: with one
// stream for all of them they would be one number, and the outcomes would hang
// together.
type Purpose uint64

// The purposes.
const (
	ForDraw   Purpose = iota // the target's own draw, as in the plain loop: [U]
	ForDraft                 // the draft's proposal for this step
	ForAccept                // whether the proposal is taken
	ForRule                  // the rule at place 0 of the chain; the one at place 1 has the next number, and so on
)

// UFor returns the u of a step (1 for the first generated token) for a
// purpose. ForDraw it is [U]. For the others it is U of another seed: seed plus
// purpose times SplitMix64's increment, put through the 64-bit finalizer of
// MurmurHash3 (Appleby), so that the streams of one seed do not meet those of
// its neighbors. Like U it depends on its arguments alone.
func UFor(seed uint64, step int, purpose Purpose) float64 {
	if purpose == ForDraw {
		return U(seed, step)
	}
	x := seed + uint64(purpose)*0x9e3779b97f4a7c15
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return U(x^x>>33, step)
}
