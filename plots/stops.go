package plots

import (
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Racer is one stop condition, with the step at which it fires, or 0 if it never does.
type Racer struct {
	Name string
	Step int
	Sure bool // whether the step is known without running that far
	Open bool // nothing has been generated yet, so the step is unknown
	You  bool // the learner guessed that this condition is the first
}

// StopRace shows how far a text gets before each stop condition fires. The condition that fires
// first wins. written is the number of tokens that were or will be generated. narrow selects a
// drawing for phones.
func StopRace(l *terms.Language, racers []Racer, written int, narrow bool) (Chart, error) {
	c := Chart{Title: l.T("plot.stops"), Header: []string{l.T("plot.stops.condition"), l.T("plot.stops.token")}}
	if len(racers) == 0 || written < 1 {
		return c, fmt.Errorf("draw %q: no stop conditions", c.Title)
	}
	winner, most := -1, written
	for i, r := range racers {
		fires := l.T("plot.stops.not", "n", written)
		if r.Open {
			fires = l.T("plot.stops.open")
		}
		if r.Step > 0 {
			fires = strconv.Itoa(r.Step)
			if winner < 0 || r.Step < racers[winner].Step {
				winner = i
			}
		}
		c.Rows = append(c.Rows, []string{r.Name, fires})
	}
	c.Description = l.T("plot.stops.say.none")
	if slices.ContainsFunc(racers, func(r Racer) bool { return r.Open }) {
		winner, c.Description = -1, l.T("plot.stops.say.before")
	}
	if winner >= 0 {
		first := racers[winner]
		c.Description = l.T("plot.stops.say", "stop", first.Name, "n", strconv.Itoa(first.Step))
	}
	const row = 34.0
	width, left, right := 620.0, 206.0, 96.0
	if narrow {
		width, left, right = 340, 138, 84
	}
	height := row*float64(len(racers)) + 40
	s := newSketch(width, height)
	scale := (width - left - right) / float64(most)
	for i, r := range racers {
		drawRacer(l, s, r, row*(float64(i)+0.5)+4, left, float64(most)*scale, scale, i == winner)
	}
	ticks := 5
	if narrow {
		ticks = 3
	}
	a := wholes(0, most, ticks)
	y := height - 8
	s.line(left, y-14, left+float64(most)*scale, y-14, thin)
	for _, t := range a.ticks {
		s.line(left+t.Value*scale, y-14, left+t.Value*scale, y-10, thin)
		s.words(left+t.Value*scale, y, t.Label, ink3, false, middle)
	}
	return c, s.done(l, &c)
}

func drawRacer(l *terms.Language, s *sketch, r Racer, y, left, most, scale float64, wins bool) {
	s.words(left-12, y, shorten(r.Name, int((left-12)/8)), ink, wins || r.You, end)
	if r.You {
		s.dot(left, y-14, 3.5, ink)
		s.words(left+8, y-14, l.T("plot.guess.you"), ink, true, start)
	}
	long := min(float64(r.Step)*scale, most)
	switch {
	case r.Open && r.Step == 0:
		s.line(left, y, left+most, y, draw.LineStyle{Color: edge, Width: 1.25, Dashes: []vg.Length{1.5, 3}})
		s.words(left+most+8, y, "?", ink3, false, start)
	case r.Step == 0:
		s.line(left, y, left+most, y, draw.LineStyle{Color: edge, Width: 1.25, Dashes: []vg.Length{1.5, 3}})
		s.words(left+most+8, y, l.T("plot.stops.never"), ink3, false, start)
	case float64(r.Step)*scale > most:
		s.line(left, y, left+most, y, draw.LineStyle{Color: other, Width: 1.75, Dashes: []vg.Length{5, 3}})
		s.words(left+most+8, y, l.T("plot.stops.at", "n", r.Step), ink2, false, start)
	case wins:
		s.box(left, y-5, long, 10, accent, draw.LineStyle{})
		s.box(left+long-3, y-9, 6, 18, bad, draw.LineStyle{})
		s.words(left+long+10, y, l.T("plot.token", "n", terms.Count(r.Step)), ink, true, start)
	default:
		s.box(left, y-5, long, 10, otherFill, draw.LineStyle{Color: other, Width: 1.25})
		s.words(left+long+8, y, terms.Count(int64(r.Step)), ink2, false, start)
	}
}

// EndChances plots the probability of the end-of-text token at each step.
func EndChances(l *terms.Language, p []float64) (Chart, error) {
	c := Chart{Title: l.T("plot.end"), Header: []string{l.T("plot.head.token"), "p"}}
	if len(p) == 0 {
		return c, fmt.Errorf("draw %q: no steps", c.Title)
	}
	most, at := 0.0, 0
	for i, x := range p {
		if x > most {
			most, at = x, i+1
		}
		c.Rows = append(c.Rows, []string{strconv.Itoa(i + 1), terms.Grouped(x, 4)})
	}
	c.Description = l.T("plot.end.say", "n", strconv.Itoa(at), "p", terms.Grouped(most, 4))
	f := newFigure(&c, wholes(1, len(p), 6), upTo(max(most, 0.01), 4, tick), 14)
	if err := f.line(overSteps(p), draw.LineStyle{Color: accent, Width: 2}, ""); err != nil {
		return c, err
	}
	return c, f.done(l)
}
