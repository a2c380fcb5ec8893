package learn

import (
	"context"
	"math"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// temperatureRows is the number of tokens that are listed. The probabilities of all other tokens
// are added up.
const temperatureRows = 8

// temperature shows one distribution at any T next to the same distribution at T = 1. It computes
// the scores of a prompt once.
type temperature struct {
	model  *infer.Model
	story  bool // shown in the Story
	prompt string
	run    *session.Session
	ones   []float64 // p at T = 1, by token id
	curve  []float64 // share of the likeliest token over the slider's range
}

func newTemperature(d environment) experiment {
	return &temperature{model: d.target, story: d.view == shell.Story}
}

func (e *temperature) show(ctx context.Context, in terms.Values) (templ.Component, error) {
	t := in.Float("t")
	if e.run == nil || e.prompt != in["prompt"] {
		run, err := newRun(ctx, e.model, in["prompt"], settingsOf(terms.Values{"t": "1"}))
		if err != nil {
			return nil, err
		}
		if _, err := stageTo(ctx, run, infer.KindSoftmax); err != nil {
			return nil, err
		}
		e.run, e.prompt = run, in["prompt"]
		z := run.State().Step().Logits
		e.ones, _, _ = sampling.Softmax(z, 1)
		e.curve = shareCurve(z)
	}
	st, err := e.run.Apply(ctx, session.SetKnob("temperature", t))
	if err != nil {
		return nil, err
	}
	w := stage.In(ctx)
	if e.story {
		return temperatureStoryHTML(w.NewStory(st), e.view(w, st)), nil
	}
	return temperatureHTML(e.view(w, st)), nil
}

// A temperatureView is the content of the experiment.
type temperatureView struct {
	T     string
	Rows  []temperatureRow
	Rest  temperatureRow
	Sum   string
	Chart shareChart
	Say   stage.Rich
	Loop  string
}

type temperatureRow struct {
	Text     stage.Text
	Z, ZT, P string
	Bar, Was string // SVG lengths: p now, and at T = 1
	Once     string // p at T = 1
}

func (e *temperature) view(w stage.Words, st *session.State) temperatureView {
	s := st.StageOf(infer.KindSoftmax, temperatureRows).(infer.Softmax)
	v := temperatureView{T: terms.Decimals(s.Temperature, 2), Loop: loopAt(st)}
	rest, sum := 1.0, s.Rest.P
	top := s.Rows.Rows[0]
	for _, r := range s.Rows.Rows {
		one := e.ones[r.ID]
		rest, sum = rest-one, sum+r.P
		v.Rows = append(v.Rows, temperatureRow{
			Text: stage.TokenText(r.Token), Z: terms.Logit(float64(r.Z)), ZT: terms.Decimals(r.ZT, 2),
			P:   terms.Prob(r.P),
			Bar: stage.Share(r.P), Was: stage.Share(one), // from 0 to 1 at every temperature
		})
	}
	v.Rest = temperatureRow{
		Text: stage.Text{{S: w.Counted(s.Rest.N, "other")}}, P: terms.Prob(s.Rest.P), Once: terms.Prob(rest),
	}
	v.Sum = terms.Prob(sum)
	v.Say = ratioText(w, s.Rows.Rows, s.Temperature)
	v.Chart = newShareChart(w, e.curve, e.ones[top.ID], top.P, s.Temperature, stage.TokenText(top.Token))
	return v
}

// ratioText describes the effect of T on the gap between the two likeliest tokens: p₁/p₂ =
// e^((z₁−z₂)/T).
func ratioText(w stage.Words, rows []infer.Row, t float64) stage.Rich {
	first, second := rows[0], rows[1]
	gap := float64(first.Z) - float64(second.Z)
	times := func(t float64) string {
		x, decimals := math.Exp(gap/t), 2
		if x >= 1000 {
			decimals = 0
		}
		return terms.Decimals(x, decimals)
	}
	return w.Rich(
		"learn.temperature.say", "t", terms.Decimals(t, 2), "gap", terms.Decimals(gap, 2),
		"now", terms.Decimals(gap/t, 2), "first", stage.TokenText(first.Token), "times", times(t),
		"second", stage.TokenText(second.Token), "one", times(1),
	)
}

// answer implements [judge]. It compares the order of all tokens at the temperature shown with
// their order at T = 1.
func (e *temperature) answer(w stage.Words, _ string) (key, say string, ok bool) {
	d := e.run.State().Dist
	if d.Settings.Temperature == 1 {
		return "", "", false
	}
	key = "no"
	for i, id := range d.Order[1:] {
		if e.ones[id] > e.ones[d.Order[i]] {
			key = "yes"
		}
	}
	t := terms.Decimals(d.Settings.Temperature, 2)
	return key, w.T("learn.ask.overtake.say."+key, "all", len(d.P), "t", t), true
}
