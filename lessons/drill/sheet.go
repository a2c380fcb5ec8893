package drill

import (
	"strings"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// sheet builds the five-token drills. [Five] asks for fifteen answers, and [Softmax] asks for every
// number. They have the same steps, but only [Softmax] has a draw.
type sheet struct {
	*five
	p    *Problem
	lang *terms.Language
}

func newSheet(p *Problem) *sheet {
	s := &sheet{five: newFive(p), p: p, lang: p.lang}
	p.Facts = []Fact{
		{p.lang.T("drill.fact.tokens"), p.quotedAll(s.names)},
		{p.lang.T("drill.fact.logits"), s.join(func(i int) string { return logit(s.z[i]) })},
	}
	for _, t := range []float64{cold, 1, hot} {
		d := s.plain(t)
		p.trend = append(p.trend, TrendPoint{t, d.P[d.Order[0]]})
	}
	return s
}

func percent(x float64) string { return canonical(100*x, Real) + "%" }

// join returns the results of f for all rows, joined by commas.
func (s *sheet) join(f func(i int) string) string {
	list := make([]string, len(s.names))
	for i := range list {
		list[i] = f(i)
	}
	return strings.Join(list, ", ")
}

// columns returns the columns of every table in these drills except the draw, in order.
func (s *sheet) columns() []Column {
	return []Column{
		{Key: "z", Head: "z", Title: s.lang.T("drill.column.logit")},
		{Key: "zt", Head: "z / T", Title: s.lang.T("drill.five.column.column.logit_divided_by_t")},
		{Key: "exp", Head: s.lang.T("drill.head.exp"), Title: s.lang.T("drill.five.column.column.e_power_z_t")},
		{Key: "p", Head: "p", Title: s.lang.T("drill.column.probability")},
		{Key: "cum", Head: "Σ p", Title: s.lang.T("drill.five.column.column.running_total_p_from")},
		{
			Key: "keep", Head: s.lang.T("drill.five.column.head.keep"),
			Title: s.lang.T("drill.five.column.column.kept_by_cut"),
		},
		{Key: "q", Head: "p′", Title: s.lang.T("drill.five.column.column.probability_after_cut_renormalized")},
	}
}

// begin begins a step about the distribution d, and summarizes it. The given columns show the numbers
// at T = 1.
func (s *sheet) begin(step Step, d *sampling.Distribution, given ...string) {
	s.p.begin(step, tokenRows(s.names), s.columns()...)
	for _, key := range given {
		s.p.fill(key, Given, func(i int) Item { return s.given(key, i) })
	}
	sum := Summary{
		Step: step.ID, Name: step.Name, Note: step.Note, Remark: step.Remark, Cut: d.Keep < len(s.names),
	}
	for i, name := range s.names {
		r := d.RankOf(int32(i))
		sum.Rows = append(sum.Rows, SummaryRow{Name: " " + name, P: d.P[i], Q: d.Q(r), Kept: r < d.Keep})
	}
	s.p.overview = append(s.p.overview, sum)
}

// given returns the item for a number shown in the table.
func (s *sheet) given(key string, i int) Item {
	d := s.plain(1)
	switch key {
	case "z", "zt":
		return Item{Text: logit(s.z[i]), Value: value(s.z[i])}
	case "exp":
		return Real.item(s.exp(i, 1))
	case "p":
		return Probability.item(d.P[i])
	}
	return Probability.item(d.Cum[d.RankOf(int32(i))])
}

// The methods below begin the steps of both drills. Their parameters are the texts that differ and
// the given columns.

func (s *sheet) beginSoftmax(ask string, given ...string) {
	s.begin(Step{
		ID: "softmax", Name: s.lang.T("drill.five.softmax.name"), Note: "T = 1",
		Title:  s.lang.T("drill.five.softmax.title"),
		Ask:    ask,
		Remark: s.lang.T("drill.five.softmax.remark"),
	}, s.plain(1), given...)
}

func (s *sheet) beginGreedy(title, ask string, given ...string) {
	s.begin(Step{
		ID: "greedy", Name: s.lang.T("drill.five.greedy.name"), Note: s.lang.T("drill.five.greedy.note"),
		Needs:  []string{"softmax"},
		Title:  title,
		Ask:    ask,
		Remark: s.lang.T("drill.five.greedy.remark"),
	}, s.greedy(), given...)
}

func (s *sheet) beginTopK(ask string, given ...string) {
	d := s.top()
	s.begin(Step{
		ID: "topk", Name: s.lang.T("drill.five.name.top", "k", s.k), Note: s.lang.T("drill.five.note.keep", "k", s.k),
		Needs:  []string{"softmax"},
		Title:  s.lang.T("drill.five.title.keep_most_probable_tokens", "k", s.k),
		Ask:    ask,
		Remark: s.lang.T("drill.five.remark.stay_whatever_they_weigh", "n", d.Keep, "mass", Probability.show(d.Mass)),
	}, d, given...)
}

func (s *sheet) beginTopP(ask, remark string, given ...string) {
	border := canonical(s.topP, Real)
	s.begin(Step{
		ID: "topp", Name: s.lang.T("drill.five.topp.name", "border", border),
		Note:   s.lang.T("drill.five.note.keep_share", "top_p", percent(s.topP)),
		Needs:  []string{"softmax"},
		Title:  s.lang.T("drill.five.topp.title", "border", border),
		Ask:    ask,
		Remark: remark,
	}, s.nucleus(1), given...)
}

func (s *sheet) beginTemperature(id string, t float64, title, ask string) {
	note, remark := s.lang.T("drill.five.sharper"), s.lang.T("drill.five.remark.gaps_between_logits_count")
	if t > 1 {
		note, remark = s.lang.T("drill.five.flatter"), s.lang.T("drill.five.remark.gaps_count_half_distribution")
	}
	s.begin(Step{
		ID: id, Name: "T = " + canonical(t, Real), Note: note, Title: title, Ask: ask, Remark: remark,
	}, s.plain(t), "z")
}

// pColumn asks for all probabilities.
func (s *sheet) pColumn(t float64) {
	s.p.fill("p", Live, func(i int) Item { return Item{Cell: s.pCell(i, t)} })
	s.p.foot("p", due(s.lang.T("drill.must_be_1")))
}

// keepColumn turns the column of kept tokens into the options of a cell.
func (s *sheet) keepColumn(keep *Cell) {
	s.p.fill("keep", Live, func(i int) Item { return Item{Cell: keep, Option: s.names[i]} })
}
