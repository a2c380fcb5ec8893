package lab

import (
	"fmt"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Findings are what a run came to in a few sentences: for a terminal, for the
// caption of a chart, for who cannot see one. They are made of the result
// alone.

// signed is a number with two decimals and its sign.
func signed(x float64) string { return strings.ReplaceAll(fmt.Sprintf("%+.2f", x), "-", "−") }

// shown is a text between curly quotes, its newlines visible.
func shown(text string) string { return "“" + strings.ReplaceAll(text, "\n", "↵") + "”" }

func (s *Strategies) findings() []string {
	var list []string
	if len(s.Partings) > 0 {
		p := s.Partings[0]
		list = append(list, fmt.Sprintf("The first two lanes part at token %d. %s", p.Step, p.Say))
	} else if len(s.Lanes) > 1 {
		list = append(list, fmt.Sprintf("No two lanes part within %d tokens.", len(s.U)))
	}
	var runs []string
	for _, r := range s.Runs {
		runs = append(runs, fmt.Sprintf("%s %d", s.Lanes[r.Lane].Name, r.DistinctTexts))
	}
	if len(runs) > 0 && s.Runs[0].Runs > 1 {
		list = append(list, fmt.Sprintf("Different texts in %d runs: %s.", s.Runs[0].Runs, strings.Join(runs, ", ")))
	}
	if c := s.Circle; c != nil && c.Circle != nil {
		round := ""
		for _, t := range c.Circle.Tokens {
			round += t.Text
		}
		list = append(
			list,
			fmt.Sprintf(
				"After %s greedy loops from token %d on, every %d tokens, %.1f times: %s.", shown(c.Prompt),
				c.Circle.Start, c.Circle.Period, c.Circle.Rounds, shown(round),
			),
		)
	} else if c != nil {
		list = append(list, fmt.Sprintf("Greedy looped in none of %d texts.", c.Tried))
	}
	return append(list, s.Best.findings()...)
}

func (s *SequenceSearch) findings() []string {
	if s == nil {
		return nil
	}
	how := fmt.Sprintf("after %s passes, with no sequence left out", terms.Count(s.Expanded))
	if !s.Exact {
		how = fmt.Sprintf("the search was given up after %s passes", terms.Count(s.Expanded))
	}
	if !s.Differs {
		is := "is the most probable of"
		if !s.Exact {
			is = "is the most probable that was found of"
		}
		return []string{
			fmt.Sprintf(
				"After %s greedy's path %s, p = %s, %s %d tokens (%s).", shown(s.Prompt), shown(s.Greedy.Text),
				chance(s.Greedy.P), is, s.Horizon, how,
			),
		}
	}
	return []string{fmt.Sprintf("After %s greedy writes %s, p = %s. %s is %.2f times as probable, p = %s (%s).",
		shown(s.Prompt), shown(s.Greedy.Text), chance(s.Greedy.P),
		shown(s.Best.Text), s.Best.P/s.Greedy.P, chance(s.Best.P), how)}
}

// chance is a probability, a small one never as 0.
func chance(p float64) string {
	if p > 0 && p < 0.0001 {
		return fmt.Sprintf("%.1e", p)
	}
	return fmt.Sprintf("%.4f", p)
}

func (d *Draw) findings() []string {
	if d.Kept == 1 {
		return []string{
			fmt.Sprintf(
				"The filters keep only %s, so every draw falls on it and there is no distance to shrink.",
				shown(d.Tokens[0].Token.Text),
			),
			"Raise the temperature, or switch the filters off, to see more tokens drawn.",
		}
	}
	first, last := d.Distances[0], d.Distances[len(d.Distances)-1]
	return []string{
		fmt.Sprintf("The distance falls from %.3f at %s draws to %.4f at %s, on average; %.3f and %.4f are expected.",
			first.Mean, terms.Count(first.N), last.Mean, terms.Count(last.N), first.Expected, last.Expected),
		fmt.Sprintf(
			"It falls as N to the power of %s; %s is expected, and −½ is the law for many draws.", signed(d.Slope),
			signed(d.SlopeExpected),
		),
	}
}

func (c *Cache) findings() []string {
	last := c.Steps[len(c.Steps)-1]
	list := []string{
		fmt.Sprintf("Token %d takes %s multiply-adds with the cache and %s without, %.1f times as many; all %d "+
			"together %.1f times as many.",
			last.Step, terms.Count(last.Cached.MultAdds), terms.Count(last.Recomputed.MultAdds),
			float64(last.Recomputed.MultAdds)/float64(last.Cached.MultAdds),
			last.Step, float64(last.Recomputed.TotalMultAdds)/float64(last.Cached.TotalMultAdds)),
	}
	if c.SameLogits && c.Columns.Different == 0 {
		list = append(
			list,
			fmt.Sprintf(
				"All %s logits of the two ways are the same bit for bit, and so are all %s numbers of their keys and "+
					"values.",
				terms.Count(c.Compared), terms.Count(c.Columns.Compared),
			),
		)
	} else {
		list = append(list, "The two ways do not agree bit for bit.")
	}
	for _, f := range c.Fits {
		if f.Of != "ms" {
			list = append(list, strings.ToUpper(f.Name[:1])+f.Name[1:]+". "+f.Say)
		}
	}
	return append(
		list,
		fmt.Sprintf(
			"Cached attention would cost as much as all matrices at %s positions.", terms.Count(int64(c.BreakEven+0.5)),
		),
	)
}

func (c *Memory) findings() []string {
	list := []string{
		fmt.Sprintf("%s keeps %s a position: %s for %s positions of %s at once, beside %s of weights.",
			c.Model.Name, terms.BytesShort(c.BytesPerPosition), terms.BytesShort(c.Bytes),
			terms.Count(c.Positions), terms.Counted(c.Batch, "text"), terms.BytesShort(c.WeightBytes)),
		fmt.Sprintf("One cache is as large as the weights at %s positions.", terms.Count(int64(c.Overtakes+0.5))),
	}
	if c.FreeBytes < 0 {
		list = append(list, fmt.Sprintf("The weights alone do not fit into %s.", terms.BytesShort(c.MemoryBytes)))
	} else {
		list = append(
			list,
			fmt.Sprintf(
				"Next to the weights, %s has room for %s of %s positions.", terms.BytesShort(c.MemoryBytes),
				terms.Counted(int(c.Users), "text"), terms.Count(c.Positions),
			),
		)
	}
	if n := len(c.Engine.Steps); n > 0 {
		last := c.Engine.Steps[n-1]
		list = append(
			list,
			fmt.Sprintf(
				"The engine's own cache uses %s for %s positions and has reserved %s, room for %s.",
				terms.BytesShort(float64(last.Used)), terms.Count(last.Positions),
				terms.BytesShort(float64(last.Reserved)), terms.Count(last.Room),
			),
		)
	}
	return list
}

func (p *Prefill) findings() []string {
	list := []string{
		fmt.Sprintf(
			"Each token of a prompt takes %.4f ms, plus %.2f ms for the prompt as a whole (R² of that line: %.3f).",
			p.PerToken,
			p.Constant, p.R2,
		),
	}
	if p.Constant <= 0 { // noise is larger than the part that every prompt has
		list[0] = fmt.Sprintf("Each token of a prompt takes %.4f ms (R² of that line: %.3f).", p.PerToken, p.R2)
	}
	if p.Gaps.N == 0 {
		return list
	}
	return append(list,
		fmt.Sprintf(
			"The gaps between tokens are %.3f ms, the middle half from %.3f to %.3f.", p.Gaps.Median, p.Gaps.Q1,
			p.Gaps.Q3,
		),
		fmt.Sprintf(
			"Writing a token takes %.2g times as long as reading one, for %.2g times the multiply-adds.", p.Ratio,
			p.WorkRatio,
		),
		fmt.Sprintf("Streamed, the first words arrive after %.2f ms; in one piece, everything arrives after %.2f.",
			p.Streamed.First, p.Whole.First))
}

func (b *Bill) findings() []string {
	list := []string{fmt.Sprintf("%s tokens read and %s written cost $%.3g; output is %.0f%% of it.",
		terms.Count(b.Cost.InputTokens), terms.Count(b.Cost.OutputTokens), b.Cost.Total, 100*b.OutputShare)}
	for _, s := range b.Savings {
		verb, share := "saves", s.Share
		if s.Saved < 0 {
			verb, share = "costs another", -s.Share
		}
		list = append(list, fmt.Sprintf("The same request %s %s %.0f%%.", s.Title, verb, 100*share))
	}
	if b.Why.Say != "" {
		list = append(list, b.Why.Say)
	}
	return list
}

func (s *Speculation) findings() []string {
	list := []string{s.Acceptance.Say}
	if s.Say != "" {
		list = append(list, s.Say)
	}
	if s.Costs.StepMs.N > 0 {
		list = append(list, fmt.Sprintf("Measured, a step of the draft costs c = %.2f steps of the target and a "+
			"verification of %d positions v = %.2f. By multiply-adds they would be %.2f and %.2f: where v is near γ "+
			"+ 1 arithmetic is the limit, where it is near 1 memory is.",
			s.Costs.C, s.Gamma+1, s.Costs.V, s.Costs.Counted.C, s.Costs.Counted.V))
	}
	if x := s.Synthetic; x.Rounds > 0 {
		list = append(
			list,
			fmt.Sprintf(
				"A synthetic pair with independent acceptance, α = %.3f, yields %.3f tokens a pass where E is %.3f: "+
					"%s%%.",
				x.Alpha, x.PerPass, x.Expected, signed(100*x.Off),
			),
		)
	}
	return list
}

func (s *Stops) findings() []string {
	var list []string
	if first := s.Racers[0]; s.Winner != "" {
		name := terms.Capital(terms.StopOf(s.Winner).A)
		if first.String != "" {
			name += " (" + shown(first.String) + ")"
		}
		list = append(list, fmt.Sprintf("%s ends this text, at token %d.", name, first.Step))
	} else {
		list = append(list, fmt.Sprintf("Nothing has ended this text in %d tokens.", len(s.Tokens)))
	}
	if x := s.Straddle; x != nil {
		list = append(
			list,
			fmt.Sprintf(
				"The stop string %s begins %d bytes into token %d and is whole at token %d; what is before it is kept.",
				shown(x.String), x.Offset, x.First, x.Last,
			),
		)
	}
	return append(list, s.NoEnd.Say)
}

func (q *Quantization) findings() []string {
	var list []string
	own := q.Ways[0]
	for _, w := range q.Ways[1:] {
		list = append(list, fmt.Sprintf("%s keeps the weights in %s instead of %s. The most probable token stays at "+
			"%d of %d steps; the mean KL is %.2g nats, the largest %.2g.",
			w.Name, terms.BytesShort(float64(w.Bytes)), terms.BytesShort(
				float64(own.Bytes),
			), w.Kept, len(q.Steps), w.MeanKL, w.MaxKL))
	}
	for _, w := range q.Ways[1:] {
		if own.Ms.N > 0 && !w.Wide {
			list = append(
				list,
				fmt.Sprintf(
					"A token takes %.3f ms with the model's own weights and %.3f ms with %s.", own.Ms.Median,
					w.Ms.Median, w.Name,
				),
			)
		}
	}
	if q.LeftOut != "" {
		list = append(list, "Left out: "+q.LeftOut+".")
	}
	return list
}
