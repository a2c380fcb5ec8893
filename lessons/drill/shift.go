package drill

import (
	"fmt"
	"math"
	"strings"

	"github.com/tokenbytoken/viz/infer/sampling"
)

// shifted is the drill about adding a constant to every logit, which multiplies all exps by the
// same factor and does not change the probabilities.
type shifted struct {
	p       *Problem
	names   []string
	z       []float64
	c       float64
	d       *sampling.Distribution // of z, and equally of z + c
	after   []float64              // z + c
	sum     [2]float64             // of the exps before and after
	seconds *sampling.Distribution
}

func buildShift(p *Problem) {
	s := &shifted{p: p}
	r := newRandom(p)
	for !s.draw(r) {
	}
	p.Facts = []Fact{{"tokens", quotedAll(s.names)}, {"logits", listOf(s.z)}, {"constant", canonical(s.c, Real)}}
	s.table(
		"before", "Before", "the logits as they are", "Work the softmax of these logits",
		"Raise e to each logit, add up, divide.", s.z, 0, "The distribution to compare with.",
	)
	s.table(
		"after", "After", "z + ("+canonical(s.c, Real)+")",
		"Add "+canonical(s.c, Real)+" to every logit and work it again", "The exps have changed. Have the shares?",
		s.after, 1, "Every exp was multiplied by the same number, so the shares stay.",
	)
	s.questions()
}

func listOf(z []float64) string {
	list := make([]string, len(z))
	for i, x := range z {
		list[i] = canonical(x, Real)
	}
	return strings.Join(list, ", ")
}

// draw draws numbers and reports whether they are suitable.
func (s *shifted) draw(r *random) bool {
	n, parts := 2+s.p.Level, 2
	if s.p.Level > 1 {
		parts = 10
	}
	family := append([]string(nil), pick(r, families)...)
	shuffle(r, family)
	s.names, s.z, s.after = family[:n], nil, nil
	at := r.between(parts, 3*parts)
	for range s.names {
		s.z = append(s.z, float64(at)/float64(parts))
		at -= r.between(max(1, parts/3), parts)
	}
	s.c = float64(pick(r, []int{-5, -4, -3, 1, 2, 3}))
	if s.p.Seed == 0 && s.p.Level == 1 {
		s.names, s.z, s.c = []string{"the", "a", "an"}, []float64{2, 1, 0}, -3
	}
	s.sum = [2]float64{}
	for _, z := range s.z {
		s.after = append(s.after, roundTo(z+s.c, 3))
		s.sum[0], s.sum[1] = s.sum[0]+math.Exp(z), s.sum[1]+math.Exp(z+s.c)
	}
	s.d = sampling.Decide(floats(s.z), sampling.Pure)
	s.seconds = sampling.Decide(floats(s.after), sampling.Pure)
	for r, id := range s.d.Order {
		if p := s.d.P[id]; onHalf(p) || r > 0 && s.d.P[s.d.Order[r-1]]-p < 0.02 {
			return s.p.Seed == 0 && s.p.Level == 1
		}
	}
	return true
}

func floats(z []float64) []float32 {
	list := make([]float32, len(z))
	for i, x := range z {
		list[i] = float32(x)
	}
	return list
}

// table adds the step for the softmax of z before (which = 0) or after (which = 1) the shift.
func (s *shifted) table(id, name, note, title, ask string, z []float64, which int, remark string) {
	step := &Step{ID: id, Name: name, Note: note, Title: title, Ask: ask, Remark: remark}
	step.Columns = []Column{
		{Key: "z", Head: "z", Title: "logit", State: Given},
		{Key: "exp", Head: "exp", Title: "e to the power of the logit", State: Live},
		{Key: "p", Head: "p", Title: "probability", State: Live},
	}
	if which == 1 {
		step.Columns[0] = Column{Key: "z", Head: "z + c", Title: "logit with the constant added", State: Live}
	}
	for i, name := range s.names {
		step.Rows = append(step.Rows, Row{Key: name, Name: " " + name, Token: true, Items: make([]Item, 3)})
		step.Rows[i].Items[0] = Item{Text: canonical(z[i], Real), Value: z[i]}
		if which == 1 {
			step.Rows[i].Items[0] = Item{Cell: s.zCell(id, i)}
		}
	}
	for i := range s.names {
		step.Rows[i].Items[1].Cell = s.expCell(id, i, z, which)
	}
	sum := s.sumCell(id, z, which)
	for i := range s.names {
		step.Rows[i].Items[2].Cell = s.pCell(id, i, z, which)
	}
	step.Foot = []Row{{Key: "sum", Name: "sum", Items: []Item{{}, {Cell: sum}, {Text: "must be 1"}}}}
	s.p.Steps = append(s.p.Steps, step)
}

func (s *shifted) zCell(step string, i int) *Cell {
	c := canonical(s.c, Real)
	return s.p.quantity(step, quantity{
		id: fmt.Sprintf("z.%d", i), name: "z + c for " + quoted(s.names[i]), want: []float64{s.after[i]},
		answer: canonical(s.after[i], Real),
		slips: []slip{
			{
				mistake: Multiplied, value: s.z[i] * s.c, title: "You multiplied.",
				why: "The constant is added: " + canonical(s.z[i], Real) + " + (" + c + ").",
			},
			{
				mistake: Swapped, value: s.z[i] - s.c, title: "You subtracted.",
				why: "The constant is added, with its sign: " + canonical(s.z[i], Real) + " + (" + c + ").",
			},
		},
		hints: [3]string{
			"What is added to this logit?", "Add the constant, with its sign.",
			canonical(s.z[i], Real) + " + (" + c + ").",
		},
		work: []Line{{"Add the constant.", canonical(s.z[i], Real) + " + (" + c + ")", canonical(s.after[i], Real)}},
	})
}

func (s *shifted) expCell(step string, i int, z []float64, which int) *Cell {
	x, want := canonical(z[i], Real), math.Exp(z[i])
	slips := []slip{
		{mistake: Base10, value: math.Pow(10, z[i]), title: "You raised 10, not e.", why: "The base is e = 2.71828."},
		{mistake: Base2, value: math.Pow(2, z[i]), title: "You raised 2, not e.", why: "The base is e = 2.71828."},
	}
	if z[i] != 0 {
		slips = append(slips, slip{
			mistake: TimesE, value: math.E * z[i], title: "You multiplied by e.",
			why: "Raise e to the power of " + x + ".",
		})
	}
	slips = append(slips, noPower(z[i]))
	if which == 1 {
		slips = append(slips,
			slip{
				mistake: AfterT, value: math.Exp(s.z[i]) + s.c, title: "You added the constant to the exp.",
				why: "It is added to the logit. Adding to a power multiplies: e to z + c is e to z times e to c.",
			},
			slip{
				mistake: IgnoredT, value: math.Exp(s.z[i]), title: "That is the exp before.",
				why: "The exponent is " + x + " now.",
			})
	}
	return s.p.quantity(step, quantity{
		id: fmt.Sprintf("exp.%d", i), name: "exp for " + quoted(s.names[i]), want: []float64{want}, slips: slips,
		hints: [3]string{
			"Which number is raised to which power?", "Raise e = 2.71828 to the logit.", "e to the power of " + x + ".",
		},
		work: []Line{{"Raise e to the logit.", "e^" + x, Real.show(want)}},
	})
}

func (s *shifted) sumCell(step string, z []float64, which int) *Cell {
	want := []float64{s.sum[which], 0, 0}
	terms := make([]string, len(z))
	var plain float64
	for i, x := range z {
		e := math.Exp(x)
		want[1], want[2], plain = want[1]+roundTo(e, 4), want[2]+roundTo(e, smallPlaces(e)), plain+x
		terms[i] = Real.show(e)
	}
	slips := []slip{{mistake: NoExp, value: plain, title: "You added up the logits.", why: "Add the column exp."}}
	for i, x := range z {
		slips = append(
			slips,
			slip{
				mistake: LeftOut, value: want[0] - math.Exp(x), title: "One is missing from the sum.",
				why: "That is the sum without " + quoted(s.names[i]) + ".",
			},
		)
	}
	return s.p.quantity(step, quantity{
		id: "sum", name: "sum of exps", want: want, slips: slips,
		hints: [3]string{"What is the whole?", "Add up the column exp.", strings.Join(terms, " + ") + "."},
		work:  []Line{{"Add up the column exp.", strings.Join(terms, " + "), Real.show(want[0])}},
	})
}

func (s *shifted) pCell(step string, i int, z []float64, which int) *Cell {
	d := s.d
	if which == 1 {
		d = s.seconds
	}
	e, largest := math.Exp(z[i]), math.Exp(z[d.Order[0]])
	slips := []slip{
		{
			mistake: Largest, value: e / largest, title: "You divided by the largest exp, not by their sum.",
			why: "The whole is all of them together, " + Real.show(s.sum[which]) + ".",
		},
		{
			mistake: Swapped, value: e, title: "That is the exp.",
			why: "Divide it by the sum, " + Real.show(s.sum[which]) + ".",
		},
		{
			mistake: Percent, value: 100 * d.P[i], title: "A percentage needs its sign.",
			why: "Write " + Probability.show(d.P[i]) + ".", credit: 0.5,
		},
	}
	if which == 1 {
		slips = append(slips,
			slip{
				mistake: AfterT, value: s.d.P[i] + s.c, title: "You added the constant to the probability.",
				why: "It is added to the logit, before the softmax.",
			},
			slip{
				mistake: IgnoredT, value: e / s.sum[0], title: "You divided by the old sum.",
				why: "The exps have changed, and so has their sum: " + Real.show(s.sum[1]) + ".",
			})
	}
	for j, name := range s.names {
		if j != i {
			slips = append(
				slips,
				slip{
					mistake: OtherRow, value: d.P[j], title: "That belongs to another row.",
					why: "It is p of " + quoted(name) + ".",
				},
			)
		}
	}
	return s.p.quantity(step, quantity{
		id: fmt.Sprintf("p.%d", i), name: "p for " + quoted(s.names[i]), form: Probability,
		want: []float64{d.P[i], roundTo(e, 4) / roundTo(s.sum[which], 4)}, slips: slips,
		hints: [3]string{
			"What is the whole that this token has a part of?", "Divide its exp by the sum of all exps.",
			Real.show(e) + " / " + Real.show(s.sum[which]) + ".",
		},
		work: []Line{
			{"Divide its exp by the sum.", Real.show(e) + " / " + Real.show(s.sum[which]), Probability.show(d.P[i])},
		},
	})
}

func (s *shifted) questions() {
	factor := Real.show(math.Exp(s.c))
	s.p.question("what", "What does adding the same number to every logit do to the probabilities?",
		"what becomes of the probabilities", &choice{
			options: []Option{
				{Value: "same", Text: "Nothing at all"},
				{Value: "scaled", Text: "All are multiplied by the same number"},
				{Value: "sharper", Text: "The top token gains"},
			},
			right: "same", note: "Every exp was multiplied by " + factor + ", and so was the sum: it cancels out.",
			why: map[string]said{
				"scaled": {
					Renormalize, "The exps are, not the probabilities.",
					"Each exp and the sum are multiplied by " + factor +
						". Divide one by the other, and it cancels out.",
				},
				"sharper": {
					OtherOption, "That would be dividing by a small T.",
					"Adding leaves the gaps between logits as they are, and only they count.",
				},
			},
		}, [3]string{
			"Put the two columns p side by side.", "e to z + c is e to z, times e to c. Where does that factor go?",
			"The factor " + factor + " is in every exp and in the sum.",
		},
		[]Line{{
			"Factor e^c out of every exp and of the sum.", "e^(z+c) / Σ e^(z+c) = e^z / Σ e^z", "Nothing at all",
		}})
	s.p.question("sign", "A logit is below 0. What does that by itself say about its token?",
		"what a negative logit says", &choice{
			options: []Option{
				{Value: "nothing", Text: "Nothing: only differences count"},
				{Value: "unlikely", Text: "It is unlikely"},
				{Value: "impossible", Text: "It cannot be drawn"},
			},
			right: "nothing", note: "Add a large enough constant, and the same logit is above 0 with " +
				"the same probability.",
			why: map[string]said{
				"unlikely": {
					OtherOption, "Not by itself.",
					"If all others are lower still, it is the likely one. Only the differences count.",
				},
				"impossible": {
					OtherOption, "It can.", "e to a negative number is small and above 0. Softmax never gives 0.",
				},
			},
		}, [3]string{
			"Could you move this logit above 0 without changing any probability?",
			"Only differences between logits matter.",
			"Add the same constant to all: every sign can change, no probability does.",
		},
		[]Line{
			{
				"Add a constant to all: the sign changes, the probability does not.", "",
				"Nothing: only differences count",
			},
		})
}
