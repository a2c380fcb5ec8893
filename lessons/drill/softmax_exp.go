package drill

import (
	"fmt"
	"math"
	"slices"

	"github.com/tokenbytoken/viz/infer/terms"
)

// otherT returns a slip for each other temperature of the drill, with the value of the cell at it.
// title is the key of a text.
// If t is not 1, the slips for multiplying by T and for leaving it out have the same values.
func (s *sheet) otherT(t float64, title string, f func(t float64) float64) (slips []slip) {
	if t != 1 {
		return nil
	}
	for _, other := range []float64{cold, hot} {
		slips = append(slips, slip{
			mistake: OtherT, value: f(other),
			title: s.lang.T(title, "t", canonical(other, Real)),
			why:   s.lang.T("drill.five.slip.other_t.why"),
		})
	}
	return slips
}

func (s *sheet) ztCell(i int, t float64) *Cell {
	z, tt := value(s.z[i]), canonical(t, Real)
	want := z / t
	slips := []slip{
		{
			mistake: TimesT, value: z * t, title: s.lang.T("drill.five.slip.multiplied_by_t"),
			why: s.lang.T("drill.five.zt.slip.multiplied_by_t.why", "logit", logit(s.z[i]), "t", tt, "want",
				canonical(want, Real)),
		},
		{
			mistake: IgnoredT, value: z, title: s.lang.T("drill.five.zt.slip.logit_itself"),
			why: s.lang.T("drill.five.zt.slip.logit_itself.why", "t", tt),
		},
		{
			mistake: AfterT, value: z - t, title: s.lang.T("drill.five.zt.slip.subtracted_t"),
			why: s.lang.T("drill.five.zt.slip.subtracted_t.why"),
		},
		{
			mistake: AfterT, value: z + t, title: s.lang.T("drill.five.zt.slip.added_t"),
			why: s.lang.T("drill.five.zt.slip.added_t.why"),
		},
	}
	slips = append(
		slips, otherRows(s.lang, s.names, i, "z / T", func(j int) float64 { return value(s.z[j]) / t })...,
	)
	rule := s.lang.T("drill.five.zt.hint.rule.divide_logit_by_t")
	return s.p.number(quantity{
		id: fmt.Sprintf("zt.%d", i), name: s.lang.T("drill.five.zt.label", "token", s.names[i]),
		want: exactly(want), slips: slips, answer: canonical(want, Real),
		question: s.lang.T("drill.five.zt.hint.question"),
		rule:     rule,
		numbers:  s.lang.T("drill.five.zt.hint.numbers", "logit", logit(s.z[i]), "t", tt, "t2", canonical(1/t, Real)),
		work:     []Line{{Say: rule, Eq: logit(s.z[i]) + " / " + tt}},
	})
}

func (s *sheet) expCell(i int, t float64) *Cell {
	x, show := value(s.z[i])/t, Real.show
	xs := canonical(x, Real)
	top := s.plain(t).MaxZ / t
	slips := powerSlips(
		s.lang, x,
		s.lang.T("drill.five.exp.slip.raised_10_not_e.why", "x", xs, "x2", show(math.Pow(10, x))),
		s.lang.T("drill.five.exp.slip.raised_2_not_e.why", "x", xs, "x2", show(math.Pow(2, x))),
		s.lang.T("drill.five.exp.slip.multiplied_by_e.why", "x", xs, "e", show(math.E*x)),
	)
	if t != 1 {
		slips = append(slips,
			slip{
				mistake: TimesT, value: s.exp(i, 1/t), title: s.lang.T("drill.five.slip.multiplied_by_t"),
				why: s.lang.T("drill.five.exp.slip.multiplied_by_t.why", "t", canonical(t, Real), "x", xs),
			},
			slip{
				mistake: IgnoredT, value: s.exp(i, 1), title: s.lang.T("drill.five.exp.slip.t_left_out"),
				why: s.lang.T("drill.five.exp.slip.t_left_out.why", "logit", logit(s.z[i]), "x", xs),
			},
			slip{
				mistake: AfterT, value: s.exp(i, 1) / t,
				title: s.lang.T("drill.five.exp.slip.t_acts_before_exponential"),
				why:   s.lang.T("drill.five.exp.slip.t_acts_before_exponential.why"),
			})
	}
	slips = append(slips,
		slip{
			mistake: Shifted, value: math.Exp(x - top),
			title:  s.lang.T("drill.five.exp.slip.subtracted_largest_first"),
			why:    s.lang.T("drill.five.exp.slip.subtracted_largest_first.why"),
			credit: 0.5,
		},
		slip{
			mistake: Swapped, value: s.plain(t).P[i], title: s.lang.T("drill.five.exp.slip.p_belongs_one_column"),
			why: s.lang.T("drill.five.exp.slip.p_belongs_one_column.why"),
		})
	exp := s.lang.T("drill.exponential")
	slips = slices.Concat(slips,
		otherRows(s.lang, s.names, i, exp, func(j int) float64 { return s.exp(j, t) }),
		s.otherT(t, "drill.five.exp.slip.exp_t", func(t float64) float64 { return s.exp(i, t) }))
	return s.p.number(quantity{
		id: fmt.Sprintf("exp.%d", i), name: s.lang.T("drill.name.exp_for", "token", s.names[i]),
		want: exactly(s.exp(i, t)), slips: slips,
		question: s.lang.T("drill.five.exp.hint.question"),
		rule:     s.lang.T("drill.five.exp.hint.rule"),
		numbers:  s.lang.T("drill.five.exp.hint.numbers", "x", xs),
		work:     []Line{{Say: s.lang.T("drill.five.exp.work.raise_e_z_t"), Eq: "e^" + xs}},
	})
}

// powerSlips returns the slips for e to the power of x. The texts explain the results of raising 10
// or 2 to the power of x, and of multiplying x by e. If x is 0, the learner might believe that e^0
// is 0, so the response to the exponent addresses that.
func powerSlips(l *terms.Language, x float64, ten, two, timesE string) []slip {
	slips := []slip{
		{mistake: Base10, value: math.Pow(10, x), title: l.T("drill.slip.raised_10_not_e"), why: ten},
		{mistake: Base2, value: math.Pow(2, x), title: l.T("drill.slip.raised_2_not_e"), why: two},
	}
	if x == 0 {
		return append(slips, slip{
			mistake: NoExp, value: 0, title: l.T("drill.five.exp.slip.e_power_0_not"),
			why: l.T("drill.five.exp.slip.e_power_0_not.why"),
		})
	}
	return append(slips,
		slip{mistake: TimesE, value: math.E * x, title: l.T("drill.slip.multiplied_by_e"), why: timesE},
		slip{
			mistake: NoExp, value: x, title: l.T("drill.five.exp.slip.exponent_itself"),
			why: l.T("drill.five.exp.slip.exponent_itself.why"),
		})
}

func (s *sheet) sumCell(t float64) *Cell {
	want := []float64{s.sum(t), 0, 0}
	exps := make([]float64, len(s.z))
	for i := range exps {
		exps[i] = s.exp(i, t)
		want[1], want[2] = want[1]+roundTo(exps[i], 3), want[2]+roundTo(exps[i], 2)
	}
	return s.p.number(quantity{
		id: "sum", name: s.lang.T("drill.name.sum_exps"), want: want,
		slips:    slices.Concat(s.sumSlips(t, exps), s.sumSlipsOfT(t)),
		question: s.lang.T("drill.five.sum.hint.question"),
		rule:     s.lang.T("drill.five.sum.hint.rule"),
		work: []Line{s.powersLine(t), {
			Say: s.lang.T("drill.five.work.add_them_all_whole"),
			Eq:  sumOf(exps, Real),
		}},
	})
}

// sumSlips returns the slips for the sum of the exponentials at a temperature.
func (s *sheet) sumSlips(t float64, exps []float64) (slips []slip) {
	sum, n := s.sum(t), len(exps)
	var base10, base2, plain float64
	for i, e := range exps {
		x := value(s.z[i]) / t
		base10, base2, plain = base10+math.Pow(10, x), base2+math.Pow(2, x), plain+x
		slips = append(slips, slip{
			mistake: LeftOut, value: sum - e, title: s.lang.T("drill.slip.one_missing_from_sum"),
			why: s.lang.T("drill.five.sum.slip.one_missing_from_sum.why", "token", s.names[i], "want",
				Real.show(sum-e), "n", inWords(s.lang, n)),
		})
	}
	return append(slips,
		slip{
			mistake: Base10, value: base10, title: s.lang.T("drill.slip.raised_10_not_e"),
			why: s.lang.T("drill.five.sum.slip.raised_10_not_e.why"),
		},
		slip{
			mistake: Base2, value: base2, title: s.lang.T("drill.slip.raised_2_not_e"),
			why: s.lang.T("drill.five.sum.slip.raised_2_not_e.why"),
		},
		slip{
			mistake: NoExp, value: plain, title: s.lang.T("drill.five.sum.slip.added_up_exponents"),
			why: s.lang.T("drill.five.sum.slip.added_up_exponents.why"),
		},
		slip{
			mistake: Swapped, value: 1, title: s.lang.T("drill.five.sum.slip.sum_p"),
			why: s.lang.T("drill.five.sum.slip.sum_p.why"),
		},
		slip{
			mistake: Largest, value: slices.Max(exps), title: s.lang.T("drill.five.sum.slip.just_largest"),
			why: s.lang.T("drill.five.sum.slip.just_largest.why"),
		},
		slip{
			mistake: Averaged, value: sum / float64(n), title: s.lang.T("drill.five.sum.slip.average"),
			why: s.lang.T("drill.five.sum.slip.average.why"),
		})
}

// sumSlipsOfT returns the slips of using another temperature, or using T in the wrong way.
func (s *sheet) sumSlipsOfT(t float64) []slip {
	if t == 1 {
		return s.otherT(t, "drill.five.sum.slip.sum_t_1", s.sum)
	}
	return []slip{
		{
			mistake: IgnoredT, value: s.sum(1), title: s.lang.T("drill.five.sum.slip.sum_t_1", "t", 1),
			why: s.lang.T("drill.five.sum.slip.sum_t_1.why"),
		},
		{
			mistake: TimesT, value: s.sum(1 / t), title: s.lang.T("drill.five.slip.multiplied_by_t"),
			why: s.lang.T("drill.five.sum.slip.multiplied_by_t.why", "t", canonical(1/t, Real)),
		},
	}
}

// powersLine returns the line of a worked solution that raises e to each exponent.
func (s *sheet) powersLine(t float64) Line {
	return Line{
		Say:    s.lang.T("drill.five.work.raise_e_each_z"),
		Eq:     s.join(func(i int) string { return "e^" + canonical(value(s.z[i])/t, Real) }),
		Result: s.join(func(i int) string { return Real.show(s.exp(i, t)) }),
	}
}
