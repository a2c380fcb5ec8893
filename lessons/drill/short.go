package drill

// buildFive builds the five-token drill, which asks only for the fifteen answers that show how
// sampling works. The drill [Softmax] asks for every number, including the exponentials.
func buildFive(p *Problem) {
	s := newSheet(p)
	s.beginSoftmax(s.lang.T("drill.five.softmax.ask"), "z")
	s.pColumn(1)
	s.beginGreedy(s.lang.T("drill.five.greedy.title"), s.lang.T("drill.five.greedy.ask"), "z", "p")
	s.keepColumn(s.keepCell(s.greedy()))
	s.bestStep()
	s.totalsStep()
	s.topAt("cold", cold)
	s.topAt("hot", hot)
}

// bestStep asks for the tokens that top-k keeps and for the first token's new share.
func (s *sheet) bestStep() {
	d := s.top()
	best := int(d.Order[0])
	s.beginTopK(s.lang.T("drill.five.topk.ask"), "z", "p")
	s.keepColumn(s.keepCell(d))
	s.p.ask(s.lang.T("drill.five.topk.ask.what_new_share", "token", s.names[best]), s.qCell(best, d))
}

// totalsStep asks for the running total and the nucleus. The total at the first token is given,
// since it equals that token's share.
func (s *sheet) totalsStep() {
	d, border := s.nucleus(1), canonical(s.topP, Real)
	s.beginTopP(
		s.lang.T("drill.five.topp.ask", "border", border), s.lang.T("drill.five.topp.remark", "n", d.Keep), "z", "p",
	)
	keep := s.keepCell(d)
	s.p.fill("cum", Live, func(i int) Item {
		if i == int(d.Order[0]) {
			return Probability.item(d.P[i])
		}
		return Item{Cell: s.cumCell(i)}
	})
	s.keepColumn(keep)
}

// topAt asks for the share of the first token at another temperature.
func (s *sheet) topAt(id string, t float64) {
	best := int(s.plain(t).Order[0])
	s.beginTemperature(
		id, t, s.lang.T("drill.five.top_at.title", "t", canonical(t, Real)), s.lang.T("drill.five.top_at.ask"),
	)
	s.p.ask(s.lang.T("drill.five.top_at.ask.what_share_now", "token", s.names[best]), s.pCell(best, t))
}
