package plots

import (
	"fmt"
	"strconv"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tokenbytoken/viz/infer/terms"
)

// CacheGuess plots the time of each token with and without the cache, together with a learner's
// guess for the last token. All times are in milliseconds.
type CacheGuess struct {
	Tokens int     // number of tokens on the axis
	First  float64 // estimated time of the first token, the same for both ways; 0 if unknown
	Top    float64 // end of the time axis
	// Guess holds the guessed times of the last token without the cache and with it, in that order.
	// It is nil if there is no guess.
	Guess  *[2]float64
	Points []Ways // the measurements; empty before a run
	Narrow bool   // whether to draw the version for phones
}

// Inside describes a chart's frame: its scale, and its position in the picture, in pixels from the
// picture's upper left corner.
type Inside struct {
	Left, Right, Top, Bottom float64
	High                     float64 // milliseconds at Top; Bottom is 0
	Width, Height            float64 // of the whole picture
}

// ViewBox returns the picture's viewBox, for overlays.
func (d Inside) ViewBox() string { return fmt.Sprintf("0 0 %g %g", d.Width, d.Height) }

// Y returns the vertical position of a time given in milliseconds.
func (d Inside) Y(ms float64) float64 { return d.Bottom - (d.Bottom-d.Top)*min(ms, d.High)/d.High }

// Draw draws the guess as dotted lines in the text color, and the measurements over it. The page
// adds draggable rings at the ends of the guess.
func (r CacheGuess) Draw(l *terms.Language) (Chart, Inside, error) {
	c := Chart{
		Title:  l.T("plot.ways.time"),
		Header: []string{l.T("plot.head.token"), l.T("plot.cache.cached"), l.T("plot.cache.again")},
	}
	if r.Tokens < 2 || !(r.Top > 0) {
		return c, Inside{}, fmt.Errorf(
			"draw %q: got %d tokens and times up to %g ms; want at least 2 tokens and a positive time",
			c.Title, r.Tokens, r.Top,
		)
	}
	most := r.Top
	for _, p := range r.Points {
		most = max(most, p.Recomputed.High, p.Cached.High)
		c.Rows = append(c.Rows, []string{terms.Count(p.Step), figures(p.Cached.Mid), figures(p.Recomputed.Mid)})
	}
	room := 96.0
	if r.Narrow {
		room = 62
	}
	f := newFigure(&c, wholes(1, r.Tokens, 4), upTo(most, 4, millisTick(l)), room)
	if r.Narrow {
		f.width = narrowWidth
	}
	if err := r.lines(l, f); err != nil {
		return c, Inside{}, err
	}
	err := f.done(l)
	d := f.inside
	d.High = f.Y.Max
	return c, d, err
}

// lines draws the guess, the first token, and the measurements.
func (r CacheGuess) lines(l *terms.Language, f *figure) error {
	f.chart.Description = l.T("plot.cache.none")
	from := plotter.XY{X: 1, Y: r.First}
	if len(r.Points) > 0 {
		from.Y = r.Points[0].Recomputed.Mid
	}
	if r.Guess != nil {
		for i, key := range []string{"plot.cache.you.again", "plot.cache.you.cached"} {
			to := plotter.XY{X: float64(r.Tokens), Y: r.Guess[i]}
			if err := f.line(plotter.XYs{from, to}, mark, ""); err != nil {
				return err
			}
			f.ends = append(f.ends, label{r.Guess[i], r.called(l, key, r.Guess[i]), ink, false})
		}
	}
	if len(r.Points) == 0 {
		if r.First > 0 {
			f.notes = append(f.notes, r.firstNote(l, f.Y.Max))
			return f.dots(plotter.XYs{from}, ink2, 4)
		}
		return nil
	}
	last := r.Points[len(r.Points)-1]
	f.chart.Description = l.T("plot.cache.say", "n", strconv.Itoa(last.Step), "cached", millis(l, last.Cached.Mid),
		"again", millis(l, last.Recomputed.Mid))
	return r.measured(l, f)
}

// firstNote returns the note with the first token's time. The note is below the point, since the
// guesses start at the point and usually rise. If there is no room, it is above the point. top is
// the end of the axis.
func (r CacheGuess) firstNote(l *terms.Language, top float64) note {
	frame, room := 200.0, 20.0 // pixels: minimum height of the frame, and room for a line of text below the point
	about := l.T("plot.cache.first", "ms", millis(l, r.First))
	n := note{x: 1, y: r.First, dx: 8, dy: -17, words: about, color: ink3, align: start}
	above := 12.0
	if r.Narrow { // text is larger on phones
		n.words = l.T("plot.cache.first.narrow", "ms", millis(l, r.First))
		n.dy, above, room = -19, 20, 26
	}
	if r.First*frame < room*top {
		n.dy = above
	}
	return n
}

func (r CacheGuess) measured(l *terms.Language, f *figure) error {
	again, kept := plotter.XYs{}, plotter.XYs{}
	for _, p := range r.Points {
		again = append(again, plotter.XY{X: float64(p.Step), Y: p.Recomputed.Mid})
		kept = append(kept, plotter.XY{X: float64(p.Step), Y: p.Cached.Mid})
	}
	for _, way := range []struct {
		xys   plotter.XYs
		style draw.LineStyle
		key   string
	}{{again, dashed, "plot.cache.line.again"}, {kept, solid, "plot.cache.line.cached"}} {
		if err := f.line(way.xys, way.style, r.called(l, way.key, way.xys[len(way.xys)-1].Y)); err != nil {
			return err
		}
	}
	return nil
}

// called returns the label for a line's end. On a phone, there is room only for the number.
func (r CacheGuess) called(l *terms.Language, key string, ms float64) string {
	if r.Narrow {
		return millis(l, ms)
	}
	return l.T(key, "ms", millis(l, ms))
}
