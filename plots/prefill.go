package plots

import (
	"fmt"
	"strconv"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tokenbytoken/viz/infer/terms"
)

// FirstToken is the time to the first token after a prompt, in milliseconds.
type FirstToken struct {
	Tokens int
	Ms     Quartiles
}

// FirstTokens plots the time to the first token against the prompt's length n, together with the
// line constant + perToken·n, which is fitted to the medians.
func FirstTokens(l *terms.Language, points []FirstToken, constant, perToken float64) (Chart, error) {
	c := Chart{
		Title: l.T("plot.first"),
		Header: []string{
			l.T("plot.first.prompt"), l.T("plot.first.median"), l.T("plot.first.half"), l.T("plot.first.each"),
		},
	}
	if len(points) == 0 {
		return c, fmt.Errorf("draw %q: no points", c.Title)
	}
	most := 0.0
	mid, low, high := make(plotter.XYs, len(points)), make(plotter.XYs, len(points)), make(plotter.XYs, len(points))
	for i, p := range points {
		x := float64(p.Tokens)
		mid[i], low[i], high[i] = plotter.XY{X: x, Y: p.Ms.Mid}, plotter.XY{
			X: x, Y: p.Ms.Low,
		}, plotter.XY{X: x, Y: p.Ms.High}
		most = max(most, p.Ms.High)
		c.Rows = append(c.Rows, []string{
			terms.Count(int64(p.Tokens)), figures(p.Ms.Mid),
			l.T("plot.range", "low", figures(p.Ms.Low), "high", figures(p.Ms.High)),
			figures(p.Ms.Mid / float64(max(p.Tokens, 1))),
		})
	}
	last := points[len(points)-1]
	c.Description = l.T("plot.first.say", "n", last.Tokens, "took", millis(l, last.Ms.Mid),
		"constant", millis(l, constant), "each", millis(l, perToken))
	f := newFigure(&c, wholes(0, last.Tokens, 5), upTo(most, 4, millisTick(l)), 70)
	fit := plotter.XYs{
		{X: 0, Y: max(constant, 0)}, {X: float64(last.Tokens), Y: constant + perToken*float64(last.Tokens)},
	}
	errs := []error{f.band(low, high, ramp3)}
	if len(points) > 1 {
		errs = append(errs, f.line(fit, dotted, ""))
	}
	errs = append(errs, f.line(mid, solid, millis(l, last.Ms.Mid)), f.dots(mid, accent, 3))
	for _, err := range errs {
		if err != nil {
			return c, err
		}
	}
	return c, f.done(l)
}

// Arrived is the time at which a token of an answer was ready, in ms since the
// request.
type Arrived struct {
	Step int
	At   float64
}

// Arrivals shows how long a reader waits: with streaming, each token appears when it is ready;
// without streaming, all tokens appear at the end.
func Arrivals(l *terms.Language, tokens []Arrived) (Chart, error) {
	c := Chart{
		Title: l.T("plot.wait"),
		Header: []string{
			l.T("plot.head.token"), l.T("plot.wait.streamed"), l.T("plot.wait.gap"), l.T("plot.wait.whole"),
		},
	}
	if len(tokens) == 0 {
		return c, fmt.Errorf("draw %q: no tokens", c.Title)
	}
	first, last, before := tokens[0], tokens[len(tokens)-1], 0.0
	for _, t := range tokens {
		c.Rows = append(c.Rows, []string{strconv.Itoa(t.Step), figures(t.At), figures(t.At - before), figures(last.At)})
		before = t.At
	}
	c.Description = l.T("plot.wait.say", "first", millis(l, first.At), "last", millis(l, last.At))
	const width, height, left, right = 620.0, 118.0, 108.0, 84.0
	s := newSketch(width, height)
	scale := (width - left - right) / last.At
	for _, row := range []struct {
		y    float64
		name string
	}{{34, l.T("plot.wait.line.streamed")}, {74, l.T("plot.wait.line.whole")}} {
		s.words(0, row.y, row.name, ink2, true, start)
		s.line(left, row.y, left+last.At*scale, row.y, draw.LineStyle{Color: line, Width: 1})
	}
	for _, t := range tokens {
		x := left + t.At*scale
		s.line(x, 24, x, 44, draw.LineStyle{Color: accent, Width: 1.75})
	}
	x := left + last.At*scale
	s.words(left+first.At*scale, 12, l.T("plot.wait.first", "ms", millis(l, first.At)), accent, true, start)
	s.line(x, 62, x, 86, draw.LineStyle{Color: other, Width: 4})
	s.words(x+8, 74, millis(l, last.At), ink2, true, start)
	s.words(x+8, 34, l.Counted(len(tokens), "token"), ink2, false, start)
	drawTimes(l, s, left, height-8, last.At, scale)
	return c, s.done(l, &c)
}

// drawTimes draws a time axis in ms with round values below a picture.
func drawTimes(l *terms.Language, s *sketch, left, y, most, scale float64) {
	a := upTo(most, 5, millisTick(l))
	for _, t := range a.ticks {
		x := left + t.Value*scale
		s.line(x, y-14, x, y-10, thin)
		s.words(x, y, t.Label, ink3, false, middle)
	}
	s.line(left, y-14, left+most*scale, y-14, thin)
}
