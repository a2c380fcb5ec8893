package drill

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// shifted is the drill about adding a constant to every logit, which multiplies all exponentials by
// the same factor and does not change the probabilities.
type shifted struct {
	p             *Problem
	lang          *terms.Language
	names         []string
	c             float64
	before, after logits
}

// logits are the logits of one step, with their softmax.
type logits struct {
	z   []float64
	d   *sampling.Distribution
	sum float64 // of the exponentials
}

func newLogits(z []float64) logits {
	l := logits{z: z, d: sampling.Decide(floats(z), sampling.Pure)}
	for _, x := range z {
		l.sum += math.Exp(x)
	}
	return l
}

func buildShift(p *Problem) {
	s := &shifted{p: p, lang: p.lang}
	r := newRandom(p)
	for !s.draw(r) {
	}
	c := canonical(s.c, Real)
	p.Facts = []Fact{
		{p.lang.T("drill.fact.tokens"), p.quotedAll(s.names)},
		{p.lang.T("drill.fact.logits"), listOf(s.before.z)},
		{p.lang.T("drill.shift.fact.constant"), c},
	}
	s.step(Step{
		ID: "before", Name: p.lang.T("drill.shift.before.name"), Note: p.lang.T("drill.shift.before.note"),
		Title:  p.lang.T("drill.shift.before.title"),
		Ask:    p.lang.T("drill.shift.before.ask"),
		Remark: p.lang.T("drill.shift.before.remark"),
	}, Column{Key: "z", Head: "z", Title: p.lang.T("drill.column.logit")})
	p.fill("z", Given, func(i int) Item {
		return Item{Text: canonical(s.before.z[i], Real), Value: s.before.z[i]}
	})
	s.shares(&s.before)
	s.step(Step{
		ID: "after", Name: p.lang.T("drill.shift.after.name"), Note: "z + (" + c + ")",
		Title:  p.lang.T("drill.shift.after.title", "c", c),
		Ask:    p.lang.T("drill.shift.after.ask"),
		Remark: p.lang.T("drill.shift.after.remark"),
	}, Column{Key: "z", Head: "z + c", Title: p.lang.T("drill.shift.table.column.logit_with_constant_added")})
	p.fill("z", Live, func(i int) Item { return Item{Cell: s.zCell(i)} })
	s.shares(&s.after)
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
	s.names = family[:n]
	var z, after []float64
	at := r.between(parts, 3*parts)
	for range s.names {
		z = append(z, float64(at)/float64(parts))
		at -= r.between(max(1, parts/3), parts)
	}
	s.c = float64(pick(r, []int{-5, -4, -3, 1, 2, 3}))
	if s.p.Seed == 0 && s.p.Level == 1 {
		s.names, z, s.c = []string{"the", "a", "an"}, []float64{2, 1, 0}, -3
	}
	for _, x := range z {
		after = append(after, roundTo(x+s.c, 3))
	}
	s.before, s.after = newLogits(z), newLogits(after)
	d := s.before.d
	for r, id := range d.Order {
		if p := d.P[id]; onHalf(p) || r > 0 && d.P[d.Order[r-1]]-p < 0.02 {
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

// step begins the step for the softmax before or after the shift. The column z differs.
func (s *shifted) step(step Step, z Column) {
	s.p.begin(step, tokenRows(s.names), z,
		Column{
			Key: "exp", Head: s.lang.T("drill.head.exp"),
			Title: s.lang.T("drill.shift.table.column.e_power_logit"),
		},
		Column{Key: "p", Head: "p", Title: s.lang.T("drill.column.probability")})
}

// shares asks for the softmax of the logits in the last step.
func (s *shifted) shares(l *logits) {
	s.p.fill("exp", Live, func(i int) Item { return Item{Cell: s.expCell(i, l)} })
	s.p.foot("exp", Item{Cell: s.sumCell(l)})
	s.p.fill("p", Live, func(i int) Item { return Item{Cell: s.pCell(i, l)} })
	s.p.foot("p", due(s.lang.T("drill.must_be_1")))
}

func (s *shifted) zCell(i int) *Cell {
	z, c := canonical(s.before.z[i], Real), canonical(s.c, Real)
	return s.p.number(quantity{
		id: fmt.Sprintf("z.%d", i), name: s.lang.T("drill.shift.z.name", "token", s.names[i]),
		want:   exactly(s.after.z[i]),
		answer: canonical(s.after.z[i], Real),
		slips: slices.Concat([]slip{
			{
				mistake: Multiplied, value: s.before.z[i] * s.c, title: s.lang.T("drill.shift.z.slip.multiplied"),
				why: s.lang.T("drill.shift.z.slip.multiplied.why", "logit", z, "c", c),
			},
			{
				mistake: Swapped, value: s.before.z[i] - s.c, title: s.lang.T("drill.shift.z.slip.subtracted"),
				why: s.lang.T("drill.shift.z.slip.subtracted.why", "logit", z, "c", c),
			},
		}, otherRows(s.lang, s.names, i, "z + c", func(j int) float64 { return s.after.z[j] })),
		question: s.lang.T("drill.shift.z.hint.question"),
		rule:     s.lang.T("drill.shift.z.hint.rule"),
		work:     []Line{{Say: s.lang.T("drill.shift.z.work.add_constant"), Eq: z + " + (" + c + ")"}},
	})
}

func (s *shifted) expCell(i int, l *logits) *Cell {
	z := l.z[i]
	x, base := canonical(z, Real), s.lang.T("drill.shift.exp.slip.raised_10_not_e.why")
	slips := powerSlips(s.lang, z, base, base, s.lang.T("drill.shift.exp.slip.multiplied_by_e.why", "x", x))
	if l == &s.after {
		before := math.Exp(s.before.z[i])
		slips = append(slips,
			slip{
				mistake: AfterT, value: before + s.c,
				title: s.lang.T("drill.shift.exp.slip.added_constant_exp"),
				why:   s.lang.T("drill.shift.exp.slip.added_constant_exp.why"),
			},
			slip{
				mistake: IgnoredT, value: before, title: s.lang.T("drill.shift.exp.slip.exp_before"),
				why: s.lang.T("drill.shift.exp.slip.exp_before.why", "x", x),
			})
	}
	slips = append(slips, otherRows(
		s.lang, s.names, i, s.lang.T("drill.exponential"), func(j int) float64 { return math.Exp(l.z[j]) },
	)...)
	return s.p.number(quantity{
		id: fmt.Sprintf("exp.%d", i), name: s.lang.T("drill.name.exp_for", "token", s.names[i]),
		want: exactly(math.Exp(z)), slips: slips,
		question: s.lang.T("drill.shift.exp.hint.question"),
		rule:     s.lang.T("drill.shift.exp.hint.rule"),
		numbers:  s.lang.T("drill.shift.exp.hint.numbers", "x", x),
		work:     []Line{{Say: s.lang.T("drill.shift.exp.work.raise_e_logit"), Eq: "e^" + x}},
	})
}

func (s *shifted) sumCell(l *logits) *Cell {
	want := []float64{l.sum, 0, 0, 0}
	exps := make([]float64, len(l.z))
	var plain float64
	for i, x := range l.z {
		e := math.Exp(x)
		want[1], want[2], plain = want[1]+roundTo(e, 4), want[2]+roundTo(e, smallPlaces(e)), plain+x
		want[3] += asShown(e)
		exps[i] = e
	}
	slips := []slip{{
		mistake: NoExp, value: plain, title: s.lang.T("drill.shift.sum.slip.added_up_logits"),
		why: s.lang.T("drill.shift.sum.slip.added_up_logits.why"),
	}}
	for i, e := range exps {
		slips = append(slips, slip{
			mistake: LeftOut, value: l.sum - e, title: s.lang.T("drill.slip.one_missing_from_sum"),
			why: s.lang.T("drill.shift.sum.slip.one_missing_from_sum.why", "token", s.names[i]),
		})
	}
	rule := s.lang.T("drill.shift.sum.hint.rule.add_up_column_exp")
	return s.p.number(quantity{
		id: "sum", name: s.lang.T("drill.name.sum_exps"), want: want, slips: slips,
		question: s.lang.T("drill.hint.question.what_whole"),
		rule:     rule,
		work:     []Line{{Say: rule, Eq: sumOf(exps, Real)}},
	})
}

func (s *shifted) pCell(i int, l *logits) *Cell {
	d, sum := l.d, Real.show(l.sum)
	e, largest := math.Exp(l.z[i]), math.Exp(l.z[d.Order[0]])
	slips := []slip{
		{
			mistake: Largest, value: e / largest, title: s.lang.T("drill.slip.divided_by_largest_exp"),
			why: s.lang.T("drill.shift.p.slip.divided_by_largest_exp.why", "sum", sum),
		},
		{
			mistake: Swapped, value: e, title: s.lang.T("drill.slip.exp", "x", canonical(l.z[i], Real)),
			why: s.lang.T("drill.slip.exp.why", "sum", sum),
		},
	}
	if l == &s.after {
		slips = append(slips,
			slip{
				mistake: AfterT, value: s.before.d.P[i] + s.c,
				title: s.lang.T("drill.shift.p.slip.added_constant_probability"),
				why:   s.lang.T("drill.shift.p.slip.added_constant_probability.why"),
			},
			slip{
				mistake: IgnoredT, value: e / s.before.sum, title: s.lang.T("drill.shift.p.slip.divided_by_old_sum"),
				why: s.lang.T("drill.shift.p.slip.divided_by_old_sum.why", "sum", sum),
			})
	}
	slips = append(slips, otherRows(s.lang, s.names, i, "p", func(j int) float64 { return d.P[j] })...)
	return s.p.number(quantity{
		id: fmt.Sprintf("p.%d", i), name: s.lang.T("drill.name.p_for", "token", s.names[i]), form: Probability,
		want:     []float64{d.P[i], roundTo(e, 4) / roundTo(l.sum, 4), asShown(e) / asShown(l.sum)},
		slips:    slips,
		question: s.lang.T("drill.shift.p.hint.question"),
		rule:     s.lang.T("drill.hint.rule.divide_exp_by_sum"),
		work:     []Line{{Say: s.lang.T("drill.shift.p.work.divide_exp_by_sum"), Eq: Real.show(e) + " / " + sum}},
	})
}

func (s *shifted) questions() {
	factor := Real.show(math.Exp(s.c))
	s.p.choose("what", s.lang.T("drill.shift.what.prompt"),
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
		Line{
			Say: s.lang.T("drill.shift.what.work.factor_e_c_out"), Eq: "e^(z+c) / Σ e^(z+c) = e^z / Σ e^z",
		})
	s.p.choose("sign", s.lang.T("drill.shift.sign.prompt"),
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
		Line{Say: s.lang.T("drill.shift.sign.work.add_constant_all_sign")})
}
