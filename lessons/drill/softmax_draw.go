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
		ID: "draw", Name: "Draw", Note: "u = " + u, Needs: []string{"topp"},
		Title: "Lay the kept tokens end to end and draw",
		Ask: "Each kept token takes a part of the line from 0 to 1 that is as long as its p′, the most probable " +
			"first. Say where each part ends, and on which token u = " + u + " falls.",
		Remark: "A part holds its beginning and not its end.",
	})
	s.step.Columns = []Column{
		{Key: "p", Head: "p", Title: "probability", State: Given},
		{Key: "q", Head: "p′", Title: "probability after the cut", State: Given},
		{Key: "end", Head: "ends at", Title: "where its part of the line ends", State: Live},
	}
	for i, name := range s.names {
		r := d.RankOf(int32(i))
		row := Row{Key: name, Name: " " + name, Token: true, Items: []Item{
			{Text: Probability.show(d.P[i]), Value: d.P[i]}, {Text: "cut"}, {Text: "cut"},
		}}
		if r < d.Keep {
			row.Items[1], row.Items[2] = Item{Text: Probability.show(d.Q(r)), Value: d.Q(r)}, s.endCell(i, r, d)
		}
		s.step.Rows = append(s.step.Rows, row)
	}
	s.step.Asks = []Ask{{"On which token does u = " + u + " fall?", s.drawnCell(d)}}
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
			mistake: NotRunning, value: d.Q(r), title: "That is how long the part is.",
			why: fmt.Sprintf("It begins at %s, so it ends at %s + %s.", from, from, p4(d.Q(r))),
		},
	}
	if r > 0 {
		slips = append(
			slips,
			slip{
				mistake: OneTooFew, value: at, title: "There the part begins.",
				why: "It ends one p′ later: " + from + " + " + p4(d.Q(r)) + ".",
			},
		)
	}
	slips = append(
		slips,
		slip{
			mistake: Renormalize, value: d.Cum[r], title: "That is the running total of p.",
			why: "Lay the renormalized p′ end to end, so that the line is filled.",
		},
	)
	if r+1 < d.Keep {
		_, next := d.Segment(r + 1)
		slips = append(
			slips,
			slip{mistake: OneTooMany, value: next, title: "There the next part ends.", why: "Stop after this token."},
		)
	}
	slips = append(
		slips,
		slip{
			mistake: Percent, value: 100 * to, title: "A percentage needs its sign.", why: "Write " + p4(to) + ".",
			credit: 0.5,
		},
	)
	return Item{Cell: s.cell(&cell{
		Cell: Cell{
			ID: fmt.Sprintf("end.%d", i), Label: "where the part of " + quoted(s.names[i]) + " ends", Type: Number,
		},
		grader: newNumber(Probability, want, slips), answer: p4(to),
		hints: [3]string{
			"Where does this token's part begin?",
			"It begins where the previous one ends, and is p′ long.",
			fmt.Sprintf("%s + %s.", from, p4(d.Q(r))),
		},
		work: []Line{{"Start where the previous token ends, and add p′.", from + " + " + p4(d.Q(r)), p4(to)}},
	})}
}

func (s *sheet) drawnCell(d cutter) *Cell {
	drawn := d.Draw(s.u)
	from, to := d.Segment(drawn)
	p4, u := Probability.show, canonical(s.u, Real)
	name := s.names[d.Order[drawn]]
	where := fmt.Sprintf("%s ≤ %s < %s", beginning(from), u, p4(to))
	c := &choice{
		options: s.options(), right: name, note: where + ", the part of " + quoted(name) + ".", why: map[string]said{},
	}
	plain := s.plain(1).Draw(s.u)
	for r, id := range d.Order {
		w := said{OtherOption, "u falls on another part.", ""}
		switch f, t := d.Segment(min(r, d.Keep-1)); {
		case r == drawn:
			continue
		case r >= d.Keep:
			w = said{OneTooMany, "This token was cut.", "It has no part of the line, so nothing can fall on it."}
		case r == plain:
			w = said{
				Renormalize, "On the line of p it would be this one.",
				"The draw is on p′, renormalized: there this part goes from " + p4(f) + " to " + p4(t) + ".",
			}
		case r == 0:
			w.mistake, w.title = OtherOption, "The most probable is not always drawn."
			w.why = fmt.Sprintf("Its part ends at %s, and %s is beyond that.", p4(t), u)
		case math.Abs(d.Q(r)-s.u) < 0.1:
			w.why = fmt.Sprintf(
				"u is not a probability to look for: its place on the line counts. This part goes from %s to %s.",
				p4(f), p4(t),
			)
		default:
			w.why = fmt.Sprintf("This part goes from %s to %s.", p4(f), p4(t))
		}
		c.why[s.names[id]] = w
	}
	return s.cell(&cell{
		Cell:   Cell{ID: "drawn", Label: "token drawn", Type: ChoiceOf, Options: c.options},
		grader: c, answer: name, shown: name,
		hints: [3]string{
			"Which parts of the line end before u, and which one does not?",
			"Take the first token whose part ends beyond u.",
			where + ".",
		},
		work: []Line{{"Find the part that u falls on.", where, name}},
	})
}
