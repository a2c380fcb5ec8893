package drill

import "fmt"

// buildFive builds the five-token drill, which asks only for the fifteen answers that show how
// sampling works. The drill [Softmax] asks for every number, including the exponentials.
func buildFive(p *Problem) {
	s := &sheet{five: newFive(p), p: p}
	p.Facts = []Fact{
		{"tokens", quotedAll(s.names)},
		{"logits", s.join(func(i int) string { return logit(s.z[i]) })},
	}
	s.sharesStep()
	s.favoriteStep()
	s.bestStep()
	s.totalsStep()
	s.topAt("cold", cold, "sharper")
	s.topAt("hot", hot, "flatter")
	for _, t := range []float64{cold, 1, hot} {
		d := s.plain(t)
		p.trend = append(p.trend, TrendPoint{t, d.P[d.Order[0]]})
	}
	s.summarize()
}

// sharesStep asks only for the probabilities.
func (s *sheet) sharesStep() {
	s.open(Step{
		ID: "softmax", Name: "Softmax", Note: "T = 1", Title: "Turn the logits into probabilities",
		Ask: "Raise e to each logit, add the results up, and divide each by the sum. Three or four decimals. " +
			"A calculator helps; the powers need not be written down.",
		Remark: "The plain reading of the scores. They add up to 1.",
	})
	s.frame("z", "p")
	s.fill(1, map[string]func(int) Item{"p": func(i int) Item { return s.pCell(i, 1) }})
	s.foot(map[string]Item{"p": {Text: "must be 1"}})
}

// favoriteStep asks which token greedy decoding picks.
func (s *sheet) favoriteStep() {
	s.open(Step{
		ID: "greedy", Name: "Greedy", Note: "take the top one", Needs: []string{"softmax"},
		Title: "Which token does greedy take?", Ask: "Mark one.", Remark: "Always the top one. No randomness is left.",
	})
	s.frame("z p", "keep")
	keep := s.keepCell(s.greedy(), cut{k: 1})
	s.fill(1, map[string]func(int) Item{"keep": func(i int) Item { return Item{Cell: keep, Option: s.names[i]} }})
}

// bestStep asks for the tokens that top-k keeps and for the first token's new share.
func (s *sheet) bestStep() {
	d, rule := s.top(), cut{k: s.k}
	best := int(d.Order[0])
	s.open(Step{
		ID: "topk", Name: fmt.Sprintf("Top-%d", s.k), Note: fmt.Sprintf("keep %d", s.k), Needs: []string{"softmax"},
		Title:  fmt.Sprintf("Keep the %d most probable tokens", s.k),
		Ask:    "Mark the tokens that stay. Then divide the share of the first by the sum of theirs.",
		Remark: fmt.Sprintf("%d stay, whatever they weigh: %s.", d.Keep, Probability.show(d.Mass)),
	})
	s.frame("z p", "keep")
	keep := s.keepCell(d, rule)
	s.fill(1, map[string]func(int) Item{"keep": func(i int) Item { return Item{Cell: keep, Option: s.names[i]} }})
	s.step.Asks = []Ask{{"What is the new share of " + quoted(s.names[best]) + "?", s.qCell(best, d, rule).Cell}}
}

// totalsStep asks for the running total and the nucleus. The total at the first token is given,
// since it equals that token's share.
func (s *sheet) totalsStep() {
	d, rule := s.nucleus(1), cut{topP: s.topP}
	border, first := canonical(s.topP, Real), int(d.Order[0])
	s.open(Step{
		ID: "topp", Name: "Top-p " + border, Note: "keep " + percent(s.topP), Needs: []string{"softmax"},
		Title: "Keep the smallest set that reaches " + border,
		Ask: "Add the shares up, from the most probable down. Then mark the tokens until the total is at least " +
			border + ".",
		Remark: fmt.Sprintf("%d tokens stay here. A sharper distribution needs fewer, a flatter one more.", d.Keep),
	})
	s.frame("z p", "cum keep")
	keep := s.keepCell(d, rule)
	s.fill(1, map[string]func(int) Item{
		"cum": func(i int) Item {
			if i == first {
				return Item{Text: Probability.show(d.P[i]), Value: d.P[i]}
			}
			return s.cumCell(i)
		},
		"keep": func(i int) Item { return Item{Cell: keep, Option: s.names[i]} },
	})
}

// topAt asks for the share of the first token at another temperature.
func (s *sheet) topAt(id string, t float64, what string) {
	best := int(s.plain(t).Order[0])
	tt := canonical(t, Real)
	remark := "Gaps between logits count double: the top token gains."
	if t > 1 {
		remark = "Gaps count half: the distribution is flatter. The order never changes."
	}
	s.open(Step{
		ID: id, Name: "T = " + tt, Note: what, Title: "What does T = " + tt + " do to the first token?",
		Ask: "Divide every logit by T first. Then softmax as before.", Remark: remark,
	})
	s.frame("z", "")
	s.fill(t, nil)
	s.step.Asks = []Ask{{"What is the share of " + quoted(s.names[best]) + " now?", s.pCell(best, t).Cell}}
}
