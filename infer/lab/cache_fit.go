package lab

import (
	"fmt"
	"slices"

	"github.com/tokenbytoken/viz/infer/cost"
)

// costPolynomials holds the cost of a text as polynomials, derived from the formulas of infer/cost.
// n is the number of positions that a step attends to, and N is the number of tokens generated
// after a prompt of m positions. Step i attends to n = m + i positions, for i = 0 to N − 1, so
//
//	Σ n  = N²/2 + (m − ½)·N
//	Σ n² = N³/3 + (m − ½)·N² + (m² − m + 1/6)·N
type costPolynomials struct {
	cachedStep, recomputedStep   []float64 // in n
	cachedTotal, recomputedTotal []float64 // in N
}

func polynomialsOf(s cost.Shape, m int) costPolynomials {
	matrices := float64(s.Layers) * float64(s.Projections()+s.FeedForward()) // L·A
	output := float64(s.Output().Total())                                    // d·V
	attention := float64(s.Layers) * float64(s.Heads) * float64(s.HeadDim)   // L·h·s
	p := float64(m)
	sum := []float64{0, p - 0.5, 0.5}
	squares := []float64{0, p*p - p + 1.0/6, p - 0.5, 1.0 / 3}
	c := costPolynomials{
		cachedStep:      []float64{matrices + output, 2 * attention},
		recomputedStep:  []float64{output, matrices + attention, attention},
		cachedTotal:     []float64{float64(s.Pass(m).Total() - s.Step(m).Total()), matrices + output, 0},
		recomputedTotal: []float64{0, output, 0, 0},
	}
	for k := range sum {
		c.cachedTotal[k] += 2 * attention * sum[k]
		c.recomputedTotal[k] += (matrices + attention) * sum[k]
	}
	for k := range squares {
		c.recomputedTotal[k] += attention * squares[k]
	}
	return c
}

// The terms in symbols: L is the number of layers, A the size of a layer's matrices, d the width, V
// the vocabulary size, h the number of heads, s the head size and m the prompt's length.
var (
	cachedStepTerms      = []string{"L·A + d·V", "2·L·h·s"}
	recomputedStepTerms  = []string{"d·V", "L·A + L·h·s", "L·h·s"}
	cachedTotalTerms     = []string{"(m − 1)·L·A + L·h·s·m·(m − 1)", "L·A + d·V + L·h·s·(2m − 1)", "L·h·s"}
	recomputedTotalTerms = []string{
		"0", "d·V + (L·A + L·h·s)·(m − ½) + L·h·s·(m² − m + 1/6)", "(L·A + L·h·s)/2 + L·h·s·(m − ½)", "L·h·s/3",
	}
)

// fits returns least-squares polynomials fitted to the counts and the times of the steps so far.
func (c *Cache) fits() []Fit {
	var n, each, whole []float64 // positions of each step, without the cached step that reads the prompt
	var cachedEach, cachedMs, recomputedEach, recomputedMs []float64
	var cachedTotal, cachedTotalMs, recomputedTotal, recomputedTotalMs []float64
	for i, s := range c.Steps {
		if i > 0 { // in both ways, the first step reads the prompt
			each = append(each, float64(s.Positions))
			cachedEach, cachedMs = append(cachedEach, float64(s.Cached.MultAdds)), append(cachedMs, s.Cached.Ms.Median)
		}
		n, whole = append(n, float64(s.Positions)), append(whole, float64(s.Step))
		recomputedEach, recomputedMs = append(
			recomputedEach, float64(s.Recomputed.MultAdds),
		), append(recomputedMs, s.Recomputed.Ms.Median)
		cachedTotal, cachedTotalMs = append(
			cachedTotal, float64(s.Cached.TotalMultAdds),
		), append(cachedTotalMs, s.Cached.TotalMs.Median)
		recomputedTotal, recomputedTotalMs = append(
			recomputedTotal, float64(s.Recomputed.TotalMultAdds),
		), append(recomputedTotalMs, s.Recomputed.TotalMs.Median)
	}
	p := polynomialsOf(c.Shape, len(c.Prompt))
	// Beyond a sliding window, the number of positions attended to is not a polynomial.
	cut := c.Shape.WindowLayers > 0 && slices.Max(n) > float64(c.Shape.Window)
	counts, ms := Text("lab.cache.fit.counts"), Text("lab.unit.ms")
	var fits []Fit
	add := func(curve string, of Phrase, variable string, x, y, formula []float64, terms []string) {
		degree := len(formula) - 1
		times := of.String() == ms.String()
		if times || cut {
			formula, terms = nil, nil
		}
		curveFit := Fit{Name: Text("lab.cache.fit." + curve), Of: of, Times: times, Variable: variable}
		if f, ok := fit(curveFit, x, y, degree, formula, terms); ok {
			if f.Say = f.sentence(curve); cut && !times {
				f.Say = Text("lab.cache.fit.cut", "cut", fmt.Sprint(c.Shape.WindowLayers),
					"layers", fmt.Sprint(c.Shape.Layers), "window", fmt.Sprint(c.Shape.Window))
			}
			fits = append(fits, f)
		}
	}
	add("cached", counts, "n", each, cachedEach, p.cachedStep, cachedStepTerms)
	add("recomputed", counts, "n", n, recomputedEach, p.recomputedStep, recomputedStepTerms)
	add("cached_total", counts, "N", whole, cachedTotal, p.cachedTotal, cachedTotalTerms)
	add("recomputed_total", counts, "N", whole, recomputedTotal, p.recomputedTotal, recomputedTotalTerms)
	add("cached", ms, "n", each, cachedMs, p.cachedStep, nil)
	add("recomputed", ms, "n", n, recomputedMs, p.recomputedStep, nil)
	add("cached_total", ms, "N", whole, cachedTotalMs, p.cachedTotal, nil)
	add("recomputed_total", ms, "N", whole, recomputedTotalMs, p.recomputedTotal, nil)
	return fits
}

// sentence describes a fit in words: it compares the growth rate that is often claimed with the
// actual growth.
func (f Fit) sentence(curve string) Phrase {
	share := func(k int) string { return fmt.Sprintf("%.3g%%", 100*f.Parts[k].Share) }
	n := fmt.Sprint(f.To)
	switch {
	case f.Times:
		return Text("lab.cache.fit.times")
	case curve == "cached":
		return Text("lab.cache.fit.cached.say", "linear", share(1), "n", n)
	case curve == "recomputed":
		return Text("lab.cache.fit.recomputed.say", "square", share(2), "n", n)
	case curve == "cached_total":
		return Text("lab.cache.fit.cached_total.say", "square", share(2), "n", n)
	}
	return Text("lab.cache.fit.recomputed_total.say", "square", share(2), "n", n, "cube", share(3))
}
