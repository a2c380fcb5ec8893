package plots

import (
	"fmt"
	"strconv"

	"gonum.org/v1/plot/plotter"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Ways is the cost of one token, generated both with a KV cache and by recomputing the whole text.
// The values are multiply-adds, or milliseconds with quartiles.
type Ways struct {
	Step       int
	Cached     Quartiles
	Recomputed Quartiles
}

// Quartiles holds the quartiles of repeated measurements. For counts, all three are equal.
type Quartiles struct{ Low, Mid, High float64 }

// Exactly returns the Quartiles of a value without spread.
func Exactly(x float64) Quartiles { return Quartiles{x, x, x} }

// ways describes a chart that compares generation with and without the cache.
type ways struct {
	title              string
	cached, recomputed string               // headings
	value              func(float64) string // formats a value in words
	tick               func(float64) string
	marked             int                    // the step to mark; 0 for none
	cell               func(Quartiles) string // formats a value for the table
	below, above       string                 // text next to the lower and the upper line; "" for none
}

// workWays describes a chart of multiply-adds.
func workWays(l *terms.Language, marked int, title string) ways {
	return ways{
		title: title, cached: l.T("plot.ways.work.cached"), recomputed: l.T("plot.ways.work.recomputed"),
		value: func(x float64) string { return count(l, int64(x)) }, tick: countTick(l), marked: marked,
		cell: func(q Quartiles) string { return terms.Count(int64(q.Mid)) },
	}
}

// timeWays describes a chart of times in milliseconds.
func timeWays(l *terms.Language, marked int, title string) ways {
	return ways{
		title: title, cached: l.T("plot.ways.time.cached"), recomputed: l.T("plot.ways.time.recomputed"),
		value: func(x float64) string { return millis(l, x) }, tick: millisTick(l), marked: marked,
		cell: func(q Quartiles) string { return spreadOf(l, q) },
	}
}

// CachePerToken plots the multiply-adds of each token with and without the cache, and marks one
// step. The counts are exact.
func CachePerToken(l *terms.Language, points []Ways, marked int) (Chart, error) {
	w := workWays(l, marked, l.T("plot.ways.each"))
	w.below, w.above = l.T("plot.ways.each.cached"), l.T("plot.ways.each.recomputed")
	return drawWays(l, points, w)
}

// CacheSoFar plots the total number of multiply-adds up to each token.
func CacheSoFar(l *terms.Language, points []Ways, marked int) (Chart, error) {
	w := workWays(l, marked, l.T("plot.ways.sum"))
	w.below, w.above = l.T("plot.ways.sum.cached"), l.T("plot.ways.sum.recomputed")
	return drawWays(l, points, w)
}

// CacheTimeSoFar plots the total measured time up to each token: the median as a line, and the
// middle half of the repeats as a band around it.
func CacheTimeSoFar(l *terms.Language, points []Ways, marked int) (Chart, error) {
	return drawWays(l, points, timeWays(l, marked, l.T("plot.ways.time_sum")))
}

func drawWays(l *terms.Language, points []Ways, w ways) (Chart, error) {
	c := Chart{Title: w.title, Header: []string{l.T("plot.head.token"), w.cached, w.recomputed, l.T("plot.ways.less")}}
	if len(points) == 0 {
		return c, fmt.Errorf("draw %q: no points", c.Title)
	}
	last := points[len(points)-1]
	c.Description = l.T("plot.ways.say", "n", strconv.Itoa(last.Step), "cached", w.value(last.Cached.Mid),
		"recomputed", w.value(last.Recomputed.Mid))
	most := 0.0
	for _, p := range points {
		most = max(most, p.Recomputed.High, p.Cached.High)
		c.Rows = append(
			c.Rows,
			[]string{
				strconv.Itoa(p.Step), w.cell(p.Cached), w.cell(p.Recomputed), timesLess(p.Recomputed.Mid, p.Cached.Mid),
			},
		)
	}
	f := newFigure(&c, wholes(points[0].Step, last.Step, 5), upTo(most, 4, w.tick), 66)
	if err := f.drawWays(l, points, w); err != nil {
		return c, err
	}
	return c, f.done(l)
}

func (f *figure) drawWays(l *terms.Language, points []Ways, w ways) error {
	pick := func(of func(Ways) float64) plotter.XYs {
		xys := make(plotter.XYs, len(points))
		for i, p := range points {
			xys[i] = plotter.XY{X: float64(p.Step), Y: of(p)}
		}
		return xys
	}
	last := points[len(points)-1]
	if err := f.band(
		pick(func(p Ways) float64 { return p.Recomputed.Low }), pick(func(p Ways) float64 { return p.Recomputed.High }),
		otherFill,
	); err != nil {
		return err
	}
	if err := f.band(
		pick(func(p Ways) float64 { return p.Cached.Low }), pick(func(p Ways) float64 { return p.Cached.High }), ramp3,
	); err != nil {
		return err
	}
	if err := f.mark(l, points, w); err != nil {
		return err
	}
	if err := f.line(
		pick(func(p Ways) float64 { return p.Recomputed.Mid }), dashed, w.value(last.Recomputed.Mid),
	); err != nil {
		return err
	}
	if err := f.line(pick(func(p Ways) float64 { return p.Cached.Mid }), solid, w.value(last.Cached.Mid)); err != nil {
		return err
	}
	if len(points) > 8 {
		two := points[len(points)*2/3]
		f.notes = append(f.notes,
			note{
				x: float64(two.Step), y: two.Recomputed.Mid, dx: -8, dy: 12, words: w.above, color: ink2,
				align: end,
			},
			note{x: f.X.Max, y: last.Cached.Mid, dy: 12, words: w.below, color: accent, bold: true, align: end})
	}
	return nil
}

// mark marks one step.
func (f *figure) mark(l *terms.Language, points []Ways, w ways) error {
	for _, p := range points {
		if p.Step != w.marked {
			continue
		}
		x := float64(p.Step)
		f.notes = append(
			f.notes,
			note{
				x: x, y: f.Y.Max, dx: 6, dy: -7, words: l.T("plot.token", "n", strconv.Itoa(p.Step)), color: ink,
				align: start,
			},
		)
		if err := f.upright(x, mark); err != nil {
			return err
		}
		if err := f.dots(plotter.XYs{{X: x, Y: p.Recomputed.Mid}}, other, 3.5); err != nil {
			return err
		}
		return f.dots(plotter.XYs{{X: x, Y: p.Cached.Mid}}, accent, 3.5)
	}
	return nil
}

// spreadOf formats repeated measurements for a table.
func spreadOf(l *terms.Language, q Quartiles) string {
	if q.Low == q.High {
		return figures(q.Mid)
	}
	return l.T("plot.spread", "mid", figures(q.Mid), "low", figures(q.Low), "high", figures(q.High))
}

// timesLess formats the ratio a/b, such as "12.5×". It returns "" if b is 0.
func timesLess(a, b float64) string {
	if b == 0 {
		return ""
	}
	return terms.Grouped(a/b, 1) + "×"
}
