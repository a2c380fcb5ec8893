package plots

import (
	"fmt"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tokenbytoken/viz/infer/terms"
)

// HeadAt is a head with its score: the share of its attention weight, from 0 to 1, that matches the
// pattern being searched for.
type HeadAt struct {
	Name  string // "L4.H4"
	Block int    // from 1
	Score float64
}

// HeadScores plots the scores of a model's heads by block, with the threshold for passing.
func HeadScores(l *terms.Language, heads []HeadAt, limit float64) (Chart, error) {
	c := Chart{Title: l.T("plot.heads"), Header: []string{l.T("plot.heads.head"), l.T("plot.heads.share")}}
	if len(heads) == 0 {
		return c, fmt.Errorf("draw %q: no heads", c.Title)
	}
	best, blocks, passing := heads[0], 1, 0
	var all plotter.XYs
	for _, h := range heads {
		if h.Score > best.Score {
			best = h
		}
		if h.Score >= limit {
			passing++
		}
		blocks = max(blocks, h.Block)
		all = append(all, plotter.XY{X: float64(h.Block), Y: h.Score})
		c.Rows = append(c.Rows, []string{h.Name, terms.Grouped(h.Score, 3)})
	}
	c.Description = l.T("plot.heads.say", "heads", l.Counted(len(heads), "head"), "limit", terms.Percent(limit),
		"passing", strconv.Itoa(passing), "most", terms.Percent(best.Score), "best", best.Name)
	x := wholes(1, blocks, 6)
	x.min, x.max = 0.5, float64(max(blocks, 2))+0.5
	f := newFigure(&c, x, upTo(max(best.Score, limit*1.2), 4, tick), 66)
	line := plotter.XYs{{X: x.min, Y: limit}, {X: x.max, Y: limit}}
	for _, err := range []error{
		f.line(line, dashed, l.T("plot.heads.passes")),
		f.dots(all, other, 3),
		f.dots(plotter.XYs{{X: float64(best.Block), Y: best.Score}}, accent, 5),
	} {
		if err != nil {
			return c, err
		}
	}
	f.notes = append(f.notes, note{
		x: float64(best.Block), y: best.Score, dx: 8, dy: 4, words: best.Name, color: accent, bold: true,
		align: draw.XLeft,
	})
	return c, f.done(l)
}

// WithoutHead holds the surprise with one head switched off, in bits per token.
type WithoutHead struct {
	Name   string
	Bits   float64
	Strong bool // whether it is a candidate rather than a head for comparison
}

// WithoutHeads plots the surprise in the second reading with one head switched off at a time, and
// compares it with the surprise when all heads are on.
func WithoutHeads(l *terms.Language, list []WithoutHead, whole float64) (Chart, error) {
	c := Chart{
		Title:  l.T("plot.off"),
		Header: []string{l.T("plot.off.head"), l.T("plot.off.bits"), l.T("plot.off.more")},
	}
	if len(list) == 0 {
		return c, fmt.Errorf("draw %q: no heads", c.Title)
	}
	most, worst := whole, list[0]
	x := axis{min: -0.6, max: float64(len(list)) - 0.4}
	every := (len(list) + 7) / 8 // there is room for eight names
	for i, h := range list {
		most = max(most, h.Bits)
		if h.Bits > worst.Bits {
			worst = h
		}
		if i%every == 0 {
			x.ticks = append(x.ticks, plot.Tick{Value: float64(i), Label: h.Name})
		}
		c.Rows = append(c.Rows, []string{h.Name, terms.Grouped(h.Bits, 3), terms.Grouped(h.Bits-whole, 3)})
	}
	c.Description = l.T("plot.off.say", "all", terms.Grouped(whole, 2), "worst", worst.Name,
		"bits", terms.Grouped(worst.Bits, 2))
	f := newFigure(&c, x, upTo(most, 4, tick), 66)
	for i, h := range list {
		fill, edge := accent, draw.LineStyle{}
		if !h.Strong {
			fill, edge = otherFill, dashed
		}
		if err := f.box(float64(i)-0.32, 0, float64(i)+0.32, h.Bits, fill, edge); err != nil {
			return c, err
		}
	}
	line := plotter.XYs{{X: x.min, Y: whole}, {X: x.max, Y: whole}}
	if err := f.line(line, mark, l.T("plot.off.all")); err != nil {
		return c, err
	}
	return c, f.done(l)
}
