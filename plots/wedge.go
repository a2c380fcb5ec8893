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

// at returns the memory needed for texts with the given number of tokens.
func (w Wedge) at(positions float64) float64 { return w.Weights + w.PerToken*positions }

// Draw plots memory against the number of tokens in each text. The weights are a floor, the caches
// are a wedge, and the card's memory is a dashed ceiling. The part above the ceiling is labeled,
// and is outlined in the color for errors.
func (w Wedge) Draw() (Chart, error) {
	c := Chart{
		Title:  "Memory for weights and caches",
		Header: []string{"tokens in each text", "weights", "caches", "together", "fits"},
	}
	if w.Positions < 1 || w.Texts < 1 || !(w.PerToken > 0) || !(w.Memory > 0) || w.Weights < 0 {
		return c, fmt.Errorf("draw %q: %+v", c.Title, w)
	}
	last := 2 * w.Positions
	for _, n := range []int{0, w.Positions / 2, w.Positions, last} {
		all := w.at(float64(n))
		c.Rows = append(c.Rows, []string{
			terms.Count(n), terms.BytesShort(w.Weights), terms.BytesShort(all - w.Weights), terms.BytesShort(all),
			map[bool]string{true: "yes", false: "no"}[all <= w.Memory],
		})
	}
	now := w.at(float64(w.Positions))
	c.Description = fmt.Sprintf(
		"Weights of %s and caches of %s need %s; the card has %s.", terms.BytesShort(w.Weights),
		terms.BytesShort(now-w.Weights), terms.BytesShort(now), terms.BytesShort(w.Memory),
	)
	most := max(w.Memory, w.at(float64(last)))
	f := newFigure(&c, wholes(0, last, 4), bytesUpTo(most), 150)
	if w.Narrow {
		f = newFigure(&c, wholes(0, last, 2), bytesUpTo(most), 118)
		f.width = narrowWidth
	}
	x := func(n float64) plotter.XYs { return plotter.XYs{{X: n, Y: w.Weights}, {X: n, Y: w.at(n)}} }
	from, to := x(0), x(float64(last))
	wedge := plotter.XYs{from[0], to[0], to[1], from[1]}
	chats := terms.Counted(w.Texts, "chat")
	for _, err := range []error{
		f.box(0, 0, float64(last), w.Weights, sunken, draw.LineStyle{}),
		f.area(wedge, ramp3, draw.LineStyle{}),
		w.over(f, float64(last)),
		f.line(plotter.XYs{from[1], to[1]}, solid, chats+" "+terms.BytesShort(to[1].Y)),
		f.line(plotter.XYs{{X: 0, Y: w.Memory}, {X: float64(last), Y: w.Memory}}, dashed,
			"the card "+terms.BytesShort(w.Memory)),
		f.line(plotter.XYs{{X: float64(w.Positions), Y: 0}, {X: float64(w.Positions), Y: now}}, mark, ""),
		f.dots(plotter.XYs{{X: float64(w.Positions), Y: now}}, ink, 4),
	} {
		if err != nil {
			return c, err
		}
	}
	f.ends = append(f.ends, label{w.Weights, "weights " + terms.BytesShort(w.Weights), ink2, false})
	f.notes = append(f.notes, note{
		x: float64(w.Positions), y: now, dx: -8, dy: 10, words: terms.BytesShort(now), color: ink, bold: true,
		align: end,
	})
	return c, f.done()
}

// over outlines the part of the wedge above the card's memory.
func (w Wedge) over(f *figure, last float64) error {
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
		x: last, y: (w.Memory + w.at(last)) / 2, dx: -8, dy: -4, words: "does not fit", color: bad, bold: true,
		align: end,
	}
	if w.Narrow {
		n.words, n.y, n.dy = "no room", w.Memory, 10
	}
	f.notes = append(f.notes, n)
	return f.area(outline, surface, draw.LineStyle{Color: bad, Width: 1.5})
}
