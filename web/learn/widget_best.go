package learn

import (
	"context"
	"math"
	"strings"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/stage"
)

// best compares greedy's path with the most probable one.
type best struct {
	model *infer.Model
	found found
}

func newBest(d environment) experiment { return &best{model: d.target} }

func (e *best) show(ctx context.Context, in terms.Values) (templ.Component, error) {
	f, err := findBest(ctx, e.model, in["prompt"], in.Int("length"), in.Int("width"))
	if err != nil {
		return nil, err
	}
	e.found = f
	w := stage.In(ctx)
	var v bestView
	s := settingsOf(terms.Values{"t": "0"})
	for i, p := range []path{f.greedy, f.best} {
		run, err := newRun(ctx, e.model, in["prompt"], s)
		if err != nil {
			return nil, err
		}
		st, err := writtenAs(ctx, run, p.tokens)
		if err != nil {
			return nil, err
		}
		v.Ways[i] = newWay(e.model, p, f)
		v.Ways[i].Loop = loopAt(st)
	}
	v.Ways[0].Name, v.Ways[1].Name = w.T("learn.best.greedy"), w.T("learn.best.best")
	v.Say = bestText(w, f)
	v.Tried = triedText(w, e.model, f, in.Int("width"))
	return bestHTML(v), nil
}

// A bestView shows the two paths.
type bestView struct {
	Ways  [2]way
	Say   stage.Rich
	Tried string
}

// A way is one of the two paths: a sequence of tokens with their probabilities.
type way struct {
	Name    string
	Tokens  []wayToken
	Product string // such as "0.3000 × 0.2000 = 0.0600"
	Bar     string // SVG length, on a scale where the better path is 90%
	Loop    string
}

type wayToken struct {
	Text   stage.Text
	P, Bar string
	Ramp   string
	Other  bool // differs from the other way's token
}

func newWay(m *infer.Model, p path, f found) way {
	w := way{Bar: stage.Share(0.9 * p.p / f.best.p)}
	parts := make([]string, len(p.ps))
	for i, id := range p.tokens {
		w.Tokens = append(w.Tokens, wayToken{
			stage.TokenText(m.Token(id)), terms.Prob(p.ps[i]), stage.Share(p.ps[i]), stage.Ramp(p.ps[i]), !f.agreeAt(i),
		})
		parts[i] = terms.Prob(p.ps[i])
	}
	w.Product = strings.Join(parts, " × ") + " = " + small(p.p)
	return w
}

// small formats a product of probabilities with four significant digits.
func small(p float64) string {
	decimals := 4
	if p > 0 && p < 0.1 {
		decimals = min(12, 3-int(math.Floor(math.Log10(p))))
	}
	return terms.Decimals(p, decimals)
}

// countOf formats a count that may exceed 64 bits.
func countOf(x float64) string {
	if x < 1<<62 {
		return terms.Count(int64(x))
	}
	return terms.Decimals(x, 0)
}

func bestText(w stage.Words, f found) stage.Rich {
	if f.same() {
		return w.Rich("learn.best.same")
	}
	at := 0
	for f.agreeAt(at) {
		at++
	}
	return w.Rich(
		"learn.best.two", "n", at+1, "greedy", terms.Prob(f.greedy.ps[at]), "best", terms.Prob(f.best.ps[at]),
		"times", terms.Decimals(f.best.p/f.greedy.p, 2),
	)
}

// triedText explains how the search has proved that no sequence is more probable.
func triedText(w stage.Words, m *infer.Model, f found, width int) string {
	all := math.Pow(float64(m.Config().Vocab), float64(f.length))
	if width < m.Config().Vocab {
		return w.T("learn.best.tried.some", "n", f.tried, "all", countOf(all), "width", width)
	}
	return w.T("learn.best.tried", "n", f.tried, "all", countOf(all))
}

// answer implements [judge].
func (e *best) answer(w stage.Words, _ string) (key, say string, ok bool) {
	if e.found.same() {
		return "yes", w.T("learn.ask.best.say.yes"), true
	}
	return "no", w.T("learn.ask.best.say.no", "times", terms.Decimals(e.found.best.p/e.found.greedy.p, 2)), true
}
