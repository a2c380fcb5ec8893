package labs

import (
	"fmt"
	"math"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/plots"
)

var _ = drawGuess(show("prefill", prefillSections, writeAgainstRead, prediction{
	Ask: "How long does it take to write a token, compared with reading one in the prompt?",
	Choices: []choice{
		{"1", "less or about as long"}, {"3", "2 to 4 times as long"}, {"more", "more than 4 times as long"},
	},
}), "prefill", guessBars{
	title: "Writing a token, compared with reading one", whole: "reading one", words: inTimes,
	caption: "time of a token; reading one is 1×",
	scale:   fixed(1, 8), ranges: map[string][2]float64{"1": {0, 1.5}, "3": {1.5, 4}, "more": {4, math.Inf(1)}},
	found: func(result any) (float64, bool) {
		ratio := result.(*lab.Prefill).Ratio
		return ratio, ratio > 0
	},
})

func prefillSections(p *lab.Prefill) []section {
	var points []plots.FirstToken
	for _, x := range p.Points {
		points = append(points, plots.FirstToken{Tokens: x.Tokens, Ms: quartiles(x.Ms)})
	}
	list := []section{section{
		ID: "first", Title: "Time to the first token", Half: true,
		Say: firstText(p),
		Caption: fmt.Sprintf(
			"prompt tokens; measured, the band is the middle half of %s", terms.Counted(p.Repeats, "run"),
		),
	}.charted(plots.FirstTokens(points, p.Constant, p.PerToken))}
	if len(p.Arrivals) == 0 {
		return list
	}
	var came []plots.Arrived
	for _, a := range p.Arrivals {
		came = append(came, plots.Arrived{Step: a.Step, At: a.At})
	}
	return append(list,
		section{
			ID: "gaps", Title: "Then the gaps", Half: true, Caption: "ms since the request; each stroke is a token",
			Say: spans("After ", b(
				terms.Counted(p.Prompt, "prompt token"),
			), " the first token came at ", b(ms(p.First)), ", then one every ", x(ms(p.Gaps.Median)),
				" (middle half "+ms(p.Gaps.Q1)+" to "+ms(p.Gaps.Q3)+"). "+waitText(p)),
			Body: waited(p),
		}.charted(plots.Arrivals(came)),
		section{
			ID: "why", Title: "Why writing costs more than reading", Say: whyText(p),
			Numbers: table(readWriteGrid(p)),
		})
}

func firstText(p *lab.Prefill) []span {
	fits := fmt.Sprintf(" (R² %s).", terms.Decimals(p.R2, 3))
	if p.Constant <= 0 { // the noise is larger than the constant part
		return spans("A straight line through the medians: ", x(ms(p.PerToken)+" for each prompt token"), fits)
	}
	return spans(
		"A straight line through the medians: ", b(ms(p.Constant)), " for the call and ",
		x(ms(p.PerToken)+" for each prompt token"), fits,
	)
}

// waitText describes how long a reader waits for the text, with streaming or without, as requested.
func waitText(p *lab.Prefill) string {
	if p.Stream {
		return fmt.Sprintf(
			"Streaming is on: there is something to read after %s, and everything after %s.", ms(p.Streamed.First),
			ms(p.Streamed.Last),
		)
	}
	return fmt.Sprintf(
		"Streaming is off: there is nothing to read until everything is written, after %s. With it "+
			"the first words would "+
			"have come after %s.",
		ms(p.Whole.First), ms(p.Streamed.First),
	)
}

func whyText(p *lab.Prefill) []span {
	return spans("A written token took ", x(
		terms.Decimals(p.Ratio, 1)+" times as long",
	), " as one that was read, though it is ", b(terms.Decimals(p.WorkRatio, 2)+" times"),
		" the work. Every pass reads all weights, ", b(
			terms.Bytes(p.WeightBytes),
		), "; the tokens of a prompt share one reading, a written token has it to itself.", hiddenText(p))
}

// hiddenText explains why the measured times may barely show the difference.
func hiddenText(p *lab.Prefill) string {
	if p.Ratio >= 1.2 {
		return ""
	}
	return " Little of that shows in this run. Where the machine is busy the long passes over a prompt are " +
		"interrupted more often than short ones; and a small model’s weights lie in the processor’s own memory."
}

func readWriteGrid(p *lab.Prefill) grid {
	row := func(name string, t lab.PerToken) []string {
		return []string{name, terms.Measured(t.Ms), terms.Count(int64(t.MultAdds)), terms.Measured(t.Rate)}
	}
	return grid{
		Caption: "One token", Head: []string{"token", "ms", "multiply-adds", "10⁹ multiply-adds a second"},
		Rows: [][]string{row("read in the prompt", p.Input), row("written", p.Output)},
	}
}

func writeAgainstRead(p *lab.Prefill) (string, string, bool) {
	if p.Ratio <= 0 {
		return "", "", false
	}
	return among(p.Ratio, []float64{1.5, 4}, "1", "3", "more"), fmt.Sprintf(
		"Writing a token took %s times as long as reading one.", terms.Decimals(p.Ratio, 1),
	), true
}
