package drill

import (
	"fmt"
	"strings"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

type cutter = *sampling.Distribution

func joinValues(list []string) string { return strings.Join(list, ",") }

// kept returns p of the kept tokens, by rank.
func kept(d cutter) []float64 {
	list := make([]float64, d.Keep)
	for r := range list {
		list[r] = d.P[d.Order[r]]
	}
	return list
}

func (s *sheet) massCell(d cutter, rule cut) *Cell {
	want, p4 := routes(kept(d)), Probability.show
	want[0] = d.Mass
	var slips []slip
	if d.Keep > 1 {
		few := slip{
			mistake: OneTooFew, value: d.Cum[d.Keep-2],
			title: s.lang.T("drill.five.mass.slip.one_token_missing_from"),
			why:   s.lang.T("drill.five.mass.slip.one_token_missing_from.why", "n", d.Keep),
		}
		if rule.topP > 0 {
			few.mistake, few.title = Crossing, s.lang.T("drill.five.mistake.left_out_token_crosses")
			few.why = s.lang.T("drill.five.mass.slip.short_token_carries_sum.why", "cum", p4(d.Cum[d.Keep-2]),
				"top_p", canonical(rule.topP, Real), "mass", p4(d.Mass))
		}
		slips = append(slips, few)
	}
	if d.Keep < len(s.z) {
		slips = append(
			slips,
			slip{
				mistake: OneTooMany, value: d.Cum[d.Keep], title: s.lang.T("drill.five.mass.slip.one_token_too_many"),
				why: s.lang.T("drill.five.mass.slip.one_token_too_many.why", "n", d.Keep, "mass", p4(d.Mass)),
			},
		)
	}
	if rule.topP > 0 {
		slips = append(
			slips,
			slip{
				mistake: Swapped, value: rule.topP, title: s.lang.T("drill.five.mass.slip.border_not_sum"),
				why: s.lang.T("drill.five.mass.slip.border_not_sum.why", "mass", p4(d.Mass)),
			},
		)
	}
	slips = append(slips,
		slip{
			mistake: Swapped, value: 1 - d.Mass, title: s.lang.T("drill.five.mass.slip.what_cut"),
			why: s.lang.T("drill.five.mass.slip.what_cut.why"),
		},
		slip{
			mistake: Swapped, value: float64(d.Keep), title: s.lang.T("drill.five.mass.slip.how_many_tokens_stay"),
			why: s.lang.T("drill.five.mass.slip.how_many_tokens_stay.why"),
		},
		slip{
			mistake: Renormalize, value: 1, title: s.lang.T("drill.five.mass.slip.not_yet_1_sum"),
			why: s.lang.T("drill.five.mass.slip.not_yet_1_sum.why", "mass", p4(d.Mass)),
		},
		slip{
			mistake: Percent, value: 100 * d.Mass, title: s.lang.T("drill.slip.percentage_needs_sign"),
			why: s.lang.T("drill.five.mass.slip.percentage_needs_sign.why", "mass", p4(d.Mass)), credit: 0.5,
		})
	sum := sumOf(kept(d))
	return s.cell(&cell{
		Cell:   Cell{ID: "mass", Label: s.lang.T("drill.five.mass.label"), Type: Number},
		grader: newNumber(Probability, want, slips), answer: p4(d.Mass),
		hints: [3]string{
			s.lang.T("drill.five.mass.hint.question"),
			s.lang.T("drill.five.mass.hint.rule"), sum + ".",
		},
		work: []Line{{s.lang.T("drill.five.mass.work.add_up_p_tokens"), sum, p4(d.Mass)}},
	})
}

// sumOf formats probabilities as a sum.
func sumOf(list []float64) string {
	parts := make([]string, len(list))
	for i, p := range list {
		parts[i] = Probability.show(p)
	}
	return strings.Join(parts, " + ")
}

// qRoutes returns p′ of rank r, both exact and computed from p rounded to three or four places.
func qRoutes(d cutter, r int) []float64 {
	if r >= d.Keep {
		return []float64{0}
	}
	sums, p := routes(kept(d)), d.P[d.Order[r]]
	return []float64{
		d.Q(r), roundTo(p, 3) / sums[1], roundTo(p, 4) / sums[2],
		roundTo(p, 3) / roundTo(d.Mass, 3), roundTo(p, 4) / roundTo(d.Mass, 4),
	}
}

func (s *sheet) qCell(i int, d cutter, rule cut) Item {
	r, p4 := d.RankOf(int32(i)), Probability.show
	p, top := d.P[i], d.P[d.Order[0]]
	var slips []slip
	if r < d.Keep {
		slips = s.qKeptSlips(r, d, rule)
	} else {
		slips = []slip{
			{
				mistake: OneTooMany, value: p / d.Cum[r], title: s.lang.T("drill.five.slip.token_cut"),
				why: s.lang.T("drill.five.q.slip.token_cut.why", "p", p4(p), "cum", p4(d.Cum[r])),
			},
			{
				mistake: NotCut, value: p, title: s.lang.T("drill.five.slip.token_cut"),
				why: s.lang.T("drill.five.q.slip.token_cut.why.what_cut_keeps_nothing"),
			},
			{
				mistake: NotCut, value: p / d.Mass, title: s.lang.T("drill.five.slip.token_cut"),
				why: s.lang.T("drill.five.q.slip.token_cut.why.only_what_stays_divided"),
			},
			{
				mistake: Largest, value: p / top, title: s.lang.T("drill.five.slip.token_cut"),
				why: s.lang.T("drill.five.q.slip.token_cut.why.and_kept_ones_divided"),
			},
		}
	}
	answer, work, last := "0", Line{
		s.lang.T("drill.five.slip.token_cut"), "", "0",
	}, s.lang.T("drill.five.q.answer.not_among_stay_so", "token", s.names[i], "n", d.Keep)
	if r < d.Keep {
		answer = p4(d.Q(r))
		work = Line{s.lang.T("drill.five.q.work.divide_by_sum_what"), p4(p) + " / " + p4(d.Mass), answer}
		last = p4(p) + " / " + p4(d.Mass) + "."
	}
	return Item{Cell: s.cell(&cell{
		Cell: Cell{
			ID: fmt.Sprintf("q.%d", i), Label: s.lang.T("drill.five.q.label.p_for", "token", s.names[i]),
			Type: Number,
		},
		grader: &cutNumber{newNumber(Probability, qRoutes(d, r), slips), r >= d.Keep}, answer: answer,
		hints: [3]string{
			s.lang.T("drill.five.q.hint.question.does_token_stay_and"),
			s.lang.T("drill.five.q.hint.rule.what_cut_gets_0"),
			last,
		},
		work: []Line{{s.lang.T("drill.five.q.work.add_up_what_stays"), sumOf(kept(d)), p4(d.Mass)}, work},
	})}
}

// qKeptSlips returns the slips for the p′ of a kept token.
func (s *sheet) qKeptSlips(r int, d cutter, rule cut) []slip {
	p4, p := Probability.show, d.P[d.Order[r]]
	slips := []slip{
		{
			mistake: Renormalize, value: p, title: s.lang.T("drill.five.slip.forgot_renormalize"),
			why: s.lang.T("drill.five.q.slip.forgot_renormalize.why", "mass", p4(d.Mass), "p", p4(p)),
		},
		{
			mistake: Largest, value: p / d.P[d.Order[0]], title: s.lang.T("drill.five.q.slip.divided_by_largest_p"),
			why: s.lang.T("drill.five.q.slip.divided_by_largest_p.why", "p", p4(p), "p2", p4(d.P[d.Order[0]]),
				"mass", p4(d.Mass)),
		},
	}
	if d.Keep > 1 && r < d.Keep-1 {
		few := slip{
			mistake: OneTooFew, value: p / d.Cum[d.Keep-2], title: s.lang.T("drill.five.q.slip.left_one_token_out"),
			why: s.lang.T("drill.five.q.slip.left_one_token_out.why", "n", d.Keep, "mass", p4(d.Mass)),
		}
		if rule.topP > 0 {
			few.mistake, few.title = Crossing, s.lang.T("drill.five.mistake.left_out_token_crosses")
			few.why = s.lang.T("drill.five.q.slip.short_with_crossing_token.why", "cum", p4(d.Cum[d.Keep-2]),
				"top_p", canonical(rule.topP, Real), "mass", p4(d.Mass))
		}
		slips = append(slips, few)
	}
	if d.Keep < len(s.z) {
		slips = append(
			slips,
			slip{
				mistake: OneTooMany, value: p / d.Cum[d.Keep], title: s.lang.T("drill.five.q.slip.kept_one_too_many"),
				why: s.lang.T("drill.five.q.slip.kept_one_too_many.why", "n", d.Keep, "mass", p4(d.Mass), "cum",
					p4(d.Cum[d.Keep])),
			},
		)
	}
	if rule.topP > 0 {
		slips = append(
			slips,
			slip{
				mistake: Renormalize, value: p / rule.topP, title: s.lang.T("drill.five.q.slip.divided_by_border"),
				why: s.lang.T("drill.five.q.slip.divided_by_border.why", "top_p", canonical(rule.topP, Real), "mass",
					p4(d.Mass)),
			},
		)
	}
	slips = append(slips,
		slip{
			mistake: Renormalize, value: p * d.Mass, title: s.lang.T("drill.five.q.slip.multiplied_by_kept_sum"),
			why: s.lang.T("drill.five.q.slip.multiplied_by_kept_sum.why"),
		},
		slip{
			mistake: OneTooFew, value: 0, title: s.lang.T("drill.five.slip.token_stays"),
			why: s.lang.T("drill.five.slip.token_stays.why"),
		},
		slip{
			mistake: Percent, value: 100 * d.Q(r), title: s.lang.T("drill.slip.percentage_needs_sign"),
			why: s.lang.T("drill.five.q.slip.percentage_needs_sign.why", "r", p4(d.Q(r))), credit: 0.5,
		},
		slip{
			mistake: Swapped, value: d.Cum[r] / d.Mass, title: s.lang.T("drill.five.q.slip.running_total"),
			why: s.lang.T("drill.five.q.slip.running_total.why", "p", p4(p), "mass", p4(d.Mass)),
		})
	for other := range d.Keep {
		if other != r {
			slips = append(
				slips,
				slip{
					mistake: OtherRow, value: d.Q(other), title: s.lang.T("drill.slip.belongs_another_row"),
					why: s.lang.T("drill.five.q.slip.belongs_another_row.why", "token", s.names[d.Order[other]]),
				},
			)
		}
	}
	return slips
}

// cutNumber is a number that also accepts 'cut' or a dash for a token that is
// not kept.
type cutNumber struct {
	*number
	cut bool
}

func (n *cutNumber) grade(l *terms.Language, text string) Verdict {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case strings.ToLower(l.T("drill.five.draw.cut")), "cut", "-", "–", "—", "none":
		if n.cut {
			return Verdict{State: Right, Credit: 1, Understood: l.T("drill.five.grade.cut_so_0")}
		}
		return Verdict{
			State: Wrong, Understood: l.T("drill.five.grade.cut_so_0"), Mistake: OneTooFew,
			Title: l.T("drill.five.slip.token_stays"),
			Why:   l.T("drill.five.slip.token_stays.why"),
		}
	}
	return n.number.grade(l, text)
}

// nucleusCount asks how many tokens a nucleus keeps at another temperature.
func (s *sheet) nucleusCount(t float64) *Cell {
	d := s.nucleus(t)
	border, p4 := canonical(s.topP, Real), Probability.show
	before := "0"
	if d.Keep > 1 {
		before = p4(d.Cum[d.Keep-2])
	}
	slips := []slip{
		{
			mistake: Crossing, value: float64(d.Keep - 1), title: s.lang.T("drill.slip.token_crosses_border_stays"),
			why: s.lang.T("drill.five.count.slip.token_crosses_border_stays.why", "before", before, "border", border,
				"mass", p4(d.Mass)),
		},
		{
			mistake: OneTooMany, value: float64(d.Keep + 1), title: s.lang.T("drill.slip.one_too_many"),
			why: s.lang.T("drill.five.count.slip.one_too_many.why", "mass", p4(d.Mass), "border", border),
		},
		{
			mistake: IgnoredT, value: float64(s.nucleus(1).Keep),
			title: s.lang.T("drill.five.count.slip.thats_how_many_were"),
			why:   s.lang.T("drill.five.count.slip.thats_how_many_were.why"),
		},
	}
	return s.cell(&cell{
		Cell: Cell{
			ID: "count", Label: s.lang.T("drill.five.count.label"), Type: Number,
			Unit: s.lang.T("drill.unit.tokens"),
		},
		grader: newNumber(Count, []float64{float64(d.Keep)}, slips), answer: terms.Count(d.Keep),
		hints: [3]string{
			s.lang.T("drill.five.count.hint.question"),
			s.lang.T("drill.five.count.hint.rule", "border", border),
			s.lang.T("drill.five.count.hint.numbers", "mass", p4(d.Mass), "before", before),
		},
		work: []Line{
			{
				s.lang.T("drill.five.count.work.add_up_until_sum", "border", border),
				sumOf(kept(d)) + " = " + p4(d.Mass),
				terms.Count(d.Keep),
			},
		},
	})
}

func (s *sheet) trendCell() *Cell {
	list := make([]string, 0, 3)
	for _, t := range []float64{cold, 1, hot} {
		d := s.plain(t)
		list = append(list, fmt.Sprintf("%.3f", d.P[d.Order[0]]))
	}
	run := strings.Join(list, " → ")
	c := &choice{
		options: []Option{
			{Value: "falls", Text: s.lang.T("drill.five.trend.falls")},
			{Value: "stays", Text: s.lang.T("drill.five.trend.stays_same")},
			{Value: "rises", Text: s.lang.T("drill.five.trend.rises")},
		},
		right: "falls", note: s.lang.T("drill.five.trend.note", "run", run),
		why: map[string]said{
			"stays": {
				IgnoredT, s.lang.T("drill.five.trend.slip.changes"),
				s.lang.T("drill.five.trend.slip.changes.why"),
			},
			"rises": {
				TimesT, s.lang.T("drill.five.trend.slip.other_way_round"),
				s.lang.T("drill.five.trend.slip.other_way_round.why"),
			},
		},
	}
	return s.cell(&cell{
		Cell:   Cell{ID: "trend", Label: s.lang.T("drill.five.trend.label"), Type: ChoiceOf, Options: c.options},
		grader: c, answer: "falls", shown: s.lang.T("drill.five.trend.falls"),
		hints: [3]string{
			s.lang.T("drill.five.trend.hint.question"),
			s.lang.T("drill.five.trend.hint.rule"),
			run + ".",
		},
		work: []Line{{s.lang.T("drill.five.trend.work.put_three_side_by"), run, s.lang.T("drill.five.trend.falls")}},
	})
}
