package sampling

import (
	"math"
	"slices"

	"github.com/tokenbytoken/viz/infer/kernel"
)

// Sampler does the work of [Decide] for callers that only draw. It keeps the same tokens, with the
// same probabilities, and draws the same token for the same u, all bit for bit. But it ranks only
// as many tokens as the filters and the draw require, normalizes only the probabilities that are
// requested, and reuses its memory. The zero value is ready for use. A Sampler is not safe for
// concurrent use.
//
// If a filter that has to see all tokens, such as typical-p, is on, a Sampler is no faster: it
// ranks all tokens and allocates memory for each draw.
type Sampler struct {
	context  Context
	logits   []float32 // [vocab] from the caller
	settings Settings
	z        []float32 // [vocab] the scores: logits if no rule changes them
	top      float64   // the highest score
	e        []float64 // [vocab] e^{(z−max)/T}
	sum      float64   // Σ e; 0 until e is computed

	keep int           // number of kept tokens
	d    *Distribution // set if a rule has to see all tokens, or if the order is not this program's own
	some []bool        // [vocab] by token id: kept by d
	mass float64       // Σ p of the kept tokens
	last uint64        // rankKey of the last kept token, or greater

	// The tokens ranked so far:
	order  []int32   // the kept tokens by rank
	cum    []float64 // Σ p of ranks 0 to r
	below  float32   // tokens with at least this score have been ranked
	width  float64   // distance from top to the end of the next shell
	ranked bool      // all kept tokens have been ranked

	// Working memory for ranking.
	ids        []int32
	keys, room []uint64
}

// Decide runs the chain on logits z [vocab], like the function [Decide]. The sampler uses z until
// the next call, so the caller must not change z until then.
func (s *Sampler) Decide(z []float32, settings Settings) { s.DecideIn(Context{}, z, settings) }

// DecideIn is like Decide, but with a context for rules that use more than scores
// ([Context.Decide]).
func (s *Sampler) DecideIn(c Context, logits []float32, settings Settings) {
	z := c.Score(logits, settings).Z
	s.context, s.logits = c, logits
	s.settings, s.z, s.top, s.sum = settings, z, float64(kernel.Max(z)), 0
	s.order, s.cum, s.ranked, s.d = s.order[:0], s.cum[:0], false, nil
	s.below, s.width = float32(math.Inf(1)), firstShell*settings.Temperature
	switch {
	case settings.Greedy(): // one token is kept; its probability is computed on request
		s.put(int32(slices.Index(z, float32(s.top))), 1)
		s.ranked = true
	case settings.late():
		s.decideWhole()
		return
	case !settings.Uncut():
		s.exponentials()
		s.rankTo(len(z))
	default:
		s.exponentials()
		s.keepAll()
		return
	}
	s.keep, s.mass = len(s.order), s.cum[len(s.cum)-1]
	id := s.order[len(s.order)-1]
	s.last = rankKey(z[id], int(id))
}

// decideWhole handles rules that have to see all tokens, with [Context.Decide].
func (s *Sampler) decideWhole() {
	d := s.context.Decide(s.logits, s.settings)
	s.d, s.some = d, make([]bool, len(s.z))
	for i := range d.Keep {
		id := d.Order[d.KeptRank(i)]
		s.some[id] = true
		s.put(id, s.total()+d.w[id])
	}
	s.keep, s.mass, s.ranked = d.Keep, s.total(), true
}

// exponentials computes e and its sum.
func (s *Sampler) exponentials() {
	s.e = sized(s.e, len(s.z))
	s.sum = kernel.ExpSum(s.e, s.z, s.top, divisor(s.settings.Temperature))
}

// keepAll handles settings that cut nothing: the mass is the sum over all tokens, and tokens are
// ranked only when a draw needs them.
func (s *Sampler) keepAll() {
	s.keep, s.last = len(s.z), math.MaxUint64
	for !s.ranked && !s.farEnough() {
		s.rankMore()
	}
	if mass, known := s.wholeMass(); known {
		s.mass = mass
		return
	}
	s.width = math.Inf(1) // rank all remaining tokens together
	s.rankTo(s.keep)
	s.mass = s.total()
}

// total returns Σ p of the tokens ranked so far.
func (s *Sampler) total() float64 {
	if len(s.cum) == 0 {
		return 0
	}
	return s.cum[len(s.cum)-1]
}

// Tokens are ranked in shells of scores below the highest score. The first shell ends where p is
// e⁻⁴ times the highest, and each further shell is as wide as all previous shells together. After
// the last shell, the remaining tokens are ranked together.
const (
	firstShell = 4
	lastShell  = 256
)

// rankMore ranks the next shell.
func (s *Sampler) rankMore() {
	from := s.top - s.width
	if s.width > lastShell*s.settings.Temperature {
		from = math.Inf(-1)
	}
	shell := s.shell(float32(from), s.below)
	s.ranked = s.take(shell) || math.IsInf(from, -1)
	s.below, s.width = float32(from), 2*s.width
}

// rankTo ranks at least n tokens, or all kept tokens if there are fewer.
func (s *Sampler) rankTo(n int) {
	for !s.ranked && len(s.order) < n {
		s.rankMore()
	}
}

// shell returns the keys of the tokens with from ≤ z < below, by rank.
func (s *Sampler) shell(from, below float32) []uint64 {
	s.ids = sized(s.ids, len(s.z))
	ids := s.ids[:kernel.Between(s.ids, s.z, from, below)]
	s.keys = sized(s.keys, len(ids))
	for i, id := range ids {
		s.keys[i] = rankKey(s.z[id], int(id))
	}
	return sortKeys(s.keys, &s.room)
}

// take adds a shell's tokens to the kept tokens until a filter cuts, and reports whether one did:
// top-k and top-p cut after a token that they keep, and min-p before a token that it cuts.
func (s *Sampler) take(shell []uint64) (cut bool) {
	most, reach := len(s.z), math.Inf(1)
	if s.settings.TopK > 0 {
		most = s.settings.TopK
	}
	if s.settings.TopP < 1 {
		reach = s.settings.TopP - roundingSlack
	}
	least := s.settings.MinP * (1 / s.sum) // the first token's e is 1
	total := s.total()
	for _, key := range shell {
		id := idOf(key)
		p := s.e[id] / s.sum
		if p < least {
			return true
		}
		total += p
		if s.put(id, total); total >= reach || len(s.order) == most {
			return true
		}
	}
	return false
}

// put appends a token to the strip. The new length of the strip is total.
func (s *Sampler) put(id int32, total float64) {
	s.order, s.cum = append(s.order, id), append(s.cum, total)
}

// Scores returns the scores [vocab] by which the tokens are ranked. They are valid until the next
// decision.
func (s *Sampler) Scores() []float32 { return s.z }

// Len returns the number of tokens kept.
func (s *Sampler) Len() int { return s.keep }

// Token returns the id of the token with rank r, from 0.
func (s *Sampler) Token(r int) int {
	s.rankTo(r + 1)
	return int(s.order[r])
}

// Segment is like [Distribution.Segment].
func (s *Sampler) Segment(r int) (from, to float64) {
	s.rankTo(r + 1)
	return segment(s.cum, s.mass, r, s.keep)
}

// Draw is like [Distribution.Draw].
func (s *Sampler) Draw(u float64) int {
	for !s.ranked && s.total()/s.mass <= u {
		s.rankMore()
	}
	return draw(s.cum, s.mass, u, min(len(s.cum)+1, s.keep))
}

// P returns a token's probability after the temperature, before any cut.
func (s *Sampler) P(id int) float64 {
	if s.d != nil {
		return s.d.P[id]
	}
	if s.sum == 0 {
		s.exponentials()
	}
	return s.e[id] / s.sum
}

// Q returns a token's probability among the kept tokens, or 0 if it was cut.
func (s *Sampler) Q(id int) float64 {
	switch {
	case s.d != nil && !s.some[id], s.d == nil && rankKey(s.z[id], id) > s.last:
		return 0
	case s.settings.Greedy():
		return 1
	case s.d != nil:
		return s.d.w[id] / s.mass
	}
	return s.P(id) / s.mass
}

// Possible returns the number of kept tokens whose probability is above 0. The others were not cut,
// but their probability is too small for a float64; they come last and are never drawn.
func (s *Sampler) Possible() int {
	n := s.Len()
	for n > 1 && s.Q(s.Token(n-1)) == 0 {
		n--
	}
	return n
}

// sized returns a slice of n values. It reuses old's memory if that is large enough.
func sized[T any](old []T, n int) []T {
	if cap(old) < n {
		return make([]T, n)
	}
	return old[:n]
}
