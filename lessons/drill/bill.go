package drill

import (
	"fmt"
	"math"

	"github.com/tokenbytoken/viz/infer/terms"
)

// bill is the drill about the price of an API call. Prices are in dollars per million tokens, and
// they are invented.
type bill struct {
	input, output   int // number of tokens in one call
	in, out         float64
	calls           int // calls per day, for level 2
	turns, question int // number of turns in a conversation, for level 3
}

func newBill(p *Problem) *bill {
	if p.Seed == 0 && p.Level == 1 {
		return &bill{input: 1000, output: 500, in: 3, out: 15} // from the lesson “Calling an API”
	}
	r := newRandom(p)
	for {
		b := &bill{
			input: 100 * r.between(2, 60), output: 50 * r.between(2, 30), in: pick(r, []float64{0.5, 1, 2, 2.5, 3, 5}),
		}
		b.out = b.in * pick(r, []float64{3, 4, 5})
		b.calls, b.turns, b.question = 100*r.between(2, 90), r.between(4, 9), 10*r.between(3, 12)
		a, o := b.cost()
		// The costs of input and output must not be nearly equal, and neither may be negligible.
		if share := o / (a + o); math.Abs(share-0.5) > 0.08 && share > 0.15 && share < 0.9 {
			return b
		}
	}
}

// cost returns the costs of the input and the output of a call.
func (b *bill) cost() (in, out float64) {
	return float64(b.input) * b.in / 1e6, float64(b.output) * b.out / 1e6
}

func buildBill(p *Problem) {
	b := newBill(p)
	dollars := func(x float64) string { return Money.show(x) + " for a million" }
	p.Facts = []Fact{
		{"tokens in", terms.Count(b.input)},
		{"tokens out", terms.Count(b.output)},
		{"price in", dollars(b.in)},
		{"price out", dollars(b.out)},
	}
	b.call(p)
	b.saving(p)
	if p.Level > 1 {
		b.month(p)
	}
	if p.Level > 2 {
		b.talk(p)
	}
}

// priced returns the quantity for the cost of a number of tokens.
func (b *bill) priced(id, name string, tokens int, price, other float64) quantity {
	want := float64(tokens) * price / 1e6
	return quantity{
		id: id, name: name, how: "tokens × price / 1,000,000", form: Money, unit: "dollars", want: exactly(want),
		slips: []slip{
			{
				mistake: Swapped, value: float64(tokens) * other / 1e6, title: "You took the other price.",
				why: fmt.Sprintf("These tokens cost %s for a million.", Money.show(price)),
			},
			{
				mistake: Units, value: 1000 * want, title: "The price is for a million tokens.",
				why: "You divided by a thousand.",
			},
			{
				mistake: Missing, value: float64(tokens) * price, title: "The price is for a million tokens.",
				why: "Divide by 1,000,000.",
			},
			{
				mistake: Units, value: 100 * want, title: "That is cents.",
				why: "In dollars it is a hundredth of that; or write the unit: cents.",
			},
		},
		hints: [3]string{
			"How many tokens does the price cover?", "Multiply the tokens by the price and divide by a million.",
			fmt.Sprintf("%s × %s / 1,000,000.", terms.Count(tokens), canonical(price, Real)),
		},
		work: []Line{
			{
				"Tokens times price, for a million.",
				fmt.Sprintf("%s × %s / 1,000,000", terms.Count(tokens), canonical(price, Real)), Money.show(want),
			},
		},
	}
}

func (b *bill) call(p *Problem) {
	in, out := b.cost()
	total, share := in+out, out/(in+out)
	one := float64(b.input+b.output) / 1e6
	p.list(Step{
		ID: "call", Name: "One call", Note: "in and out", Title: "What one call costs",
		Ask:    "Prices are for a million tokens. Dollars, to a hundredth of a cent.",
		Remark: "A token out costs several times a token in.",
	},
		b.priced("in", "what goes in", b.input, b.in, b.out),
		b.priced("out", "what comes out", b.output, b.out, b.in),
		quantity{
			id: "total", name: "together", how: "the sum", form: Money, unit: "dollars", want: exactly(total),
			slips: []slip{
				{
					mistake: OtherOption, value: one * b.out, title: "All tokens at the price of output.",
					why: "Input has its own price.",
				},
				{
					mistake: OtherOption, value: one * b.in, title: "All tokens at the price of input.",
					why: "Output has its own price.",
				},
				{
					mistake: Averaged, value: one * (b.in + b.out), title: "You added the prices.",
					why: "Each kind of token has its own price: two products, then the sum.",
				},
				{
					mistake: Averaged, value: one * (b.in + b.out) / 2, title: "You took the average price.",
					why: "There are more tokens of one kind than of the other.",
				},
				{
					mistake: Swapped, value: (float64(b.input)*b.out + float64(b.output)*b.in) / 1e6,
					title: "The prices are swapped.", why: "Output is the more expensive one.",
				},
				{
					mistake: Units, value: 100 * total, title: "That is cents.",
					why: "In dollars it is a hundredth of that; or write the unit: cents.",
				},
				{
					mistake: Units, value: 1000 * total, title: "The price is for a million tokens.",
					why: "You divided by a thousand.",
				},
				{mistake: LeftOut, value: in, title: "The output is missing.", why: "Add " + Money.show(out) + "."},
				{mistake: LeftOut, value: out, title: "The input is missing.", why: "Add " + Money.show(in) + "."},
			},
			hints: [3]string{
				"Which two parts does the bill have?", "Add the two amounts above.",
				Money.show(in) + " + " + Money.show(out) + ".",
			},
			work: []Line{{"Add the two.", Money.show(in) + " + " + Money.show(out), Money.show(total)}},
		},
		quantity{
			id: "share", name: "share of the output", how: "out / together", form: Probability, want: exactly(share),
			slips: []slip{
				{
					mistake: Swapped, value: 1 - share, title: "That is the share of the input.",
					why: "Divide the cost of the output by the whole.",
				},
				{
					mistake: Swapped, value: float64(b.output) / float64(b.input+b.output),
					title: "That is its share of the tokens.", why: "Take its share of the money.",
				},
				{
					mistake: Largest, value: out / in, title: "You divided by the other part.",
					why: "Divide by the whole, " + Money.show(total) + ".",
				},
				{
					mistake: Percent, value: 100 * share, title: "A percentage needs its sign.",
					why: "Write it with its sign, or as a part of 1.", credit: 0.5,
				},
			},
			hints: [3]string{
				"What is the whole?", "Divide the output's amount by the sum.",
				Money.show(out) + " / " + Money.show(total) + ".",
			},
			work: []Line{
				{"Divide by the whole.", Money.show(out) + " / " + Money.show(total), Probability.show(share)},
			},
		})
}

func (b *bill) saving(p *Problem) {
	in, out := b.cost()
	c := &choice{
		options: []Option{
			{Value: "in", Text: "A prompt of half the length"},
			{Value: "out", Text: "An answer of half the length"},
			{Value: "same", Text: "Both save the same"},
		},
		right: "out", why: map[string]said{},
		note: "It saves " + Money.show(out/2) + ", the other " + Money.show(in/2) + ".",
	}
	compare := fmt.Sprintf("Half of the input is %s, half of the output %s.", Money.show(in/2), Money.show(out/2))
	if in > out {
		c.right, c.note = "in", "It saves "+Money.show(in/2)+", the other "+Money.show(out/2)+"."
	}
	c.why["in"], c.why["out"], c.why["same"] = said{OtherOption, "The other one saves more.", compare}, said{
		OtherOption, "Here the other one saves more.", compare,
	}, said{OtherOption, "They differ.", compare}
	p.question("saving", "Which saves more here?", "what saves more", c, [3]string{
		"Which of the two amounts is larger?", "Half of the larger amount is more than half of the smaller one.",
		compare,
	}, []Line{
		{
			"Halve each amount.", Money.show(in/2) + " and " + Money.show(out/2),
			map[string]string{"in": c.options[0].Text, "out": c.options[1].Text}[c.right],
		},
	})
}

func (b *bill) month(p *Problem) {
	in, out := b.cost()
	total := (in + out) * float64(b.calls) * 30
	p.list(Step{
		ID: "month", Name: "A month", Note: terms.Count(b.calls) + " calls a day",
		Title: fmt.Sprintf("%s such calls a day, for 30 days", terms.Count(b.calls)), Needs: []string{"call"},
		Ask: "Small amounts add up.", Remark: "The bill is the price of a call times how often it is made.",
	}, quantity{
		id: "total", name: "dollars a month", how: "a call × calls × 30", form: Money, unit: "dollars",
		want: exactly(total),
		slips: []slip{
			{mistake: LeftOut, value: total / 30, title: "That is one day.", why: "Multiply by 30."},
			{
				mistake: LeftOut, value: total / float64(b.calls), title: "That is one call a day.",
				why: "There are " + terms.Count(b.calls) + ".",
			},
			{mistake: Units, value: 100 * total, title: "That is cents.", why: "Divide by 100."},
		},
		hints: [3]string{
			"How many calls does a month have?", "Multiply the price of a call by the calls of a day and by 30.",
			fmt.Sprintf("%s × %s × 30.", Money.show(in+out), terms.Count(b.calls)),
		},
		work: []Line{
			{
				"All calls of a month.", fmt.Sprintf("%s × %s × 30", Money.show(in+out), terms.Count(b.calls)),
				Money.show(total),
			},
		},
	})
}

func (b *bill) talk(p *Problem) {
	k, q, a := b.turns, b.question, b.output
	sent := k*q + (q+a)*k*(k-1)/2
	p.list(Step{
		ID: "talk", Name: "A conversation", Note: terms.Count(k) + " turns",
		Title:  fmt.Sprintf("%d turns: each question has %d tokens, each answer %s", k, q, terms.Count(a)),
		Ask:    "With every turn all that was said before goes in again.",
		Remark: "What goes in grows with the square of the turns, unless it is cached or cut.",
	},
		quantity{
			id: "sent", name: "tokens in, over all turns", how: "k·q + (q + a)·(0 + 1 + … + (k−1))", form: Count,
			unit: "tokens", want: exactly(sent),
			slips: []slip{
				wrong(
					Missing, int64(k*q), "The history is missing.",
					"Each turn sends all questions and answers before it, too.",
				),
				wrong(
					OffByOne, int64((q+a)*k*(k+1)/2), "The newest answer is not sent.", "It is what the turn asks for.",
				),
				wrong(
					Missing, int64(q*k*(k+1)/2), "The answers go in again as well.",
					"From the next turn on they are a part of the history.",
				),
				wrong(
					Missing, int64(k*(q+a)), "The history goes in again with each turn.",
					"That counts every token once.",
				),
				wrong(
					OffByOne, int64(k*q+(q+a)*k*(k+1)/2), "One turn of history too many.",
					"The first turn has none: 0 + 1 + … + (k−1).",
				),
			},
			hints: [3]string{
				"What goes in at the first turn? And at the second?",
				"At turn i: the question, and i − 1 pairs of question and answer.",
				fmt.Sprintf("%d × %d + %s × %d.", k, q, terms.Count(q+a), k*(k-1)/2),
			},
			work: []Line{
				{
					"Each question, and all pairs before it.",
					fmt.Sprintf("%d × %d + %s × %d", k, q, terms.Count(q+a), k*(k-1)/2), terms.Count(sent),
				},
			},
		},
		b.priced("cost", "what they cost", sent, b.in, b.out))
}
