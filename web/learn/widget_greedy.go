package learn

import (
	"context"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
)

// greedyLoop generates a text and finds a repetition in it.
type greedyLoop struct {
	model  *infer.Model
	tokens int // of the text shown
	circle circle
}

func newGreedy(d environment) experiment { return &greedyLoop{model: d.target} }

func (e *greedyLoop) show(ctx context.Context, in terms.Values) (templ.Component, error) {
	run, err := newRun(ctx, e.model, in["prompt"], settingsOf(in))
	if err != nil {
		return nil, err
	}
	st, err := writeTo(ctx, run, in.Int("tokens"))
	if err != nil {
		return nil, err
	}
	v, c := newGreedyView(stage.In(ctx), st)
	e.tokens, e.circle = len(st.Steps), c
	return greedyHTML(v), nil
}

// A circle is a repetitive stretch of a text, tokens [From, From+Length). Except for the first
// Period tokens, each one equals the token that is Period tokens before it.
type circle struct{ From, Period, Length int }

// findCircle returns the longest stretch with at least two rounds (three if a round is a single
// token). Among equally long stretches, it returns the one with the shortest period. If there is
// none, the Length of the result is 0.
func findCircle(ids []int) circle {
	var best circle
	for period := 1; period <= len(ids)/2; period++ {
		least := 2 * period
		if period == 1 {
			least = 3
		}
		run := 0
		for i := period; i <= len(ids); i++ {
			if i < len(ids) && ids[i] == ids[i-period] {
				run++
				continue
			}
			if long := run + period; run > 0 && long >= least && long > best.Length {
				best = circle{i - long, period, long}
			}
			run = 0
		}
	}
	return best
}

// A greedyView shows the text, divided into rounds.
type greedyView struct {
	Prompt []stage.Token
	Before []stage.Token
	Rounds [][]stage.Token // each of one period; the last may be cut short
	After  []stage.Token
	Circle bool
	Say    stage.Rich
	Loop   string
}

// greedyRounds is the number of rounds that are listed; the others are only counted.
const greedyRounds = 6

// Unlisted returns the number of rounds that are not listed.
func (v greedyView) Unlisted() int { return max(0, len(v.Rounds)-greedyRounds) }

// Listed returns the rounds to list, which are the first ones.
func (v greedyView) Listed() [][]stage.Token {
	if v.Unlisted() == 0 {
		return v.Rounds
	}
	return v.Rounds[:greedyRounds]
}

func newGreedyView(w stage.Words, st *session.State) (greedyView, circle) {
	strip := w.NewStrip(st)
	tokens := strip.Tokens
	ids := make([]int, 0, len(st.Steps))
	for _, s := range st.Steps {
		if s.Ran >= infer.KindSample {
			ids = append(ids, s.Chosen)
		}
	}
	tokens = tokens[:len(ids)]
	v := greedyView{Prompt: strip.Prompt, Before: tokens, Loop: loopAt(st)}
	c := findCircle(ids)
	if c.Length > 0 {
		v.Circle = true
		v.Before, v.After = tokens[:c.From], tokens[c.From+c.Length:]
		for i := c.From; i < c.From+c.Length; i += c.Period {
			v.Rounds = append(v.Rounds, tokens[i:min(i+c.Period, c.From+c.Length)])
		}
	}
	v.Say = circleText(w, st, c, len(v.After))
	return v, c
}

// circleText describes the repetition and how confident the model became during it.
func circleText(w stage.Words, st *session.State, c circle, after int) stage.Rich {
	t, key := st.Steps[0].Settings.Temperature, "learn.greedy."
	if t > 0 {
		key = "learn.greedy.t."
	}
	if c.Length == 0 {
		return w.Rich(key+"none", "t", terms.Decimals(t, 2), "tokens", w.Counted(len(st.Steps), "token"))
	}
	first, last := st.Steps[c.From], st.Steps[c.From+(c.Length-1)/c.Period*c.Period]
	end := "still"
	if after > 0 {
		end = "left"
	}
	return w.Rich(
		key+end, "t", terms.Decimals(t, 2), "tokens", w.Counted(c.Period, "token"),
		"times", terms.Decimals(float64(c.Length)/float64(c.Period), 1),
		"token", stage.Span{Token: stage.TokenText(st.Model.Token(first.Chosen)), Style: stage.Gen},
		"first", terms.Prob(first.P), "last", terms.Prob(last.P),
	)
}

// answer implements [judge].
func (e *greedyLoop) answer(w stage.Words, _ string) (key, say string, ok bool) {
	if e.circle.Length == 0 {
		return "never", w.T("learn.ask.circle.say.never", "tokens", w.Counted(e.tokens, "token")), true
	}
	n := e.circle.From + e.circle.Period
	key = guess.Among(float64(n), []float64{10, 20}, "5", "15", "30")
	return key, w.T("learn.ask.circle.say", "tokens", w.Counted(n, "token")), true
}
