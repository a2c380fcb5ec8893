package plots

import (
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tokenbytoken/viz/infer/terms"
)

// RoundedBar holds a token's probability for each of several ways of storing the weights.
type RoundedBar struct {
	Name string
	P    []float64
}

// wayBars holds the style of the bars for each way of storing the weights: an outline, a solid bar,
// and a pale bar with a solid edge. They can be distinguished without color.
var wayBars = []struct {
	fill color.Color
	edge draw.LineStyle
}{
	{otherFill, draw.LineStyle{Color: other, Width: 1, Dashes: []vg.Length{3, 2}}},
	{accent, draw.LineStyle{}},
	{ramp3, draw.LineStyle{Color: ink2, Width: 1}},
}

// RoundedBars plots the probabilities of a few tokens. For each token there are two or three bars
// side by side, one for each way of storing the weights, starting with the unchanged weights.
func RoundedBars(l *terms.Language, tokens []RoundedBar, ways []string) (Chart, error) {
	c := Chart{Title: l.T("plot.rounded"), Header: []string{l.T("plot.head.token")}}
	if len(tokens) == 0 || len(ways) < 1 || len(ways) > len(wayBars) {
		return c, fmt.Errorf(
			"draw %q: got %d tokens and %d storage formats; want at least 1 token and 1 to %d formats",
			c.Title, len(tokens), len(ways), len(wayBars),
		)
	}
	for _, w := range ways {
		c.Header = append(c.Header, l.T("plot.rounded.p", "way", w))
	}
	most, off, far := 0.0, 0.0, tokens[0].Name
	x := axis{min: -0.6, max: float64(len(tokens)) - 0.4}
	for i, t := range tokens {
		row := []string{t.Name}
		for _, p := range t.P {
			row = append(row, terms.Grouped(p, 4))
			most = max(most, p)
			if d := max(p-t.P[0], t.P[0]-p); d > off {
				off, far = d, t.Name
			}
		}
		c.Rows = append(c.Rows, row)
		x.ticks = append(x.ticks, plot.Tick{Value: float64(i), Label: shorten(t.Name, 9)})
	}
	c.Description = l.T("plot.rounded.say", "n", len(tokens), "ways", l.List(ways), "token", far,
		"off", terms.Grouped(off, 4))
	f := newFigure(&c, x, upTo(most, 4, tick), 10)
	const group = 0.8
	wide := group / float64(len(ways))
	for i, t := range tokens {
		for j, p := range t.P {
			left := float64(i) - group/2 + float64(j)*wide
			if err := f.box(left+0.015, 0, left+wide-0.015, p, wayBars[j].fill, wayBars[j].edge); err != nil {
				return c, err
			}
		}
	}
	return c, f.done(l)
}

// powerTick formats a power of ten on an axis. Small values are formatted as 10 with an exponent.
func powerTick(v float64) string {
	power := int(math.Round(math.Log10(v)))
	if power > -4 || math.Abs(v/math.Pow(10, float64(power))-1) > 1e-9 {
		return tick(v)
	}
	return "10" + strings.Map(func(r rune) rune {
		if r == '-' {
			return '⁻'
		}
		return []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")[r-'0']
	}, strconv.Itoa(power))
}

// leastKL is the smallest divergence that can be drawn, since a logarithmic axis has no 0.
const leastKL = 1e-9

// RoundedSteps plots how much rounded weights change the probabilities at each step of a text,
// measured as the divergence in nats, on a logarithmic axis. kl is indexed first by way and then by
// step.
func RoundedSteps(l *terms.Language, ways []string, kl [][]float64) (Chart, error) {
	c := Chart{Title: l.T("plot.moves"), Header: []string{l.T("plot.head.step")}}
	if len(ways) == 0 || len(kl) != len(ways) || len(kl[0]) == 0 {
		return c, fmt.Errorf("draw %q: no steps", c.Title)
	}
	low, high := 1.0, 0.0
	lines := make([]plotter.XYs, len(ways))
	for i, w := range ways {
		c.Header = append(c.Header, l.T("plot.moves.kl", "way", w))
		for n, d := range kl[i] {
			d = max(d, leastKL)
			low, high = min(low, d), max(high, d)
			lines[i] = append(lines[i], plotter.XY{X: float64(n + 1), Y: d})
		}
	}
	for n := range kl[0] {
		row := []string{strconv.Itoa(n + 1)}
		for i := range ways {
			row = append(row, figures(kl[i][n]))
		}
		c.Rows = append(c.Rows, row)
	}
	moves := ""
	for i, w := range ways {
		most := 0.0
		for _, d := range kl[i] {
			most = max(most, d)
		}
		move := l.T("plot.moves.most", "way", w, "most", figures(most))
		if i > 0 {
			move = l.T("plot.moves.next", "list", moves, "next", move)
		}
		moves = move
	}
	c.Description = l.T("plot.moves.say", "list", moves)
	f := newFigure(&c, wholes(1, len(kl[0]), 5), powers(low*0.7, max(high*1.4, low*10), powerTick), 60)
	styles := []draw.LineStyle{solid, dashed, dotted}
	for i, w := range ways {
		if err := f.line(lines[i], styles[i%len(styles)], w); err != nil {
			return c, err
		}
	}
	return c, f.done(l)
}
