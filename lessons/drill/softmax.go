package drill

import (
	"strings"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// sheet builds the softmax drill.
type sheet struct {
	*five
	p    *Problem
	lang *terms.Language
	step *Step
}

func buildSoftmax(p *Problem) {
	s := &sheet{five: newFive(p), p: p, lang: p.lang}
	p.Facts = []Fact{
		{p.lang.T("drill.fact.tokens"), p.quotedAll(s.names)},
		{p.lang.T("drill.fact.logits"), s.join(func(i int) string { return logit(s.z[i]) })},
	}
	s.softmaxStep()
	s.greedyStep()
	s.cutStep("topk", p.lang.T("drill.five.name.top", "k", s.k), p.lang.T("drill.five.note.keep", "k", s.k), s.top(),
		cut{k: s.k})
	s.cutStep("topp", p.lang.T("drill.five.top_p", "top_p", canonical(s.topP, Real)),
		p.lang.T("drill.five.note.keep_share", "top_p", percent(s.topP)), s.nucleus(1), cut{topP: s.topP})
	s.temperatureStep("cold", cold, p.lang.T("drill.five.sharper"))
	s.temperatureStep("hot", hot, p.lang.T("drill.five.flatter"))
	s.drawStep()
	for _, t := range []float64{cold, 1, hot} {
		d := s.plain(t)
		p.trend = append(p.trend, TrendPoint{t, d.P[d.Order[0]]})
	}
	s.summarize()
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

// open begins a step.
func (s *sheet) open(step Step) {
	s.step = &step
	s.p.Steps = append(s.p.Steps, s.step)
}

// cell adds a cell to the step.
func (s *sheet) cell(c *cell) *Cell {
	c.ID, c.step = s.step.ID+"."+c.ID, s.step.ID
	return s.p.add(c)
}

// columns returns the columns of every table in this drill, in order.
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

// frame sets the states of the step's columns: columns in given are given, columns in live are
// live, and all others are locked.
func (s *sheet) frame(given, live string) {
	for _, c := range s.columns() {
		switch {
		case strings.Contains(" "+given+" ", " "+c.Key+" "):
			c.State = Given
		case strings.Contains(" "+live+" ", " "+c.Key+" "):
			c.State = Live
		default:
			c.State = Locked
		}
		s.step.Columns = append(s.step.Columns, c)
	}
}

// fill adds the rows. They contain the given numbers at temperature t and the cells that the
// functions in live create. Cells are created column by column, which is the order in which
// learners work them out.
func (s *sheet) fill(t float64, live map[string]func(i int) Item) {
	rows := make([]Row, len(s.names))
	for i, name := range s.names {
		rows[i] = Row{Key: name, Name: " " + name, Token: true, Items: make([]Item, len(s.step.Columns))}
	}
	d := s.plain(t)
	for c, column := range s.step.Columns {
		for i := range rows {
			switch column.State {
			case Given:
				rows[i].Items[c] = s.given(column.Key, i, t, d)
			case Live:
				rows[i].Items[c] = live[column.Key](i)
			}
		}
	}
	s.step.Rows = rows
}

// given returns the item for a number shown in the table.
func (s *sheet) given(key string, i int, t float64, d *sampling.Distribution) Item {
	number := func(f Form, v float64) Item { return Item{Text: f.show(v), Value: v} }
	switch key {
	case "z":
		return Item{Text: logit(s.z[i]), Value: value(s.z[i])}
	case "zt":
		return Item{Text: canonical(value(s.z[i])/t, Real), Value: value(s.z[i]) / t}
	case "exp":
		return number(Real, s.exp(i, t))
	case "p":
		return number(Probability, d.P[i])
	}
	return number(Probability, d.Cum[d.RankOf(int32(i))])
}

// foot adds the row of sums, which is empty under columns without an item in under.
func (s *sheet) foot(under map[string]Item) {
	row := Row{Key: "sum", Name: s.lang.T("drill.name.sum"), Items: make([]Item, len(s.step.Columns))}
	for c, column := range s.step.Columns {
		row.Items[c] = under[column.Key]
	}
	s.step.Foot = []Row{row}
}

func (s *sheet) softmaxStep() {
	s.open(Step{
		ID: "softmax", Name: s.lang.T("drill.five.softmax.name"), Note: "T = 1",
		Title:  s.lang.T("drill.five.softmax.title"),
		Ask:    s.lang.T("drill.five.softmax.ask.raise_e_each_z"),
		Remark: s.lang.T("drill.five.softmax.remark"),
	})
	s.frame("z zt", "exp p cum")
	var sum Item
	s.fill(1, map[string]func(int) Item{
		"exp": func(i int) Item {
			it := s.expCell(i, 1)
			if i == len(s.names)-1 {
				sum.Cell = s.sumCell(1)
			}
			return it
		},
		"p":   func(i int) Item { return s.pCell(i, 1) },
		"cum": func(i int) Item { return s.cumCell(i) },
	})
	s.foot(map[string]Item{
		"exp": sum, "p": {Text: s.lang.T("drill.must_be_1"), Due: true},
		"cum": {Text: s.lang.T("drill.five.softmax.ends_1"), Due: true},
	})
}

func (s *sheet) greedyStep() {
	d := s.greedy()
	best := s.names[d.Order[0]]
	s.open(Step{
		ID: "greedy", Name: s.lang.T("drill.five.greedy.name"), Note: s.lang.T("drill.five.greedy.note"),
		Needs:  []string{"softmax"},
		Title:  s.lang.T("drill.five.greedy.title.take_most_probable_token"),
		Ask:    s.lang.T("drill.five.greedy.ask.mark_one_token_greedy"),
		Remark: s.lang.T("drill.five.greedy.remark"),
	})
	s.frame("z zt exp p cum", "keep")
	keep := s.keepCell(d, cut{k: 1})
	s.fill(1, map[string]func(int) Item{"keep": func(i int) Item { return Item{Cell: keep, Option: s.names[i]} }})
	p := d.P[d.Order[0]]
	n := newNumber(Probability, []float64{1}, []slip{
		{
			mistake: Renormalize, value: p, title: s.lang.T("drill.five.slip.forgot_renormalize"),
			why: s.lang.T("drill.five.greedy.slip.forgot_renormalize.why", "p", Probability.show(p)),
		},
		{
			mistake: Percent, value: 100, title: s.lang.T("drill.slip.percentage_needs_sign"),
			why: s.lang.T("drill.five.greedy.slip.percentage_needs_sign.why"), credit: 0.5,
		},
	})
	c := s.cell(&cell{
		Cell: Cell{ID: "q", Label: s.lang.T("drill.five.q.label"), Type: Number}, grader: n, answer: "1",
		hints: [3]string{
			s.lang.T("drill.five.q.hint.question"),
			s.lang.T("drill.five.q.hint.rule"),
			s.lang.T("drill.five.q.hint.numbers", "token", best, "p", Probability.show(p)),
		},
		work: []Line{
			{
				s.lang.T("drill.five.q.work.divide_by_what_kept"), Probability.show(p) + " / " + Probability.show(p),
				"1",
			},
		},
	})
	s.step.Asks = []Ask{{s.lang.T("drill.five.greedy.ask.what_p_token"), c}}
}

// cutStep adds the step for top-k or the nucleus, with the kept tokens, their mass, and p′.
func (s *sheet) cutStep(id, name, note string, d *sampling.Distribution, rule cut) {
	title := s.lang.T("drill.five.title.keep_most_probable_tokens", "k", s.k)
	ask := s.lang.T("drill.five.cut.ask")
	remark := s.lang.T("drill.five.remark.stay_whatever_they_weigh", "n", d.Keep, "mass", Probability.show(d.Mass))
	if rule.topP > 0 {
		title = s.lang.T("drill.five.cut.title", "top_p", canonical(rule.topP, Real))
		ask = s.lang.T("drill.five.cut.ask.mark_tokens_from_most", "top_p", canonical(
			rule.topP, Real,
		))
		remark = s.lang.T("drill.five.cut.remark", "cum", Probability.show(d.Cum[d.Keep-2]), "top_p",
			canonical(rule.topP, Real), "n", d.Keep)
	}
	s.open(Step{ID: id, Name: name, Note: note, Needs: []string{"softmax"}, Title: title, Ask: ask, Remark: remark})
	s.frame("z zt exp p cum", "keep q")
	keep := s.keepCell(d, rule)
	var mass Item
	s.fill(1, map[string]func(int) Item{
		"keep": func(i int) Item {
			if i == len(s.names)-1 {
				mass.Cell = s.massCell(d, rule)
			}
			return Item{Cell: keep, Option: s.names[i]}
		},
		"q": func(i int) Item { return s.qCell(i, d, rule) },
	})
	s.foot(map[string]Item{
		"p": {Text: s.lang.T("drill.five.cut.kept"), Due: true}, "keep": mass,
		"q": {Text: s.lang.T("drill.must_be_1"), Due: true},
	})
}

func (s *sheet) temperatureStep(id string, t float64, what string) {
	tt := canonical(t, Real)
	remark := s.lang.T("drill.five.remark.gaps_between_logits_count")
	if t > 1 {
		remark = s.lang.T("drill.five.remark.gaps_count_half_distribution")
	}
	s.open(Step{
		ID: id, Name: "T = " + tt, Note: what, Title: s.lang.T("drill.five.temperature.title", "t", tt),
		Ask:    s.lang.T("drill.five.temperature.ask"),
		Remark: remark,
	})
	s.frame("z", "zt exp p")
	var sum Item
	s.fill(t, map[string]func(int) Item{
		"zt": func(i int) Item { return s.ztCell(i, t) },
		"exp": func(i int) Item {
			it := s.expCell(i, t)
			if i == len(s.names)-1 {
				sum.Cell = s.sumCell(t)
			}
			return it
		},
		"p": func(i int) Item { return s.pCell(i, t) },
	})
	s.foot(map[string]Item{"exp": sum, "p": {Text: s.lang.T("drill.must_be_1"), Due: true}})
	s.step.Asks = []Ask{
		{
			s.lang.T("drill.five.temperature.ask.how_many_tokens_would", "top_p", canonical(s.topP, Real)),
			s.nucleusCount(t),
		},
	}
	if t > 1 {
		s.step.Asks = append(
			s.step.Asks,
			Ask{s.lang.T("drill.five.temperature.ask.t_rises_from_0"), s.trendCell()},
		)
	}
}

// summarize fills in the tables of the summary.
func (s *sheet) summarize() {
	for _, x := range []struct {
		id string
		d  *sampling.Distribution
	}{
		{"softmax", s.plain(1)},
		{"greedy", s.greedy()},
		{"topk", s.top()},
		{"topp", s.nucleus(1)},
		{"cold", s.plain(cold)},
		{"hot", s.plain(hot)},
	} {
		for _, step := range s.p.Steps {
			if step.ID != x.id {
				continue
			}
			sum := Summary{
				Step: step.ID, Name: step.Name, Note: step.Note, Remark: step.Remark, Cut: x.d.Keep < len(s.names),
			}
			for i, name := range s.names {
				r := x.d.RankOf(int32(i))
				sum.Rows = append(sum.Rows, SummaryRow{
					Name: " " + name, P: x.d.P[i], Q: x.d.Q(r),
					Kept: r < x.d.Keep,
				})
			}
			s.p.overview = append(s.p.overview, sum)
		}
	}
}
