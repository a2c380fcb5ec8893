package labs

import (
	"cmp"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/stage"
)

// A ring is the draggable end of a guess in a chart. Positions are in chart pixels.
type ring struct {
	Field  string // the id of the field that contains its value
	Name   string
	X, Y   float64
	From   [2]float64 // the start of the dotted line that leads to the ring
	Inside plots.Inside
	Value  string // "" until the ring is moved
}

// aheadRoom is the length of the time axis as a multiple of the program's longest estimate. The
// extra room keeps guesses from being cut off and the scale from giving the result away.
const aheadRoom = 1.25

// cacheAhead returns the time chart with the user's guess and the measurement.
func cacheAhead(w stage.Words, m *infer.Model, v terms.Values, guess string, result any) *section {
	a, err := lab.AheadOfCache(m, v)
	if err != nil || a.Tokens < 2 {
		return nil
	}
	_, drawn := splitGuess(guess)
	g := plots.CacheGuess{Tokens: a.Tokens, First: a.First, Top: max(aheadRoom*a.Again, 0.1), Guess: drawn}
	s := &section{ID: "time", Lead: true, Caption: w.T("labs.cache.time.caption", "prompt", a.Prompt)}
	if c, ok := result.(*lab.Cache); ok && len(c.Steps) > 1 {
		g.Tokens, g.Top = c.Steps[len(c.Steps)-1].Step, 0.1
		if drawn != nil {
			g.Top = max(drawn[0], drawn[1])
		}
		for _, step := range c.Steps {
			g.Points = append(g.Points, plots.Ways{
				Step: step.Step, Cached: quartiles(step.Cached.Ms), Recomputed: quartiles(step.Recomputed.Ms),
			})
		}
		s.Say = drawnText(w, c, drawn)
	} else {
		s.Say = w.Rich("labs.cache.time.guess", "n", terms.Count(a.Tokens))
	}
	wide, inside, err := g.Draw(w.Language)
	if err != nil {
		return nil
	}
	s.Chart = &wide
	g.Narrow = true
	narrow, slim, err := g.Draw(w.Language)
	if err != nil {
		return nil
	}
	s.Narrow = &narrow
	if drawn != nil || result == nil { // after a run without a guess, there are no rings
		s.Rings, s.Slim = rings(w, a, inside, drawn), rings(w, a, slim, drawn)
	}
	return s
}

// rings returns the rings of the two guesses. Until they are moved, they are at the time of the
// first token.
func rings(w stage.Words, a lab.CacheAhead, in plots.Inside, drawn *[2]float64) []ring {
	list := []ring{
		{Field: "f-guess-again", Name: w.T("labs.cache.ring.again")},
		{Field: "f-guess-cached", Name: w.T("labs.cache.ring.cached")},
	}
	for i := range list {
		r, at := &list[i], a.First
		if drawn != nil {
			at = drawn[i]
			r.Value = terms.Plain(at)
		}
		r.X, r.Y, r.Inside = in.Right, in.Y(at), in
		r.From = [2]float64{in.Left, in.Y(a.First)}
		if drawn == nil { // far enough apart that both can be grabbed
			r.Y += []float64{-12, 12}[i]
		}
	}
	return list
}

// drawnText describes the measured times of the last token and of the whole text, and compares the
// guess with them.
func drawnText(w stage.Words, c *lab.Cache, drawn *[2]float64) stage.Rich {
	last := c.Steps[len(c.Steps)-1]
	again, cached := last.Recomputed.Ms.Median, last.Cached.Ms.Median
	with := []any{
		"last", timeText(w, last), "recomputed", ms(w, last.Recomputed.TotalMs.Median),
		"cached", ms(w, last.Cached.TotalMs.Median),
	}
	if drawn == nil {
		return w.Rich("labs.cache.drawn.none", with...)
	}
	first := c.Steps[0].Recomputed.Ms.Median
	guess, truth := drawn[0]-first, again-first
	with = append(with, "drawn_again", ms(w, drawn[0]), "drawn_cached", ms(w, drawn[1]), "times", ratio(truth, guess))
	switch {
	case truth <= 0 || cached <= 0: // the text is too short for times to rise
		return w.Rich("labs.cache.drawn", with...)
	case guess <= 0:
		return w.Rich("labs.cache.drawn.flat", with...)
	case guess > 1.25*truth:
		return w.Rich("labs.cache.drawn.steeper", with...)
	case guess < truth/1.25:
		return w.Rich("labs.cache.drawn.flatter", with...)
	}
	return w.Rich("labs.cache.drawn.right", with...)
}

// px formats a position in a picture.
func px(x float64) string { return terms.Decimals(x, 1) }

// valueOr returns text, or other if it is empty.
func valueOr(text, other string) string { return cmp.Or(text, other) }
