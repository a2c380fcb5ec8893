package plots

import (
	"fmt"

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
	// Guess holds the guessed times of the last token: recomputed, and with the cache. It is nil if
	// there is no guess.
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
func (r CacheGuess) Draw() (Chart, Inside, error) {
	c := Chart{Title: "Time of each token", Header: []string{"token", "with the cache, ms", "all read again, ms"}}
	if r.Tokens < 2 || !(r.Top > 0) {
		return c, Inside{}, fmt.Errorf("draw %q: %d tokens up to %g ms", c.Title, r.Tokens, r.Top)
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
	f := newFigure(&c, wholes(1, r.Tokens, 4), upTo(most, 4, millisTick), room)
	if r.Narrow {
		f.width = narrowWidth
	}
	if err := r.lines(f); err != nil {
		return c, Inside{}, err
	}
	err := f.done()
	d := f.inside
	d.High = f.Y.Max
	return c, d, err
}

// lines draws the guess, the first token, and the measurements.
func (r CacheGuess) lines(f *figure) error {
	f.chart.Description = "Nothing is measured yet."
	from := plotter.XY{X: 1, Y: r.First}
	if len(r.Points) > 0 {
		from.Y = r.Points[0].Recomputed.Mid
	}
	if r.Guess != nil {
		for i, name := range []string{"all again", "cache"} {
			to := plotter.XY{X: float64(r.Tokens), Y: r.Guess[i]}
			if err := f.line(plotter.XYs{from, to}, mark, ""); err != nil {
				return err
			}
			f.ends = append(f.ends, label{r.Guess[i], r.called("you: "+name, r.Guess[i]), ink, false})
		}
	}
	if len(r.Points) == 0 {
		if r.First > 0 {
			f.notes = append(f.notes, r.firstNote(f.Y.Max))
			return f.dots(plotter.XYs{from}, ink2, 4)
		}
		return nil
	}
	last := r.Points[len(r.Points)-1]
	f.chart.Description = fmt.Sprintf("At token %d: %s with the cache, %s all read again.", last.Step,
		millis(last.Cached.Mid), millis(last.Recomputed.Mid))
	return r.measured(f, last)
}

// firstNote returns the note with the first token's time. The note is below the point, since the
// guesses start at the point and usually rise. If there is no room, it is above the point. top is
// the end of the axis.
func (r CacheGuess) firstNote(top float64) note {
	frame, room := 200.0, 20.0 // pixels: minimum height of the frame, and room for a line of text below the point
	n := note{x: 1, y: r.First, dx: 8, dy: -17, words: "about " + millis(r.First), color: ink3, align: start}
	above := 12.0
	if r.Narrow { // text is larger on phones
		n.dy, above, room = -19, 20, 26
	} else {
		n.words += " for the first"
	}
	if r.First*frame < room*top {
		n.dy = above
	}
	return n
}

func (r CacheGuess) measured(f *figure, last Ways) error {
	again, kept := plotter.XYs{}, plotter.XYs{}
	for _, p := range r.Points {
		again = append(again, plotter.XY{X: float64(p.Step), Y: p.Recomputed.Mid})
		kept = append(kept, plotter.XY{X: float64(p.Step), Y: p.Cached.Mid})
	}
	for _, way := range []struct {
		xys   plotter.XYs
		style draw.LineStyle
		name  string
	}{{again, dashed, "all again"}, {kept, solid, "cache"}} {
		if err := f.line(way.xys, way.style, r.called(way.name, way.xys[len(way.xys)-1].Y)); err != nil {
			return err
		}
	}
	return nil
}

// called returns the label for a line's end. On a phone, there is room only for the number.
func (r CacheGuess) called(name string, ms float64) string {
	if r.Narrow {
		return millis(ms)
	}
	return name + " " + millis(ms)
}
