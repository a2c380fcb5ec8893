package drill

// buildFive builds the five-token drill, which asks only for the fifteen answers that show how
// sampling works. The drill [Softmax] asks for every number, including the exponentials.
func buildFive(p *Problem) {
	s := &sheet{five: newFive(p), p: p, lang: p.lang}
	p.Facts = []Fact{
		{p.lang.T("drill.fact.tokens"), p.quotedAll(s.names)},
		{p.lang.T("drill.fact.logits"), s.join(func(i int) string { return logit(s.z[i]) })},
	}
	s.sharesStep()
	s.favoriteStep()
	s.bestStep()
	s.totalsStep()
	s.topAt("cold", cold, p.lang.T("drill.five.sharper"))
	s.topAt("hot", hot, p.lang.T("drill.five.flatter"))
	for _, t := range []float64{cold, 1, hot} {
		d := s.plain(t)
		p.trend = append(p.trend, TrendPoint{t, d.P[d.Order[0]]})
	}
	s.summarize()
}

// sharesStep asks only for the probabilities.
func (s *sheet) sharesStep() {
	s.open(Step{
		ID: "softmax", Name: s.lang.T("drill.five.softmax.name"), Note: "T = 1",
		Title:  s.lang.T("drill.five.softmax.title"),
		Ask:    s.lang.T("drill.five.softmax.ask"),
		Remark: s.lang.T("drill.five.softmax.remark"),
	})
	s.frame("z", "p")
	s.fill(1, map[string]func(int) Item{"p": func(i int) Item { return s.pCell(i, 1) }})
	s.foot(map[string]Item{"p": {Text: s.lang.T("drill.must_be_1"), Due: true}})
}

// favoriteStep asks which token greedy decoding picks.
func (s *sheet) favoriteStep() {
	s.open(Step{
		ID: "greedy", Name: s.lang.T("drill.five.greedy.name"), Note: s.lang.T("drill.five.greedy.note"),
		Needs: []string{"softmax"},
		Title: s.lang.T("drill.five.greedy.title"), Ask: s.lang.T("drill.five.greedy.ask"),
		Remark: s.lang.T("drill.five.greedy.remark"),
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
		ID: "topk", Name: s.lang.T("drill.five.name.top", "k", s.k),
		Note: s.lang.T("drill.five.note.keep", "k", s.k), Needs: []string{"softmax"},
		Title:  s.lang.T("drill.five.title.keep_most_probable_tokens", "k", s.k),
		Ask:    s.lang.T("drill.five.topk.ask"),
		Remark: s.lang.T("drill.five.remark.stay_whatever_they_weigh", "n", d.Keep, "mass", Probability.show(d.Mass)),
	})
	s.frame("z p", "keep")
	keep := s.keepCell(d, rule)
	s.fill(1, map[string]func(int) Item{"keep": func(i int) Item { return Item{Cell: keep, Option: s.names[i]} }})
	s.step.Asks = []Ask{{
		s.lang.T("drill.five.topk.ask.what_new_share", "token", s.names[best]),
		s.qCell(best, d, rule).Cell,
	}}
}

// totalsStep asks for the running total and the nucleus. The total at the first token is given,
// since it equals that token's share.
func (s *sheet) totalsStep() {
	d, rule := s.nucleus(1), cut{topP: s.topP}
	border, first := canonical(s.topP, Real), int(d.Order[0])
	s.open(Step{
		ID: "topp", Name: s.lang.T("drill.five.topp.name", "border", border),
		Note: s.lang.T("drill.five.note.keep_share", "top_p", percent(s.topP)), Needs: []string{"softmax"},
		Title:  s.lang.T("drill.five.topp.title", "border", border),
		Ask:    s.lang.T("drill.five.topp.ask", "border", border),
		Remark: s.lang.T("drill.five.topp.remark", "n", d.Keep),
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
	remark := s.lang.T("drill.five.remark.gaps_between_logits_count")
	if t > 1 {
		remark = s.lang.T("drill.five.remark.gaps_count_half_distribution")
	}
	s.open(Step{
		ID: id, Name: "T = " + tt, Note: what, Title: s.lang.T("drill.five.top_at.title", "t", tt),
		Ask: s.lang.T("drill.five.top_at.ask"), Remark: remark,
	})
	s.frame("z", "")
	s.fill(t, nil)
	s.step.Asks = []Ask{{
		s.lang.T("drill.five.top_at.ask.what_share_now", "token", s.names[best]),
		s.pCell(best, t).Cell,
	}}
}
