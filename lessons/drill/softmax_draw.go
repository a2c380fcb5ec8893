package drill

import (
	"fmt"
	"math"
)

// drawStep adds the step in which the nucleus's segments are laid end to end and the learner finds
// where a given u falls.
func (s *sheet) drawStep() {
	d := s.nucleus(1)
	u := canonical(s.u, Real)
	s.open(Step{
		ID: "draw", Name: s.lang.T("drill.five.draw.name"), Note: "u = " + u, Needs: []string{"topp"},
		Title:  s.lang.T("drill.five.draw.title"),
		Ask:    s.lang.T("drill.five.draw.ask", "u", u),
		Remark: s.lang.T("drill.five.draw.remark"),
	})
	s.step.Columns = []Column{
		{Key: "p", Head: "p", Title: s.lang.T("drill.column.probability"), State: Given},
		{Key: "q", Head: "p′", Title: s.lang.T("drill.five.draw.column.probability_after_cut"), State: Given},
		{
			Key: "end", Head: s.lang.T("drill.five.draw.head.ends"),
			Title: s.lang.T("drill.five.draw.column.where_part_line_ends"), State: Live,
		},
	}
	for i, name := range s.names {
		r := d.RankOf(int32(i))
		row := Row{Key: name, Name: " " + name, Token: true, Items: []Item{
			{Text: Probability.show(d.P[i]), Value: d.P[i]},
			{Text: s.lang.T("drill.five.draw.cut")},
			{Text: s.lang.T("drill.five.draw.cut")},
		}}
		if r < d.Keep {
			row.Items[1], row.Items[2] = Item{Text: Probability.show(d.Q(r)), Value: d.Q(r)}, s.endCell(i, r, d)
		}
		s.step.Rows = append(s.step.Rows, row)
	}
	s.step.Asks = []Ask{{s.lang.T("drill.five.draw.ask.on_which_token_does", "u", u), s.drawnCell(d)}}
}

// beginning formats the beginning of a segment.
func beginning(from float64) string {
	if from == 0 {
		return "0"
	}
	return Probability.show(from)
}

// ends returns the end of rank r's segment, both exact and computed from rounded p′.
func ends(d cutter, r int) []float64 {
	q := make([]float64, r+1)
	var rounded float64
	for i := range q {
		q[i] = d.Q(i)
		rounded += roundTo(qRoutes(d, i)[3], 3)
	}
	list := append(routes(q), rounded)
	_, list[0] = d.Segment(r)
	return list
}

func (s *sheet) endCell(i, r int, d cutter) Item {
	want, p4 := ends(d, r), Probability.show
	at, to := d.Segment(r)
	from := beginning(at)
	slips := []slip{
		{
			mistake: NotRunning, value: d.Q(r), title: s.lang.T("drill.five.end.slip.how_long_part"),
			why: s.lang.T("drill.five.end.slip.how_long_part.why", "from", from, "r", p4(d.Q(r))),
		},
	}
	if r > 0 {
		slips = append(
			slips,
			slip{
				mistake: OneTooFew, value: at, title: s.lang.T("drill.five.end.slip.part_begins"),
				why: s.lang.T("drill.five.end.slip.part_begins.why", "from", from, "r", p4(d.Q(r))),
			},
		)
	}
	slips = append(
		slips,
		slip{
			mistake: Renormalize, value: d.Cum[r], title: s.lang.T("drill.five.end.slip.running_total_p"),
			why: s.lang.T("drill.five.end.slip.running_total_p.why"),
		},
	)
	if r+1 < d.Keep {
		_, next := d.Segment(r + 1)
		slips = append(
			slips,
			slip{
				mistake: OneTooMany, value: next, title: s.lang.T("drill.five.end.slip.next_part_ends"),
				why: s.lang.T("drill.five.end.slip.next_part_ends.why"),
			},
		)
	}
	slips = append(
		slips,
		slip{
			mistake: Percent, value: 100 * to, title: s.lang.T("drill.slip.percentage_needs_sign"),
			why:    s.lang.T("drill.five.end.slip.percentage_needs_sign.why", "to", p4(to)),
			credit: 0.5,
		},
	)
	return Item{Cell: s.cell(&cell{
		Cell: Cell{
			ID: fmt.Sprintf("end.%d", i), Label: s.lang.T("drill.five.end.label", "token", s.names[i]), Type: Number,
		},
		grader: newNumber(Probability, want, slips), answer: p4(to),
		hints: [3]string{
			s.lang.T("drill.five.end.hint.question"),
			s.lang.T("drill.five.end.hint.rule"),
			fmt.Sprintf("%s + %s.", from, p4(d.Q(r))),
		},
		work: []Line{{s.lang.T("drill.five.end.work.start_where_previous_token"), from + " + " + p4(d.Q(r)), p4(to)}},
	})}
}

func (s *sheet) drawnCell(d cutter) *Cell {
	drawn := d.Draw(s.u)
	from, to := d.Segment(drawn)
	p4, u := Probability.show, canonical(s.u, Real)
	name := s.names[d.Order[drawn]]
	where := fmt.Sprintf("%s ≤ %s < %s", beginning(from), u, p4(to))
	c := &choice{
		options: s.options(), right: name, note: s.lang.T("drill.five.drawn.note", "where", where, "token", name),
		why: map[string]said{},
	}
	plain := s.plain(1).Draw(s.u)
	for r, id := range d.Order {
		w := said{OtherOption, s.lang.T("drill.five.drawn.slip.u_falls_on_another"), ""}
		switch f, t := d.Segment(min(r, d.Keep-1)); {
		case r == drawn:
			continue
		case r >= d.Keep:
			w = said{
				OneTooMany, s.lang.T("drill.five.slip.token_cut"),
				s.lang.T("drill.five.drawn.slip.token_cut.why"),
			}
		case r == plain:
			w = said{
				Renormalize, s.lang.T("drill.five.drawn.slip.on_line_p_would"),
				s.lang.T("drill.five.drawn.slip.on_line_p_would.why", "f", p4(f), "t", p4(t)),
			}
		case r == 0:
			w.mistake, w.title = OtherOption, s.lang.T("drill.five.drawn.mistake.most_probable_not_always")
			w.why = s.lang.T("drill.five.drawn.slip.part_ends_and_beyond.why", "t", p4(t), "u", u)
		case math.Abs(d.Q(r)-s.u) < 0.1:
			w.why = s.lang.T("drill.five.drawn.slip.u_not_probability_look.why", "f", p4(f), "t", p4(t))
		default:
			w.why = s.lang.T("drill.five.drawn.slip.part_goes_from.why", "f", p4(f), "t", p4(t))
		}
		c.why[s.names[id]] = w
	}
	return s.cell(&cell{
		Cell:   Cell{ID: "drawn", Label: s.lang.T("drill.five.drawn.label"), Type: ChoiceOf, Options: c.options},
		grader: c, answer: name, shown: name,
		hints: [3]string{
			s.lang.T("drill.five.drawn.hint.question"),
			s.lang.T("drill.five.drawn.hint.rule"),
			where + ".",
		},
		work: []Line{{s.lang.T("drill.five.drawn.work.find_part_u_falls"), where, name}},
	})
}
