package labs

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/view"
)

func prefillSections(p *lab.Prefill) []section {
	var points []plots.FirstToken
	for _, x := range p.Points {
		points = append(points, plots.FirstToken{Tokens: x.Tokens, Ms: quartiles(x.Ms)})
	}
	list := []section{section{
		ID: "first", Title: "Time to the first token", Half: true,
		Say:     say("A straight line through the medians: ", b(ms(p.Constant)), " for the call and ", x(ms(p.PerToken)+" for each prompt token"), fmt.Sprintf(" (R² %s).", view.Decimals(p.R2, 3))),
		Caption: fmt.Sprintf("prompt tokens; measured, the band is the middle half of %s", plural(p.Repeats, "run")),
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
			Say: say("After ", b(plural(p.Prompt, "prompt token")), " the first token came at ", b(ms(p.First)), ", then one every ", x(ms(p.Gaps.Median)),
				" (middle half "+ms(p.Gaps.Q1)+" to "+ms(p.Gaps.Q3)+"). Streamed, there is something to read after ", b(ms(p.Streamed.First)), "; whole, after ", b(ms(p.Whole.First)), "."),
			Body: waited(p),
		}.charted(plots.Arrivals(came)),
		section{ID: "why", Title: "Why writing costs more than reading", Say: whySay(p), Body: table(readWriteGrid(p))})
}

func whySay(p *lab.Prefill) []span {
	return say("A written token took ", x(view.Decimals(p.Ratio, 1)+" times as long"), " as one that was read, though it is ", b(view.Decimals(p.WorkRatio, 2)+" times"),
		" the work. Every pass reads all weights, ", b(view.Bytes(p.WeightBytes)), "; the tokens of a prompt share one reading, a written token has it to itself.")
}

func readWriteGrid(p *lab.Prefill) grid {
	row := func(name string, t lab.PerToken) []string {
		return []string{name, figures(t.Ms), view.Count(int64(t.MultAdds)), figures(t.Rate)}
	}
	return grid{
		Caption: "One token", Head: []string{"token", "ms", "multiply-adds", "10⁹ multiply-adds a second"},
		Rows: [][]string{row("read in the prompt", p.Input), row("written", p.Output)},
	}
}
