package drill

import (
	"fmt"
	"math"
	"slices"

	"github.com/tokenbytoken/viz/infer/terms"
)

// share returns f(i) divided by the sum of f over the rows. With another f, it computes the results
// of mistakes such as using a wrong base or no exponential.
func (s *sheet) share(i int, f func(j int) float64) float64 {
	var sum float64
	for j := range s.names {
		sum += f(j)
	}
	return f(i) / sum
}

func (s *sheet) pCell(i int, t float64) Item {
	d := s.plain(t)
	want, e, sum := d.P[i], s.exp(i, t), s.sum(t)
	r3, p4, name := Real.show, Probability.show, s.names[i]
	largest := s.exp(int(d.Order[0]), t)
	slips := s.printed(i, t)
	slips = append(slips, slip{
		mistake: Largest, value: e / largest, title: "You divided by the largest exp, not by their sum.",
		why: fmt.Sprintf(
			"%s / %s = %s. The whole is all %s exps together, %s.", r3(e), r3(largest), p4(e/largest),
			inWords(len(s.z)), r3(sum),
		),
	})
	if t != 1 {
		one := s.plain(1).P[i]
		slips = append(slips,
			slip{
				mistake: TimesT, value: s.plain(1 / t).P[i], title: "You multiplied by T.",
				why: fmt.Sprintf(
					"That is p at T = %s. The logits are divided by T, and here T is %s.", canonical(1/t, Real),
					canonical(t, Real),
				),
			},
			slip{
				mistake: IgnoredT, value: one, title: "That is p at T = 1.",
				why: "The logits were divided by T, so the exps and their sum have changed.",
			},
			slip{
				mistake: Renormalize, value: math.Pow(one, 1/t), title: "You forgot to renormalize.",
				why: fmt.Sprintf(
					"p to the power of 1 / T is a good way: %s to the power of %s is %s. But these no longer add up "+
						"to 1: divide by their sum.",
					p4(one), canonical(1/t, Real), p4(math.Pow(one, 1/t)),
				),
				credit: 0.5,
			},
			slip{
				mistake: AfterT, value: one / t, title: "You divided p by T.",
				why: "T acts on the logits, before the softmax. Shares divided by T are shares of nothing.",
			},
			slip{
				mistake: AfterT, value: one * t, title: "You multiplied p by T.",
				why: "T acts on the logits, before the softmax.",
			})
	}
	slips = append(slips,
		slip{
			mistake: Base10, value: s.share(i, func(j int) float64 { return math.Pow(10, value(s.z[j])/t) }),
			title: "You raised 10, not e.", why: "With powers of 10 the gaps grow: the base of softmax is e = 2.71828.",
		},
		slip{
			mistake: Base2, value: s.share(i, func(j int) float64 { return math.Pow(2, value(s.z[j])/t) }),
			title: "You raised 2, not e.", why: "With powers of 2 the gaps shrink: the base of softmax is e = 2.71828.",
		},
		slip{
			mistake: NoExp, value: s.share(i, func(j int) float64 { return value(s.z[j]) }),
			title: "You shared out the logits themselves.", why: "Raise e to each first, and divide those.",
		},
		slip{
			mistake: Swapped, value: e, title: "That is the exp: it belongs one column before.",
			why: "Divide it by the sum, " + r3(sum) + ".",
		},
		slip{
			mistake: Percent, value: 100 * want, title: "A percentage needs its sign.",
			why:    fmt.Sprintf("%s%% is %s; write one or the other.", canonical(roundTo(100*want, 2), Real), p4(want)),
			credit: 0.5,
		},
		slip{
			mistake: LeftOut, value: e / (sum - e), title: "This token is missing from your sum.",
			why: fmt.Sprintf("You divided only by the others, %s. The whole has all of them, %s.", r3(sum-e), r3(sum)),
		})
	if r := d.RankOf(int32(i)); t == 1 && r > 0 {
		slips = append(
			slips,
			slip{
				mistake: Swapped, value: d.Cum[r], title: "That is the running total.",
				why: "It belongs one column further. Here is this token's own share.",
			},
		)
	}
	slips = s.others(slips, i, "p", func(j int) float64 { return d.P[j] })
	n := newNumber(Probability, []float64{want}, slips)
	n.note = s.printedNote(i, t)
	return Item{Cell: s.cell(&cell{
		Cell: Cell{ID: fmt.Sprintf("p.%d", i), Label: "p for " + quoted(name), Type: Number}, grader: n,
		answer: p4(want),
		hints: [3]string{
			"This token has one part of the whole. What is the whole?",
			"Divide its exp by the sum of all exps.",
			fmt.Sprintf("%s / %s.", r3(e), r3(sum)),
		},
		work: []Line{
			{
				"Raise e to each z / T.", s.join(func(j int) string { return "e^" + canonical(value(s.z[j])/t, Real) }),
				s.join(func(j int) string { return r3(s.exp(j, t)) }),
			},
			{"Add them all: that is the whole.", "", r3(sum)},
			{"Divide this token's part by the whole.", r3(e) + " / " + r3(sum), p4(want)},
		},
	})}
}

// isPrinted reports whether row i at temperature t of this problem is the value that a source
// misprints. Only the lesson's own numbers contain it.
func (s *sheet) isPrinted(i int, t float64) bool {
	return s.p.Seed == 0 && s.p.Level == 1 && t == cold && i == 0
}

// misprint is the misprinted value. With this value, the probabilities add up to 1.002.
const misprint = 0.866

func (s *sheet) printed(i int, t float64) []slip {
	if !s.isPrinted(i, t) {
		return nil
	}
	p := s.plain(t).P[i]
	return []slip{{
		mistake: Printed, value: misprint,
		title: fmt.Sprintf("That is the printed value; the arithmetic gives %.3f.", p),
		why: fmt.Sprintf(
			"%s / %s = %s. The printed row adds up to 1.002, and a distribution adds up to 1.", Real.show(s.exp(i, t)),
			Real.show(s.sum(t)), Probability.show(p),
		),
		credit: 0.5,
	}}
}

func (s *sheet) printedNote(i int, t float64) string {
	if !s.isPrinted(i, t) {
		return ""
	}
	return fmt.Sprintf(
		"Checked: some copies print %.3f here. Their row adds up to 1.002; the arithmetic gives %s.", misprint,
		Probability.show(s.plain(t).P[i]),
	)
}

// routes returns the sum of the values three times: exact, and with the values rounded to three and
// to four places first.
func routes(values []float64) []float64 {
	sums := make([]float64, 3)
	for _, v := range values {
		sums[0], sums[1], sums[2] = sums[0]+v, sums[1]+roundTo(v, 3), sums[2]+roundTo(v, 4)
	}
	return sums
}

func (s *sheet) cumCell(i int) Item {
	d := s.plain(1)
	r, p4 := d.RankOf(int32(i)), Probability.show
	ranked := make([]float64, len(d.Order))
	for j, id := range d.Order {
		ranked[j] = d.P[id]
	}
	want := routes(ranked[:r+1])
	want[0] = d.Cum[r]
	var rows float64
	for j := range i + 1 {
		rows += d.P[j]
	}
	slips := []slip{
		{
			mistake: NotRunning, value: ranked[r], title: "That is only this token's p.",
			why: "Add to it all that are more probable.",
		},
	}
	if r > 0 {
		slips = append(
			slips,
			slip{
				mistake: OneTooFew, value: d.Cum[r-1], title: "One too few: that is the total before this token.",
				why: fmt.Sprintf("%s + %s = %s.", p4(d.Cum[r-1]), p4(ranked[r]), p4(want[0])),
			},
		)
	}
	if r+1 < len(ranked) {
		slips = append(
			slips,
			slip{
				mistake: OneTooMany, value: d.Cum[r+1], title: "One too many: that is the total of the next token.",
				why: "Stop at this token.",
			},
		)
	}
	slips = append(
		slips,
		slip{
			mistake: Unsorted, value: rows, title: "You added up in the order of the rows.",
			why: "The running total goes from the most probable token down, whatever the order of the table.",
		},
	)
	if r > 0 {
		slips = append(
			slips,
			slip{
				mistake: Unsorted, value: 1 - d.Cum[r-1], title: "You added up from the bottom.",
				why: "Begin at the most probable token.",
			},
		)
	}
	slips = append(slips,
		slip{
			mistake: Percent, value: 100 * want[0], title: "A percentage needs its sign.",
			why: "Write " + p4(want[0]) + ", or the percentage with its sign.", credit: 0.5,
		},
		slip{mistake: Swapped, value: s.exp(i, 1), title: "That is the exp.", why: "Here the column p is added up."})
	work := []Line{{"The most probable token begins.", p4(ranked[0]), p4(ranked[0])}}
	if r > 0 {
		work = []Line{
			{"The total before this token.", "", p4(d.Cum[r-1])},
			{"Add this token's p.", p4(d.Cum[r-1]) + " + " + p4(ranked[r]), p4(want[0])},
		}
	}
	last := "It is the most probable token: the total begins with its p, " + p4(ranked[0]) + "."
	if r > 0 {
		last = p4(d.Cum[r-1]) + " + " + p4(ranked[r]) + "."
	}
	return Item{Cell: s.cell(&cell{
		Cell:   Cell{ID: fmt.Sprintf("cum.%d", i), Label: "running total for " + quoted(s.names[i]), Type: Number},
		grader: newNumber(Probability, want, slips), answer: p4(want[0]),
		hints: [3]string{
			"Which tokens are at least as probable as this one?",
			"Add their p to its own: the total before it, plus its p.",
			last,
		},
		work: work,
	})}
}

// options returns the tokens in the order of the rows.
func (s *sheet) options() (list []Option) {
	for _, name := range s.names {
		list = append(list, Option{Value: name, Text: " " + name, Token: true})
	}
	return list
}

// keepCell adds the column that marks the kept tokens.
func (s *sheet) keepCell(d cutter, rule cut) *Cell {
	g := &set{options: s.options(), keep: d.Keep, mass: d.Cum, cut: rule}
	for _, id := range d.Order {
		g.ranked = append(g.ranked, s.names[id])
	}
	answer := slices.Clone(g.ranked[:d.Keep])
	hints := [3]string{
		"Which tokens does this cut leave?",
		"Go from the most probable token down, and stop at " + terms.Count(d.Keep) + ".",
		"The first is " + g.ranked[0] + "; it takes " + terms.Count(d.Keep) + " in all.",
	}
	work := []Line{{"Keep the " + terms.Count(d.Keep) + " most probable.", "", g.names(answer)}}
	if rule.topP > 0 {
		border, p4 := canonical(rule.topP, Real), Probability.show
		hints = [3]string{
			"How far does the sum get, token by token? And which one carries it over the border?",
			"Go down the running total. The first token at which it is " + border + " or more is the last one kept.",
			fmt.Sprintf("%s is short of %s, %s is not.", p4(d.Cum[d.Keep-2]), border, p4(d.Mass)),
		}
		work = []Line{
			{
				"Go down the running total until it reaches " + border + ".",
				p4(d.Cum[d.Keep-2]) + " < " + border + " ≤ " + p4(d.Mass), g.names(answer),
			},
		}
	}
	return s.cell(&cell{
		Cell:   Cell{ID: "keep", Label: "tokens kept", Type: Set, Options: g.options},
		grader: g, answer: joinValues(answer), shown: g.names(answer), hints: hints, work: work,
	})
}
