package sampling

import (
	"math"
	"slices"

	"github.com/tokenbytoken/viz/infer/kernel"
)

// Sampler is [Decide] for those who draw and do not look. It keeps the same
// tokens, with the same probabilities, and draws the same one for the same u,
// all bit for bit; but it ranks tokens only as far as the filters keep any and
// the draw goes, divides only the probabilities that are asked for, and uses its
// memory again. Its zero value is ready. It belongs to one goroutine at a time.
//
// Where a filter is on that has to see all tokens, such as typical-p, nothing of
// that is saved: it ranks them all, and takes new memory for each draw.
type Sampler struct {
	context  Context
	logits   []float32 // [vocab] the caller's
	settings Settings
	z        []float32 // [vocab] the scores: logits where no rule changes them
	top      float64   // the highest score
	e        []float64 // [vocab] e^{(z−max)/T}
	sum      float64   // Σ e; 0 while e has not been worked out

	keep int           // how many tokens are kept
	d    *Distribution // where a rule has to see all tokens, or another order is asked for
	some []bool        // [vocab] by token id, what d keeps
	mass float64       // Σ p of the kept
	last uint64        // rankKey of the last of them, or more

	// As far as they have been ranked.
	order  []int32   // the kept tokens by rank
	cum    []float64 // Σ p of ranks 0 to r
	below  float32   // scores from here on have been ranked
	width  float64   // the next shell goes down to so far below top
	ranked bool      // all that are kept have been ranked

	// Working memory of the ranking.
	ids        []int32
	keys, room []uint64
}

// Decide takes in logits z [vocab] and settings, as [Decide] does. z is read
// until the next call and must stay as it is.
func (s *Sampler) Decide(z []float32, settings Settings) { s.DecideIn(Context{}, z, settings) }

// DecideIn is Decide with what rules may read besides scores, as
// [Context.Decide].
func (s *Sampler) DecideIn(c Context, logits []float32, settings Settings) {
	z := c.Score(logits, settings).Z
	s.context, s.logits = c, logits
	s.settings, s.z, s.top, s.sum = settings, z, float64(kernel.Max(z)), 0
	s.order, s.cum, s.ranked, s.d = s.order[:0], s.cum[:0], false, nil
	s.below, s.width = float32(math.Inf(1)), firstShell*settings.Temperature
	switch {
	case settings.Greedy(): // one token is kept; its probability is worked out when it is asked for
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

// decideWhole is for rules that have to see all tokens: it decides as those do
// who look.
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

// exponentials works out e and its sum.
func (s *Sampler) exponentials() {
	s.e = sized(s.e, len(s.z))
	s.sum = kernel.ExpSum(s.e, s.z, s.top, divisor(s.settings.Temperature))
}

// keepAll is what is done where nothing is cut: the mass is that of all tokens,
// and they are ranked when a draw goes that far.
func (s *Sampler) keepAll() {
	s.keep, s.last = len(s.z), math.MaxUint64
	for !s.ranked && !s.farEnough() {
		s.rankMore()
	}
	if mass, known := s.wholeMass(); known {
		s.mass = mass
		return
	}
	s.width = math.Inf(1) // the rest at once
	s.rankTo(s.keep)
	s.mass = s.total()
}

// total is Σ p of the tokens that have been ranked.
func (s *Sampler) total() float64 {
	if len(s.cum) == 0 {
		return 0
	}
	return s.cum[len(s.cum)-1]
}

// Shells of scores below the highest one, in which tokens are ranked. The first
// goes down to where p is e⁻⁴ of the highest, and each is as wide as all before
// it; after the last one comes the rest.
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

// rankTo ranks n tokens, or all that are kept.
func (s *Sampler) rankTo(n int) {
	for !s.ranked && len(s.order) < n {
		s.rankMore()
	}
}

// shell returns the keys of the tokens with from ≤ z < below by rank.
func (s *Sampler) shell(from, below float32) []uint64 {
	s.ids = sized(s.ids, len(s.z))
	ids := s.ids[:kernel.Between(s.ids, s.z, from, below)]
	s.keys = sized(s.keys, len(ids))
	for i, id := range ids {
		s.keys[i] = rankKey(s.z[id], int(id))
	}
	return sortKeys(s.keys, &s.room)
}

// take keeps the tokens of a shell one by one. It reports whether a filter has
// cut: top-k and top-p after a token that they keep, min-p before one that it
// does not.
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

// put lays a token at the end of the strip, which is total long then.
func (s *Sampler) put(id int32, total float64) {
	s.order, s.cum = append(s.order, id), append(s.cum, total)
}

// Scores are those by which the tokens rank [vocab]. They are valid until the next
// decision.
func (s *Sampler) Scores() []float32 { return s.z }

// Len is the number of tokens kept.
func (s *Sampler) Len() int { return s.keep }

// Token returns the id of the token of rank r, from 0.
func (s *Sampler) Token(r int) int {
	s.rankTo(r + 1)
	return int(s.order[r])
}

// Segment is [Distribution.Segment].
func (s *Sampler) Segment(r int) (from, to float64) {
	s.rankTo(r + 1)
	return segment(s.cum, s.mass, r, s.keep)
}

// Draw is [Distribution.Draw].
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

// Q returns a token's probability among those kept, 0 where it was cut.
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

// Possible is the number of kept tokens whose probability is above 0. That of
// others, which nothing has cut, is too small for a float64; they come last and
// are never drawn.
func (s *Sampler) Possible() int {
	n := s.Len()
	for n > 1 && s.Q(s.Token(n-1)) == 0 {
		n--
	}
	return n
}

// sized returns a slice of n values, whose memory is that of old if it suffices.
func sized[T any](old []T, n int) []T {
	if cap(old) < n {
		return make([]T, n)
	}
	return old[:n]
}
