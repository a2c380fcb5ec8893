package drill

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/sampling"
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

func (s *sheet) pCell(i int, t float64) *Cell {
	d := s.plain(t)
	want, e, sum := d.P[i], s.exp(i, t), s.sum(t)
	r3, p4, name := Real.show, Probability.show, s.names[i]
	largest := s.exp(int(d.Order[0]), t)
	slips := s.printed(i, t)
	slips = append(slips, slip{
		mistake: Largest, value: e / largest, title: s.lang.T("drill.slip.divided_by_largest_exp"),
		why: s.lang.T("drill.five.p.slip.divided_by_largest_exp.why", "e", r3(e), "largest", r3(largest), "e2",
			p4(e/largest), "n", inWords(s.lang, len(s.z)), "sum", r3(sum)),
	})
	slips = append(slips, s.pSlipsOfT(i, t)...)
	slips = append(slips,
		slip{
			mistake: Base10, value: s.share(i, func(j int) float64 { return math.Pow(10, value(s.z[j])/t) }),
			title: s.lang.T("drill.slip.raised_10_not_e"), why: s.lang.T("drill.five.p.slip.raised_10_not_e.why"),
		},
		slip{
			mistake: Base2, value: s.share(i, func(j int) float64 { return math.Pow(2, value(s.z[j])/t) }),
			title: s.lang.T("drill.slip.raised_2_not_e"), why: s.lang.T("drill.five.p.slip.raised_2_not_e.why"),
		},
		slip{
			mistake: NoExp, value: s.share(i, func(j int) float64 { return value(s.z[j]) }),
			title: s.lang.T("drill.five.p.slip.shared_out_logits_themselves"),
			why:   s.lang.T("drill.five.p.slip.shared_out_logits_themselves.why"),
		},
		slip{
			mistake: Swapped, value: e,
			title: s.lang.T("drill.slip.exp", "x", canonical(value(s.z[i])/t, Real)),
			why:   s.lang.T("drill.slip.exp.why", "sum", r3(sum)),
		},
		slip{
			mistake: LeftOut, value: e / (sum - e), title: s.lang.T("drill.five.p.slip.token_missing_from_your"),
			why: s.lang.T("drill.five.p.slip.token_missing_from_your.why", "sum", r3(sum-e), "sum2", r3(sum)),
		})
	if r := d.RankOf(int32(i)); t == 1 && r > 0 {
		slips = append(
			slips,
			slip{
				mistake: Swapped, value: d.Cum[r], title: s.lang.T("drill.five.p.slip.running_total"),
				why: s.lang.T("drill.five.p.slip.running_total.why"),
			},
		)
	}
	slips = slices.Concat(slips,
		otherRows(s.lang, s.names, i, "p", func(j int) float64 { return d.P[j] }),
		s.otherT(t, "drill.five.p.slip.p_t_1", func(t float64) float64 { return s.plain(t).P[i] }))
	return s.p.number(quantity{
		id: fmt.Sprintf("p.%d", i), name: s.lang.T("drill.name.p_for", "token", name), form: Probability,
		want: exactly(want), slips: slips, note: s.printedNote(i, t),
		question: s.lang.T("drill.five.p.hint.question"),
		rule:     s.lang.T(pRule(t)),
		work: []Line{
			s.powersLine(t),
			{Say: s.lang.T("drill.five.work.add_them_all_whole"), Result: r3(sum)},
			{Say: s.lang.T("drill.five.p.work.divide_token_part_by"), Eq: r3(e) + " / " + r3(sum)},
		},
	})
}

// pRule returns the key of the rule for a probability at temperature t.
func pRule(t float64) string {
	if t == 1 {
		return "drill.hint.rule.divide_exp_by_sum"
	}
	return "drill.hint.rule.divide_exp_by_sum.t"
}

// pSlipsOfT returns the slips of using T in the wrong way.
func (s *sheet) pSlipsOfT(i int, t float64) []slip {
	if t == 1 {
		return nil
	}
	p4 := Probability.show
	one := s.plain(1).P[i]
	return []slip{
		{
			mistake: TimesT, value: s.plain(1 / t).P[i], title: s.lang.T("drill.five.slip.multiplied_by_t"),
			why: s.lang.T("drill.five.p.slip.multiplied_by_t.why", "t", canonical(1/t, Real), "t2",
				canonical(t, Real)),
		},
		{
			mistake: IgnoredT, value: one, title: s.lang.T("drill.five.p.slip.p_t_1", "t", 1),
			why: s.lang.T("drill.five.p.slip.p_t_1.why"),
		},
		{
			mistake: Renormalize, value: math.Pow(one, 1/t),
			title: s.lang.T("drill.five.slip.forgot_renormalize"),
			why: s.lang.T("drill.five.p.slip.forgot_renormalize.why", "one", p4(one), "t",
				canonical(1/t, Real), "t2", p4(math.Pow(one, 1/t))),
			credit: 0.5,
		},
		{
			mistake: AfterT, value: one / t, title: s.lang.T("drill.five.p.slip.divided_p_by_t"),
			why: s.lang.T("drill.five.p.slip.divided_p_by_t.why"),
		},
		{
			mistake: AfterT, value: one * t, title: s.lang.T("drill.five.p.slip.multiplied_p_by_t"),
			why: s.lang.T("drill.five.p.slip.multiplied_p_by_t.why"),
		},
	}
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
		title: s.lang.T("drill.five.printed.slip.printed_value_arithmetic_gives", "p", fmt.Sprintf("%.3f", p)),
		why: s.lang.T("drill.five.printed.slip.printed_value_arithmetic_gives.why", "t", Real.show(s.exp(i, t)),
			"t2", Real.show(s.sum(t)), "p", Probability.show(p)),
		credit: 0.5,
	}}
}

func (s *sheet) printedNote(i int, t float64) string {
	if !s.isPrinted(i, t) {
		return ""
	}
	return s.lang.T("drill.five.printed_note.checked_some_copies_print", "misprint", fmt.Sprintf("%.3f", misprint),
		"p", Probability.show(s.plain(t).P[i]))
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

// cumSlips returns the slips for the running total at row i.
func (s *sheet) cumSlips(i int, d *sampling.Distribution) []slip {
	r, p, p4 := d.RankOf(int32(i)), d.P[i], Probability.show
	var rows float64
	for j := range i + 1 {
		rows += d.P[j]
	}
	slips := []slip{
		{
			mistake: NotRunning, value: p, title: s.lang.T("drill.five.cum.slip.only_token_p"),
			why: s.lang.T("drill.five.cum.slip.only_token_p.why"),
		},
	}
	if r > 0 {
		slips = append(
			slips,
			slip{
				mistake: OneTooFew, value: d.Cum[r-1], title: s.lang.T("drill.five.cum.slip.one_too_few_total"),
				why: fmt.Sprintf("%s + %s = %s.", p4(d.Cum[r-1]), p4(p), p4(d.Cum[r])),
			},
		)
	}
	if r+1 < len(d.Order) {
		slips = append(
			slips,
			slip{
				mistake: OneTooMany, value: d.Cum[r+1], title: s.lang.T("drill.five.cum.slip.one_too_many_total"),
				why: s.lang.T("drill.five.cum.slip.one_too_many_total.why"),
			},
		)
	}
	slips = append(
		slips,
		slip{
			mistake: Unsorted, value: rows, title: s.lang.T("drill.five.cum.slip.added_up_in_order"),
			why: s.lang.T("drill.five.cum.slip.added_up_in_order.why"),
		},
	)
	if r > 0 {
		slips = append(
			slips,
			slip{
				mistake: Unsorted, value: 1 - d.Cum[r-1], title: s.lang.T("drill.five.cum.slip.added_up_from_bottom"),
				why: s.lang.T("drill.five.cum.slip.added_up_from_bottom.why"),
			},
		)
	}
	slips = append(slips,
		slip{
			mistake: Swapped, value: s.exp(i, 1), title: s.lang.T("drill.slip.exp", "x", logit(s.z[i])),
			why: s.lang.T("drill.five.cum.slip.exp.why"),
		})
	return slips
}

func (s *sheet) cumCell(i int) *Cell {
	d := s.plain(1)
	r, p4 := d.RankOf(int32(i)), Probability.show
	ranked := make([]float64, len(d.Order))
	for j, id := range d.Order {
		ranked[j] = d.P[id]
	}
	want := routes(ranked[:r+1])
	want[0] = d.Cum[r]
	work := []Line{{Say: s.lang.T("drill.five.cum.work.most_probable_token_begins"), Eq: p4(ranked[0])}}
	numbers := s.lang.T("drill.five.cum.last.most_probable_token_total", "ranked", p4(ranked[0]))
	if r > 0 {
		numbers = ""
		work = []Line{
			{Say: s.lang.T("drill.five.cum.work.total_before_token"), Result: p4(d.Cum[r-1])},
			{Say: s.lang.T("drill.five.cum.work.add_token_p"), Eq: p4(d.Cum[r-1]) + " + " + p4(ranked[r])},
		}
	}
	return s.p.number(quantity{
		id: fmt.Sprintf("cum.%d", i), name: s.lang.T("drill.five.cum.label", "token", s.names[i]),
		form: Probability, want: want, slips: s.cumSlips(i, d),
		question: s.lang.T("drill.five.cum.hint.question"),
		rule:     s.lang.T("drill.five.cum.hint.rule"),
		numbers:  numbers, work: work,
	})
}

// options returns the tokens in the order of the rows.
func (s *sheet) options() (list []Option) {
	for _, name := range s.names {
		list = append(list, Option{Value: name, Text: " " + name, Token: true})
	}
	return list
}

// keepCell adds the cell for the tokens that a cut keeps.
func (s *sheet) keepCell(d *sampling.Distribution) *Cell {
	g := &set{options: s.options(), keep: d.Keep, mass: d.Cum, topP: d.Settings.TopP}
	for _, id := range d.Order {
		g.ranked = append(g.ranked, s.names[id])
	}
	answer := slices.Clone(g.ranked[:d.Keep])
	hints := [3]string{
		s.lang.T("drill.five.keep.hint.question"),
		s.lang.T("drill.five.keep.hint.rule", "n", d.Keep),
		s.lang.T("drill.five.keep.hint.numbers", "ranked", g.ranked[0], "n", d.Keep),
	}
	work := Line{Say: s.lang.T("drill.five.keep.work.keep_most_probable", "n", d.Keep)}
	if d.Settings.TopP < 1 {
		border, p4 := canonical(d.Settings.TopP, Real), Probability.show
		short, mass := p4(d.Cum[d.Keep-2]), p4(d.Mass)
		hints = [3]string{
			s.lang.T("drill.five.keep.hint.question.how_far_does_sum"),
			s.lang.T("drill.five.keep.hint.rule.go_down_running_total", "border", border),
			s.lang.T("drill.five.keep.hint.numbers.short_not", "cum", short, "border", border, "mass", mass),
		}
		work = Line{
			Say: s.lang.T("drill.five.keep.work.go_down_running_total", "border", border),
			Eq:  short + " < " + border + " ≤ " + mass,
		}
	}
	return s.p.add(&cell{
		Cell:   Cell{ID: "keep", Label: s.lang.T("drill.five.keep.label"), Type: Set, Options: g.options},
		grader: g, answer: strings.Join(answer, ","), shown: g.names(answer), hints: hints, work: []Line{work},
	})
}
