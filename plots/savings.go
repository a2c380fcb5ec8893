package plots

import (
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Saving is a change to a request, and the share of the request's cost that the change saves.
type Saving struct {
	Name  string
	Share float64 // negative if the changed request costs more
	You   bool    // the learner guessed that this change saves the most
}

// Savings plots the share that each change saves, on an axis from 0 to the whole cost. The axis is
// the same before and after a run.
type Savings struct {
	Lanes  []Saving // in the same order before and after a run
	None   Saving   // the guess that no change saves anything; Share is not used
	Ran    bool     // whether the shares are known
	Narrow bool     // whether to draw the version for phones
}

// The dimensions of the savings chart, in CSS pixels.
const (
	savingRow, savingLeft, savingNarrowLeft, savingRight = 30.0, 206.0, 146.0, 64.0
)

// Draw draws a lane for each change. Before a run, the lane is dotted; afterward, it has a bar. The
// largest bar has the accent color. The guess is marked above its lane.
func (v Savings) Draw(l *terms.Language) (Chart, error) {
	c := Chart{Title: l.T("plot.savings"), Header: []string{l.T("plot.savings.change"), l.T("plot.savings.saved")}}
	if len(v.Lanes) == 0 {
		return c, fmt.Errorf("draw %q: no changes", c.Title)
	}
	best := -1
	for i, lane := range v.Lanes {
		if lane.Share > 1 {
			return c, fmt.Errorf("draw %q: %s saves a share of %g, want at most 1", c.Title, lane.Name, lane.Share)
		}
		if v.Ran && lane.Share > 0 && (best < 0 || lane.Share > v.Lanes[best].Share) {
			best = i
		}
	}
	you := l.T("plot.guess.none")
	if v.None.You {
		you = v.None.Name
	}
	for _, lane := range v.Lanes {
		words := l.T("plot.guess.yet")
		if v.Ran {
			words = savedWords(l, lane.Share)
		}
		if lane.You {
			you = lane.Name
		}
		c.Rows = append(c.Rows, []string{lane.Name, words})
	}
	switch {
	case !v.Ran:
		c.Description = l.T("plot.savings.say.before", "guess", you)
	case best < 0:
		c.Description = l.T("plot.savings.say.none", "guess", you)
	default:
		c.Description = l.T("plot.savings.say", "guess", you, "change", v.Lanes[best].Name,
			"share", savedWords(l, v.Lanes[best].Share))
	}
	return c, v.draw(l, &c, best)
}

// savedWords formats a share that was saved.
func savedWords(l *terms.Language, share float64) string {
	switch {
	case share < 0:
		return l.T("plot.savings.more")
	case share == 0:
		return l.T("plot.savings.nothing")
	}
	return terms.Percent(share)
}

func (v Savings) draw(l *terms.Language, c *Chart, best int) error {
	width, left := float64(chartWidth), savingLeft
	if v.Narrow {
		width, left = narrowWidth, savingNarrowLeft
	}
	rows := float64(len(v.Lanes) + 1)
	s := newSketch(width, rows*savingRow+26)
	long := width - left - savingRight
	for _, t := range upTo(1, 3, terms.Percent).ticks {
		s.line(left+t.Value*long, 2, left+t.Value*long, rows*savingRow+2, draw.LineStyle{Color: line, Width: 1})
		s.words(left+t.Value*long, rows*savingRow+18, t.Label, ink3, false, middle)
	}
	s.line(left, 2, left, rows*savingRow+2, thin)
	for i, lane := range v.Lanes {
		v.lane(l, s, lane, savingRow*(float64(i)+0.5)+4, left, long, i == best)
	}
	y := savingRow*(rows-0.5) + 4
	v.name(l, s, v.None, y, left, v.Ran && best < 0)
	return s.done(l, c)
}

// name draws a lane's name and marks the guess.
func (v Savings) name(l *terms.Language, s *sketch, lane Saving, y, left float64, wins bool) {
	color := ink
	if wins {
		color = accent
	}
	s.words(left-12, y, lane.Name, color, wins || lane.You, end)
	if lane.You {
		s.dot(left, y-14, 3.5, ink)
		s.words(left+8, y-12, l.T("plot.guess.you"), ink, true, start)
	}
}

func (v Savings) lane(l *terms.Language, s *sketch, lane Saving, y, left, long float64, best bool) {
	v.name(l, s, lane, y, left, best)
	dots := draw.LineStyle{Color: edge, Width: 1.25, Dashes: []vg.Length{1.5, 3}}
	at := left + long*max(lane.Share, 0)
	switch {
	case !v.Ran:
		s.line(left, y-3, left+long, y-3, dots)
		s.words(left+long+8, y, "?", ink3, false, start)
		return
	case best:
		s.box(left, y-8, max(at-left, 2), 10, accent, draw.LineStyle{})
	case lane.Share > 0:
		s.box(left, y-8, max(at-left, 2), 10, otherFill, draw.LineStyle{Color: other, Width: 1.25})
	}
	s.words(at+8, y, savedWords(l, lane.Share), ink, best, start)
}
