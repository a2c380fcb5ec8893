package drill

import (
	"fmt"
	"math"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// products returns the products of two lists, formatted as a sum.
func products(q, k []int) string {
	parts := make([]string, len(q))
	for i := range q {
		parts[i] = fmt.Sprintf("%d × %d", q[i], k[i])
	}
	return strings.Join(parts, " + ")
}

func (a *attention) scoreCell() *Cell {
	l, score := a.p.lang, a.score(a.best)
	var slips []slip
	for i := range a.q {
		slips = append(slips, slip{
			mistake: LeftOut, value: float64(a.q[i] * a.k[a.best][i]),
			title: l.T("drill.attention.score.slip.one_product"),
			why:   l.T("drill.attention.score.slip.one_product.why", "n", len(a.q)),
		})
	}
	slips = append(slips, slip{
		mistake: Swapped, value: a.scaled(a.best), title: l.T("drill.attention.score.slip.scaled"),
		why: l.T("drill.attention.score.slip.scaled.why"),
	})
	slips = append(slips, otherRows(
		l, a.tokens, a.best, "q · k", func(j int) float64 { return float64(a.score(j)) },
	)...)
	return a.p.number(quantity{
		id: "score", name: l.T("drill.attention.score.name", "token", a.tokens[a.best]), form: Count,
		want: exactly(score), slips: slips,
		question: l.T("drill.attention.score.hint.question"),
		rule:     l.T("drill.attention.score.hint.rule"),
		work:     []Line{{Say: l.T("drill.attention.score.work"), Eq: products(a.q, a.k[a.best])}},
	})
}

func (a *attention) scaledCell() *Cell {
	l, score := a.p.lang, float64(a.score(a.best))
	root, size := a.rootText(), len(a.q)
	return a.p.number(quantity{
		id: "scaled", name: l.T("drill.attention.scaled.name", "token", a.tokens[a.best]), form: Ratio,
		want: exactly(a.scaled(a.best)),
		slips: append([]slip{
			{
				mistake: NoRoot, value: score, title: l.T("drill.attention.slip.no_root", "root", root),
				why: l.T("drill.attention.scaled.slip.no_root.why"),
			},
			{
				mistake: NoRoot, value: score / float64(size),
				title: l.T("drill.attention.scaled.slip.size", "size", size),
				why:   l.T("drill.attention.scaled.slip.size.why", "root", root),
			},
			{
				mistake: NoRoot, value: score * a.root(), title: l.T("drill.attention.scaled.slip.times", "root", root),
				why: l.T("drill.attention.scaled.slip.times.why"),
			},
		}, otherRows(l, a.tokens, a.best, "q · k / "+root, a.scaled)...),
		question: l.T("drill.attention.scaled.hint.question"),
		rule:     l.T("drill.attention.scaled.hint.rule"),
		work: []Line{{
			Say: l.T("drill.attention.scaled.work", "root", root), Eq: fmt.Sprintf("%d / %s", a.score(a.best), root),
		}},
	})
}

// weightSlips returns the slips for the weight of the best key.
func (a *attention) weightSlips() []slip {
	l, e := a.p.lang, math.Exp(a.scaled(a.best))
	keys := func(j int) float64 {
		sum := 0
		for _, x := range a.k[j] {
			sum += x
		}
		return float64(sum)
	}
	var scores, sums float64
	for j := range a.now() + 1 {
		scores, sums = scores+float64(a.score(j)), sums+keys(j)
	}
	noQuery := func(v float64) slip {
		return slip{
			mistake: NoQuery, value: v, title: l.T("drill.attention.weight.slip.no_query"),
			why: l.T("drill.attention.weight.slip.no_query.why"),
		}
	}
	slips := []slip{
		{
			mistake: NoRoot, value: a.softmax(a.best, func(j int) float64 { return float64(a.score(j)) }),
			title: l.T("drill.attention.slip.no_root", "root", a.rootText()),
			why:   l.T("drill.attention.weight.slip.no_root.why"),
		},
		{
			mistake: NoExp, value: float64(a.score(a.best)) / scores, title: l.T("drill.attention.weight.slip.no_exp"),
			why: l.T("drill.five.p.slip.shared_out_logits_themselves.why"),
		},
		{
			mistake: LookedAhead, value: a.all.d.P[a.best], title: l.T("drill.attention.slip.looked_ahead"),
			why: l.T("drill.attention.weight.slip.looked_ahead.why", "token", a.tokens[a.now()+1]),
		},
		noQuery(a.softmax(a.best, keys)), noQuery(keys(a.best) / sums),
		{
			mistake: Swapped, value: e, title: l.T("drill.slip.exp", "x", Ratio.show(a.scaled(a.best))),
			why: l.T("drill.slip.exp.why", "sum", Real.show(a.seen.sum)),
		},
		{
			mistake: Largest, value: 1, title: l.T("drill.slip.divided_by_largest_exp"),
			why: l.T("drill.shift.p.slip.divided_by_largest_exp.why", "sum", Real.show(a.seen.sum)),
		},
	}
	for _, j := range a.others() {
		slips = append(slips, slip{
			mistake: OtherRow, value: a.weight(j), title: l.T("drill.slip.belongs_another_row"),
			why: l.T("drill.slip.belongs_another_row.why", "what", "w", "token", a.tokens[j], "token2",
				a.tokens[a.best]),
		})
	}
	return slips
}

// bestWeights returns the right values for the weight of the best key.
func (a *attention) bestWeights() []float64 {
	want := exactly(a.weight(a.best))
	for places := 2; places <= 4; places++ {
		want = append(want, a.softmax(a.best, func(j int) float64 { return roundTo(a.scaled(j), places) }))
	}
	return want
}

func (a *attention) weightCell() *Cell {
	l := a.p.lang
	var powers, results []string
	for j := range a.now() + 1 {
		powers = append(powers, "e^"+Ratio.show(a.scaled(j)))
		results = append(results, Real.show(math.Exp(a.scaled(j))))
	}
	return a.p.number(quantity{
		id: "w", name: l.T("drill.attention.weight.name", "token", a.tokens[a.best]), form: Probability,
		want: a.bestWeights(), slips: a.weightSlips(),
		question: l.T("drill.attention.weight.hint.question"),
		rule:     l.T("drill.attention.weight.hint.rule"),
		work: []Line{
			{
				Say: l.T("drill.attention.weight.work.powers"), Eq: strings.Join(powers, ", "),
				Result: strings.Join(results, ", "),
			},
			{Say: l.T("drill.five.work.add_them_all_whole"), Result: Real.show(a.seen.sum)},
			{
				Say: l.T("drill.shift.p.work.divide_exp_by_sum"),
				Eq:  Real.show(math.Exp(a.scaled(a.best))) + " / " + Real.show(a.seen.sum),
			},
		},
	})
}

// laterCell asks for the weight of the token that stands later, which the mask hides.
func (a *attention) laterCell(look, later string) *Cell {
	l, why := a.p.lang, a.p.lang.T("drill.attention.later.slip.looked_ahead.why", "token", look, "later", later)
	ahead := func(v float64) slip {
		return slip{mistake: LookedAhead, value: v, title: l.T("drill.attention.slip.looked_ahead"), why: why}
	}
	e := math.Exp(a.scaled(a.now() + 1))
	return a.p.number(quantity{
		id: "later", name: l.T("drill.attention.weight.name", "token", later), form: Probability,
		want: exactly(0), answer: "0", slips: []slip{ahead(a.all.d.P[a.now()+1]), ahead(e / a.seen.sum)},
		question: l.T("drill.attention.later.hint.question", "token", look),
		rule:     l.T("drill.attention.later.hint.rule"),
		numbers:  why,
		work:     []Line{{Say: l.T("drill.attention.later.work"), Eq: "w = 0"}},
	})
}

// weighted formats the sum of the weighted values at index c.
func (a *attention) weighted(c int) string {
	var parts []string
	for j := range a.now() + 1 {
		parts = append(parts, Probability.show(a.weight(j))+" × "+terms.Count(a.v[j][c]))
	}
	return strings.Join(parts, " + ")
}

// messageSlips returns the slips for the first number of the message.
func (a *attention) messageSlips(message float64) []slip {
	l, best := a.p.lang, float64(a.v[a.best][0])
	raw := func(j int) float64 {
		return a.softmax(j, func(j int) float64 { return float64(a.score(j)) })
	}
	one := func(int) float64 { return 1 }
	return []slip{
		{
			mistake: LookedAhead, value: a.ahead(), title: l.T("drill.attention.slip.looked_ahead"),
			why: l.T("drill.attention.weight.slip.looked_ahead.why", "token", a.tokens[a.now()+1]),
		},
		{
			mistake: Missing, value: a.sum(one, a.v, 0), title: l.T("drill.attention.message.slip.no_weights"),
			why: l.T("drill.attention.message.slip.no_weights.why"),
		},
		{
			mistake: LeftOut, value: a.weight(a.best) * best, title: l.T("drill.attention.message.slip.best_only"),
			why: l.T("drill.attention.message.slip.best_only.why"),
		},
		{
			mistake: LeftOut, value: best, title: l.T("drill.attention.message.slip.best_only"),
			why: l.T("drill.attention.message.slip.best_only.why"),
		},
		{
			mistake: Swapped, value: a.sum(a.weight, a.k, 0), title: l.T("drill.attention.message.slip.keys"),
			why: l.T("drill.attention.message.slip.keys.why"),
		},
		{
			mistake: Swapped, value: a.sum(a.weight, a.v, 1), title: l.T("drill.attention.message.slip.second"),
			why: l.T("drill.attention.message.slip.second.why"),
		},
		{
			mistake: NoRoot, value: a.sum(raw, a.v, 0),
			title: l.T("drill.attention.slip.no_root", "root", a.rootText()),
			why:   l.T("drill.attention.weight.slip.no_root.why"),
		},
		{
			mistake: Swapped, value: message + float64(a.x[0]), title: l.T("drill.attention.message.slip.added"),
			why: l.T("drill.attention.message.slip.added.why"),
		},
	}
}

// messages returns the right values for the first number of the message.
func (a *attention) messages() []float64 {
	return a.routes(func(w func(j int) float64) float64 { return a.sum(w, a.v, 0) })
}

// sums returns the right values for the first number of the vector with the message added.
func (a *attention) sums() []float64 {
	return a.routes(func(w func(j int) float64) float64 { return float64(a.x[0]) + a.sum(w, a.v, 0) })
}

func (a *attention) messageCell() *Cell {
	l, want := a.p.lang, a.messages()
	return a.p.number(quantity{
		id: "message", name: l.T("drill.attention.message.first.name"), form: Ratio, want: want,
		slips:    a.messageSlips(want[0]),
		question: l.T("drill.attention.message.hint.question"),
		rule:     l.T("drill.attention.message.hint.rule"),
		work:     []Line{{Say: l.T("drill.attention.message.work"), Eq: a.weighted(0)}},
	})
}

// addedSlips returns the slips for the first number of the vector with the message added.
func (a *attention) addedSlips(message float64) []slip {
	l, x := a.p.lang, float64(a.x[0])
	return []slip{
		{
			mistake: NotAdded, value: message, title: l.T("drill.attention.added.slip.message"),
			why: l.T("drill.attention.added.slip.message.why"),
		},
		{
			mistake: NotAdded, value: x, title: l.T("drill.attention.added.slip.before"),
			why: l.T("drill.attention.added.slip.before.why", "message", Ratio.show(message)),
		},
		{
			mistake: LookedAhead, value: x + a.ahead(), title: l.T("drill.attention.slip.looked_ahead"),
			why: l.T("drill.attention.weight.slip.looked_ahead.why", "token", a.tokens[a.now()+1]),
		},
		{
			mistake: Swapped, value: float64(a.x[1]) + a.sum(a.weight, a.v, 1),
			title: l.T("drill.attention.message.slip.second"), why: l.T("drill.attention.message.slip.second.why"),
		},
	}
}

func (a *attention) addedCell() *Cell {
	l, message := a.p.lang, a.messages()[0]
	return a.p.number(quantity{
		id: "added", name: l.T("drill.attention.added.name"), form: Ratio, want: a.sums(),
		slips:    a.addedSlips(message),
		question: l.T("drill.attention.added.hint.question"),
		rule:     l.T("drill.attention.added.hint.rule"),
		work: []Line{{
			Say: l.T("drill.attention.added.work"), Eq: fmt.Sprintf("%d + %s", a.x[0], Ratio.show(message)),
		}},
	})
}
