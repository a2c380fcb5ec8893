package sampling

import (
	"math"

	"github.com/tokenbytoken/viz/infer/kernel"
)

// Correction computes the result of [Residual] and [FromVector] for a target's and a draft's
// distributions, bit for bit, for callers that only draw. It visits only the tokens that at least
// one of the two keeps, and reuses its memory. The zero value is ready for use. A Correction is not
// safe for concurrent use.
type Correction struct {
	left   float64     // Σ max(0, p − q)
	tokens []corrected // tokens with a residual above 0, at first by id, later by rank
	cum    []float64   // Σ r of ranks 0 to r
	mass   float64     // Σ r of all tokens: 1, except for rounding

	// Working memory.
	p, q       []float64 // [vocab], all 0 between uses
	keys, room []uint64
	sorted     []corrected
}

// corrected is a token with its residual.
type corrected struct {
	id int32
	r  float64
}

// Decide computes norm(excess(p, q)) for the target's p and the draft's q, which must be
// distributions over the same vocabulary. excess is [Excess], except in tests. If p is not above q
// for any token, the residual is p itself and the mass is 0.
func (c *Correction) Decide(p, q *Sampler, excess func(p, q float64) float64) {
	c.p, c.q = sized(c.p, len(p.z)), sized(c.q, len(p.z))
	p.spread(c.p)
	q.spread(c.q)
	c.gather(excess)
	c.left = 0
	for _, t := range c.tokens {
		c.left += t.r
	}
	if c.left == 0 {
		c.gather(func(p, _ float64) float64 { return p })
	} else {
		for i := range c.tokens {
			c.tokens[i].r /= c.left
		}
	}
	p.clear(c.p)
	q.clear(c.q)
	c.rank()
	c.cum, c.mass = c.cum[:0], 0
	for _, t := range c.tokens {
		c.mass += t.r
		c.cum = append(c.cum, c.mass)
	}
}

// gather lists the tokens whose excess is above 0.
func (c *Correction) gather(excess func(p, q float64) float64) {
	c.tokens = c.tokens[:0]
	for id, p := range c.p {
		q := c.q[id]
		if p == 0 && q == 0 { // cut by both models, like most tokens
			continue
		}
		if r := excess(p, q); r > 0 {
			c.tokens = append(c.tokens, corrected{int32(id), r})
		}
	}
}

// rank sorts the tokens by descending probability, and equally probable tokens by ascending id. It
// first sorts by the upper halves of the float64 residuals, as if ranking scores. After that, only
// tokens with equal upper halves can be out of order.
func (c *Correction) rank() {
	n := len(c.tokens)
	c.keys, c.sorted = sized(c.keys, n), sized(c.sorted, n)
	for i, t := range c.tokens {
		c.keys[i] = uint64(^uint32(math.Float64bits(t.r)>>32))<<32 | uint64(i)
	}
	for i, key := range sortKeys(c.keys, &c.room) {
		t := c.tokens[idOf(key)]
		at := i
		for ; at > 0 && c.sorted[at-1].r < t.r; at-- { // equal residuals are already ordered by id
			c.sorted[at] = c.sorted[at-1]
		}
		c.sorted[at] = t
	}
	c.tokens, c.sorted = c.sorted, c.tokens
}

// Mass returns Σ max(0, p − q), which is also the probability of a rejection.
func (c *Correction) Mass() float64 { return c.left }

// Len returns the number of tokens with a residual above 0.
func (c *Correction) Len() int { return len(c.tokens) }

// Token returns the id of the token with rank r, from 0.
func (c *Correction) Token(r int) int { return int(c.tokens[r].id) }

// Segment is like [Distribution.Segment].
func (c *Correction) Segment(r int) (from, to float64) {
	return segment(c.cum, c.mass, r, len(c.cum))
}

// Draw is like [Distribution.Draw].
func (c *Correction) Draw(u float64) int { return draw(c.cum, c.mass, u, len(c.cum)) }

// Vector returns the residual by token id [vocab].
func (c *Correction) Vector() []float64 {
	v := make([]float64, len(c.p))
	for _, t := range c.tokens {
		v[t.id] = t.r
	}
	return v
}

// spread writes the probabilities of the kept tokens to v [vocab].
func (s *Sampler) spread(v []float64) {
	if s.d == nil && s.keep == len(v) && s.sum > 0 { // the ranks are not needed
		copy(v, s.e)
		kernel.DivideBy(v, s.sum)
		kernel.DivideBy(v, s.mass)
		return
	}
	for r := range s.keep {
		id := s.Token(r)
		v[id] = s.Q(id)
	}
}

// clear undoes spread.
func (s *Sampler) clear(v []float64) {
	if s.d == nil && s.keep == len(v) {
		clear(v)
		return
	}
	for r := range s.keep {
		v[s.Token(r)] = 0
	}
}
