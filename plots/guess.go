package plots

import (
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Guess plots a quantity that a learner guesses before it is measured. It is drawn as bars on an
// axis that starts at 0 and stays the same after the measurement.
type Guess struct {
	Title    string
	Whole    string   // the name of the quantity that the guess is compared with
	At       float64  // the value of that quantity
	High     float64  // the end of the axis; larger values are cut off there
	From, To float64  // the guessed range
	Guessed  string   // the guessed range in words; "" if nothing was guessed
	Measured *float64 // nil before a run
	Words    func(float64) string
	Narrow   bool // whether to draw the version for phones
}

// The dimensions of the frame around a guess's bars, in CSS pixels.
const (
	guessLeft, guessRight = 118.0, 58.0
	guessRow, guessBar    = 28.0, 12.0
)

// Draw draws the quantity for comparison, the guessed range as dotted lines in the text color, and
// the measurement.
func (g Guess) Draw(l *terms.Language) (Chart, error) {
	c := Chart{Title: g.Title, Header: []string{"", l.T("plot.guess.value")}}
	if !(g.High > 0) || g.At < 0 || g.At > g.High || g.Guessed != "" && !(g.From >= 0 && g.From <= g.To) {
		return c, fmt.Errorf(
			"draw %q: invalid values: %g on an axis to %g, guess %g to %g", c.Title, g.At, g.High, g.From, g.To,
		)
	}
	guessed, measured := l.T("plot.guess.none"), l.T("plot.guess.yet")
	you, found := l.T("plot.guess.you"), l.T("plot.guess.measured")
	if g.Guessed != "" {
		guessed = g.Guessed
	}
	if g.Measured != nil {
		measured = g.Words(*g.Measured)
	}
	c.Rows = [][]string{{g.Whole, g.Words(g.At)}, {you, guessed}, {found, measured}}
	c.Description = l.T("plot.guess.say", "guess", guessed, "measured", measured)
	width := float64(chartWidth)
	if g.Narrow {
		width = narrowWidth
	}
	s := newSketch(width, 3*guessRow+26)
	long := width - guessLeft - guessRight
	x := func(v float64) float64 { return guessLeft + long*min(v, g.High)/g.High }
	middle := func(row int) float64 { return guessRow * (float64(row) + 0.5) }
	g.axis(s, x)

	s.words(guessLeft-12, middle(0)+4, g.Whole, ink2, false, end)
	rim := draw.LineStyle{Color: other, Width: 1.25}
	s.box(guessLeft, middle(0)-guessBar/2, x(g.At)-guessLeft, guessBar, otherFill, rim)

	s.words(guessLeft-12, middle(1)+4, you, ink, true, end)
	g.guess(s, guessed, middle(1), x)

	s.words(guessLeft-12, middle(2)+4, found, accent, true, end)
	if g.Measured == nil {
		s.words(guessLeft+8, middle(2)+4, measured, ink3, false, start)
		return c, s.done(l, &c)
	}
	at := x(*g.Measured)
	s.box(guessLeft, middle(2)-guessBar/2, max(at-guessLeft, 2), guessBar, accent, draw.LineStyle{})
	s.words(max(at, guessLeft+2)+8, middle(2)+4, measured, ink, true, start)
	return c, s.done(l, &c)
}

// axis draws the axis: a vertical line and a label for each tick, and a line where the bars begin.
func (g Guess) axis(s *sketch, x func(float64) float64) {
	steps := 5
	if g.Narrow {
		steps = 3
	}
	for _, t := range upTo(g.High, steps, g.Words).ticks {
		s.line(x(t.Value), 2, x(t.Value), 3*guessRow+2, draw.LineStyle{Color: line, Width: 1})
		s.words(x(t.Value), 3*guessRow+18, t.Label, ink3, false, middle)
	}
	s.line(guessLeft, 2, guessLeft, 3*guessRow+2, thin)
}

// guess draws the guessed range as a dotted box, with a dotted line that leads to it.
func (g Guess) guess(s *sketch, guessed string, y float64, x func(float64) float64) {
	if g.Guessed == "" {
		s.words(guessLeft+8, y+4, guessed, ink3, false, start)
		return
	}
	dots := draw.LineStyle{Color: ink, Width: 1.5, Dashes: []vg.Length{2, 3}}
	from, to := x(g.From), x(g.To)
	s.line(guessLeft, y, from, y, dots)
	if to-from < 4 { // a single value
		s.dot(to, y, 5, ink)
		return
	}
	s.box(from, y-guessBar/2-2, to-from, guessBar+4, sunken, dots)
}
