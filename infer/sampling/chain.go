package sampling

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Rule names what cut a token: a filter, by the key of its knob, or greedy. A
// token carries the first of the chain that cut it.
type Rule string

// The rules, in the order in which they are asked.
const (
	RuleNone     Rule = ""       // kept
	RuleGreedy   Rule = "greedy" // temperature 0 keeps one token
	RuleTopK     Rule = "top_k"
	RuleTopP     Rule = "top_p"
	RuleMinP     Rule = "min_p"
	RuleTypicalP Rule = "typical_p"
)

// Name is the rule as people call it: "top-k".
func (r Rule) Name() string {
	if k, ok := terms.KnobOf(string(r)); ok {
		return k.Name
	}
	return string(r)
}

// A filter is a rule of the chain that cuts. Adding one is an entry here, a field
// of [Settings] and a knob in infer/terms.
type filter struct {
	rule Rule
	off  float64 // the setting at which it keeps everything
	// keep says which tokens of a field it keeps at a setting: one at least.
	keep func(f field, x float64) mask
	// reason says what it measured of a token, by rank, and what that is held to.
	reason func(d *Distribution, m mask, r int, x float64) Reason
	// early says that it cuts everything from one rank on, and that [Sampler] knows
	// where without looking further.
	early bool
}

// chain lists the filters in their order. Each is measured on the probabilities
// before any cut, so the order decides nothing but which of them a token that
// several cut is said to be cut by ([Distribution.KeepRenormalising] is the other
// way, where it matters).
var chain = []filter{
	{RuleTopK, 0, topK, rankAgainstK, true},
	{RuleTopP, 1, topP, sumBefore, true},
	{RuleMinP, 0, minP, shareOfFirst, true},
	{RuleTypicalP, 1, typicalP, distance, false},
}

// late reports whether a filter is on that has to see all tokens.
func (s Settings) late() bool {
	for _, f := range chain {
		if x, _ := s.Value(string(f.rule)); x != f.off && !f.early {
			return true
		}
	}
	return false
}

// OffAt is the setting at which the filter of a knob keeps everything; it is
// false for a knob that is not a filter's.
func OffAt(key string) (x float64, ok bool) {
	for _, f := range chain {
		if string(f.rule) == key {
			return f.off, true
		}
	}
	return 0, false
}

// Cut is what one filter that is on does alone.
type Cut struct {
	Rule  Rule
	At    float64 // its setting
	Keeps int     // tokens that it keeps, before any other has cut
	mask  mask
	by    int // its place in the chain
}

// Cuts are what the filters that are on do alone, in their order.
type Cuts []Cut

// Reach is how many of so many tokens a filter alone keeps: all, where it is off.
func (list Cuts) Reach(rule Rule, of int) int {
	for _, c := range list {
		if c.Rule == rule {
			return c.Keeps
		}
	}
	return of
}

// Reason is why a filter cut a token.
type Reason struct {
	Rule Rule
	// Value is what was measured, Bound what it is held to: of top-k the rank and
	// k, of top-p Σ p of all more probable tokens and p, of min-p the token's p and
	// the least, of typical-p how far the token's surprise lies from the average
	// and how far that of the last one kept does.
	Value, Bound float64
	// Of typical-p: the token's surprise −ln p, which is infinite where p is too small
	// to be told from 0, and the average one, both in nats.
	Surprise, Mean float64
}

// field is what a filter is measured on: tokens from the most probable down.
type field struct {
	ids  []int32   // by rank
	p    []float64 // [vocab] by token id
	cum  []float64 // Σ p of the first r+1 of ids
	mass float64   // what p is a share of: 1, or Σ p of ids where others have been cut
}

// of is the field after a filter, where the next one is measured on what this
// one left.
func (f field) of(m mask) field {
	if m.some == nil {
		return field{f.ids[:m.n], f.p, f.cum[:m.n], f.cum[m.n-1]}
	}
	left := field{p: f.p}
	for r, id := range f.ids {
		if m.some[r] {
			left.mass += f.p[id]
			left.ids, left.cum = append(left.ids, id), append(left.cum, left.mass)
		}
	}
	return left
}

// mask says which ranks are kept.
type mask struct {
	n    int    // how many
	some []bool // by rank; nil: the n most probable
	// Of typical-p.
	mean, bound float64
}

func (m mask) has(r int) bool {
	if m.some == nil {
		return r < m.n
	}
	return m.some[r]
}

// and keeps what both keep; of is how many tokens there are.
func (m mask) and(o mask, of int) mask {
	if m.some == nil && o.some == nil {
		return mask{n: min(m.n, o.n)}
	}
	both := mask{some: make([]bool, of)}
	for r := range of {
		if m.has(r) && o.has(r) {
			both.some[r] = true
			both.n++
		}
	}
	return both.leading()
}

// same reports whether two masks keep the same ranks.
func (m mask) same(o mask) bool { return m.n == o.n && slices.Equal(m.some, o.some) }

// leading leaves the list out where the kept ones are the most probable.
func (m mask) leading() mask {
	for r := range m.n {
		if !m.some[r] {
			return m
		}
	}
	m.some = nil
	return m
}

// topK keeps the x most probable tokens (Fan et al. 2018).
func topK(f field, x float64) mask { return mask{n: min(int(x), len(f.ids))} }

func rankAgainstK(_ *Distribution, _ mask, r int, x float64) Reason {
	return Reason{Value: float64(r + 1), Bound: x}
}

// topP keeps the smallest leading set whose probability is x at least (Holtzman et
// al. 2019).
func topP(f field, x float64) mask { return mask{n: prefixReaching(f.cum, x*f.mass)} }

func sumBefore(d *Distribution, _ mask, r int, x float64) Reason {
	return Reason{Value: d.Cum[r] - d.P[d.Order[r]], Bound: x}
}

// minP keeps tokens at least x times as probable as the first (Nguyen et al. 2024).
func minP(f field, x float64) mask {
	least := x * f.p[f.ids[0]]
	return mask{n: sort.Search(len(f.ids), func(r int) bool { return f.p[f.ids[r]] < least })}
}

func shareOfFirst(d *Distribution, _ mask, r int, x float64) Reason {
	return Reason{Value: d.P[d.Order[r]], Bound: x * d.P[d.Order[0]]}
}

// typicalP keeps the tokens whose surprise −ln p lies nearest to its average, the
// entropy in nats, until their probability is x at least (Meister et al. 2022,
// "Locally Typical Sampling"). Of two that lie equally near the more probable one
// comes first. It may cut the most probable token, which surprises too little.
func typicalP(f field, x float64) mask {
	n := len(f.ids)
	surprise, near := make([]float64, n), make([]int32, n)
	m := mask{some: make([]bool, n)}
	for r, id := range f.ids {
		near[r] = int32(r)
		p := f.p[id] / f.mass
		if surprise[r] = -math.Log(p); p > 0 {
			m.mean += p * surprise[r]
		}
	}
	away := func(r int32) float64 { return math.Abs(surprise[r] - m.mean) }
	slices.SortFunc(near, func(a, b int32) int { return cmp.Or(cmp.Compare(away(a), away(b)), cmp.Compare(a, b)) })
	var total float64
	for _, r := range near {
		m.some[r] = true
		m.n++
		m.bound = away(r)
		if total += f.p[f.ids[r]] / f.mass; total >= x-roundingSlack {
			break
		}
	}
	return m.leading()
}

func distance(d *Distribution, m mask, r int, _ float64) Reason {
	surprise := -math.Log(d.P[d.Order[r]])
	return Reason{Value: math.Abs(surprise - m.mean), Bound: m.bound, Surprise: surprise, Mean: m.mean}
}
