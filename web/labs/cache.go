package labs

import (
	"fmt"
	"math"
	"strconv"

	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/stage"
)

var _ = drawAhead(show("cache", cacheSections, nil, guess.Question{
	Ask: "labs.cache.ask", Rings: true,
}), "cache", cacheAhead)

func cacheSections(w stage.Words, c *lab.Cache) []section {
	if len(c.Steps) == 0 {
		return nil
	}
	var each, sum, timeSum []plots.Ways
	for _, s := range c.Steps {
		each = append(
			each,
			plots.Ways{Step: s.Step, Cached: exactly(s.Cached.MultAdds), Recomputed: exactly(s.Recomputed.MultAdds)},
		)
		sum = append(
			sum,
			plots.Ways{
				Step: s.Step, Cached: exactly(s.Cached.TotalMultAdds), Recomputed: exactly(s.Recomputed.TotalMultAdds),
			},
		)
		timeSum = append(
			timeSum,
			plots.Ways{Step: s.Step, Cached: quartiles(s.Cached.TotalMs), Recomputed: quartiles(s.Recomputed.TotalMs)},
		)
	}
	mark := max(2, len(c.Steps)/5)
	last := c.Steps[len(c.Steps)-1]
	list := []section{
		section{
			ID: "each", Title: w.T("labs.cache.each"), Half: true, Say: eachText(w, last),
			Caption: w.T("labs.cache.each.caption", "prompt", len(c.Prompt)),
		}.charted(plots.CachePerToken(w.Language, each, mark)),
		section{
			ID: "so-far", Title: w.T("labs.cache.sum"), Half: true, Say: sumText(w, last),
			Caption: w.T("labs.cache.sum.caption"),
		}.charted(plots.CacheSoFar(w.Language, sum, mark)),
		section{
			ID: "time-sum", Title: w.T("labs.cache.time_sum"), Half: true, Say: timeSumText(w, last),
			Caption: w.T("labs.cache.time_sum.caption"),
		}.charted(plots.CacheTimeSoFar(w.Language, timeSum, mark)),
		{ID: "same", Title: w.T("labs.cache.same"), Say: sameText(w, c), Numbers: columnsView(c)},
		{
			ID: "parts", Title: w.T("labs.cache.parts"), Say: partsText(w, c, last), Numbers: table(partsGrid(w, last)),
		},
	}
	if len(c.Fits) > 0 {
		list = append(list, section{
			ID: "fits", Title: w.T("labs.cache.fits"), Say: w.Rich("labs.cache.fits.say"),
			Numbers: fitsView(fitGrids(w, c.Fits)),
		})
	}
	return list
}

func exactly(n int64) plots.Quartiles { return plots.Exactly(float64(n)) }

func eachText(w stage.Words, s lab.CacheStep) stage.Rich {
	return w.Rich("labs.cache.each.say", "n", terms.Count(s.Step), "cached", w.MultAdds(s.Cached.MultAdds),
		"recomputed", w.MultAdds(s.Recomputed.MultAdds),
		"times", terms.Times(s.Recomputed.MultAdds, s.Cached.MultAdds), "x", accent)
}

func sumText(w stage.Words, s lab.CacheStep) stage.Rich {
	return w.Rich("labs.cache.sum.say", "n", terms.Count(s.Step), "cached", w.MultAdds(s.Cached.TotalMultAdds),
		"recomputed", w.MultAdds(s.Recomputed.TotalMultAdds),
		"times", terms.Times(s.Recomputed.TotalMultAdds, s.Cached.TotalMultAdds), "x", accent)
}

func timeText(w stage.Words, s lab.CacheStep) stage.Rich {
	return w.Rich("labs.cache.time.say", "n", terms.Count(s.Step), "cached", ms(w, s.Cached.Ms.Median),
		"recomputed", ms(w, s.Recomputed.Ms.Median),
		"times", ratio(s.Recomputed.Ms.Median, s.Cached.Ms.Median), "x", accent)
}

func timeSumText(w stage.Words, s lab.CacheStep) stage.Rich {
	return w.Rich("labs.cache.time_sum.say", "n", s.Step, "cached", ms(w, s.Cached.TotalMs.Median),
		"recomputed", ms(w, s.Recomputed.TotalMs.Median),
		"times", ratio(s.Recomputed.TotalMs.Median, s.Cached.TotalMs.Median), "x", accent)
}

// ratio formats the ratio a/b, such as "12.5×", or returns "–" if b is not positive.
func ratio(a, b float64) string {
	if b <= 0 {
		return "–"
	}
	return terms.Decimals(a/b, 1) + "×"
}

func sameText(w stage.Words, c *lab.Cache) stage.Rich {
	with := []any{
		"logits", terms.Count(c.Compared), "numbers", terms.Count(c.Columns.Compared),
		"different", terms.Count(c.Columns.Different), "x", accent,
	}
	switch {
	case !c.SameLogits:
		return w.Rich("labs.cache.same.none")
	case c.Columns.Different > 0:
		return w.Rich("labs.cache.same.logits", with...)
	}
	return w.Rich("labs.cache.same.say", with...)
}

// logitsGrid returns a table of the last step's largest logits, cached and recomputed, with their
// bits.
func logitsGrid(w stage.Words, c *lab.Cache) grid {
	g := newGrid(w, "labs.cache.logits.", "token", "cached", "bits", "recomputed", "bits")
	for _, x := range c.Logits {
		g.Rows = append(
			g.Rows,
			[]string{
				tokenName(x.Token), terms.Decimals(float64(x.Cached), 6), x.CachedBits,
				terms.Decimals(float64(x.Recomputed), 6), x.RecomputedBits,
			},
		)
	}
	return g
}

func partsText(w stage.Words, c *lab.Cache, last lab.CacheStep) stage.Rich {
	with := []any{
		"cached", terms.Count(last.Cached.MultAdds), "recomputed", terms.Count(last.Recomputed.MultAdds),
		"window", terms.Count(c.Shape.Window), "positions", terms.Count(int64(c.BreakEven)),
	}
	even := w.Rich("labs.cache.parts.even", with...)
	if c.BreakEven == 0 {
		even = w.Rich("labs.cache.parts.never", with...)
	}
	with = append(with, "even", even)
	for _, s := range c.Steps {
		if s.Cached.MultAdds != s.Cached.Formula || s.Recomputed.MultAdds != s.Recomputed.Formula {
			return w.Rich("labs.cache.parts.differ", append(with, "n", fmt.Sprint(s.Step))...)
		}
	}
	return w.Rich("labs.cache.parts.say", with...)
}

func partsGrid(w stage.Words, s lab.CacheStep) grid {
	g := newGrid(w, "labs.cache.parts.grid.", "part", "cached", "recomputed", "share")
	g.Caption = w.T("labs.cache.parts.grid.caption", "n", fmt.Sprint(s.Step))
	row := func(name string, of func(cost.Parts) int64) {
		a, r := of(s.Cached.Parts), of(s.Recomputed.Parts)
		g.Rows = append(
			g.Rows,
			[]string{
				name, terms.Count(a), terms.Count(r),
				terms.Percent(float64(r) / float64(max(s.Recomputed.MultAdds, 1))),
			},
		)
	}
	row(w.T("labs.cache.part.projections"), func(p cost.Parts) int64 { return p.Projections })
	row(w.T("labs.cache.part.feed_forward"), func(p cost.Parts) int64 { return p.FeedForward })
	row(w.T("labs.cache.part.attention"), func(p cost.Parts) int64 { return p.Attention })
	row(w.T("labs.cache.part.output"), func(p cost.Parts) int64 { return p.Output })
	row(w.T("labs.cache.part.sum"), cost.Parts.Total)
	g.Now = len(g.Rows)
	return g
}

// fitGrids returns a table of the terms of each fitted polynomial. Times have no formula.
func fitGrids(w stage.Words, fits []lab.Fit) (list []grid) {
	for _, f := range fits {
		g := grid{Caption: fitText(w, f), Head: []string{w.T("labs.cache.fit.part"), w.T("labs.cache.fit.fitted")}}
		if !f.Times {
			g.Head = append(g.Head, w.T("labs.cache.fit.formula"))
		}
		g.Head = append(g.Head, w.T("labs.cache.fit.share"))
		for _, p := range f.Parts {
			row := []string{powerName(w, p.Power), fitted(w, p.Fitted, f.Times)}
			if !f.Times {
				row = append(row, formulaOf(w, p))
			}
			g.Rows = append(g.Rows, append(row, terms.Percent(p.Share)))
		}
		list = append(list, g)
	}
	return list
}

// powerName returns the name of a term of a polynomial, such as "linear".
func powerName(w stage.Words, power int) string {
	if key := "labs.cache.fit.power." + strconv.Itoa(power); w.Has(key) {
		return w.T(key)
	}
	return w.T("labs.cache.fit.power", "n", power)
}

// formulaOf returns the coefficient of a term according to the formula, together with the term.
func formulaOf(w stage.Words, p lab.Power) string {
	switch {
	case p.Formula == nil:
		return ""
	case p.Term == "":
		return fitted(w, *p.Formula, false)
	}
	return fitted(w, *p.Formula, false) + " = " + p.Term
}

// fitted formats the coefficient of a fitted term. For a time, it adds the unit. It formats a count
// without decimals if the count is an integer, apart from rounding errors.
func fitted(w stage.Words, x float64, time bool) string {
	sign, size := "", math.Abs(x)
	if x < 0 {
		sign = "−"
	}
	if time {
		if size < 1e-4 { // less than a tenth of a microsecond
			return sign + w.T("labs.cache.fit.ns", "n", terms.Decimals(1e6*size, 1))
		}
		return sign + ms(w, size)
	}
	if size >= 1000 || math.Abs(size-math.Round(size)) < 1e-6*max(size, 1) {
		return sign + terms.Count(int64(math.Round(size)))
	}
	return terms.Decimals(x, 2)
}

// A columnRow shows the key or the value of one position, both cached and recomputed.
type columnRow struct {
	Name string // the key of its texts
	All  int    // how many numbers were compared; only the first few are shown
	A, B []string
	Same bool
}

func columnRows(c *lab.Columns) []columnRow {
	const shown = 8
	row := func(name string, a, b []float32) columnRow {
		r := columnRow{Name: name, All: len(a), Same: true}
		for i := range a {
			r.Same = r.Same && i < len(b) && math.Float32bits(a[i]) == math.Float32bits(b[i])
			if i < shown && i < len(b) {
				r.A, r.B = append(r.A, terms.Decimals(float64(a[i]), 4)), append(r.B, terms.Decimals(float64(b[i]), 4))
			}
		}
		return r
	}
	return []columnRow{row("labs.cache.key.", c.KeyA, c.KeyB), row("labs.cache.value.", c.ValueA, c.ValueB)}
}
