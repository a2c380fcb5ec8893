package plots

import (
	"fmt"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tokenbytoken/viz/infer/terms"
)

// CostPoint is one step of a run. It holds the number of multiply-adds up to and including that
// step, with the cache (as executed) and without it (as calculated).
type CostPoint struct {
	Step               int
	Cached, Recomputed int64
}

// CumulativeCost plots a run's cumulative multiply-adds against the number of generated tokens,
// with the cache (solid line) and without it (dashed line). The chart's text is in the given
// language. points must be in step order; a single point is drawn as dots.
func CumulativeCost(l *terms.Language, points []CostPoint) (Chart, error) {
	c := Chart{
		Title:  l.T("plot.work"),
		Header: []string{l.T("plot.work.tokens"), l.T("plot.work.cached"), l.T("plot.work.recomputed")},
	}
	if len(points) == 0 {
		return c, fmt.Errorf("draw %q: no points", c.Title)
	}
	last := points[len(points)-1]
	c.Description = l.T(
		"plot.work.say", "n", last.Step, "cached", count(l, last.Cached), "recomputed", count(l, last.Recomputed),
	)
	cached, recomputed := make(plotter.XYs, len(points)), make(plotter.XYs, len(points))
	for i, p := range points {
		cached[i] = plotter.XY{X: float64(p.Step), Y: float64(p.Cached)}
		recomputed[i] = plotter.XY{X: float64(p.Step), Y: float64(p.Recomputed)}
		c.Rows = append(c.Rows, []string{strconv.Itoa(p.Step), terms.Count(p.Cached), terms.Count(p.Recomputed)})
	}

	p := plot.New()
	axes(p)
	p.Y.Min, p.Y.Max = 0, float64(last.Recomputed)*1.08
	p.X.Min, p.X.Max = 1, max(2, float64(last.Step))
	p.X.Max += (p.X.Max - p.X.Min) * 0.22 // room for the labels of the line ends
	p.X.Tick.Marker = wholeTicks{l, last.Step}
	p.X.Tick.Length = 5 // keeps the first label clear of the other axis's 0
	p.Y.Tick.Marker = countTicks{l}

	if err := series(p, recomputed, draw.LineStyle{Color: other, Width: 1.75, Dashes: []vg.Length{5, 3}}); err != nil {
		return c, err
	}
	if err := series(p, cached, draw.LineStyle{Color: accent, Width: 2}); err != nil {
		return c, err
	}
	n := len(points) - 1
	if err := labels(p, plotter.XYs{recomputed[n], cached[n]},
		[]string{count(l, last.Recomputed), count(l, last.Cached)}); err != nil {
		return c, err
	}
	var err error
	c.SVG, err = render(l, p, 260, 122, c.Title, c.Description)
	return c, err
}

// axes applies the page's style to a plot: hairlines, small gray numbers, and no box.
func axes(p *plot.Plot) {
	p.Title.Text = ""
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle = draw.LineStyle{Color: edge, Width: 1}
		a.Padding = 0
		a.Tick.Length = 0
		a.Tick.LineStyle.Color = edge
		a.Tick.Label.Color = ink3
		a.Tick.Label.Font = font.Font{Typeface: "Liberation", Variant: "Sans", Size: 11}
	}
	p.Y.LineStyle.Width = 0
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal = draw.LineStyle{Color: line, Width: 1}
	p.Add(grid)
}

// series adds a line with a dot at its end. A single point is drawn as a dot only.
func series(p *plot.Plot, xys plotter.XYs, style draw.LineStyle) error {
	l, err := plotter.NewLine(xys)
	if err != nil {
		return err
	}
	l.LineStyle = style
	dot, err := plotter.NewScatter(xys[len(xys)-1:])
	if err != nil {
		return err
	}
	dot.GlyphStyle = draw.GlyphStyle{Color: style.Color, Radius: 3, Shape: draw.CircleGlyph{}}
	p.Add(l, dot)
	return nil
}

// labels adds labels to the right of the lines' ends.
func labels(p *plot.Plot, at plotter.XYs, words []string) error {
	l, err := plotter.NewLabels(plotter.XYLabels{XYs: at, Labels: words})
	if err != nil {
		return err
	}
	for i := range l.TextStyle {
		l.TextStyle[i] = text.Style{
			Color: ink2, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: 11},
			YAlign: draw.YCenter, Handler: plot.DefaultTextHandler,
		}
	}
	l.Offset = vg.Point{X: 6}
	p.Add(l)
	return nil
}

// wholeTicks is a ticker that marks the first and the last token.
type wholeTicks struct {
	language *terms.Language
	last     int
}

func (w wholeTicks) Ticks(_, _ float64) []plot.Tick {
	if w.last <= 1 {
		return []plot.Tick{{Value: 1, Label: w.language.Counted(1, "token")}}
	}
	return []plot.Tick{{Value: 1, Label: "1"}, {Value: float64(w.last), Label: w.language.Counted(w.last, "token")}}
}

// countTicks is a ticker that marks round counts.
type countTicks struct{ language *terms.Language }

func (c countTicks) Ticks(min, max float64) []plot.Tick {
	step := niceStep(max / 2.5)
	var ticks []plot.Tick
	for v := 0.0; v <= max; v += step {
		ticks = append(ticks, plot.Tick{Value: v, Label: count(c.language, int64(v))})
	}
	return ticks
}

// niceStep returns the largest 1, 2 or 5 × 10^n that is at most x, for x ≥
// 1.
func niceStep(x float64) float64 {
	step := 1.0
	for {
		for _, f := range []float64{2, 5, 10} {
			if step*f > x {
				if f == 2 {
					return step
				}
				return step * map[float64]float64{5: 2, 10: 5}[f]
			}
		}
		step *= 10
	}
}

// count formats a number of multiply-adds: 950, 3.19 M, 46.1 M, 1.20 G.
func count(l *terms.Language, n int64) string {
	v := float64(n)
	for _, u := range countUnits {
		if v < u.size {
			continue
		}
		digits := 2
		for x := v / u.size; x >= 10 && digits > 0; x /= 10 {
			digits--
		}
		return l.T(u.key, "n", strconv.FormatFloat(v/u.size, 'f', digits, 64))
	}
	return strconv.FormatInt(n, 10)
}
