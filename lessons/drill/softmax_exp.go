package drill

import (
	"fmt"
	"math"

	"github.com/tokenbytoken/viz/infer/terms"
)

// others adds a slip for every other row, with that row's value in the same column.
func (s *sheet) others(slips []slip, i int, what string, f func(j int) float64) []slip {
	for j, name := range s.names {
		if j != i {
			slips = append(
				slips,
				slip{
					mistake: OtherRow, value: f(j), title: s.lang.T("drill.slip.belongs_another_row"),
					why: s.lang.T("drill.five.others.slip.belongs_another_row.why", "what", what, "token", name,
						"token2", s.names[i]),
				},
			)
		}
	}
	return slips
}

func (s *sheet) ztCell(i int, t float64) Item {
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
	slips = s.others(slips, i, "z / T", func(j int) float64 { return value(s.z[j]) / t })
	return Item{Cell: s.cell(&cell{
		Cell: Cell{
			ID: fmt.Sprintf("zt.%d", i), Label: s.lang.T("drill.five.zt.label", "token", s.names[i]),
			Type: Number,
		},
		grader: newNumber(Real, []float64{want}, slips), answer: canonical(want, Real),
		hints: [3]string{
			s.lang.T("drill.five.zt.hint.question"),
			s.lang.T("drill.five.zt.hint.rule.divide_logit_by_t"),
			s.lang.T("drill.five.zt.hint.numbers", "logit", logit(s.z[i]), "t", tt, "t2", canonical(1/t, Real)),
		},
		work: []Line{{
			s.lang.T("drill.five.zt.hint.rule.divide_logit_by_t"), logit(s.z[i]) + " / " + tt,
			canonical(want, Real),
		}},
	})}
}

func (s *sheet) expCell(i int, t float64) Item {
	x := value(s.z[i]) / t
	want, xs := s.exp(i, t), canonical(x, Real)
	show := Real.show
	top := s.plain(t).MaxZ / t
	slips := []slip{
		{
			mistake: Base10, value: math.Pow(10, x), title: s.lang.T("drill.slip.raised_10_not_e"),
			why: s.lang.T("drill.five.exp.slip.raised_10_not_e.why", "x", xs, "x2", show(math.Pow(10, x))),
		},
		{
			mistake: Base2, value: math.Pow(2, x), title: s.lang.T("drill.slip.raised_2_not_e"),
			why: s.lang.T("drill.five.exp.slip.raised_2_not_e.why", "x", xs, "x2", show(math.Pow(2, x))),
		},
	}
	if x != 0 {
		slips = append(slips, slip{
			mistake: TimesE, value: math.E * x, title: s.lang.T("drill.slip.multiplied_by_e"),
			why: s.lang.T("drill.five.exp.slip.multiplied_by_e.why", "x", xs, "e", show(math.E*x)),
		})
	}
	slips = append(slips, noPower(s.lang, x))
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
	slips = s.others(slips, i, s.lang.T("drill.head.exp"), func(j int) float64 { return s.exp(j, t) })
	return Item{Cell: s.cell(&cell{
		Cell: Cell{
			ID: fmt.Sprintf("exp.%d", i), Label: s.lang.T("drill.name.exp_for", "token", s.names[i]),
			Type: Number,
		},
		grader: newNumber(Real, []float64{want}, slips), answer: show(want),
		hints: [3]string{
			s.lang.T("drill.five.exp.hint.question"),
			s.lang.T("drill.five.exp.hint.rule"),
			s.lang.T("drill.five.exp.hint.numbers", "x", xs),
		},
		work: []Line{{s.lang.T("drill.five.exp.work.raise_e_z_t"), "e^" + xs, show(want)}},
	})}
}

// noPower returns the slip for answering with the exponent instead of the power. If the exponent is
// 0, the learner might believe that e^0 is 0, so the response addresses that.
func noPower(l *terms.Language, x float64) slip {
	if x == 0 {
		return slip{
			mistake: NoExp, value: 0, title: l.T("drill.five.exp.slip.e_power_0_not"),
			why: l.T("drill.five.exp.slip.e_power_0_not.why"),
		}
	}
	return slip{
		mistake: NoExp, value: x, title: l.T("drill.five.exp.slip.exponent_itself"),
		why: l.T("drill.five.exp.slip.exponent_itself.why"),
	}
}

func (s *sheet) sumCell(t float64) *Cell {
	n := len(s.z)
	want := []float64{s.sum(t), 0, 0}
	var base10, base2, plain, largest float64
	exps := make([]float64, n)
	for i := range exps {
		x := value(s.z[i]) / t
		exps[i] = s.exp(i, t)
		want[1], want[2] = want[1]+roundTo(exps[i], 3), want[2]+roundTo(exps[i], 2)
		base10, base2, plain = base10+math.Pow(10, x), base2+math.Pow(2, x), plain+x
		largest = max(largest, exps[i])
	}
	show := Real.show
	var slips []slip
	for i, e := range exps {
		slips = append(
			slips,
			slip{
				mistake: LeftOut, value: want[0] - e, title: s.lang.T("drill.slip.one_missing_from_sum"),
				why: s.lang.T("drill.five.sum.slip.one_missing_from_sum.why", "token", s.names[i], "want",
					show(want[0]-e), "n", inWords(s.lang, n)),
			},
		)
	}
	slips = append(slips,
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
			mistake: Largest, value: largest, title: s.lang.T("drill.five.sum.slip.just_largest"),
			why: s.lang.T("drill.five.sum.slip.just_largest.why"),
		},
		slip{
			mistake: Averaged, value: want[0] / float64(n), title: s.lang.T("drill.five.sum.slip.average"),
			why: s.lang.T("drill.five.sum.slip.average.why"),
		})
	if t != 1 {
		slips = append(slips,
			slip{
				mistake: IgnoredT, value: s.sum(1), title: s.lang.T("drill.five.sum.slip.sum_t_1"),
				why: s.lang.T("drill.five.sum.slip.sum_t_1.why"),
			},
			slip{
				mistake: TimesT, value: s.sum(1 / t), title: s.lang.T("drill.five.slip.multiplied_by_t"),
				why: s.lang.T("drill.five.sum.slip.multiplied_by_t.why", "t", canonical(1/t, Real)),
			})
	}
	all := ""
	for i, e := range exps {
		if i > 0 {
			all += " + "
		}
		all += show(e)
	}
	return s.cell(&cell{
		Cell:   Cell{ID: "sum", Label: s.lang.T("drill.name.sum_exps"), Type: Number},
		grader: newNumber(Real, want, slips), answer: show(want[0]),
		hints: [3]string{
			s.lang.T("drill.five.sum.hint.question"),
			s.lang.T("drill.five.sum.hint.rule"),
			all + ".",
		},
		work: []Line{
			{
				s.lang.T("drill.five.work.raise_e_each_z"),
				s.join(func(i int) string { return "e^" + canonical(value(s.z[i])/t, Real) }),
				s.join(func(i int) string { return show(exps[i]) }),
			},
			{s.lang.T("drill.five.work.add_them_all_whole"), all, show(want[0])},
		},
	})
}
