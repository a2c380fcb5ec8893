package labs

import (
	"fmt"
	"math"

	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/plots"
)

var _ = drawAhead(show("cache", cacheSections, nil, prediction{
	Ask: "How long will the last token take, with the cache and without?", Rings: true,
}), "cache", cacheAhead)

func cacheSections(c *lab.Cache) []section {
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
	counted := "counted; generated token, the first one reads the " + terms.Counted(
		len(c.Prompt), "prompt token",
	) + ", the same both ways"
	list := []section{
		section{
			ID: "each", Title: "Cost of each token", Half: true, Say: eachText(last), Caption: counted,
		}.charted(plots.CachePerToken(each, mark)),
		section{
			ID: "so-far", Title: "Cost so far", Half: true, Say: sumText(last),
			Caption: "counted; multiply-adds of matrix products",
		}.charted(plots.CacheSoFar(sum, mark)),
		section{
			ID: "time-sum", Title: "Time so far", Half: true, Say: timeSumText(last),
			Caption: "measured; sums of each run, the band is their middle half",
		}.charted(plots.CacheTimeSoFar(timeSum, mark)),
		{ID: "same", Title: "The same numbers", Say: sameText(c), Numbers: columnsView(c)},
		{
			ID: "parts", Title: "Where the last token’s work goes", Say: partsText(c, last),
			Numbers: table(partsGrid(last)),
		},
	}
	if len(c.Fits) > 0 {
		list = append(list, section{
			ID: "fits", Title: "Constant, linear, quadratic, cubic",
			Say: spans(
				"What is often called quadratic is attention. In a whole text written without a cache attention is " +
					"cubic, and at these lengths the quadratic part is the matrices run over the whole text again " +
					"and again. With the cache the sum is nearly a line, with a small quadratic part for " +
					"attention.",
			),
			Numbers: fitsView(c.Fits),
		})
	}
	return list
}

func exactly(n int64) plots.Quartiles { return plots.Exactly(float64(n)) }

func eachText(s lab.CacheStep) []span {
	return spans("At token ", b(terms.Count(s.Step)), ": ", b(
		terms.MultAdds(s.Cached.MultAdds),
	), " multiply-adds cached, ",
		b(terms.MultAdds(s.Recomputed.MultAdds)), " recomputed. ", x(
			terms.Times(s.Recomputed.MultAdds, s.Cached.MultAdds)+" less.",
		))
}

func sumText(s lab.CacheStep) []span {
	return spans("After token ", b(terms.Count(s.Step)), ": ", b(terms.MultAdds(s.Cached.TotalMultAdds)), " cached, ",
		b(terms.MultAdds(s.Recomputed.TotalMultAdds)), " recomputed. ", x(
			terms.Times(s.Recomputed.TotalMultAdds, s.Cached.TotalMultAdds)+" less.",
		))
}

func timeText(s lab.CacheStep) []span {
	return spans("At token ", b(terms.Count(s.Step)), ": ", b(
		ms(s.Cached.Ms.Median),
	), " cached, ", b(ms(s.Recomputed.Ms.Median)), " recomputed. ",
		x(ratio(s.Recomputed.Ms.Median, s.Cached.Ms.Median)+" less."))
}

func timeSumText(s lab.CacheStep) []span {
	return spans("Measured here: ", b(ms(s.Cached.TotalMs.Median)), " cached, ", b(
		ms(s.Recomputed.TotalMs.Median),
	), " recomputed for "+terms.Counted(s.Step, "token")+". ",
		x(ratio(s.Recomputed.TotalMs.Median, s.Cached.TotalMs.Median)+" less."))
}

// ratio formats the ratio a/b, such as "12.5×", or returns "–" if b is not positive.
func ratio(a, b float64) string {
	if b <= 0 {
		return "–"
	}
	return terms.Decimals(a/b, 1) + "×"
}

func sameText(c *lab.Cache) []span {
	if !c.SameLogits {
		return spans("The logits differ in some bits. Their differences are in the raw rows.")
	}
	if c.Columns.Different > 0 {
		return spans(
			x(terms.Count(c.Compared)+" logits compared, all the same bit for bit."), " Of the keys and values ",
			b(terms.Count(c.Columns.Different)), " numbers of ", b(terms.Count(c.Columns.Compared)), " differ.",
		)
	}
	return spans(x(
		terms.Count(c.Compared)+" logits compared, all the same bit for bit.",
	), " So are the keys and values of all blocks and positions: ",
		b(terms.Count(c.Columns.Compared)), " numbers compared, none differs. A key and a value never change once "+
			"they are computed; that is why keeping them is safe.")
}

// logitsGrid returns a table of some of the logits that are bit-identical.
func logitsGrid(c *lab.Cache) grid {
	g := grid{
		Caption: "The largest logits of the last token, with their bits",
		Head:    []string{"token", "cached", "its bits", "recomputed", "its bits"},
	}
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

func partsText(c *lab.Cache, last lab.CacheStep) []span {
	equal := ", and equal to the formulas at every token: "
	for _, s := range c.Steps {
		if s.Cached.MultAdds != s.Cached.Formula || s.Recomputed.MultAdds != s.Recomputed.Formula {
			equal = fmt.Sprintf("; at token %d that is not what the formulas say. The last token: ", s.Step)
			break
		}
	}
	list := spans(
		"Tallied where the work is done"+equal, b(terms.Count(last.Cached.MultAdds)), " cached, ",
		b(terms.Count(last.Recomputed.MultAdds)), " recomputed. ",
	)
	if c.BreakEven == 0 {
		return append(
			list,
			spans(
				"Cached attention never costs as much as all the rest: a token sees the last ",
				b(terms.Count(c.Shape.Window)), " positions only.",
			)...,
		)
	}
	return append(
		list,
		spans(
			"Cached attention costs as much as all the rest at ", b(terms.Count(int64(c.BreakEven))), " positions.",
		)...,
	)
}

func partsGrid(s lab.CacheStep) grid {
	g := grid{
		Caption: fmt.Sprintf("Multiply-adds of token %d", s.Step),
		Head:    []string{"part", "cached", "recomputed", "share of recomputed"},
	}
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
	row("projections", func(p cost.Parts) int64 { return p.Projections })
	row("feed-forward", func(p cost.Parts) int64 { return p.FeedForward })
	row("attention", func(p cost.Parts) int64 { return p.Attention })
	row("output", func(p cost.Parts) int64 { return p.Output })
	row("sum", cost.Parts.Total)
	g.Now = len(g.Rows)
	return g
}

// A fitRow is one term of a fitted polynomial.
type fitRow struct{ Term, Fitted, Formula, Share string }

func fitRows(f lab.Fit) []fitRow {
	names := []string{"constant", "linear", "quadratic", "cubic"}
	var rows []fitRow
	for _, p := range f.Parts {
		row := fitRow{
			Term: fmt.Sprintf("power %d", p.Power), Fitted: fitted(p.Fitted, f.Of), Share: terms.Percent(p.Share),
		}
		if p.Power < len(names) {
			row.Term = names[p.Power]
		}
		if p.Formula != nil {
			row.Formula = fitted(*p.Formula, f.Of)
			if p.Term != "" {
				row.Formula += " = " + p.Term
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// fitted formats the coefficient of a fitted term. A time has its unit. A count has no decimals if
// it is an integer, except for rounding errors.
func fitted(x float64, of string) string {
	sign, size := "", math.Abs(x)
	if x < 0 {
		sign = "−"
	}
	if of == "ms" {
		if size < 1e-4 { // less than a tenth of a microsecond
			return sign + terms.Decimals(1e6*size, 1) + " ns"
		}
		return sign + ms(size)
	}
	if size >= 1000 || math.Abs(size-math.Round(size)) < 1e-6*max(size, 1) {
		return sign + terms.Count(int64(math.Round(size)))
	}
	return terms.Decimals(x, 2)
}

// A columnRow shows the key or the value of one position, both cached and recomputed.
type columnRow struct {
	Name string
	All  int // how many numbers were compared; only the first few are shown
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
	return []columnRow{row("key", c.KeyA, c.KeyB), row("value", c.ValueA, c.ValueB)}
}
