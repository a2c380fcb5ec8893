package drill

import (
	"fmt"
	"math"

	"github.com/tokenbytoken/viz/infer/sampling"
)

// drawStep adds the step in which the nucleus's segments are laid end to end and the learner finds
// where a given u falls.
func (s *sheet) drawStep() {
	d := s.nucleus(1)
	u := canonical(s.u, Real)
	s.p.begin(Step{
		ID: "draw", Name: s.lang.T("drill.five.draw.name"), Note: "u = " + u, Needs: []string{"topp"},
		Title:  s.lang.T("drill.five.draw.title"),
		Ask:    s.lang.T("drill.five.draw.ask", "u", u),
		Remark: s.lang.T("drill.five.draw.remark"),
	}, tokenRows(s.names),
		Column{Key: "p", Head: "p", Title: s.lang.T("drill.column.probability")},
		Column{Key: "q", Head: "p′", Title: s.lang.T("drill.five.draw.column.probability_after_cut")},
		Column{
			Key: "end", Head: s.lang.T("drill.five.draw.head.ends"),
			Title: s.lang.T("drill.five.draw.column.where_part_line_ends"),
		})
	// kept returns the item of a kept token, or the word for one that was cut.
	kept := func(i int, item func(r int) Item) Item {
		if r := d.RankOf(int32(i)); r < d.Keep {
			return item(r)
		}
		return Item{Text: s.lang.T("drill.five.draw.cut")}
	}
	s.p.fill("p", Given, func(i int) Item { return Probability.item(d.P[i]) })
	s.p.fill("q", Given, func(i int) Item {
		return kept(i, func(r int) Item { return Probability.item(d.Q(r)) })
	})
	s.p.fill("end", Live, func(i int) Item {
		return kept(i, func(r int) Item { return Item{Cell: s.endCell(i, r, d)} })
	})
	s.askDrawn(d)
}

// beginning formats the beginning of a segment.
func beginning(from float64) string {
	if from == 0 {
		return "0"
	}
	return Probability.show(from)
}

// ends returns the end of rank r's segment, both exact and computed from rounded p′.
func ends(d *sampling.Distribution, r int) []float64 {
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

func (s *sheet) endCell(i, r int, d *sampling.Distribution) *Cell {
	want, p4 := ends(d, r), Probability.show
	at, _ := d.Segment(r)
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
	return s.p.number(quantity{
		id: fmt.Sprintf("end.%d", i), name: s.lang.T("drill.five.end.label", "token", s.names[i]), form: Probability,
		want: want, slips: slips,
		question: s.lang.T("drill.five.end.hint.question"),
		rule:     s.lang.T("drill.five.end.hint.rule"),
		work: []Line{{
			Say: s.lang.T("drill.five.end.work.start_where_previous_token"),
			Eq:  from + " + " + p4(d.Q(r)),
		}},
	})
}

// askDrawn asks on which token u falls.
func (s *sheet) askDrawn(d *sampling.Distribution) {
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
	s.p.choose("drawn", s.lang.T("drill.five.draw.ask.on_which_token_does", "u", u),
		s.lang.T("drill.five.drawn.label"), c,
		[3]string{s.lang.T("drill.five.drawn.hint.question"), s.lang.T("drill.five.drawn.hint.rule")},
		Line{Say: s.lang.T("drill.five.drawn.work.find_part_u_falls"), Eq: where})
}
