package drill

import (
	"fmt"
	"math"
	"slices"

	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/terms"
)

// guesses is the drill about how many tokens one verification yields.
type guesses struct {
	alpha  float64
	gamma  int
	c, v   float64 // costs of a draft step and of a verification, in decode steps
	powers []float64
}

func newGuesses(p *Problem) *guesses {
	g := &guesses{alpha: 0.8, gamma: 4, c: 0.1, v: 1}
	if p.Seed != 0 || p.Level != 1 {
		r := newRandom(p)
		for first := true; first || p.Level > 2 && !g.clear(); first = false {
			g.draw(r, p.Level)
		}
	}
	for k := range g.gamma + 1 {
		g.powers = append(g.powers, math.Pow(g.alpha, float64(k)))
	}
	return g
}

func (g *guesses) draw(r *random, level int) {
	g.alpha, g.gamma = float64(pick(r, []int{50, 60, 65, 70, 75, 80, 85, 90}))/100, r.between(2, 6)
	g.c, g.v = float64(r.between(1, 5))/20, 1
	if level > 2 {
		g.v = 1 + float64(r.between(1, 6))/20
	}
}

// lengths holds the draft lengths to choose from at the hardest level.
var lengths = []int{1, 2, 4, 8, 16}

// clear reports whether the fastest draft length is more than 2% faster than all others.
func (g *guesses) clear() bool {
	ups := make([]float64, len(lengths))
	for i, n := range lengths {
		ups[i] = cost.SpeedUp(g.alpha, n, g.c, g.v)
	}
	slices.Sort(ups)
	return ups[len(ups)-1] > 1.02*ups[len(ups)-2]
}

func buildSpeculation(p *Problem) {
	g := newGuesses(p)
	p.Facts = []Fact{{"α, acceptance", canonical(g.alpha, Real)}, {"γ, drafted tokens", terms.Count(g.gamma)}}
	g.table(p)
	g.expected(p)
	if p.Level > 1 {
		p.Facts = append(
			p.Facts, Fact{"c, cost of a draft step", canonical(g.c, Real)},
			Fact{"v, cost of a verification", canonical(g.v, Real)},
		)
		g.speed(p)
	}
	if p.Level > 2 {
		g.best(p)
	}
}

func (g *guesses) table(p *Problem) {
	a := canonical(g.alpha, Real)
	var list []quantity
	for k := 1; k <= g.gamma; k++ {
		want := g.powers[k]
		slips := []slip{
			{mistake: OffByOne, value: g.powers[k-1], title: "One power too few.", why: allFirst(k)},
			{
				mistake: OffByOne, value: want * g.alpha, title: "One power too many.",
				why: fmt.Sprintf("The first %d only.", k),
			},
			{
				mistake: Multiplied, value: g.alpha * float64(k), title: "You multiplied by their number.",
				why: "Each must be accepted: probabilities of things that must all happen are multiplied.",
			},
			{
				mistake: Swapped, value: 1 - want, title: "That is the opposite.",
				why: "It is how likely at least one of them is refused.",
			},
			{
				mistake: Averaged, value: g.alpha / float64(k), title: "You divided by their number.",
				why: "Multiply α by itself, once for each token.",
			},
		}
		list = append(list, quantity{
			id: fmt.Sprintf("all.%d", k), name: fmt.Sprintf("the first %d accepted", k), how: power("α", k),
			form: Probability, want: exactly(want), slips: slips,
			hints: [3]string{
				"How many tokens must be accepted for that?",
				"Each is accepted with probability α, independently: multiply.", power(a, k) + ".",
			},
			work: []Line{{"Each must be accepted.", power(a, k), Probability.show(want)}},
		})
		if k == 1 {
			list[0].name = "the first accepted"
		}
	}
	p.list(Step{
		ID: "powers", Name: "How far they get", Note: "α to the k",
		Title: "How likely the first k drafted tokens are all accepted",
		Ask: "The large model accepts each drafted token with probability α. At the first refusal the rest is thrown " +
			"away.",
		Remark: "The further ahead, the less likely.",
	}, list...)
}

func power(base string, k int) string {
	if k == 1 {
		return base
	}
	return base + "^" + terms.Count(k)
}

func (g *guesses) expected(p *Problem) {
	want, n := cost.ExpectedTokens(g.alpha, g.gamma), g.gamma
	a := canonical(g.alpha, Real)
	terms := "1"
	for k := 1; k <= n; k++ {
		terms += " + " + Probability.show(g.powers[k])
	}
	closed := fmt.Sprintf("(1 − %s) / (1 − %s)", power(a, n+1), a)
	rounded := 1.0
	for k := 1; k <= n; k++ {
		rounded += roundTo(g.powers[k], 3)
	}
	p.list(Step{
		ID: "expected", Name: "Expected tokens", Note: "E", Title: "How many tokens one pass of the large model yields",
		Needs: []string{"powers"},
		Ask: "The accepted ones, and always one more: the correction at a refusal, or a bonus after the last. On " +
			"average, if acceptances are independent.",
		Remark: "Real acceptances hang together, so E is a guide.",
	}, quantity{
		id: "e", name: "E", how: "(1 − α^(γ+1)) / (1 − α)", form: Ratio, unit: "tokens", want: []float64{want, rounded},
		slips: []slip{
			{
				mistake: Missing, value: want - 1, title: "The one more is missing.",
				why: fmt.Sprintf(
					"Every pass yields a correction or a bonus on top of what was accepted: %s + 1.",
					Ratio.show(want-1),
				),
			},
			{
				mistake: OffByOne, value: (1 - math.Pow(g.alpha, float64(n))) / (1 - g.alpha),
				title: "The exponent is γ + 1.",
				why:   fmt.Sprintf("The sum runs from α^0 to α^%d: that is %d terms.", n, n+1),
			},
			{
				mistake: Multiplied, value: g.alpha * float64(n), title: "That is α times γ.",
				why: "At the first refusal the rest is thrown away, and one token is always added.",
			},
			{
				mistake: Multiplied, value: g.alpha*float64(n) + 1,
				title: "That would be if each token counted by itself.",
				why:   "At the first refusal the rest is thrown away.",
			},
			{
				mistake: Multiplied, value: g.alpha * float64(n+1), title: "That is α times γ + 1.",
				why: "At the first refusal the rest is thrown away.",
			},
			{
				mistake: OtherOption, value: float64(n + 1), title: "That is if all are accepted.",
				why: "On average some are refused.",
			},
			{
				mistake: LeftOut, value: 1 - math.Pow(g.alpha, float64(n+1)), title: "Not divided yet.",
				why: "Divide by 1 − α = " + canonical(1-g.alpha, Real) + ".",
			},
			{
				mistake: OtherOption, value: 1 / (1 - g.alpha), title: "That is for a draft without end.",
				why: fmt.Sprintf("With γ = %d the sum stops at α^%d.", n, n),
			},
		},
		hints: [3]string{
			"How many tokens does a pass yield if the very first one is refused?",
			"One. Add to it how likely the first is accepted, the first two, and so on.",
			terms + ", or " + closed + ".",
		},
		work: []Line{
			{"One always, and each drafted token as likely as it is reached.", terms, Ratio.show(want)},
			{"The same in closed form.", closed, Ratio.show(want)},
		},
	})
}

func (g *guesses) speed(p *Problem) {
	want, e := cost.SpeedUp(g.alpha, g.gamma, g.c, g.v), cost.ExpectedTokens(g.alpha, g.gamma)
	c, v := canonical(g.c, Real), canonical(g.v, Real)
	bottom := float64(g.gamma)*g.c + g.v
	p.list(Step{
		ID: "speed", Name: "How much faster", Note: "E / (γ·c + v)", Title: "How many times faster than plain decoding",
		Needs:  []string{"expected"},
		Ask:    "Costs are in units of one plain decode step of the large model.",
		Remark: "Drafts cost time as well, and verifying several positions may cost more than one step.",
	},
		quantity{
			id: "cost", name: "cost of one round", how: "γ·c + v", form: Ratio, unit: "steps", want: exactly(bottom),
			slips: []slip{
				{
					mistake: LeftOut, value: float64(g.gamma) * g.c, title: "The verification is missing.",
					why: "Add v = " + v + ".",
				},
				{
					mistake: LeftOut, value: g.c + g.v, title: "That is one drafted token.",
					why: "The draft runs γ = " + terms.Count(g.gamma) + " times.",
				},
				{
					mistake: OffByOne, value: float64(g.gamma+1)*g.c + g.v, title: "The draft runs γ times.",
					why: "The last token comes from the large model itself.",
				},
			},
			hints: [3]string{
				"What runs in a round, and how often?", "The draft γ times, the large model once.",
				fmt.Sprintf("%d × %s + %s.", g.gamma, c, v),
			},
			work: []Line{
				{
					"The draft γ times, one verification.", fmt.Sprintf("%d × %s + %s", g.gamma, c, v),
					Ratio.show(bottom),
				},
			},
		},
		quantity{
			id: "up", name: "speed-up", how: "E / (γ·c + v)", form: Ratio, unit: "times",
			want: []float64{want, roundTo(e, 2) / bottom},
			slips: []slip{
				{
					mistake: Swapped, value: 1 / want, title: "Upside down.",
					why: "Tokens for each unit of cost: E goes on top.",
				},
				{
					mistake: LeftOut, value: e / g.v, title: "The draft is not free.",
					why: "Add γ·c to what a round costs.",
				},
				{mistake: OtherOption, value: e, title: "That is E.", why: "Divide it by what a round costs."},
				{
					mistake: Missing, value: (e - 1) / bottom, title: "The one more is missing from E.",
					why: "E is " + Ratio.show(e) + ".",
				},
			},
			hints: [3]string{
				"What do you get for what you pay?", "Divide E by the cost of a round.",
				Ratio.show(e) + " / " + Ratio.show(bottom) + ".",
			},
			work: []Line{
				{
					"Divide what a round yields by what it costs.", Ratio.show(e) + " / " + Ratio.show(bottom),
					Ratio.show(want),
				},
			},
		})
}

// best asks which of several draft lengths is the fastest.
func (g *guesses) best(p *Problem) {
	right := lengths[0]
	up := func(n int) float64 { return cost.SpeedUp(g.alpha, n, g.c, g.v) }
	line := ""
	for i, n := range lengths {
		if up(n) > up(right) {
			right = n
		}
		if i > 0 {
			line += ", "
		}
		line += fmt.Sprintf("γ = %d: %s", n, Ratio.show(up(n)))
	}
	c := &choice{right: terms.Count(right), why: map[string]said{}, note: line + "."}
	for _, n := range lengths {
		c.options = append(c.options, Option{Value: terms.Count(n), Text: "γ = " + terms.Count(n)})
		if n != right {
			w := said{
				OneTooFew, "A longer draft is faster here.",
				fmt.Sprintf("γ = %d gives %s, γ = %d gives %s.", n, Ratio.show(up(n)), right, Ratio.show(up(right))),
			}
			if n > right {
				w.mistake, w.title = OneTooMany, "A shorter draft is faster here."
			}
			c.why[terms.Count(n)] = w
		}
	}
	p.question("best", "Which draft length is the fastest of these?", "the best draft length", c, [3]string{
		"What grows with γ: what a round yields, what it costs, or both?",
		"Work out E / (γ·c + v) for each. E levels off at 1 / (1 − α), the cost does not.",
		line + ".",
	}, []Line{{"Work it out for each.", line, "γ = " + terms.Count(right)}})
}

// allFirst describes what must happen for the first k drafted tokens to be
// accepted.
func allFirst(k int) string {
	if k == 1 {
		return "The first one must be accepted."
	}
	return fmt.Sprintf("All of the first %d must be accepted.", k)
}
