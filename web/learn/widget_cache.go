package learn

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
)

// cacheWidget generates a text with the cache, then recomputes every step without it.
type cacheWidget struct {
	id    string
	model *infer.Model
	key   string
	run   *session.Session
	steps []twoWays
}

// twoWays compares one step with the cache to the same step without it.
type twoWays struct {
	read, reread       int // tokens that went through the blocks, with the cache and without it
	cached, recomputed cost.Parts
	same               bool // the scores of the whole vocabulary are identical bit for bit
}

func newCache(d environment) experiment { return &cacheWidget{id: d.id, model: d.target} }

func (e *cacheWidget) show(ctx context.Context, in terms.Values) (templ.Component, error) {
	if key := fmt.Sprint(in["tokens"], in["prompt"]); e.run == nil || e.key != key {
		s := settingsOf(terms.Values{"t": "0.7", "p": "0.9", "tokens": in["tokens"]})
		run, err := newRun(ctx, e.model, in["prompt"], s)
		if err != nil {
			return nil, err
		}
		st, err := writeTo(ctx, run, s.Stop.MaxTokens)
		if err != nil {
			return nil, err
		}
		steps, err := bothWays(ctx, e.model, st)
		if err != nil {
			return nil, err
		}
		e.run, e.key, e.steps = run, key, steps
	}
	at := min(in.Int("at"), len(e.steps))
	in.SetInt("at", at)
	st, err := seekTo(ctx, e.run, at, infer.KindCache)
	if err != nil {
		return nil, err
	}
	return cacheHTML(e.view(stage.In(ctx), st, at)), nil
}

// bothWays recomputes every step of a text from the beginning of the text and compares the scores.
func bothWays(ctx context.Context, m *infer.Model, st *session.State) ([]twoWays, error) {
	var text []int
	for _, t := range st.PromptTokens {
		text = append(text, t.ID)
	}
	var list []twoWays
	for _, s := range st.Steps {
		last, blocks, err := m.Forward(ctx, m.NewCache(), text)
		if err != nil {
			return nil, err
		}
		z, output, err := m.Logits(last)
		if err != nil {
			return nil, err
		}
		list = append(list, twoWays{
			read: len(s.Input), reread: len(text), cached: s.Blocks.Plus(s.Output), recomputed: blocks.Plus(output),
			same: sameBits(z, s.Logits),
		})
		text = append(text, s.Chosen)
	}
	return list, nil
}

func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

// A cacheView shows the comparison at one step.
type cacheView struct {
	ID            string
	At, Of        int
	Given, Made   []stage.Token
	Rows          []cacheRow
	Total         cacheRow
	Chart         workChart
	Say, Identity stage.Rich
	Back, Forward target
	Loop          string
}

// A cacheRow is one number, with and without the cache.
type cacheRow struct {
	Name               string
	Cached, Recomputed string
}

func (e *cacheWidget) view(w stage.Words, st *session.State, at int) cacheView {
	strip := w.NewStrip(st)
	step := e.steps[at-1]
	var sum, sumRe int64
	same := 0
	for i, s := range e.steps {
		if i < at {
			sum, sumRe = sum+s.cached.Total(), sumRe+s.recomputed.Total()
		}
		if s.same {
			same++
		}
	}
	row := func(name string, of func(cost.Parts) int64) cacheRow {
		return cacheRow{w.T("learn.cache.row." + name), w.MultAdds(of(step.cached)), w.MultAdds(of(step.recomputed))}
	}
	v := cacheView{
		ID: e.id, At: at, Of: len(e.steps), Given: strip.Prompt, Made: strip.Tokens, Loop: loopAt(st),
		Rows: []cacheRow{
			{w.T("learn.cache.row.read"), terms.Count(step.read), terms.Count(step.reread)},
			row("blocks", func(p cost.Parts) int64 { return p.Projections + p.FeedForward }),
			row("attention", func(p cost.Parts) int64 { return p.Attention }),
			row("scores", func(p cost.Parts) int64 { return p.Output }),
			row("step", cost.Parts.Total),
		},
		Total:   cacheRow{w.T("learn.cache.row.all"), w.MultAdds(sum), w.MultAdds(sumRe)},
		Chart:   newWorkChart(w, e.steps, at),
		Back:    target{Words: w.T("learn.widget.previous"), At: at - 1},
		Forward: target{Words: w.T("learn.widget.token"), At: at + 1, Main: true},
	}
	if at == v.Of {
		v.Forward.At = 0
	}
	v.Say = w.Rich(
		"learn.cache.say", "n", at, "all", v.Of, "times", terms.Times(step.recomputed.Total(), step.cached.Total()),
		"together", terms.Times(sumRe, sum),
	)
	v.Identity = identityText(w, same, v.Of, e.model.Config().Vocab)
	return v
}

// identityText describes the result of comparing the scores with and without the cache.
func identityText(w stage.Words, same, of, vocab int) stage.Rich {
	if same == of {
		return w.Rich("learn.cache.same", "steps", w.Counted(of, "step"), "vocab", vocab)
	}
	return w.Rich("learn.cache.differs", "n", of-same, "steps", w.Counted(of, "step"))
}

// A workChart plots the work of each step, with and without the cache.
type workChart struct {
	Cached, Recomputed string // SVG paths
	X, Y, YRe          string // the current step
	Top, Middle        string // labels of the axis
	Last               string
	Say                string
}

// The chart's frame in units of its viewBox, 310 by 190.
const (
	workLeft, workTop     = 52.0, 12.0
	workWidth, workHeight = 250.0, 146.0
)

func newWorkChart(w stage.Words, steps []twoWays, at int) workChart {
	var most int64
	for _, s := range steps {
		most = max(most, s.cached.Total(), s.recomputed.Total())
	}
	x := func(i int) float64 {
		if len(steps) == 1 {
			return workLeft
		}
		return workLeft + workWidth*float64(i)/float64(len(steps)-1)
	}
	y := func(n int64) float64 { return workTop + workHeight*(1-float64(n)/float64(most)) }
	path := func(of func(twoWays) int64) string {
		var b strings.Builder
		letter := "M"
		for i, s := range steps {
			fmt.Fprintf(&b, "%s%.1f %.1f", letter, x(i), y(of(s)))
			letter = "L"
		}
		return b.String()
	}
	now := steps[at-1]
	return workChart{
		Cached:     path(func(s twoWays) int64 { return s.cached.Total() }),
		Recomputed: path(func(s twoWays) int64 { return s.recomputed.Total() }),
		X:          fmt.Sprintf("%.1f", x(at-1)), Y: fmt.Sprintf("%.1f", y(now.cached.Total())),
		YRe: fmt.Sprintf("%.1f", y(now.recomputed.Total())),
		Top: w.MultAdds(most), Middle: w.MultAdds(most / 2), Last: terms.Count(len(steps)),
		Say: w.T(
			"learn.cache.chart", "all", len(steps), "n", at, "cached", w.MultAdds(now.cached.Total()),
			"recomputed", w.MultAdds(now.recomputed.Total()),
		),
	}
}

// answer implements [judge].
func (e *cacheWidget) answer(w stage.Words, _ string) (key, say string, ok bool) {
	n := len(e.steps)
	last := e.steps[n-1]
	re, cached := last.recomputed.Total(), last.cached.Total()
	key = guess.Among(float64(re)/float64(cached), []float64{3, 10, 30}, "2", "5", "20", "40")
	return key, w.T("learn.ask.times.say", "n", n, "times", terms.Times(re, cached)), true
}
