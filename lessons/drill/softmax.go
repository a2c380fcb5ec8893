package drill

import "github.com/tokenbytoken/viz/infer/sampling"

// worked lists the columns that are given once the first step is complete.
var worked = []string{"z", "zt", "exp", "p", "cum"}

// buildSoftmax builds the five-token drill that asks for every number.
func buildSoftmax(p *Problem) {
	s := newSheet(p)
	s.softmaxStep()
	s.greedyStep()
	s.beginTopK(s.lang.T("drill.five.cut.ask"), worked...)
	s.cutColumns(s.top())
	s.nucleusStep()
	s.temperatureStep("cold", cold)
	s.temperatureStep("hot", hot)
	s.askTrend()
	s.drawStep()
}

func (s *sheet) softmaxStep() {
	s.beginSoftmax(s.lang.T("drill.five.softmax.ask.raise_e_each_z"), "z", "zt")
	s.expColumn(1)
	s.pColumn(1)
	s.p.fill("cum", Live, func(i int) Item { return Item{Cell: s.cumCell(i)} })
	s.p.foot("cum", due(s.lang.T("drill.five.softmax.ends_1")))
}

// expColumn asks for all exponentials and their sum.
func (s *sheet) expColumn(t float64) {
	s.p.fill("exp", Live, func(i int) Item { return Item{Cell: s.expCell(i, t)} })
	s.p.foot("exp", Item{Cell: s.sumCell(t)})
}

func (s *sheet) greedyStep() {
	d := s.greedy()
	p, show := d.P[d.Order[0]], Probability.show
	s.beginGreedy(
		s.lang.T("drill.five.greedy.title.take_most_probable_token"),
		s.lang.T("drill.five.greedy.ask.mark_one_token_greedy"), worked...,
	)
	s.keepColumn(s.keepCell(d))
	s.p.ask(s.lang.T("drill.five.greedy.ask.what_p_token"), s.p.number(quantity{
		id: "q", name: s.lang.T("drill.five.q.label"), form: Probability, want: []float64{1}, answer: "1",
		slips: []slip{
			{
				mistake: Renormalize, value: p, title: s.lang.T("drill.five.slip.forgot_renormalize"),
				why: s.lang.T("drill.five.greedy.slip.forgot_renormalize.why", "p", show(p)),
			},
		},
		question: s.lang.T("drill.five.q.hint.question"),
		rule:     s.lang.T("drill.five.q.hint.rule"),
		numbers:  s.lang.T("drill.five.q.hint.numbers", "token", s.names[d.Order[0]], "p", show(p)),
		work: []Line{{
			Say: s.lang.T("drill.five.q.work.divide_by_what_kept"),
			Eq:  show(p) + " / " + show(p),
		}},
	}))
}

func (s *sheet) nucleusStep() {
	d, border := s.nucleus(1), canonical(s.topP, Real)
	s.beginTopP(
		s.lang.T("drill.five.cut.ask.mark_tokens_from_most", "top_p", border),
		s.lang.T("drill.five.cut.remark", "cum", Probability.show(d.Cum[d.Keep-2]), "top_p", border, "n", d.Keep),
		worked...,
	)
	s.cutColumns(d)
}

// cutColumns asks for the tokens that a cut keeps, their mass, and p′.
func (s *sheet) cutColumns(d *sampling.Distribution) {
	s.keepColumn(s.keepCell(d))
	s.p.foot("keep", Item{Cell: s.massCell(d)})
	s.p.foot("p", due(s.lang.T("drill.five.cut.kept")))
	s.p.fill("q", Live, func(i int) Item { return Item{Cell: s.qCell(i, d)} })
	s.p.foot("q", due(s.lang.T("drill.must_be_1")))
}

func (s *sheet) temperatureStep(id string, t float64) {
	s.beginTemperature(
		id, t, s.lang.T("drill.five.temperature.title", "t", canonical(t, Real)),
		s.lang.T("drill.five.temperature.ask"),
	)
	s.p.fill("zt", Live, func(i int) Item { return Item{Cell: s.ztCell(i, t)} })
	s.expColumn(t)
	s.pColumn(t)
	s.p.ask(
		s.lang.T("drill.five.temperature.ask.how_many_tokens_would", "top_p", canonical(s.topP, Real)),
		s.nucleusCount(t),
	)
}
