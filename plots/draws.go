package plots

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Drawn is one token of a histogram: its probability, and how often it was
// drawn.
type Drawn struct {
	Name  string
	Q     float64
	Count int
}

// Histogram plots how often each token was drawn in n draws (solid bars) and the model's
// probabilities (outlines).
func Histogram(l *terms.Language, tokens []Drawn, n int) (Chart, error) {
	c := Chart{Title: l.Counted(n, "draw"), Header: []string{
		l.T("plot.head.token"), l.T("plot.draws.probability"), l.T("plot.draws.drawn"), l.T("plot.draws.share"),
	}}
	if len(tokens) == 0 || n < 1 {
		return c, fmt.Errorf("draw %q: no draws", c.Title)
	}
	most, far, off := 0.0, "", 0.0
	for _, t := range tokens {
		share := float64(t.Count) / float64(n)
		most = max(most, t.Q, share)
		if d := math.Abs(share - t.Q); d >= off {
			off, far = d, t.Name
		}
		c.Rows = append(
			c.Rows, []string{t.Name, terms.Grouped(t.Q, 4), terms.Count(int64(t.Count)), terms.Grouped(share, 4)},
		)
	}
	c.Description = l.T("plot.draws.say", "draws", c.Title, "token", far, "off", terms.Grouped(off, 4))

	x := axis{min: -0.6, max: float64(len(tokens)) - 0.4}
	for i, t := range tokens {
		x.ticks = append(x.ticks, plot.Tick{Value: float64(i), Label: shorten(t.Name, 9)})
	}
	f := newFigure(&c, x, upTo(most, 4, tick), 10)
	for i, t := range tokens {
		at, share := float64(i), float64(t.Count)/float64(n)
		if err := f.box(
			at-0.38, 0, at+0.38, t.Q, otherFill, draw.LineStyle{Color: other, Width: 1, Dashes: []vg.Length{3, 2}},
		); err != nil {
			return c, err
		}
		if err := f.box(at-0.22, 0, at+0.22, share, accent, draw.LineStyle{}); err != nil {
			return c, err
		}
	}
	return c, f.done(l)
}

// shorten truncates a name that does not fit.
func shorten(name string, n int) string {
	if r := []rune(name); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return name
}

// DistanceAt holds the total variation distance between n draws and their distribution, as measured
// over several repeats and as expected.
type DistanceAt struct {
	N        int
	Measured Quartiles // mean and quartiles of the repeats
	Expected float64   // the exact mean
	Law      float64   // asymptotic distance: a constant over √n
}

// Distances plots the distance against the number of draws. Both axes are logarithmic, so 1/√n is a
// straight line.
func Distances(l *terms.Language, points []DistanceAt, slope float64) (Chart, error) {
	c := Chart{
		Title: l.T("plot.distance"),
		Header: []string{
			l.T("plot.distance.draws"), l.T("plot.distance.measured"), l.T("plot.distance.half"),
			l.T("plot.distance.expected"), "c/√n",
		},
	}
	if len(points) == 0 {
		return c, fmt.Errorf("draw %q: no points", c.Title)
	}
	low, high := math.Inf(1), 0.0
	var measured, lowest, highest, expected, law plotter.XYs
	for _, p := range points {
		x := float64(p.N)
		floor := max(p.Measured.Low, p.Measured.Mid/50) // a logarithmic axis has no 0
		measured = append(measured, plotter.XY{X: x, Y: max(p.Measured.Mid, 1e-9)})
		lowest = append(lowest, plotter.XY{X: x, Y: max(floor, 1e-9)})
		highest = append(highest, plotter.XY{X: x, Y: max(p.Measured.High, 1e-9)})
		expected = append(expected, plotter.XY{X: x, Y: max(p.Expected, 1e-9)})
		law = append(law, plotter.XY{X: x, Y: max(p.Law, 1e-9)})
		low = min(low, max(min(floor, p.Expected, p.Law), 1e-9))
		high = max(high, p.Measured.High, p.Measured.Mid, p.Expected, p.Law, 1e-8)
		c.Rows = append(c.Rows, []string{
			terms.Count(int64(p.N)), terms.Grouped(p.Measured.Mid, 5),
			l.T("plot.range", "low", terms.Grouped(p.Measured.Low, 5), "high", terms.Grouped(p.Measured.High, 5)),
			terms.Grouped(p.Expected, 5), terms.Grouped(p.Law, 5),
		})
	}
	first, last := points[0], points[len(points)-1]
	c.Description = l.T("plot.distance.say", "few", terms.Count(first.N), "many", terms.Count(last.N),
		"from", figures(first.Measured.Mid), "to", figures(last.Measured.Mid), "slope", terms.Grouped(slope, 2))
	f := newFigure(
		&c, powers(float64(first.N), max(float64(last.N), float64(first.N)*10), countTick(l)),
		powers(low*0.8, high*1.2, tick), 86,
	)
	for _, err := range []error{
		f.band(lowest, highest, ramp3),
		f.line(law, dotted, "c/√n"),
		f.line(expected, dashed, l.T("plot.distance.expected")),
		f.line(measured, solid, l.T("plot.distance.measured")),
		f.dots(measured, accent, 3),
	} {
		if err != nil {
			return c, err
		}
	}
	return c, f.done(l)
}

// EntropyLane is one way of choosing tokens, with the entropy of each step in
// bits.
type EntropyLane struct {
	Name string
	Bits []float64
}

// laneStyles are line styles that distinguish up to six lanes by dashes and color.
var laneStyles = []draw.LineStyle{
	{Color: ink, Width: 1.75},
	{Color: accent, Width: 2.5},
	{Color: other, Width: 1.75, Dashes: []vg.Length{6, 3}},
	{Color: accent, Width: 1.75, Dashes: []vg.Length{6, 3}},
	{Color: ink3, Width: 1.5, Dashes: []vg.Length{1.5, 3}},
	{Color: ink, Width: 1.5, Dashes: []vg.Length{8, 3, 1.5, 3}},
}

// Entropies plots how uncertain the model was at each step of each lane. Lanes are numbered as on
// the page.
func Entropies(l *terms.Language, lanes []EntropyLane) (Chart, error) {
	c := Chart{Title: l.T("plot.entropy"), Header: []string{l.T("plot.head.step")}}
	steps, most, means := 0, 0.0, ""
	for i, lane := range lanes {
		c.Header = append(c.Header, strconv.Itoa(i+1)+" "+lane.Name)
		steps = max(steps, len(lane.Bits))
		mean := l.T("plot.entropy.mean", "lane", lane.Name, "bits", terms.Grouped(meanOf(lane.Bits), 2))
		if i > 0 {
			mean = l.T("list.next", "list", means, "next", mean)
		}
		means = mean
		for _, b := range lane.Bits {
			most = max(most, b)
		}
	}
	if steps == 0 {
		return c, fmt.Errorf("draw %q: no steps", c.Title)
	}
	c.Description = l.T("plot.entropy.say", "means", means)
	for s := range steps {
		row := []string{strconv.Itoa(s + 1)}
		for _, lane := range lanes {
			cell := ""
			if s < len(lane.Bits) {
				cell = terms.Grouped(lane.Bits[s], 2)
			}
			row = append(row, cell)
		}
		c.Rows = append(c.Rows, row)
	}
	f := newFigure(&c, wholes(1, steps, 6), upTo(most, 4, tick), 96)
	for i, lane := range lanes {
		style := laneStyles[i%len(laneStyles)]
		if err := f.line(overSteps(lane.Bits), style, strconv.Itoa(i+1)+" "+shorten(lane.Name, 14)); err != nil {
			return c, err
		}
	}
	return c, f.done(l)
}

func overSteps(values []float64) plotter.XYs {
	xys := make(plotter.XYs, len(values))
	for i, v := range values {
		xys[i] = plotter.XY{X: float64(i + 1), Y: v}
	}
	return xys
}

func meanOf(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
