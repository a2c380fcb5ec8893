package labs

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/view"
)

func cacheSections(c *lab.Cache) []section {
	if len(c.Steps) == 0 {
		return nil
	}
	var each, sum, times, timeSum []plots.Ways
	for _, s := range c.Steps {
		each = append(each, plots.Ways{Step: s.Step, Cached: exactly(s.Cached.MultAdds), Recomputed: exactly(s.Recomputed.MultAdds)})
		sum = append(sum, plots.Ways{Step: s.Step, Cached: exactly(s.Cached.TotalMultAdds), Recomputed: exactly(s.Recomputed.TotalMultAdds)})
		times = append(times, plots.Ways{Step: s.Step, Cached: quartiles(s.Cached.Ms), Recomputed: quartiles(s.Recomputed.Ms)})
		timeSum = append(timeSum, plots.Ways{Step: s.Step, Cached: plots.Exactly(s.Cached.TotalMs), Recomputed: plots.Exactly(s.Recomputed.TotalMs)})
	}
	mark := max(2, len(c.Steps)/5)
	last := c.Steps[len(c.Steps)-1]
	counted := "counted; generated token, the first one reads the " + plural(len(c.Prompt), "prompt token") + ", the same both ways"
	list := []section{
		section{ID: "each", Title: "Cost of each token", Half: true, Say: eachSay(last), Caption: counted}.charted(plots.CachePerToken(each, mark)),
		section{ID: "so-far", Title: "Cost so far", Half: true, Say: sumSay(last), Caption: "counted; multiply-adds of matrix products"}.charted(plots.CacheSoFar(sum, mark)),
		section{ID: "time", Title: "Time of each token", Half: true, Say: timeSay(last), Caption: "measured; the band is the middle half of " + plural(c.Repeats, "run")}.charted(plots.CacheTimes(times, mark)),
		section{ID: "time-sum", Title: "Time so far", Half: true, Say: timeSumSay(last), Caption: "measured; sum of the medians"}.charted(plots.CacheTimeSoFar(timeSum, mark)),
		{ID: "same", Title: "The same numbers", Say: sameSay(c), Body: columnsView(c)},
		{ID: "parts", Title: "Where the last token’s work goes", Say: partsSay(c, last), Body: table(partsGrid(last))},
	}
	if len(c.Fits) > 0 {
		list = append(list, section{
			ID: "fits", Title: "Constant, linear, quadratic, cubic",
			Say:  say("What is often called quadratic is attention. In a whole text written without a cache attention is cubic, and at these lengths the quadratic part is the matrices run over the whole text again and again. With the cache the sum is nearly a line, with a small quadratic part for attention."),
			Body: fitsView(c.Fits),
		})
	}
	return list
}

func exactly(n int64) plots.Quartiles { return plots.Exactly(float64(n)) }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return view.Count(n) + " " + noun + "s"
}

func eachSay(s lab.CacheStep) []span {
	return say("At token ", b(view.Count(s.Step)), ": ", b(view.MultAdds(s.Cached.MultAdds)), " multiply-adds cached, ",
		b(view.MultAdds(s.Recomputed.MultAdds)), " recomputed. ", x(view.Times(s.Recomputed.MultAdds, s.Cached.MultAdds)+" less."))
}

func sumSay(s lab.CacheStep) []span {
	return say("After token ", b(view.Count(s.Step)), ": ", b(view.MultAdds(s.Cached.TotalMultAdds)), " cached, ",
		b(view.MultAdds(s.Recomputed.TotalMultAdds)), " recomputed. ", x(view.Times(s.Recomputed.TotalMultAdds, s.Cached.TotalMultAdds)+" less."))
}

func timeSay(s lab.CacheStep) []span {
	return say("At token ", b(view.Count(s.Step)), ": ", b(ms(s.Cached.Ms.Median)), " cached, ", b(ms(s.Recomputed.Ms.Median)), " recomputed. ",
		x(ratio(s.Recomputed.Ms.Median, s.Cached.Ms.Median)+" less."))
}

func timeSumSay(s lab.CacheStep) []span {
	return say("Measured here: ", b(ms(s.Cached.TotalMs)), " cached, ", b(ms(s.Recomputed.TotalMs)), " recomputed for "+plural(s.Step, "token")+". ",
		x(ratio(s.Recomputed.TotalMs, s.Cached.TotalMs)+" less."))
}

// ratio is how many times a is b.
func ratio(a, b float64) string {
	if b <= 0 {
		return "–"
	}
	return view.Decimals(a/b, 1) + "×"
}

func sameSay(c *lab.Cache) []span {
	if !c.SameLogits {
		return say("The logits differ in some bits. Their differences are in the raw rows.")
	}
	return say(x(view.Count(c.Compared)+" logits compared, all the same bit for bit."), " So are the keys and values: ",
		b(view.Count(c.Columns.Compared)), " numbers compared, ", b(view.Count(c.Columns.Different)), " differ. A key and a value never change once they are computed; that is why keeping them is safe.")
}

func partsSay(c *lab.Cache, last lab.CacheStep) []span {
	return say("Tallied where the work is done, and equal to the formulas: ", b(view.Count(last.Cached.Formula)), " cached, ", b(view.Count(last.Recomputed.Formula)),
		" recomputed. Cached attention costs as much as all the rest at ", b(view.Count(int64(c.BreakEven))), " positions.")
}

func partsGrid(s lab.CacheStep) grid {
	g := grid{Caption: fmt.Sprintf("Multiply-adds of token %d", s.Step), Head: []string{"part", "cached", "recomputed", "share of recomputed"}}
	row := func(name string, of func(cost.Parts) int64) {
		a, r := of(s.Cached.Parts), of(s.Recomputed.Parts)
		g.Rows = append(g.Rows, []string{name, view.Count(a), view.Count(r), percent(float64(r) / float64(max(s.Recomputed.MultAdds, 1)))})
	}
	row("projections", func(p cost.Parts) int64 { return p.Projections })
	row("feed-forward", func(p cost.Parts) int64 { return p.FeedForward })
	row("attention", func(p cost.Parts) int64 { return p.Attention })
	row("output", func(p cost.Parts) int64 { return p.Output })
	row("sum", cost.Parts.Total)
	g.Now = len(g.Rows)
	return g
}

// fitRow is one part of a fitted polynomial.
type fitRow struct{ Term, Fitted, Formula, Share string }

func fitRows(f lab.Fit) []fitRow {
	names := []string{"constant", "linear", "quadratic", "cubic"}
	var rows []fitRow
	for _, p := range f.Parts {
		row := fitRow{Term: fmt.Sprintf("power %d", p.Power), Fitted: figures(p.Fitted), Share: percent(p.Share)}
		if p.Power < len(names) {
			row.Term = names[p.Power]
		}
		if p.Formula != nil {
			row.Formula = figures(*p.Formula)
			if p.Term != "" {
				row.Formula += " = " + p.Term
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// columnRow is a key or value of one position, both ways.
type columnRow struct {
	Name string
	A, B []string
	Same bool
}

func columnRows(c *lab.Columns) []columnRow {
	const shown = 8
	row := func(name string, a, b []float32) columnRow {
		r := columnRow{Name: name, Same: true}
		for i := range a {
			r.Same = r.Same && i < len(b) && a[i] == b[i]
			if i < shown && i < len(b) {
				r.A, r.B = append(r.A, view.Decimals(float64(a[i]), 4)), append(r.B, view.Decimals(float64(b[i]), 4))
			}
		}
		return r
	}
	return []columnRow{row("key", c.KeyA, c.KeyB), row("value", c.ValueA, c.ValueB)}
}
