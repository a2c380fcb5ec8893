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
	p.Facts = []Fact{
		{p.lang.T("drill.speculation.fact.acceptance"), canonical(g.alpha, Real)},
		{p.lang.T("drill.speculation.fact.drafted_tokens"), terms.Count(g.gamma)},
	}
	g.table(p)
	g.expected(p)
	if p.Level > 1 {
		p.Facts = append(
			p.Facts, Fact{p.lang.T("drill.speculation.fact.c_cost_draft_step"), canonical(g.c, Real)},
			Fact{p.lang.T("drill.speculation.fact.v_cost_verification"), canonical(g.v, Real)},
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
			{
				mistake: OffByOne, value: g.powers[k-1],
				title: p.lang.T("drill.speculation.table.slip.one_power_too_few"), why: allFirst(p.lang, k),
			},
			{
				mistake: OffByOne, value: want * g.alpha,
				title: p.lang.T("drill.speculation.table.slip.one_power_too_many"),
				why:   p.lang.T("drill.speculation.table.slip.one_power_too_many.why", "k", k),
			},
			{
				mistake: Multiplied, value: g.alpha * float64(k),
				title: p.lang.T("drill.speculation.table.slip.multiplied_by_their_number"),
				why:   p.lang.T("drill.speculation.table.slip.multiplied_by_their_number.why"),
			},
			{
				mistake: Swapped, value: 1 - want, title: p.lang.T("drill.speculation.table.slip.opposite"),
				why: p.lang.T("drill.speculation.table.slip.opposite.why"),
			},
			{
				mistake: Averaged, value: g.alpha / float64(k),
				title: p.lang.T("drill.speculation.table.slip.divided_by_their_number"),
				why:   p.lang.T("drill.speculation.table.slip.divided_by_their_number.why"),
			},
		}
		list = append(list, quantity{
			id: fmt.Sprintf("all.%d", k), name: p.lang.T("drill.speculation.all.name", "k", k), how: power("α", k),
			form: Probability, want: exactly(want), slips: slips,
			question: p.lang.T("drill.speculation.all.hint.question"),
			rule:     p.lang.T("drill.speculation.all.hint.rule"),
			work: []Line{{
				Say: p.lang.T("drill.speculation.all.work.each_must_be_accepted"),
				Eq:  power(a, k),
			}},
		})
		if k == 1 {
			list[0].name = p.lang.T("drill.speculation.table.name")
		}
	}
	p.list(Step{
		ID: "powers", Name: p.lang.T("drill.speculation.powers.name"),
		Note:   p.lang.T("drill.speculation.powers.note"),
		Title:  p.lang.T("drill.speculation.powers.title"),
		Ask:    p.lang.T("drill.speculation.powers.ask"),
		Remark: p.lang.T("drill.speculation.powers.remark"),
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
	sum := "1"
	for k := 1; k <= n; k++ {
		sum += " + " + Probability.show(g.powers[k])
	}
	closed := fmt.Sprintf("(1 − %s) / (1 − %s)", power(a, n+1), a)
	rounded := 1.0
	for k := 1; k <= n; k++ {
		rounded += roundTo(g.powers[k], 3)
	}
	p.list(Step{
		ID: "expected", Name: p.lang.T("drill.speculation.expected.name"), Note: "E",
		Title:  p.lang.T("drill.speculation.expected.title"),
		Needs:  []string{"powers"},
		Ask:    p.lang.T("drill.speculation.expected.ask"),
		Remark: p.lang.T("drill.speculation.expected.remark"),
	}, quantity{
		id: "e", name: "E", how: "(1 − α^(γ+1)) / (1 − α)", form: Ratio, unit: p.lang.T("drill.unit.tokens"),
		want: []float64{want, rounded},
		slips: []slip{
			{
				mistake: Missing, value: want - 1,
				title: p.lang.T("drill.speculation.expected.e.slip.one_more_missing"),
				why:   p.lang.T("drill.speculation.expected.e.slip.one_more_missing.why", "want", Ratio.show(want-1)),
			},
			{
				mistake: OffByOne, value: (1 - math.Pow(g.alpha, float64(n))) / (1 - g.alpha),
				title: p.lang.T("drill.speculation.expected.e.slip.exponent_1"),
				why:   p.lang.T("drill.speculation.expected.e.slip.exponent_1.why", "n", n, "n2", n+1),
			},
			{
				mistake: Multiplied, value: g.alpha * float64(n),
				title: p.lang.T("drill.speculation.expected.e.slip.times"),
				why:   p.lang.T("drill.speculation.expected.e.slip.times.why"),
			},
			{
				mistake: Multiplied, value: g.alpha*float64(n) + 1,
				title: p.lang.T("drill.speculation.expected.e.slip.would_be_if_each"),
				why:   p.lang.T("drill.speculation.expected.e.slip.would_be_if_each.why"),
			},
			{
				mistake: Multiplied, value: g.alpha * float64(n+1),
				title: p.lang.T("drill.speculation.expected.e.slip.times_1"),
				why:   p.lang.T("drill.speculation.expected.e.slip.would_be_if_each.why"),
			},
			{
				mistake: OtherOption, value: float64(n + 1),
				title: p.lang.T("drill.speculation.expected.e.slip.if_all_accepted"),
				why:   p.lang.T("drill.speculation.expected.e.slip.if_all_accepted.why"),
			},
			{
				mistake: LeftOut, value: 1 - math.Pow(g.alpha, float64(n+1)),
				title: p.lang.T("drill.speculation.expected.e.slip.not_divided_yet"),
				why: p.lang.T("drill.speculation.expected.e.slip.not_divided_yet.why", "alpha",
					canonical(1-g.alpha, Real)),
			},
			{
				mistake: OtherOption, value: 1 / (1 - g.alpha),
				title: p.lang.T("drill.speculation.expected.e.slip.for_draft_without_end"),
				why:   p.lang.T("drill.speculation.expected.e.slip.for_draft_without_end.why", "n", n),
			},
		},
		question: p.lang.T("drill.speculation.expected.e.hint.question"),
		rule:     p.lang.T("drill.speculation.expected.e.hint.rule"),
		numbers:  p.lang.T("drill.speculation.expected.e.hint.numbers", "sum", sum, "closed", closed),
		work: []Line{{
			Say:    p.lang.T("drill.speculation.expected.e.work.one_always_and_each"),
			Eq:     sum,
			Result: Ratio.show(want),
		}, {
			Say: p.lang.T("drill.speculation.expected.e.work.same_in_closed_form"),
			Eq:  closed,
		}},
	})
}

func (g *guesses) speed(p *Problem) {
	want, e := cost.SpeedUp(g.alpha, g.gamma, g.c, g.v), cost.ExpectedTokens(g.alpha, g.gamma)
	c, v := canonical(g.c, Real), canonical(g.v, Real)
	bottom := float64(g.gamma)*g.c + g.v
	p.list(Step{
		ID: "speed", Name: p.lang.T("drill.speculation.speed.name"), Note: "E / (γ·c + v)",
		Title:  p.lang.T("drill.speculation.speed.title"),
		Needs:  []string{"expected"},
		Ask:    p.lang.T("drill.speculation.speed.ask"),
		Remark: p.lang.T("drill.speculation.speed.remark"),
	},
		quantity{
			id: "cost", name: p.lang.T("drill.speculation.speed.cost.name"), how: "γ·c + v", form: Ratio,
			unit: p.lang.T("drill.unit.steps"), want: exactly(bottom),
			slips: []slip{
				{
					mistake: LeftOut, value: float64(g.gamma) * g.c,
					title: p.lang.T("drill.speculation.speed.cost.slip.verification_missing"),
					why:   p.lang.T("drill.speculation.speed.cost.slip.verification_missing.why", "v", v),
				},
				{
					mistake: LeftOut, value: g.c + g.v,
					title: p.lang.T("drill.speculation.speed.cost.slip.one_drafted_token"),
					why:   p.lang.T("drill.speculation.speed.cost.slip.one_drafted_token.why", "gamma", g.gamma),
				},
				{
					mistake: OffByOne, value: float64(g.gamma+1)*g.c + g.v,
					title: p.lang.T("drill.speculation.speed.cost.slip.draft_runs_times"),
					why:   p.lang.T("drill.speculation.speed.cost.slip.draft_runs_times.why"),
				},
			},
			question: p.lang.T("drill.speculation.speed.cost.hint.question"),
			rule:     p.lang.T("drill.speculation.speed.cost.hint.rule"),
			work: []Line{{
				Say: p.lang.T("drill.speculation.speed.cost.work.draft_times_one_verification"),
				Eq:  fmt.Sprintf("%d × %s + %s", g.gamma, c, v),
			}},
		},
		quantity{
			id: "up", name: p.lang.T("drill.speculation.speed.up.name"), how: "E / (γ·c + v)", form: Ratio,
			unit: p.lang.T("drill.unit.times"),
			want: []float64{want, roundTo(e, 2) / bottom},
			slips: []slip{
				{
					mistake: Swapped, value: 1 / want, title: p.lang.T("drill.slip.upside_down"),
					why: p.lang.T("drill.speculation.speed.up.slip.upside_down.why"),
				},
				{
					mistake: LeftOut, value: e / g.v,
					title: p.lang.T("drill.speculation.speed.up.slip.draft_not_free"),
					why:   p.lang.T("drill.speculation.speed.up.slip.draft_not_free.why"),
				},
				{
					mistake: OtherOption, value: e, title: p.lang.T("drill.speculation.speed.up.slip.e"),
					why: p.lang.T("drill.speculation.speed.up.slip.e.why"),
				},
				{
					mistake: Missing, value: (e - 1) / bottom,
					title: p.lang.T("drill.speculation.speed.up.slip.one_more_missing_from"),
					why:   p.lang.T("drill.speculation.speed.up.slip.one_more_missing_from.why", "e", Ratio.show(e)),
				},
			},
			question: p.lang.T("drill.speculation.speed.up.hint.question"),
			rule:     p.lang.T("drill.speculation.speed.up.hint.rule"),
			work: []Line{{
				Say: p.lang.T("drill.speculation.speed.up.work.divide_what_round_yields"),
				Eq:  Ratio.show(e) + " / " + Ratio.show(bottom),
			}},
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
				OneTooFew, p.lang.T("drill.speculation.best.slip.longer_draft_faster"),
				p.lang.T("drill.speculation.best.slip.longer_draft_faster.why", "n", n, "up", Ratio.show(up(n)),
					"right", right, "up2", Ratio.show(up(right))),
			}
			if n > right {
				w.mistake, w.title = OneTooMany, p.lang.T("drill.speculation.best.mistake.shorter_draft_faster")
			}
			c.why[terms.Count(n)] = w
		}
	}
	p.choose("best", p.lang.T("drill.speculation.best.prompt"), p.lang.T("drill.speculation.best.label"), c,
		[3]string{p.lang.T("drill.speculation.best.hint.question"), p.lang.T("drill.speculation.best.hint.rule")},
		Line{Say: p.lang.T("drill.speculation.best.work.work_out_for_each"), Eq: line})
}

// allFirst describes what must happen for the first k drafted tokens to be
// accepted.
func allFirst(l *terms.Language, k int) string {
	if k == 1 {
		return l.T("drill.speculation.all_first.first_one_must_be")
	}
	return l.T("drill.speculation.all_first.all_first_must_be", "k", k)
}
