package drill

import (
	"fmt"
	"math"
	"strings"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// shifted is the drill about adding a constant to every logit, which multiplies all exps by the
// same factor and does not change the probabilities.
type shifted struct {
	p       *Problem
	lang    *terms.Language
	names   []string
	z       []float64
	c       float64
	d       *sampling.Distribution // of z, and equally of z + c
	after   []float64              // z + c
	sum     [2]float64             // of the exps before and after
	seconds *sampling.Distribution
}

func buildShift(p *Problem) {
	s := &shifted{p: p, lang: p.lang}
	r := newRandom(p)
	for !s.draw(r) {
	}
	p.Facts = []Fact{
		{p.lang.T("drill.fact.tokens"), p.quotedAll(s.names)},
		{p.lang.T("drill.fact.logits"), listOf(s.z)},
		{p.lang.T("drill.shift.fact.constant"), canonical(s.c, Real)},
	}
	s.table(
		"before", p.lang.T("drill.shift.before.name"), p.lang.T("drill.shift.before.note"),
		p.lang.T("drill.shift.before.title"),
		p.lang.T("drill.shift.before.ask"), s.z, 0, p.lang.T("drill.shift.before.remark"),
	)
	s.table(
		"after", p.lang.T("drill.shift.after.name"), "z + ("+canonical(s.c, Real)+")",
		p.lang.T("drill.shift.after.title", "c", canonical(s.c, Real)), p.lang.T("drill.shift.after.ask"),
		s.after, 1, p.lang.T("drill.shift.after.remark"),
	)
	s.questions()
}

func listOf(z []float64) string {
	list := make([]string, len(z))
	for i, x := range z {
		list[i] = canonical(x, Real)
	}
	return strings.Join(list, ", ")
}

// draw draws numbers and reports whether they are suitable.
func (s *shifted) draw(r *random) bool {
	n, parts := 2+s.p.Level, 2
	if s.p.Level > 1 {
		parts = 10
	}
	family := append([]string(nil), pick(r, families)...)
	shuffle(r, family)
	s.names, s.z, s.after = family[:n], nil, nil
	at := r.between(parts, 3*parts)
	for range s.names {
		s.z = append(s.z, float64(at)/float64(parts))
		at -= r.between(max(1, parts/3), parts)
	}
	s.c = float64(pick(r, []int{-5, -4, -3, 1, 2, 3}))
	if s.p.Seed == 0 && s.p.Level == 1 {
		s.names, s.z, s.c = []string{"the", "a", "an"}, []float64{2, 1, 0}, -3
	}
	s.sum = [2]float64{}
	for _, z := range s.z {
		s.after = append(s.after, roundTo(z+s.c, 3))
		s.sum[0], s.sum[1] = s.sum[0]+math.Exp(z), s.sum[1]+math.Exp(z+s.c)
	}
	s.d = sampling.Decide(floats(s.z), sampling.Pure)
	s.seconds = sampling.Decide(floats(s.after), sampling.Pure)
	for r, id := range s.d.Order {
		if p := s.d.P[id]; onHalf(p) || r > 0 && s.d.P[s.d.Order[r-1]]-p < 0.02 {
			return s.p.Seed == 0 && s.p.Level == 1
		}
	}
	return true
}

func floats(z []float64) []float32 {
	list := make([]float32, len(z))
	for i, x := range z {
		list[i] = float32(x)
	}
	return list
}

// table adds the step for the softmax of z before (which = 0) or after (which = 1) the shift.
func (s *shifted) table(id, name, note, title, ask string, z []float64, which int, remark string) {
	step := &Step{ID: id, Name: name, Note: note, Title: title, Ask: ask, Remark: remark}
	step.Columns = []Column{
		{Key: "z", Head: "z", Title: s.lang.T("drill.column.logit"), State: Given},
		{
			Key: "exp", Head: s.lang.T("drill.head.exp"), Title: s.lang.T("drill.shift.table.column.e_power_logit"),
			State: Live,
		},
		{Key: "p", Head: "p", Title: s.lang.T("drill.column.probability"), State: Live},
	}
	if which == 1 {
		step.Columns[0] = Column{
			Key: "z", Head: "z + c",
			Title: s.lang.T("drill.shift.table.column.logit_with_constant_added"), State: Live,
		}
	}
	for i, name := range s.names {
		step.Rows = append(step.Rows, Row{Key: name, Name: " " + name, Token: true, Items: make([]Item, 3)})
		step.Rows[i].Items[0] = Item{Text: canonical(z[i], Real), Value: z[i]}
		if which == 1 {
			step.Rows[i].Items[0] = Item{Cell: s.zCell(id, i)}
		}
	}
	for i := range s.names {
		step.Rows[i].Items[1].Cell = s.expCell(id, i, z, which)
	}
	sum := s.sumCell(id, z, which)
	for i := range s.names {
		step.Rows[i].Items[2].Cell = s.pCell(id, i, z, which)
	}
	step.Foot = []Row{{
		Key: "sum", Name: s.lang.T("drill.name.sum"),
		Items: []Item{{}, {Cell: sum}, {Text: s.lang.T("drill.must_be_1"), Due: true}},
	}}
	s.p.Steps = append(s.p.Steps, step)
}

func (s *shifted) zCell(step string, i int) *Cell {
	c := canonical(s.c, Real)
	return s.p.quantity(step, quantity{
		id: fmt.Sprintf("z.%d", i), name: s.lang.T("drill.shift.z.name", "token", s.names[i]),
		want:   []float64{s.after[i]},
		answer: canonical(s.after[i], Real),
		slips: []slip{
			{
				mistake: Multiplied, value: s.z[i] * s.c, title: s.lang.T("drill.shift.z.slip.multiplied"),
				why: s.lang.T("drill.shift.z.slip.multiplied.why", "logit", canonical(s.z[i], Real), "c", c),
			},
			{
				mistake: Swapped, value: s.z[i] - s.c, title: s.lang.T("drill.shift.z.slip.subtracted"),
				why: s.lang.T("drill.shift.z.slip.subtracted.why", "logit", canonical(s.z[i], Real), "c", c),
			},
		},
		hints: [3]string{
			s.lang.T("drill.shift.z.hint.question"), s.lang.T("drill.shift.z.hint.rule"),
			canonical(s.z[i], Real) + " + (" + c + ").",
		},
		work: []Line{{
			s.lang.T("drill.shift.z.work.add_constant"), canonical(s.z[i], Real) + " + (" + c + ")",
			canonical(s.after[i], Real),
		}},
	})
}

func (s *shifted) expCell(step string, i int, z []float64, which int) *Cell {
	x, want := canonical(z[i], Real), math.Exp(z[i])
	slips := []slip{
		{
			mistake: Base10, value: math.Pow(10, z[i]), title: s.lang.T("drill.slip.raised_10_not_e"),
			why: s.lang.T("drill.shift.exp.slip.raised_10_not_e.why"),
		},
		{
			mistake: Base2, value: math.Pow(2, z[i]), title: s.lang.T("drill.slip.raised_2_not_e"),
			why: s.lang.T("drill.shift.exp.slip.raised_10_not_e.why"),
		},
	}
	if z[i] != 0 {
		slips = append(slips, slip{
			mistake: TimesE, value: math.E * z[i], title: s.lang.T("drill.slip.multiplied_by_e"),
			why: s.lang.T("drill.shift.exp.slip.multiplied_by_e.why", "x", x),
		})
	}
	slips = append(slips, noPower(s.lang, z[i]))
	if which == 1 {
		slips = append(slips,
			slip{
				mistake: AfterT, value: math.Exp(s.z[i]) + s.c,
				title: s.lang.T("drill.shift.exp.slip.added_constant_exp"),
				why:   s.lang.T("drill.shift.exp.slip.added_constant_exp.why"),
			},
			slip{
				mistake: IgnoredT, value: math.Exp(s.z[i]), title: s.lang.T("drill.shift.exp.slip.exp_before"),
				why: s.lang.T("drill.shift.exp.slip.exp_before.why", "x", x),
			})
	}
	return s.p.quantity(step, quantity{
		id: fmt.Sprintf("exp.%d", i), name: s.lang.T("drill.name.exp_for", "token", s.names[i]),
		want: []float64{want}, slips: slips,
		hints: [3]string{
			s.lang.T("drill.shift.exp.hint.question"), s.lang.T("drill.shift.exp.hint.rule"),
			s.lang.T("drill.shift.exp.hint.numbers", "x", x),
		},
		work: []Line{{s.lang.T("drill.shift.exp.work.raise_e_logit"), "e^" + x, Real.show(want)}},
	})
}

func (s *shifted) sumCell(step string, z []float64, which int) *Cell {
	want := []float64{s.sum[which], 0, 0}
	sum := make([]string, len(z))
	var plain float64
	for i, x := range z {
		e := math.Exp(x)
		want[1], want[2], plain = want[1]+roundTo(e, 4), want[2]+roundTo(e, smallPlaces(e)), plain+x
		sum[i] = Real.show(e)
	}
	slips := []slip{{
		mistake: NoExp, value: plain, title: s.lang.T("drill.shift.sum.slip.added_up_logits"),
		why: s.lang.T("drill.shift.sum.slip.added_up_logits.why"),
	}}
	for i, x := range z {
		slips = append(
			slips,
			slip{
				mistake: LeftOut, value: want[0] - math.Exp(x), title: s.lang.T("drill.slip.one_missing_from_sum"),
				why: s.lang.T("drill.shift.sum.slip.one_missing_from_sum.why", "token", s.names[i]),
			},
		)
	}
	return s.p.quantity(step, quantity{
		id: "sum", name: s.lang.T("drill.name.sum_exps"), want: want, slips: slips,
		hints: [3]string{
			s.lang.T("drill.hint.question.what_whole"),
			s.lang.T("drill.shift.sum.hint.rule.add_up_column_exp"), strings.Join(sum, " + ") + ".",
		},
		work: []Line{{
			s.lang.T("drill.shift.sum.hint.rule.add_up_column_exp"), strings.Join(sum, " + "),
			Real.show(want[0]),
		}},
	})
}

func (s *shifted) pCell(step string, i int, z []float64, which int) *Cell {
	d := s.d
	if which == 1 {
		d = s.seconds
	}
	e, largest := math.Exp(z[i]), math.Exp(z[d.Order[0]])
	slips := []slip{
		{
			mistake: Largest, value: e / largest, title: s.lang.T("drill.slip.divided_by_largest_exp"),
			why: s.lang.T("drill.shift.p.slip.divided_by_largest_exp.why", "sum", Real.show(s.sum[which])),
		},
		{
			mistake: Swapped, value: e, title: s.lang.T("drill.slip.exp"),
			why: s.lang.T("drill.slip.exp.why", "sum", Real.show(s.sum[which])),
		},
		{
			mistake: Percent, value: 100 * d.P[i], title: s.lang.T("drill.slip.percentage_needs_sign"),
			why: s.lang.T("drill.shift.p.slip.percentage_needs_sign.why", "p", Probability.show(d.P[i])), credit: 0.5,
		},
	}
	if which == 1 {
		slips = append(slips,
			slip{
				mistake: AfterT, value: s.d.P[i] + s.c,
				title: s.lang.T("drill.shift.p.slip.added_constant_probability"),
				why:   s.lang.T("drill.shift.p.slip.added_constant_probability.why"),
			},
			slip{
				mistake: IgnoredT, value: e / s.sum[0], title: s.lang.T("drill.shift.p.slip.divided_by_old_sum"),
				why: s.lang.T("drill.shift.p.slip.divided_by_old_sum.why", "sum", Real.show(s.sum[1])),
			})
	}
	for j, name := range s.names {
		if j != i {
			slips = append(
				slips,
				slip{
					mistake: OtherRow, value: d.P[j], title: s.lang.T("drill.slip.belongs_another_row"),
					why: s.lang.T("drill.shift.p.slip.belongs_another_row.why", "token", name),
				},
			)
		}
	}
	return s.p.quantity(step, quantity{
		id: fmt.Sprintf("p.%d", i), name: s.lang.T("drill.name.p_for", "token", s.names[i]), form: Probability,
		want: []float64{d.P[i], roundTo(e, 4) / roundTo(s.sum[which], 4)}, slips: slips,
		hints: [3]string{
			s.lang.T("drill.shift.p.hint.question"), s.lang.T("drill.hint.rule.divide_exp_by_sum"),
			Real.show(e) + " / " + Real.show(s.sum[which]) + ".",
		},
		work: []Line{
			{
				s.lang.T("drill.shift.p.work.divide_exp_by_sum"), Real.show(e) + " / " + Real.show(s.sum[which]),
				Probability.show(d.P[i]),
			},
		},
	})
}

func (s *shifted) questions() {
	factor := Real.show(math.Exp(s.c))
	s.p.question("what", s.lang.T("drill.shift.what.prompt"),
		s.lang.T("drill.shift.what.label"), &choice{
			options: []Option{
				{Value: "same", Text: s.lang.T("drill.shift.what.text.nothing_all")},
				{Value: "scaled", Text: s.lang.T("drill.shift.what.text.all_multiplied_by_same")},
				{Value: "sharper", Text: s.lang.T("drill.shift.what.text.top_token_gains")},
			},
			right: "same", note: s.lang.T("drill.shift.what.note", "factor", factor),
			why: map[string]said{
				"scaled": {
					Renormalize, s.lang.T("drill.shift.what.slip.exps_not_probabilities"),
					s.lang.T("drill.shift.what.slip.exps_not_probabilities.why", "factor", factor),
				},
				"sharper": {
					OtherOption, s.lang.T("drill.shift.what.slip.would_be_dividing_by"),
					s.lang.T("drill.shift.what.slip.would_be_dividing_by.why"),
				},
			},
		}, [3]string{
			s.lang.T("drill.shift.what.hint.question"), s.lang.T("drill.shift.what.hint.rule"),
			s.lang.T("drill.shift.what.hint.numbers", "factor", factor),
		},
		[]Line{{
			s.lang.T("drill.shift.what.work.factor_e_c_out"), "e^(z+c) / Σ e^(z+c) = e^z / Σ e^z",
			s.lang.T("drill.shift.what.text.nothing_all"),
		}})
	s.p.question("sign", s.lang.T("drill.shift.sign.prompt"),
		s.lang.T("drill.shift.sign.label"), &choice{
			options: []Option{
				{Value: "nothing", Text: s.lang.T("drill.shift.sign.text.nothing_only_differences_count")},
				{Value: "unlikely", Text: s.lang.T("drill.shift.sign.text.unlikely")},
				{Value: "impossible", Text: s.lang.T("drill.shift.sign.text.cannot_be_drawn")},
			},
			right: "nothing", note: s.lang.T("drill.shift.sign.note"),
			why: map[string]said{
				"unlikely": {
					OtherOption, s.lang.T("drill.shift.sign.slip.not_by_itself"),
					s.lang.T("drill.shift.sign.slip.not_by_itself.why"),
				},
				"impossible": {
					OtherOption, s.lang.T("drill.shift.sign.slip.can"), s.lang.T("drill.shift.sign.slip.can.why"),
				},
			},
		}, [3]string{
			s.lang.T("drill.shift.sign.hint.question"),
			s.lang.T("drill.shift.sign.hint.rule"),
			s.lang.T("drill.shift.sign.hint.numbers"),
		},
		[]Line{
			{
				s.lang.T("drill.shift.sign.work.add_constant_all_sign"), "",
				s.lang.T("drill.shift.sign.text.nothing_only_differences_count"),
			},
		})
}
