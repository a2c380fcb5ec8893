package plots

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tokenbytoken/viz/infer/terms"
)

// PerPass holds the number of tokens that one pass of the target yields for a given γ, measured and
// expected.
type PerPass struct {
	Gamma    int
	Measured float64
	Expected float64 // E(α, γ) at the α measured for this γ
}

// TokensPerPass plots the tokens per target pass against γ, together with the number expected if
// the draft's tokens were accepted independently.
func TokensPerPass(l *terms.Language, points []PerPass) (Chart, error) {
	c := Chart{
		Title:  l.T("plot.pass"),
		Header: []string{"γ", l.T("plot.pass.measured"), "E(α, γ)", l.T("plot.pass.gap")},
	}
	if len(points) == 0 {
		return c, fmt.Errorf("draw %q: no points", c.Title)
	}
	measured, expected := make(plotter.XYs, len(points)), make(plotter.XYs, len(points))
	most := 0.0
	for i, p := range points {
		measured[i], expected[i] = plotter.XY{
			X: float64(p.Gamma), Y: p.Measured,
		}, plotter.XY{X: float64(p.Gamma), Y: p.Expected}
		most = max(most, p.Measured, p.Expected)
		c.Rows = append(
			c.Rows,
			[]string{
				strconv.Itoa(p.Gamma), terms.Grouped(p.Measured, 2), terms.Grouped(p.Expected, 2),
				terms.Grouped(p.Measured-p.Expected, 2),
			},
		)
	}
	last := points[len(points)-1]
	c.Description = l.T("plot.pass.say", "gamma", strconv.Itoa(last.Gamma),
		"tokens", terms.Grouped(last.Measured, 2), "expected", terms.Grouped(last.Expected, 2))
	f := newFigure(&c, gammas(points[0].Gamma, last.Gamma), upTo(most, 4, tick), 112)
	for _, err := range []error{
		f.line(plotter.XYs{{X: f.X.Min, Y: 1}, {X: f.X.Max, Y: 1}}, dotted, l.T("plot.pass.line.none", "n", "1")),
		f.line(expected, dashed, "E(α, γ) "+terms.Grouped(last.Expected, 2)),
		f.line(measured, solid, l.T("plot.pass.line.measured", "n", terms.Grouped(last.Measured, 2))),
		f.dots(measured, accent, 3),
	} {
		if err != nil {
			return c, err
		}
	}
	return c, f.done(l)
}

func gammas(first, last int) axis {
	a := axis{min: float64(first), max: float64(max(last, first+1))}
	step := max(1, int(roundStep(float64(last-first)/8)))
	for g := first; g <= last; g += step {
		a.ticks = append(a.ticks, plot.Tick{Value: float64(g), Label: "γ " + strconv.Itoa(g)})
	}
	return a
}

// Saved holds the number of target passes with speculation and the time that it saved for a given
// γ. A loss is negative.
type Saved struct {
	Gamma  int
	Passes int
	Ms     float64
	PlainP int     // passes without a draft
	PlainT float64 // ms without a draft
}

// TimeSaved plots the milliseconds saved (up) or lost (down) against γ. Each bar is labeled with
// its time.
func TimeSaved(l *terms.Language, points []Saved) (Chart, error) {
	c := Chart{Title: l.T("plot.saved"), Header: []string{
		"γ", l.T("plot.saved.passes"), l.T("plot.saved.passes.of"), l.T("plot.saved.ms"), l.T("plot.saved.ms.of"),
	}}
	if len(points) == 0 {
		return c, fmt.Errorf("draw %q: no points", c.Title)
	}
	low, high, best := 0.0, 0.0, points[0]
	x := axis{min: -0.6, max: float64(len(points)) - 0.4}
	for i, p := range points {
		low, high = min(low, p.Ms), max(high, p.Ms)
		if p.Ms > best.Ms {
			best = p
		}
		x.ticks = append(x.ticks, plot.Tick{Value: float64(i), Label: "γ " + strconv.Itoa(p.Gamma)})
		c.Rows = append(
			c.Rows,
			[]string{
				strconv.Itoa(p.Gamma), strconv.Itoa(p.Passes), strconv.Itoa(p.PlainP), terms.Grouped(p.Ms, 1),
				terms.Grouped(p.PlainT, 1),
			},
		)
	}
	key := "plot.saved.say"
	if best.Ms < 0 {
		key = "plot.saved.say.loss"
	}
	c.Description = l.T(key, "gamma", strconv.Itoa(best.Gamma), "ms", millis(l, math.Abs(best.Ms)),
		"all", millis(l, best.PlainT), "passes", strconv.Itoa(best.Passes), "of", strconv.Itoa(best.PlainP))
	f := newFigure(&c, x, around(l, low, high), 14)
	for i, p := range points {
		fill, edge := accent, draw.LineStyle{}
		if p.Ms < 0 {
			fill, edge = otherFill, draw.LineStyle{Color: other, Width: 1.25}
		}
		at := float64(i)
		if err := f.box(at-0.3, 0, at+0.3, p.Ms, fill, edge); err != nil {
			return c, err
		}
		dy := math.Copysign(9, p.Ms)
		f.notes = append(
			f.notes, note{x: at, y: p.Ms, dy: dy, words: signed(l, p.Ms), color: ink, bold: true, align: middle},
		)
	}
	if err := f.line(plotter.XYs{{X: f.X.Min, Y: 0}, {X: f.X.Max, Y: 0}}, thin, ""); err != nil {
		return c, err
	}
	return c, f.done(l)
}

func signed(l *terms.Language, ms float64) string {
	if ms > 0 {
		return "+" + millis(l, ms)
	}
	return millis(l, ms)
}

// around returns an axis with marks at round times on both sides of 0, and with room for text
// beyond them.
func around(l *terms.Language, low, high float64) axis {
	span := max(high-low, 1e-6)
	step := roundStep(span / 4)
	a := axis{min: low - span*0.14, max: high + span*0.14}
	if low == 0 {
		a.min = 0
	}
	for i := math.Ceil(a.min / step); i*step <= a.max; i++ {
		a.ticks = append(a.ticks, plot.Tick{Value: i * step, Label: millisTick(l)(i * step)})
	}
	return a
}

// Came is a token with the time at which it was ready, in ms.
type Came struct {
	At   float64
	From string // "target", "draft", "correction" or "bonus"
}

// Race draws two lanes on one time axis: one for the target alone, and one for the target with a
// draft. Drafted tokens are tall and light.
func Race(l *terms.Language, plain, spec []Came) (Chart, error) {
	c := Chart{
		Title: l.T("plot.race"),
		Header: []string{
			l.T("plot.head.token"), l.T("plot.race.target"), l.T("plot.race.draft"), l.T("plot.race.from"),
		},
	}
	if len(plain) == 0 || len(spec) == 0 {
		return c, fmt.Errorf("drawing %q: a lane is empty", c.Title)
	}
	for i := range max(len(plain), len(spec)) {
		row := []string{strconv.Itoa(i + 1), "", "", ""}
		if i < len(plain) {
			row[1] = figures(plain[i].At)
		}
		if i < len(spec) {
			row[2], row[3] = figures(spec[i].At), l.T("plot.race.from."+spec[i].From)
		}
		c.Rows = append(c.Rows, row)
	}
	endPlain, endSpec := plain[len(plain)-1].At, spec[len(spec)-1].At
	c.Description = l.T("plot.race.say", "n", len(plain), "target", millis(l, endPlain), "draft", millis(l, endSpec))
	const width, height, left, right = 620.0, 128.0, 132.0, 70.0
	s := newSketch(width, height)
	most := max(endPlain, endSpec)
	scale := (width - left - right) / most
	for _, row := range []struct {
		y, end float64
		name   string
		tokens []Came
	}{
		{28, endPlain, l.T("plot.race.line.target"), plain}, {74, endSpec, l.T("plot.race.line.draft"), spec},
	} {
		s.words(0, row.y, row.name, ink2, true, start)
		s.line(left, row.y, left+row.end*scale, row.y, draw.LineStyle{Color: line, Width: 1})
		for _, t := range row.tokens {
			style, half := draw.LineStyle{Color: ink2, Width: 1.75}, 9.0
			if t.From == "draft" {
				style, half = draw.LineStyle{Color: accent, Width: 1.75}, 14
			}
			x := left + t.At*scale
			s.line(x, row.y-half, x, row.y+half, style)
		}
		s.words(left+row.end*scale+8, row.y, millis(l, row.end), ink, true, start)
	}
	drawTimes(l, s, left, height-8, most, scale)
	return c, s.done(l, &c)
}
