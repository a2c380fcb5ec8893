package drill

import (
	"fmt"
	"math"
)

// others adds a slip for every other row, with that row's value in the same column.
func (s *sheet) others(slips []slip, i int, what string, f func(j int) float64) []slip {
	for j, name := range s.names {
		if j != i {
			slips = append(
				slips,
				slip{
					mistake: OtherRow, value: f(j), title: "That belongs to another row.",
					why: fmt.Sprintf("It is the %s of %s; this row is %s.", what, quoted(name), quoted(s.names[i])),
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
			mistake: TimesT, value: z * t, title: "You multiplied by T.",
			why: fmt.Sprintf("The logit is divided by T: %s / %s = %s.", logit(s.z[i]), tt, canonical(want, Real)),
		},
		{
			mistake: IgnoredT, value: z, title: "That is the logit itself.",
			why: "Divide it by T first: at T = " + tt + " every gap between logits changes.",
		},
		{
			mistake: AfterT, value: z - t, title: "You subtracted T.",
			why: "Divide by T. Taking the same number from every logit would change nothing.",
		},
		{
			mistake: AfterT, value: z + t, title: "You added T.",
			why: "Divide by T. Adding the same number to every logit would change nothing.",
		},
	}
	slips = s.others(slips, i, "z / T", func(j int) float64 { return value(s.z[j]) / t })
	return Item{Cell: s.cell(&cell{
		Cell:   Cell{ID: fmt.Sprintf("zt.%d", i), Label: "z / T for " + quoted(s.names[i]), Type: Number},
		grader: newNumber(Real, []float64{want}, slips), answer: canonical(want, Real),
		hints: [3]string{
			"Where does the temperature act: on the logits or on the probabilities?",
			"Divide the logit by T.",
			fmt.Sprintf(
				"%s / %s: dividing by %s is the same as multiplying by %s.", logit(s.z[i]), tt, tt,
				canonical(1/t, Real),
			),
		},
		work: []Line{{"Divide the logit by T.", logit(s.z[i]) + " / " + tt, canonical(want, Real)}},
	})}
}

func (s *sheet) expCell(i int, t float64) Item {
	x := value(s.z[i]) / t
	want, xs := s.exp(i, t), canonical(x, Real)
	show := Real.show
	top := s.plain(t).MaxZ / t
	slips := []slip{
		{
			mistake: Base10, value: math.Pow(10, x), title: "You raised 10, not e.",
			why: fmt.Sprintf(
				"10 to the power of %s is %s. Here the base is e = 2.71828: the key is often called exp, "+
					"or e with a raised x.",
				xs, show(math.Pow(10, x)),
			),
		},
		{
			mistake: Base2, value: math.Pow(2, x), title: "You raised 2, not e.",
			why: fmt.Sprintf("2 to the power of %s is %s. Here the base is e = 2.71828.", xs, show(math.Pow(2, x))),
		},
	}
	if x != 0 {
		slips = append(slips, slip{
			mistake: TimesE, value: math.E * x, title: "You multiplied by e.",
			why: fmt.Sprintf("e times %s is %s. Raise e to the power of %s.", xs, show(math.E*x), xs),
		})
	}
	slips = append(slips, noPower(x))
	if t != 1 {
		slips = append(slips,
			slip{
				mistake: TimesT, value: s.exp(i, 1/t), title: "You multiplied by T.",
				why: fmt.Sprintf(
					"That is e to the power of z × T. At T = %s the exponent is z / T = %s.", canonical(t, Real), xs,
				),
			},
			slip{
				mistake: IgnoredT, value: s.exp(i, 1), title: "T was left out.",
				why: fmt.Sprintf(
					"That is e to the power of %s. Divide by T first: the exponent is %s.", logit(s.z[i]), xs,
				),
			},
			slip{
				mistake: AfterT, value: s.exp(i, 1) / t, title: "T acts before the exponential.",
				why: "Divide the logit by T, and raise e to the result. Dividing e to z instead cancels " +
					"out when you normalize.",
			})
	}
	slips = append(slips,
		slip{
			mistake: Shifted, value: math.Exp(x - top), title: "You subtracted the largest first.",
			why:    "Programs do that too, and p comes out the same. This column asks for plain e to the power z / T.",
			credit: 0.5,
		},
		slip{
			mistake: Swapped, value: s.plain(t).P[i], title: "That is p: it belongs one column further.",
			why: "This column asks for e to the power z / T, before it is divided by the sum.",
		})
	slips = s.others(slips, i, "exp", func(j int) float64 { return s.exp(j, t) })
	return Item{Cell: s.cell(&cell{
		Cell:   Cell{ID: fmt.Sprintf("exp.%d", i), Label: "exp for " + quoted(s.names[i]), Type: Number},
		grader: newNumber(Real, []float64{want}, slips), answer: show(want),
		hints: [3]string{
			"Which number is raised to which power here?",
			"Raise e = 2.71828 to z / T. On a calculator it is the key exp, or e with a raised x.",
			fmt.Sprintf("e to the power of %s. To check: e is 2.718, e² is 7.389, e³ is 20.086.", xs),
		},
		work: []Line{{"Raise e to z / T.", "e^" + xs, show(want)}},
	})}
}

// noPower returns the slip for answering with the exponent instead of the power. If the exponent is
// 0, the learner might believe that e^0 is 0, so the response addresses that.
func noPower(x float64) slip {
	if x == 0 {
		return slip{
			mistake: NoExp, value: 0, title: "e to the power of 0 is not 0.",
			why: "It is 1: each step down divides by e, from e² to e, and from e to 1.",
		}
	}
	return slip{
		mistake: NoExp, value: x, title: "That is the exponent itself.",
		why: "Raise e to it: that makes every score positive and turns equal steps into equal factors.",
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
				mistake: LeftOut, value: want[0] - e, title: "One is missing from the sum.",
				why: fmt.Sprintf(
					"Without %s the others come to %s. All %s belong in.", quoted(s.names[i]), show(want[0]-e),
					inWords(n),
				),
			},
		)
	}
	slips = append(slips,
		slip{
			mistake: Base10, value: base10, title: "You raised 10, not e.",
			why: "These are powers of 10 added up. The base is e = 2.71828.",
		},
		slip{
			mistake: Base2, value: base2, title: "You raised 2, not e.",
			why: "These are powers of 2 added up. The base is e = 2.71828.",
		},
		slip{
			mistake: NoExp, value: plain, title: "You added up the exponents.",
			why: "Add the column exp, not the column z / T.",
		},
		slip{mistake: Swapped, value: 1, title: "That is the sum of p.", why: "Here the column exp is added up."},
		slip{
			mistake: Largest, value: largest, title: "That is just the largest.",
			why: "The whole is all of them together.",
		},
		slip{
			mistake: Averaged, value: want[0] / float64(n), title: "That is the average.",
			why: "Leave out the division: the question asks for the plain sum.",
		})
	if t != 1 {
		slips = append(slips,
			slip{mistake: IgnoredT, value: s.sum(1), title: "That is the sum at T = 1.", why: "The exps have changed."},
			slip{
				mistake: TimesT, value: s.sum(1 / t), title: "You multiplied by T.",
				why: "That is the sum at T = " + canonical(1/t, Real) + ".",
			})
	}
	terms := ""
	for i, e := range exps {
		if i > 0 {
			terms += " + "
		}
		terms += show(e)
	}
	return s.cell(&cell{
		Cell:   Cell{ID: "sum", Label: "sum of exps", Type: Number},
		grader: newNumber(Real, want, slips), answer: show(want[0]),
		hints: [3]string{
			"What is the whole that every token's share is a part of?",
			"Add up the column exp, every row of it.",
			terms + ".",
		},
		work: []Line{
			{
				"Raise e to each z / T.", s.join(func(i int) string { return "e^" + canonical(value(s.z[i])/t, Real) }),
				s.join(func(i int) string { return show(exps[i]) }),
			},
			{"Add them all: that is the whole.", terms, show(want[0])},
		},
	})
}
