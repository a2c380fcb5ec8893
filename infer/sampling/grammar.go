package sampling

import "slices"

// fits keeps the tokens that a grammar allows next ([Context].Allowed; Willard and Louf
// 2023, "Efficient Guided Generation for Large Language Models").
func fits(f field, in input) mask {
	if in.allows == nil {
		return mask{n: len(f.ids)}
	}
	m := mask{some: make([]bool, len(f.ids))}
	for i, id := range f.ids {
		if m.some[i] = in.allows(int(id)); m.some[i] {
			m.n++
		}
	}
	return m.leading()
}

// constrain runs the grammar on a field, before all other rules that cut. The remaining tokens may
// have very small probabilities, so their probabilities are recomputed from the scores.
func (c Context) constrain(f field, s Settings) (cuts Cuts, left field) {
	index := indexOf(RuleGrammar)
	m := fits(f, c.input(s, index))
	cut := Cut{
		Rule: RuleGrammar, Keeps: m.n, Of: len(f.ids), Moved: 1, mask: f.lift(m, len(f.ids)), alone: m,
		index: index, field: f,
	}
	if m.n == len(f.ids) {
		cut.Moved = 0
		return Cuts{cut}, f
	}
	left = f.of(m)
	cut.Moved -= left.mass / f.mass
	return Cuts{cut}, left.heat(divisor(s.ShownTemperature()))
}

// first keeps the most probable of the tokens that the grammar allows.
func first(cuts Cuts, of int) mask {
	m := mask{n: 1}
	if len(cuts) > 0 && cuts[0].Rule == RuleGrammar && !cuts[0].mask.has(0) {
		m.some = make([]bool, of)
		m.some[slices.Index(cuts[0].mask.some, true)] = true
	}
	return m
}
