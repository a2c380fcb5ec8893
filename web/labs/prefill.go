package labs

import (
	"math"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/stage"
)

var _ = drawGuess(show("prefill", prefillSections, writeAgainstRead, guess.Question{
	Ask: "labs.prefill.ask",
	Choices: []guess.Choice{
		{Key: "1", Text: "labs.prefill.choice.less"},
		{Key: "3", Text: "labs.prefill.choice.some"},
		{Key: "more", Text: "labs.prefill.choice.more"},
	},
}), "prefill", guessBars{
	title: "labs.prefill.guess", whole: "labs.prefill.guess.whole", words: inTimes,
	caption: "labs.prefill.guess.caption",
	scale:   fixed(1, 8), ranges: map[string][2]float64{"1": {0, 1.5}, "3": {1.5, 4}, "more": {4, math.Inf(1)}},
	found: func(result any) (float64, bool) {
		ratio := result.(*lab.Prefill).Ratio
		return ratio, ratio > 0
	},
})

func prefillSections(w stage.Words, p *lab.Prefill) []section {
	var points []plots.FirstToken
	for _, x := range p.Points {
		points = append(points, plots.FirstToken{Tokens: x.Tokens, Ms: quartiles(x.Ms)})
	}
	list := []section{section{
		ID: "first", Title: w.T("labs.prefill.first"), Half: true, Say: firstText(w, p),
		Caption: w.T("labs.prefill.first.caption", "n", p.Repeats),
	}.charted(plots.FirstTokens(w.Language, points, p.Constant, p.PerToken))}
	if len(p.Arrivals) == 0 {
		return list
	}
	var came []plots.Arrived
	for _, a := range p.Arrivals {
		came = append(came, plots.Arrived{Step: a.Step, At: a.At})
	}
	return append(list,
		section{
			ID: "gaps", Title: w.T("labs.prefill.gaps"), Half: true, Caption: w.T("labs.prefill.gaps.caption"),
			Say: w.Rich("labs.prefill.gaps.say", "n", p.Prompt, "first", ms(w, p.First), "gap", ms(w, p.Gaps.Median),
				"low", ms(w, p.Gaps.Q1), "high", ms(w, p.Gaps.Q3), "wait", waitText(w, p), "b", bold, "x", accent),
			Body: waited(p),
		}.charted(plots.Arrivals(w.Language, came)),
		section{
			ID: "why", Title: w.T("labs.prefill.why"), Say: whyText(w, p), Numbers: table(readWriteGrid(w, p)),
		})
}

func firstText(w stage.Words, p *lab.Prefill) stage.Rich {
	with := []any{"r2", terms.Decimals(p.R2, 3), "each", ms(w, p.PerToken), "call", ms(w, p.Constant), "x", accent}
	if p.Constant <= 0 { // the noise is larger than the constant part
		return w.Rich("labs.prefill.first.noisy", with...)
	}
	return w.Rich("labs.prefill.first.say", with...)
}

// waitText describes how long a reader waits for the text, with streaming or without, as requested.
func waitText(w stage.Words, p *lab.Prefill) string {
	if p.Stream {
		return w.T("labs.prefill.wait.streamed", "first", ms(w, p.Streamed.First), "last", ms(w, p.Streamed.Last))
	}
	return w.T("labs.prefill.wait.whole", "last", ms(w, p.Whole.First), "first", ms(w, p.Streamed.First))
}

// whyText compares writing a token with reading one. It also explains why the difference may hardly
// show in the measured times.
func whyText(w stage.Words, p *lab.Prefill) stage.Rich {
	key := "labs.prefill.why.say"
	if p.Ratio < 1.2 {
		key = "labs.prefill.why.hidden"
	}
	return w.Rich(key, "times", terms.Decimals(p.Ratio, 1), "work", terms.Decimals(p.WorkRatio, 2),
		"bytes", w.Bytes(p.WeightBytes), "b", bold, "x", accent)
}

func readWriteGrid(w stage.Words, p *lab.Prefill) grid {
	row := func(name string, t lab.PerToken) []string {
		return []string{name, terms.Measured(t.Ms), terms.Count(int64(t.MultAdds)), terms.Measured(t.Rate)}
	}
	g := newGrid(w, "labs.prefill.grid.", "token", "ms", "work", "rate")
	g.Rows = [][]string{row(w.T("labs.prefill.grid.read"), p.Input), row(w.T("labs.prefill.grid.written"), p.Output)}
	return g
}

func writeAgainstRead(w stage.Words, p *lab.Prefill) (string, string, bool) {
	if p.Ratio <= 0 {
		return "", "", false
	}
	return guess.Among(p.Ratio, []float64{1.5, 4}, "1", "3", "more"),
		w.T("labs.prefill.found", "times", terms.Decimals(p.Ratio, 1)), true
}
