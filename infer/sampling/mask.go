package sampling

import "slices"

// field is what a rule that cuts is measured on: tokens from the most probable down.
type field struct {
	z    []float32 // [vocab] by token id, the scores that p was made of
	ids  []int32   // by rank
	p    []float64 // [vocab] by token id
	cum  []float64 // Σ p of the first r+1 of ids
	mass float64   // what p is a share of: 1, or Σ p of ids where others have been cut
}

// of is what a rule leaves of the field, for the next one to be measured on.
func (f field) of(m mask) field {
	if m.some == nil {
		return field{f.z, f.ids[:m.n], f.p, f.cum[:m.n], f.cum[m.n-1]}
	}
	left := field{z: f.z, p: f.p}
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
	// What was compared with: of typical-p, top-nσ, XTC and mirostat.
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
