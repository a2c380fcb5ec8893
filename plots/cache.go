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
	title, unit string
	value       func(float64) string // formats a value in words
	tick        func(float64) string
	marked      int    // the step to mark; 0 for none
	cached      string // text next to the lower line; "" for none
	recomputed  string // text next to the upper line
}

// CachePerToken plots the multiply-adds of each token with and without the cache, and marks one
// step. The counts are exact.
func CachePerToken(points []Ways, marked int) (Chart, error) {
	return drawWays(points, ways{
		title: "Cost of each token", unit: "multiply-adds", value: countOf, tick: countTick, marked: marked,
		cached: "cached: only the new token", recomputed: "recomputed: the whole text again",
	})
}

// CacheSoFar plots the total number of multiply-adds up to each token.
func CacheSoFar(points []Ways, marked int) (Chart, error) {
	return drawWays(points, ways{
		title: "Cost so far", unit: "multiply-adds", value: countOf, tick: countTick, marked: marked,
		cached: "cached: nearly a straight line", recomputed: "recomputed: a curve that steepens",
	})
}

// CacheTimes plots the measured time of each token: the median as a line, and the middle half of
// the repeats as a band around it.
func CacheTimes(points []Ways, marked int) (Chart, error) {
	return drawWays(
		points, ways{title: "Time of each token", unit: "ms", value: millis, tick: millisTick, marked: marked},
	)
}

// CacheTimeSoFar plots the total time up to each token, in the same way as [CacheTimes].
func CacheTimeSoFar(points []Ways, marked int) (Chart, error) {
	return drawWays(points, ways{title: "Time so far", unit: "ms", value: millis, tick: millisTick, marked: marked})
}

func countOf(x float64) string { return count(int64(x)) }

func drawWays(points []Ways, w ways) (Chart, error) {
	c := Chart{Title: w.title, Header: []string{"token", "cached, " + w.unit, "recomputed, " + w.unit, "times less"}}
	if len(points) == 0 {
		return c, fmt.Errorf("draw %q: no points", c.Title)
	}
	last := points[len(points)-1]
	c.Description = fmt.Sprintf(
		"At token %d: %s cached, %s recomputed.", last.Step, w.value(last.Cached.Mid), w.value(last.Recomputed.Mid),
	)
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
	if err := f.drawWays(points, w); err != nil {
		return c, err
	}
	return c, f.done()
}

func (f *figure) drawWays(points []Ways, w ways) error {
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
	if err := f.mark(points, w); err != nil {
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
				x: float64(two.Step), y: two.Recomputed.Mid, dx: -8, dy: 12, words: w.recomputed, color: ink2,
				align: end,
			},
			note{x: f.X.Max, y: last.Cached.Mid, dy: 12, words: w.cached, color: accent, bold: true, align: end})
	}
	return nil
}

// mark marks one step.
func (f *figure) mark(points []Ways, w ways) error {
	for _, p := range points {
		if p.Step != w.marked {
			continue
		}
		x := float64(p.Step)
		f.notes = append(
			f.notes,
			note{x: x, y: f.Y.Max, dx: 6, dy: -7, words: "token " + strconv.Itoa(p.Step), color: ink, align: start},
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

// cell formats a value for the table. Counts are exact, and times include their spread.
func (w ways) cell(q Quartiles) string {
	if w.unit == "multiply-adds" {
		return terms.Count(int64(q.Mid))
	}
	if q.Low == q.High {
		return figures(q.Mid)
	}
	return figures(q.Mid) + " (" + figures(q.Low) + " to " + figures(q.High) + ")"
}

// timesLess formats the ratio a/b, such as "12.5×". It returns "" if b is 0.
func timesLess(a, b float64) string {
	if b == 0 {
		return ""
	}
	return terms.Grouped(a/b, 1) + "×"
}
