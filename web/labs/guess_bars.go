package labs

import (
	"math"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/stage"
)

// guessBars defines how a lab draws its guess as a quantity. It names a quantity to compare the
// guess with, and gives the range of each choice. The measured value is drawn below the guess, on
// the same axis.
type guessBars struct {
	title, caption string // the keys of texts
	whole          string // the key of a text that names the quantity to compare the guess with
	// scale returns the value of the quantity named by whole, and the end of the axis. Both are
	// known before a run.
	scale  func(m *infer.Model, v terms.Values) (whole, high float64)
	ranges map[string][2]float64 // the ranges of the choices, from 0 to +Inf without gaps
	found  func(result any) (float64, bool)
	words  func(stage.Words, float64) string
}

// drawGuess makes the page of a registered face show its guess as bars.
func drawGuess(f face, name string, b guessBars) face {
	f.bars = &b
	faces[name] = f
	return f
}

// A guessPic is the picture of a guess, for large screens and for phones.
type guessPic struct {
	Chart, Narrow *plots.Chart
	Caption       string
}

// drawLanes makes the page of a registered face show its guess in a lane. The guess is the name of
// that lane.
func drawLanes(f face, name string, lanes func(w stage.Words, guess string, result any) *guessPic) face {
	f.lanes = lanes
	faces[name] = f
	return f
}

// guessPic draws a guess, together with the result if there is one. It returns nil if the lab does
// not draw its guess, or if the result does not contain the guessed quantity.
func (p *Pages) guessPic(w stage.Words, i lab.Info, v terms.Values, guess string, result any) *guessPic {
	f := faces[i.Name]
	if f.lanes != nil {
		return f.lanes(w, guess, result)
	}
	if f.bars == nil {
		return nil
	}
	g := plots.Guess{
		Title: w.T(f.bars.title), Whole: w.T(f.bars.whole),
		Words: func(x float64) string { return f.bars.words(w, x) },
	}
	g.At, g.High = f.bars.scale(p.Target, v)
	if r, ok := f.bars.ranges[guess]; ok {
		g.From, g.To, g.Guessed = min(r[0], g.High), r[1], f.Question.Words(w, guess)
	}
	if result != nil {
		x, ok := f.bars.found(result)
		if !ok {
			return nil
		}
		g.Measured = &x
	}
	wide, err := g.Draw(w.Language)
	if err != nil {
		return nil
	}
	g.Narrow = true
	narrow, err := g.Draw(w.Language)
	if err != nil {
		return nil
	}
	return &guessPic{Chart: &wide, Narrow: &narrow, Caption: w.T(f.bars.caption)}
}

// guessAhead returns a lab's first screen as it is before a run, when it shows only the guess.
func (p *Pages) guessAhead(w stage.Words, i lab.Info, v terms.Values, guess string) *found {
	pic := p.guessPic(w, i, v, guess, nil)
	if pic == nil {
		return nil
	}
	return &found{Info: i, Partial: true, Sections: []section{{
		ID: "guess", Lead: true, Guess: pic, Say: w.Rich("labs.guess.first"),
	}}}
}

// fixed returns a scale that is the same for all models and settings.
func fixed(whole, high float64) func(*infer.Model, terms.Values) (float64, float64) {
	return func(*infer.Model, terms.Values) (float64, float64) { return whole, high }
}

// allHeads is the scale for a number of heads.
func allHeads(m *infer.Model, _ terms.Values) (whole, high float64) {
	n := float64(m.Config().Layers * m.Config().Heads)
	return n, n
}

// allTokens is the scale for a position in the text.
func allTokens(_ *infer.Model, v terms.Values) (whole, high float64) {
	n, _ := terms.ReadNumber(v["tokens"])
	return n, n
}

func inPercent(_ stage.Words, x float64) string { return terms.Percent(x) }

func inTimes(_ stage.Words, x float64) string {
	return strings.TrimSuffix(terms.Decimals(x, 1), ".0") + "×"
}

func inCount(_ stage.Words, x float64) string { return terms.Count(int(math.Round(x))) }

// inPlace formats a token's position. It formats an infinite position as "never".
func inPlace(w stage.Words, x float64) string {
	if math.IsInf(x, 1) {
		return w.T("labs.never")
	}
	return inCount(w, x)
}
