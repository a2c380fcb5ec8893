package plots

import (
	"fmt"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Wedge plots the memory of a model that generates several texts at once: the weights and, on top
// of them, caches that grow with every token. All sizes are in bytes.
type Wedge struct {
	Weights   float64
	PerToken  float64 // memory for one more token in every text
	Memory    float64 // the memory of the card
	Positions int     // number of tokens in each text at the marked position
	Texts     int
	Narrow    bool // whether to draw the version for phones
}

// at returns the memory needed if each text has the given number of tokens.
func (w Wedge) at(positions float64) float64 { return w.Weights + w.PerToken*positions }

// Draw plots memory against the number of tokens in each text. The weights are a floor, the caches
// are a wedge, and the card's memory is a dashed ceiling. The part above the ceiling is labeled,
// and is outlined in the color for errors.
func (w Wedge) Draw(l *terms.Language) (Chart, error) {
	c := Chart{
		Title: l.T("plot.wedge"),
		Header: []string{
			l.T("plot.wedge.tokens"), l.T("plot.wedge.weights"), l.T("plot.wedge.caches"), l.T("plot.wedge.all"),
			l.T("plot.wedge.fits"),
		},
	}
	if w.Positions < 1 || w.Texts < 1 || !(w.PerToken > 0) || !(w.Memory > 0) || w.Weights < 0 {
		return c, fmt.Errorf("draw %q: invalid values: %+v", c.Title, w)
	}
	last := 2 * w.Positions
	for _, n := range []int{0, w.Positions / 2, w.Positions, last} {
		all := w.at(float64(n))
		fits := l.T("plot.wedge.yes")
		if all > w.Memory {
			fits = l.T("plot.wedge.no")
		}
		c.Rows = append(c.Rows, []string{
			terms.Count(n), l.BytesShort(w.Weights), l.BytesShort(all - w.Weights), l.BytesShort(all),
			fits,
		})
	}
	now := w.at(float64(w.Positions))
	c.Description = l.T("plot.wedge.say", "weights", l.BytesShort(w.Weights),
		"caches", l.BytesShort(now-w.Weights), "all", l.BytesShort(now), "card", l.BytesShort(w.Memory))
	most := max(w.Memory, w.at(float64(last)))
	f := newFigure(&c, wholes(0, last, 4), bytesUpTo(l, most), 150)
	if w.Narrow {
		f = newFigure(&c, wholes(0, last, 2), bytesUpTo(l, most), 118)
		f.width = narrowWidth
	}
	x := func(n float64) plotter.XYs { return plotter.XYs{{X: n, Y: w.Weights}, {X: n, Y: w.at(n)}} }
	from, to := x(0), x(float64(last))
	chats := l.T("plot.wedge.line.chats", "n", w.Texts, "size", l.BytesShort(to[1].Y))
	wedge := plotter.XYs{from[0], to[0], to[1], from[1]}
	for _, err := range []error{
		f.box(0, 0, float64(last), w.Weights, sunken, draw.LineStyle{}),
		f.area(wedge, ramp3, draw.LineStyle{}),
		w.over(l, f, float64(last)),
		f.line(plotter.XYs{from[1], to[1]}, solid, chats),
		f.line(plotter.XYs{{X: 0, Y: w.Memory}, {X: float64(last), Y: w.Memory}}, dashed,
			l.T("plot.wedge.line.card", "size", l.BytesShort(w.Memory))),
		f.line(plotter.XYs{{X: float64(w.Positions), Y: 0}, {X: float64(w.Positions), Y: now}}, mark, ""),
		f.dots(plotter.XYs{{X: float64(w.Positions), Y: now}}, ink, 4),
	} {
		if err != nil {
			return c, err
		}
	}
	weights := l.T("plot.wedge.line.weights", "size", l.BytesShort(w.Weights))
	f.ends = append(f.ends, label{w.Weights, weights, ink2, false})
	f.notes = append(f.notes, note{
		x: float64(w.Positions), y: now, dx: -8, dy: 10, words: l.BytesShort(now), color: ink, bold: true,
		align: end,
	})
	return c, f.done(l)
}

// over outlines the part of the wedge above the card's memory.
func (w Wedge) over(l *terms.Language, f *figure, last float64) error {
	first := max(0, (w.Memory-w.Weights)/w.PerToken)
	if first >= last {
		return nil
	}
	outline := plotter.XYs{
		{X: first, Y: max(w.Memory, w.at(first))}, {X: last, Y: w.at(last)}, {X: last, Y: w.Memory},
	}
	if w.Weights > w.Memory {
		outline = append(outline, plotter.XY{X: 0, Y: w.Memory})
	}
	n := note{
		x: last, y: (w.Memory + w.at(last)) / 2, dx: -8, dy: -4, words: l.T("plot.wedge.over"), color: bad, bold: true,
		align: end,
	}
	if w.Narrow {
		n.words, n.y, n.dy = l.T("plot.wedge.over.narrow"), w.Memory, 10
	}
	f.notes = append(f.notes, n)
	return f.area(outline, surface, draw.LineStyle{Color: bad, Width: 1.5})
}
