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
			mistake: OneTooFew, value: d.Cum[d.Keep-2], title: "One token is missing from the sum.",
			why: fmt.Sprintf("%d tokens are kept here.", d.Keep),
		}
		if rule.topP > 0 {
			few.mistake, few.title = Crossing, "You left out the token that crosses the border."
			few.why = fmt.Sprintf(
				"%s is short of %s. The token that carries the sum over it is kept: %s.", p4(d.Cum[d.Keep-2]),
				canonical(rule.topP, Real), p4(d.Mass),
			)
		}
		slips = append(slips, few)
	}
	if d.Keep < len(s.z) {
		slips = append(
			slips,
			slip{
				mistake: OneTooMany, value: d.Cum[d.Keep], title: "One token too many is in the sum.",
				why: fmt.Sprintf("%d tokens are kept here, with %s.", d.Keep, p4(d.Mass)),
			},
		)
	}
	if rule.topP > 0 {
		slips = append(
			slips,
			slip{
				mistake: Swapped, value: rule.topP, title: "That is the border, not the sum.",
				why: "The kept tokens weigh at least that much, and mostly more: " + p4(d.Mass) + ".",
			},
		)
	}
	slips = append(slips,
		slip{
			mistake: Swapped, value: 1 - d.Mass, title: "That is what was cut.",
			why: "The question asks for the sum of what stays.",
		},
		slip{mistake: Swapped, value: float64(d.Keep), title: "That is how many tokens stay.", why: "Add up their p."},
		slip{
			mistake: Renormalize, value: 1, title: "Not yet: 1 is the sum of p′.",
			why: "Before renormalizing, the kept p add up to " + p4(d.Mass) + ".",
		},
		slip{
			mistake: Percent, value: 100 * d.Mass, title: "A percentage needs its sign.",
			why: "Write " + p4(d.Mass) + ", or the percentage with its sign.", credit: 0.5,
		})
	terms := sumOf(kept(d))
	return s.cell(&cell{
		Cell:   Cell{ID: "mass", Label: "sum of the kept p", Type: Number},
		grader: newNumber(Probability, want, slips), answer: p4(d.Mass),
		hints: [3]string{
			"Which column already has this sum?",
			"Add up p of the tokens that stay: it is the running total at the last of them.", terms + ".",
		},
		work: []Line{{"Add up p of the tokens that stay.", terms, p4(d.Mass)}},
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
				mistake: OneTooMany, value: p / d.Cum[r], title: "This token was cut.",
				why: fmt.Sprintf("You kept it: %s / %s. It goes, so nothing is left of it.", p4(p), p4(d.Cum[r])),
			},
			{
				mistake: NotCut, value: p, title: "This token was cut.",
				why: "What is cut keeps nothing: its p is shared out among those that stay.",
			},
			{
				mistake: NotCut, value: p / d.Mass, title: "This token was cut.",
				why: "Only what stays is divided by the kept sum; what is cut gets 0.",
			},
			{
				mistake: Largest, value: p / top, title: "This token was cut.",
				why: "And the kept ones are divided by their sum, not by the largest.",
			},
		}
	}
	answer, work, last := "0", Line{
		"This token was cut.", "", "0",
	}, s.names[i]+" is not among the "+terms.Count(d.Keep)+" that stay, so it gets 0."
	if r < d.Keep {
		answer = p4(d.Q(r))
		work = Line{"Divide by the sum of what stays.", p4(p) + " / " + p4(d.Mass), answer}
		last = p4(p) + " / " + p4(d.Mass) + "."
	}
	return Item{Cell: s.cell(&cell{
		Cell:   Cell{ID: fmt.Sprintf("q.%d", i), Label: "p′ for " + quoted(s.names[i]), Type: Number},
		grader: &cutNumber{newNumber(Probability, qRoutes(d, r), slips), r >= d.Keep}, answer: answer,
		hints: [3]string{
			"Does this token stay? And what do those that stay add up to now?",
			"What is cut gets 0. What stays is divided by the sum of all that stay.",
			last,
		},
		work: []Line{{"Add up what stays.", sumOf(kept(d)), p4(d.Mass)}, work},
	})}
}

// qKeptSlips returns the slips for the p′ of a kept token.
func (s *sheet) qKeptSlips(r int, d cutter, rule cut) []slip {
	p4, p := Probability.show, d.P[d.Order[r]]
	slips := []slip{
		{
			mistake: Renormalize, value: p, title: "You forgot to renormalize.",
			why: fmt.Sprintf(
				"The kept p add up to %s, not to 1. Divide by that: %s / %s.", p4(d.Mass), p4(p), p4(d.Mass),
			),
		},
		{
			mistake: Largest, value: p / d.P[d.Order[0]], title: "You divided by the largest p, not by their sum.",
			why: fmt.Sprintf("%s / %s. The whole is what stays, %s.", p4(p), p4(d.P[d.Order[0]]), p4(d.Mass)),
		},
	}
	if d.Keep > 1 && r < d.Keep-1 {
		few := slip{
			mistake: OneTooFew, value: p / d.Cum[d.Keep-2], title: "You left one token out.",
			why: fmt.Sprintf("%d stay, with %s together.", d.Keep, p4(d.Mass)),
		}
		if rule.topP > 0 {
			few.mistake, few.title = Crossing, "You left out the token that crosses the border."
			few.why = fmt.Sprintf(
				"%s is short of %s; with the crossing token it is %s. Divide by that.", p4(d.Cum[d.Keep-2]),
				canonical(rule.topP, Real), p4(d.Mass),
			)
		}
		slips = append(slips, few)
	}
	if d.Keep < len(s.z) {
		slips = append(
			slips,
			slip{
				mistake: OneTooMany, value: p / d.Cum[d.Keep], title: "You kept one too many.",
				why: fmt.Sprintf(
					"%d stay, with %s together; you divided by %s.", d.Keep, p4(d.Mass), p4(d.Cum[d.Keep]),
				),
			},
		)
	}
	if rule.topP > 0 {
		slips = append(
			slips,
			slip{
				mistake: Renormalize, value: p / rule.topP, title: "You divided by the border.",
				why: fmt.Sprintf(
					"%s is only what must be reached. The kept tokens weigh %s: divide by that.",
					canonical(rule.topP, Real), p4(d.Mass),
				),
			},
		)
	}
	slips = append(slips,
		slip{
			mistake: Renormalize, value: p * d.Mass, title: "You multiplied by the kept sum.",
			why: "Divide by it: what stays must grow to fill the whole.",
		},
		slip{mistake: OneTooFew, value: 0, title: "This token stays.", why: "Only what is cut gets 0."},
		slip{
			mistake: Percent, value: 100 * d.Q(r), title: "A percentage needs its sign.",
			why: "Write " + p4(d.Q(r)) + ", or the percentage with its sign.", credit: 0.5,
		},
		slip{
			mistake: Swapped, value: d.Cum[r] / d.Mass, title: "That is a running total.",
			why: "Here is this token's own share: " + p4(p) + " / " + p4(d.Mass) + ".",
		})
	for other := range d.Keep {
		if other != r {
			slips = append(
				slips,
				slip{
					mistake: OtherRow, value: d.Q(other), title: "That belongs to another row.",
					why: "It is p′ of " + quoted(s.names[d.Order[other]]) + ".",
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

func (n *cutNumber) grade(text string) Verdict {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "cut", "-", "–", "—", "none":
		if n.cut {
			return Verdict{State: Right, Credit: 1, Understood: "cut, so 0"}
		}
		return Verdict{
			State: Wrong, Understood: "cut, so 0", Mistake: OneTooFew, Title: "This token stays.",
			Why: "Only what is cut gets 0.",
		}
	}
	return n.number.grade(text)
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
			mistake: Crossing, value: float64(d.Keep - 1), title: "The token that crosses the border stays.",
			why: fmt.Sprintf("The sum before it is %s, short of %s. With it, it is %s.", before, border, p4(d.Mass)),
		},
		{
			mistake: OneTooMany, value: float64(d.Keep + 1), title: "One too many.",
			why: fmt.Sprintf("The sum is %s already, which is at least %s.", p4(d.Mass), border),
		},
		{
			mistake: IgnoredT, value: float64(s.nucleus(1).Keep), title: "That’s how many were kept at T = 1.",
			why: "The probabilities have changed: add them up again.",
		},
	}
	return s.cell(&cell{
		Cell:   Cell{ID: "count", Label: "tokens in the nucleus", Type: Number, Unit: "tokens"},
		grader: newNumber(Count, []float64{float64(d.Keep)}, slips), answer: terms.Count(d.Keep),
		hints: [3]string{
			"Is the distribution sharper or flatter than at T = 1? Will it take more tokens or fewer?",
			"Add up p from the most probable down until the sum is at " +
				"least " + border + "; count the tokens, the last one too.",
			fmt.Sprintf("The sum after the last one is %s, the sum before it %s.", p4(d.Mass), before),
		},
		work: []Line{
			{
				"Add up until the sum is at least " + border + ".", sumOf(kept(d)) + " = " + p4(d.Mass),
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
			{Value: "falls", Text: "It falls"},
			{Value: "stays", Text: "It stays the same"},
			{Value: "rises", Text: "It rises"},
		},
		right: "falls", note: "From T = 0.5 to 1 to 2 it falls: " + run + ".",
		why: map[string]said{
			"stays": {
				IgnoredT, "It changes.",
				"Only the order of the tokens stays. Compare the three values you worked out for the top token.",
			},
			"rises": {
				TimesT, "The other way round.",
				"A higher temperature divides the gaps between logits, so the distribution is flatter and the top " +
					"token loses.",
			},
		},
	}
	return s.cell(&cell{
		Cell:   Cell{ID: "trend", Label: "the top probability as T rises", Type: ChoiceOf, Options: c.options},
		grader: c, answer: "falls", shown: "It falls",
		hints: [3]string{
			"Compare the top token's p at the three temperatures.",
			"A larger T makes the gaps between logits smaller.",
			run + ".",
		},
		work: []Line{{"Put the three side by side.", run, "It falls"}},
	})
}
