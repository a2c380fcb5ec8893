package drill

import (
	"fmt"
	"strings"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// kept returns p of the kept tokens, by rank.
func kept(d *sampling.Distribution) []float64 {
	list := make([]float64, d.Keep)
	for r := range list {
		list[r] = d.P[d.Order[r]]
	}
	return list
}

func (s *sheet) massCell(d *sampling.Distribution) *Cell {
	want, p4, topP := routes(kept(d)), Probability.show, d.Settings.TopP
	want[0] = d.Mass
	var slips []slip
	if d.Keep > 1 {
		few := slip{
			mistake: OneTooFew, value: d.Cum[d.Keep-2],
			title: s.lang.T("drill.five.mass.slip.one_token_missing_from"),
			why:   s.lang.T("drill.five.mass.slip.one_token_missing_from.why", "n", d.Keep),
		}
		if topP < 1 {
			few.mistake, few.title = Crossing, s.lang.T("drill.five.mistake.left_out_token_crosses")
			few.why = s.lang.T("drill.five.mass.slip.short_token_carries_sum.why", "cum", p4(d.Cum[d.Keep-2]),
				"top_p", canonical(topP, Real), "mass", p4(d.Mass))
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
	if topP < 1 {
		slips = append(
			slips,
			slip{
				mistake: Swapped, value: topP, title: s.lang.T("drill.five.mass.slip.border_not_sum"),
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
		})
	return s.p.number(quantity{
		id: "mass", name: s.lang.T("drill.five.mass.label"), form: Probability, want: want, slips: slips,
		question: s.lang.T("drill.five.mass.hint.question"),
		rule:     s.lang.T("drill.five.mass.hint.rule"),
		work: []Line{{
			Say: s.lang.T("drill.five.mass.work.add_up_p_tokens"),
			Eq:  sumOf(kept(d), Probability),
		}},
	})
}

// sumOf formats numbers as a sum.
func sumOf(list []float64, f Form) string {
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = f.show(v)
	}
	return strings.Join(parts, " + ")
}

// qRoutes returns p′ of rank r, both exact and computed from p rounded to three or four places.
func qRoutes(d *sampling.Distribution, r int) []float64 {
	if r >= d.Keep {
		return []float64{0}
	}
	sums, p := routes(kept(d)), d.P[d.Order[r]]
	return []float64{
		d.Q(r), roundTo(p, 3) / sums[1], roundTo(p, 4) / sums[2],
		roundTo(p, 3) / roundTo(d.Mass, 3), roundTo(p, 4) / roundTo(d.Mass, 4),
	}
}

func (s *sheet) qCell(i int, d *sampling.Distribution) *Cell {
	r, p4 := d.RankOf(int32(i)), Probability.show
	p, top := d.P[i], d.P[d.Order[0]]
	var slips []slip
	if r < d.Keep {
		slips = s.qKeptSlips(r, d)
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
	answer, work := "0", Line{Say: s.lang.T("drill.five.slip.token_cut")}
	numbers := s.lang.T("drill.five.q.answer.not_among_stay_so", "token", s.names[i], "n", d.Keep)
	if r < d.Keep {
		answer, numbers = p4(d.Q(r)), ""
		work = Line{Say: s.lang.T("drill.five.q.work.divide_by_sum_what"), Eq: p4(p) + " / " + p4(d.Mass)}
	}
	return s.p.add(&cell{
		Cell: Cell{
			ID: fmt.Sprintf("q.%d", i), Label: s.lang.T("drill.five.q.label.p_for", "token", s.names[i]),
			Type: Number, Form: Probability,
		},
		grader: &cutNumber{newNumber(s.lang, Probability, qRoutes(d, r), slips), r >= d.Keep}, answer: answer,
		hints: [3]string{
			s.lang.T("drill.five.q.hint.question.does_token_stay_and"),
			s.lang.T("drill.five.q.hint.rule.what_cut_gets_0"),
			numbers,
		},
		work: []Line{{
			Say: s.lang.T("drill.five.q.work.add_up_what_stays"), Eq: sumOf(kept(d), Probability), Result: p4(d.Mass),
		}, work},
	})
}

// qKeptSlips returns the slips for the p′ of a kept token.
func (s *sheet) qKeptSlips(r int, d *sampling.Distribution) []slip {
	p4, p, topP := Probability.show, d.P[d.Order[r]], d.Settings.TopP
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
		if topP < 1 {
			few.mistake, few.title = Crossing, s.lang.T("drill.five.mistake.left_out_token_crosses")
			few.why = s.lang.T("drill.five.q.slip.short_with_crossing_token.why", "cum", p4(d.Cum[d.Keep-2]),
				"top_p", canonical(topP, Real), "mass", p4(d.Mass))
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
	if topP < 1 {
		slips = append(
			slips,
			slip{
				mistake: Renormalize, value: p / topP, title: s.lang.T("drill.five.q.slip.divided_by_border"),
				why: s.lang.T("drill.five.q.slip.divided_by_border.why", "top_p", canonical(topP, Real), "mass",
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
	var sum float64
	for _, p := range kept(d) {
		sum += roundTo(p, 4)
	}
	for _, v := range []float64{d.Mass, sum} {
		slips = append(slips, slip{
			mistake: Swapped, value: v, title: s.lang.T("drill.five.count.slip.sum"),
			why: s.lang.T("drill.five.count.slip.sum.why"),
		})
	}
	return s.p.number(quantity{
		id: "count", name: s.lang.T("drill.five.count.label"), form: Count, unit: s.lang.T("drill.unit.tokens"),
		want: exactly(d.Keep), slips: slips,
		question: s.lang.T("drill.five.count.hint.question"),
		rule:     s.lang.T("drill.five.count.hint.rule", "border", border),
		numbers:  s.lang.T("drill.five.count.hint.numbers", "mass", p4(d.Mass), "before", before),
		work: []Line{{
			Say: s.lang.T("drill.five.count.work.add_up_until_sum", "border", border),
			Eq:  sumOf(kept(d), Probability) + " = " + p4(d.Mass),
		}},
	})
}

// askTrend asks what the probability of the top token does as T rises.
func (s *sheet) askTrend() {
	list := make([]string, len(s.p.trend))
	for i, at := range s.p.trend {
		list[i] = fmt.Sprintf("%.3f", at.P)
	}
	run := strings.Join(list, " → ")
	s.p.choose("trend", s.lang.T("drill.five.temperature.ask.t_rises_from_0"), s.lang.T("drill.five.trend.label"),
		&choice{
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
		},
		[3]string{s.lang.T("drill.five.trend.hint.question"), s.lang.T("drill.five.trend.hint.rule")},
		Line{Say: s.lang.T("drill.five.trend.work.put_three_side_by"), Eq: run})
}
