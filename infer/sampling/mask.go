package sampling

import (
	"math"
	"slices"
)

// field holds the tokens on which a rule that cuts is measured, the most probable first.
type field struct {
	z     []float32 // [vocab] by token id, the scores from which p was computed
	ids   []int32   // by rank
	ranks []int32   // their ranks among all tokens; nil: 0, 1, 2, …
	p     []float64 // [vocab] by token id
	cum   []float64 // Σ p of the first r+1 of ids
	mass  float64   // the total that p is a share of: 1, or Σ p of ids if other tokens have been cut
}

// of returns the part of the field that a rule leaves; the next rule is measured on it.
func (f field) of(m mask) field {
	if m.some == nil {
		left := field{f.z, f.ids[:m.n], f.ranks, f.p, f.cum[:m.n], f.cum[m.n-1]}
		if f.ranks != nil {
			left.ranks = f.ranks[:m.n]
		}
		return left
	}
	left := field{z: f.z, p: f.p}
	for i, id := range f.ids {
		if m.some[i] {
			left.mass += f.p[id]
			left.ids, left.cum = append(left.ids, id), append(left.cum, left.mass)
			left.ranks = append(left.ranks, int32(f.rank(i)))
		}
	}
	return left
}

// share returns the probability of the token at index i of the field.
func (f field) share(i int) float64 { return f.p[f.ids[i]] / f.mass }

// rank returns the rank among all tokens of the token at index i of the field.
func (f field) rank(i int) int {
	if f.ranks == nil {
		return i
	}
	return int(f.ranks[i])
}

// indexOf returns the index in the field of the token with rank r among all tokens. has is false if
// other rules have cut that token.
func (f field) indexOf(r int) (i int, has bool) {
	if f.ranks == nil {
		return r, r < len(f.ids)
	}
	return slices.BinarySearch(f.ranks, int32(r))
}

// lift converts a mask of the field to a mask of all tokens.
func (f field) lift(m mask, all int) mask {
	if f.ranks == nil && m.some == nil {
		return m
	}
	whole := mask{n: m.n, some: make([]bool, all), mean: m.mean, bound: m.bound}
	for i := range f.ids {
		if m.has(i) {
			whole.some[f.rank(i)] = true
		}
	}
	return whole.leading()
}

// heat returns the field at another temperature: its tokens' p are the softmax of z/t over these
// tokens. The p of f must be from the softmax of z.
func (f field) heat(t float64) field {
	hot := field{z: f.z, ids: f.ids, ranks: f.ranks, p: make([]float64, len(f.p)), cum: make([]float64, len(f.ids))}
	first := float64(f.z[f.ids[0]])
	var sum float64
	for _, id := range f.ids {
		hot.p[id] = math.Exp((float64(f.z[id]) - first) / t)
		sum += hot.p[id]
	}
	for i, id := range f.ids {
		hot.p[id] /= sum
		hot.mass += hot.p[id]
		hot.cum[i] = hot.mass
	}
	return hot
}

// mask is the set of ranks that are kept.
type mask struct {
	n    int    // number of kept ranks
	some []bool // by rank; nil: the n most probable
	// The bounds for typical-p, top-nσ, XTC and mirostat.
	mean, bound float64
}

func (m mask) has(r int) bool {
	if m.some == nil {
		return r < m.n
	}
	return m.some[r]
}

// and returns a mask of the ranks that both masks keep. `of` is the number of tokens.
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

// leading returns the mask without its list of ranks if the kept tokens are the most probable ones,
// because the list is then redundant.
func (m mask) leading() mask {
	for r := range m.n {
		if !m.some[r] {
			return m
		}
	}
	m.some = nil
	return m
}
