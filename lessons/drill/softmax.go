package drill

import (
	"fmt"
	"strings"

	"github.com/tokenbytoken/viz/infer/sampling"
)

// sheet builds the softmax drill.
type sheet struct {
	*five
	p    *Problem
	step *Step
}

func buildSoftmax(p *Problem) {
	s := &sheet{five: newFive(p), p: p}
	p.Facts = []Fact{
		{"tokens", quotedAll(s.names)},
		{"logits", s.join(func(i int) string { return logit(s.z[i]) })},
	}
	s.softmaxStep()
	s.greedyStep()
	s.cutStep("topk", fmt.Sprintf("Top-%d", s.k), fmt.Sprintf("keep %d", s.k), s.top(), cut{k: s.k})
	s.cutStep("topp", "Top-p "+canonical(s.topP, Real), "keep "+percent(s.topP), s.nucleus(1), cut{topP: s.topP})
	s.temperatureStep("cold", cold, "sharper")
	s.temperatureStep("hot", hot, "flatter")
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

// The columns of every table in this drill, in order.
var columns = []Column{
	{Key: "z", Head: "z", Title: "logit"},
	{Key: "zt", Head: "z / T", Title: "logit divided by T"},
	{Key: "exp", Head: "exp", Title: "e to the power of z / T"},
	{Key: "p", Head: "p", Title: "probability"},
	{Key: "cum", Head: "Σ p", Title: "running total of p, from the most probable down"},
	{Key: "keep", Head: "keep", Title: "kept by the cut"},
	{Key: "q", Head: "p′", Title: "probability after the cut, renormalized"},
}

// frame sets the states of the step's columns: columns in given are given, columns in live are
// live, and all others are locked.
func (s *sheet) frame(given, live string) {
	for _, c := range columns {
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
	row := Row{Key: "sum", Name: "sum", Items: make([]Item, len(s.step.Columns))}
	for c, column := range s.step.Columns {
		row.Items[c] = under[column.Key]
	}
	s.step.Foot = []Row{row}
}

func (s *sheet) softmaxStep() {
	s.open(Step{
		ID: "softmax", Name: "Softmax", Note: "T = 1", Title: "Turn the logits into probabilities",
		Ask: "Raise e to each z / T, add them up, divide each by the sum. Then keep a running total, from the " +
			"most probable down. Three or four decimals.",
		Remark: "The plain reading of the scores. They add up to 1.",
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
	s.foot(map[string]Item{"exp": sum, "p": {Text: "must be 1"}, "cum": {Text: "ends at 1"}})
}

func (s *sheet) greedyStep() {
	d := s.greedy()
	best := s.names[d.Order[0]]
	s.open(Step{
		ID: "greedy", Name: "Greedy", Note: "take the top one", Needs: []string{"softmax"},
		Title:  "Take the most probable token",
		Ask:    "Mark the one token that greedy decoding chooses, and say how probable it is once all others are cut.",
		Remark: "Always the top one. No randomness is left.",
	})
	s.frame("z zt exp p cum", "keep")
	keep := s.keepCell(d, cut{k: 1})
	s.fill(1, map[string]func(int) Item{"keep": func(i int) Item { return Item{Cell: keep, Option: s.names[i]} }})
	p := d.P[d.Order[0]]
	n := newNumber(Probability, []float64{1}, []slip{
		{
			mistake: Renormalize, value: p, title: "You forgot to renormalize.",
			why: "One token is left, so it has the whole: " + Probability.show(p) + " / " + Probability.show(p) +
				" = 1.",
		},
		{
			mistake: Percent, value: 100, title: "A percentage needs its sign.",
			why: "100% is 1; 100 alone is a hundred.", credit: 0.5,
		},
	})
	c := s.cell(&cell{
		Cell: Cell{ID: "q", Label: "p′ for the token that greedy chooses", Type: Number}, grader: n, answer: "1",
		hints: [3]string{
			"All other tokens are cut. What is left to share the whole?",
			"Renormalize: divide by the sum of what was kept.",
			"Only " + best + " was kept, so divide its " + Probability.show(p) + " by " + Probability.show(p) + ".",
		},
		work: []Line{
			{"Divide by what was kept: only itself.", Probability.show(p) + " / " + Probability.show(p), "1"},
		},
	})
	s.step.Asks = []Ask{{"What is p′ of that token?", c}}
}

// cutStep adds the step for top-k or the nucleus, with the kept tokens, their mass, and p′.
func (s *sheet) cutStep(id, name, note string, d *sampling.Distribution, rule cut) {
	title := fmt.Sprintf("Keep the %d most probable tokens", s.k)
	ask := "Mark the tokens that stay, add up their p, and divide each by that sum. What is cut gets 0."
	remark := fmt.Sprintf("%d stay, whatever they weigh: %s.", d.Keep, Probability.show(d.Mass))
	if rule.topP > 0 {
		title = "Keep the smallest set that reaches " + canonical(rule.topP, Real)
		ask = "Mark the tokens from the most probable down until their sum is at least " + canonical(
			rule.topP, Real,
		) + ". Then renormalize as before."
		remark = fmt.Sprintf(
			"%s is short of %s, so the next one stays too: %d tokens.", Probability.show(d.Cum[d.Keep-2]),
			canonical(rule.topP, Real), d.Keep,
		)
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
	s.foot(map[string]Item{"p": {Text: "kept:"}, "keep": mass, "q": {Text: "must be 1"}})
}

func (s *sheet) temperatureStep(id string, t float64, what string) {
	tt := canonical(t, Real)
	remark := "Gaps between logits count double: the top token gains."
	if t > 1 {
		remark = "Gaps count half: the distribution is flatter. The order never changes."
	}
	s.open(Step{
		ID: id, Name: "T = " + tt, Note: what, Title: "Work the softmax again at T = " + tt,
		Ask:    "Divide every logit by T first. Then as before: e to each, the sum, the shares.",
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
	s.foot(map[string]Item{"exp": sum, "p": {Text: "must be 1"}})
	s.step.Asks = []Ask{
		{
			"How many tokens would a nucleus of " + canonical(s.topP, Real) + " keep at this temperature?",
			s.nucleusCount(t),
		},
	}
	if t > 1 {
		s.step.Asks = append(
			s.step.Asks,
			Ask{"As T rises from 0.5 to 1 to 2, what does the probability of the top token do?", s.trendCell()},
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
				sum.Rows = append(sum.Rows, SummaryRow{Name: " " + name, P: x.d.P[i], Q: x.d.Q(r), Kept: r < x.d.Keep})
			}
			s.p.overview = append(s.p.overview, sum)
		}
	}
}
