package plots

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Held holds the used and the reserved size of a running engine's cache after a step, in bytes.
type Held struct {
	Step           int
	Positions      int
	Used, Reserved int64
}

// HeldBytes plots the used and the reserved bytes of a cache by step.
func HeldBytes(l *terms.Language, steps []Held) (Chart, error) {
	c := Chart{Title: l.T("plot.held"), Header: []string{
		l.T("plot.head.step"), l.T("plot.held.positions"), l.T("plot.held.used"), l.T("plot.held.reserved"),
	}}
	if len(steps) == 0 {
		return c, fmt.Errorf("draw %q: no steps", c.Title)
	}
	used, reserved := make(plotter.XYs, len(steps)), plotter.XYs{}
	most := 0.0
	for i, s := range steps {
		x := float64(s.Positions)
		used[i] = plotter.XY{X: x, Y: float64(s.Used)}
		if n := len(reserved); n > 0 && reserved[n-1].Y != float64(s.Reserved) {
			reserved = append(reserved, plotter.XY{X: x, Y: reserved[n-1].Y}) // a step, not a slope
		}
		reserved = append(reserved, plotter.XY{X: x, Y: float64(s.Reserved)})
		most = max(most, float64(s.Reserved), float64(s.Used))
		c.Rows = append(
			c.Rows,
			[]string{
				strconv.Itoa(s.Step), terms.Count(int64(s.Positions)), terms.Count(s.Used), terms.Count(s.Reserved),
			},
		)
	}
	first, last := steps[0], steps[len(steps)-1]
	size, held := l.BytesShort(float64(last.Used)), l.BytesShort(float64(last.Reserved))
	c.Description = l.T("plot.held.say", "n", last.Positions, "used", size, "reserved", held)
	f := newFigure(&c, wholes(first.Positions, last.Positions, 5), bytesUpTo(l, most), 128)
	for _, err := range []error{
		f.line(reserved, dashed, l.T("plot.held.line.reserved", "size", held)),
		f.line(used, solid, l.T("plot.held.line.used", "size", size)),
	} {
		if err != nil {
			return c, err
		}
	}
	return c, f.done(l)
}

// bytesUpTo returns an axis in bytes with marks at multiples of a power of 1024.
func bytesUpTo(l *terms.Language, most float64) axis {
	unit := 1.0
	for most/unit >= 4096 {
		unit *= 1024
	}
	a := upTo(most/unit, 4, func(x float64) string { return l.BytesShort(x * unit) })
	a.max *= unit
	for i := range a.ticks {
		a.ticks[i].Value *= unit
	}
	a.ticks[0].Label = "0"
	return a
}

// Window is a context window.
type Window struct {
	Name   string
	Tokens int
	Bytes  float64 // size of a cache of that length
	Now    bool    // the window belongs to the current model
}

// Windows draws context windows as squares, from small to large. A square's area is proportional to
// the number of tokens.
func Windows(l *terms.Language, list []Window) (Chart, error) {
	c := Chart{Title: l.T("plot.windows"), Header: []string{
		l.T("plot.windows.window"), l.T("plot.windows.tokens"), l.T("plot.windows.cache"),
	}}
	if len(list) == 0 {
		return c, fmt.Errorf("draw %q: no windows", c.Title)
	}
	const width, height, foot = 620.0, 236.0, 34.0
	most := 0
	for _, w := range list {
		most = max(most, w.Tokens)
		c.Rows = append(c.Rows, []string{w.Name, terms.Count(int64(w.Tokens)), l.BytesShort(w.Bytes)})
	}
	c.Description = l.T("plot.windows.say", "least", terms.Count(list[0].Tokens), "n", list[len(list)-1].Tokens)
	// The sides are proportional to the square root of the number of tokens. The text under a
	// square needs a minimum width.
	const wordsWide, gap = 78.0, 8.0
	sides, rest := 0.0, 0.0
	scale := (height - foot) / math.Sqrt(float64(most))
	for range 40 {
		sides, rest = 0, 0
		for _, w := range list {
			if side := math.Sqrt(float64(w.Tokens)) * scale; side > wordsWide {
				sides += side
			} else {
				rest += wordsWide
			}
		}
		if sides+rest+gap*float64(len(list)-1) <= width {
			break
		}
		scale *= 0.96
	}
	s := newSketch(width, height)
	x, base := 0.0, height-foot
	for _, w := range list {
		side := math.Sqrt(float64(w.Tokens)) * scale
		fill, edge, name := otherFill, draw.LineStyle{Color: other, Width: 1.25}, ink2
		if w.Now {
			fill, edge, name = accent, draw.LineStyle{Color: accent, Width: 1.25}, accent
		}
		s.box(x+0.7, base-side, max(side-1.4, 1), side, fill, edge)
		s.words(x, base+12, terms.Count(int64(w.Tokens)), ink, true, start)
		s.words(x, base+27, shorten(w.Name, 13), name, w.Now, start)
		x += max(side, wordsWide) + gap
	}
	return c, s.done(l, &c)
}

// Heads draws which query heads (circles) share which keys and values (squares). If now is true,
// the color marks the arrangement as the current model's.
func Heads(l *terms.Language, heads, kvHeads int, now bool) (Chart, error) {
	c := Chart{
		Title: l.T("plot.shared"), Header: []string{l.T("plot.shared.heads"), l.T("plot.shared.pairs")},
		Rows: [][]string{{strconv.Itoa(heads), strconv.Itoa(kvHeads)}},
	}
	if heads < 1 || kvHeads < 1 || heads%kvHeads != 0 {
		return c, fmt.Errorf(
			"draw %q: cannot divide %d query heads evenly among %d key/value heads", c.Title, heads, kvHeads,
		)
	}
	c.Description = l.T("plot.shared.say", "heads", l.T("plot.shared.say.heads", "n", heads),
		"pairs", l.T("plot.shared.say.pairs", "n", kvHeads), "n", heads/kvHeads)
	const width, height, most = 162.0, 62.0, 8
	shown := heads
	if heads > most { // show only as many whole groups of heads as fit
		group := heads / kvHeads
		shown = max(most/group*group, min(group, most))
	}
	s := newSketch(width, height)
	step := width / float64(shown)
	group := max(1, heads/kvHeads)
	fill := ink2
	if now {
		fill = accent
	}
	for i := range shown {
		x := step * (float64(i) + 0.5)
		first := i / group * group
		to := step * (float64(first) + float64(min(group, shown-first))/2)
		s.line(x, 14, x, 20, draw.LineStyle{Color: edge, Width: 1.25})
		s.line(x, 20, to, 38, draw.LineStyle{Color: edge, Width: 1.25})
		s.line(to, 38, to, 44, draw.LineStyle{Color: edge, Width: 1.25})
		if i == first {
			s.box(to-6, 44, 12, 12, fill, draw.LineStyle{})
		}
		s.dot(x, 9, 5.5, ink2)
		s.dot(x, 9, 4, surface)
	}
	return c, s.done(l, &c)
}
