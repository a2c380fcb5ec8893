package drill

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// attention is the drill about one look of one head: a token's query is compared with the keys of
// the tokens so far, softmax turns the scores into weights, and the weighted values are added to the
// token's own vector. The last token of the text stands after the one that looks.
type attention struct {
	p      *Problem
	tokens []string
	q, x   []int   // the query and the own vector of the token that looks
	k, v   [][]int // the keys and values of all tokens
	best   int     // the token with the highest score so far, about which the drill asks
	seen   logits  // the scaled scores of the tokens so far
	all    logits  // the scaled scores with the later token
}

// looks are texts for the drill. At level 1, the fourth token is the later one, and at the other
// levels the fifth.
var looks = [][]string{
	{"the", "cat", "sat", "down", "again"},
	{"my", "dog", "ran", "home", "fast"},
	{"Tom", "saw", "a", "red", "bird"},
	{"Lily", "lost", "her", "blue", "hat"},
	{"we", "went", "to", "the", "park"},
	{"Ben", "found", "one", "small", "key"},
}

func buildAttention(p *Problem) {
	a := &attention{p: p}
	r := newRandom(p)
	for !a.draw(r) {
	}
	look, later := a.tokens[a.now()], a.tokens[a.now()+1]
	p.Facts = []Fact{
		{p.lang.T("drill.fact.tokens"), p.quotedAll(a.tokens)},
		{p.lang.T("drill.attention.fact.query", "token", look), "q = " + vector(a.q)},
		{p.lang.T("drill.attention.fact.vector", "token", look), "x = " + vector(a.x)},
		{p.lang.T("drill.attention.fact.size"), fmt.Sprintf("s = %d", len(a.q))},
	}
	a.scores(look)
	a.weights(look, later)
	a.message(look)
}

// draw draws numbers and reports whether they are suitable: the asked weight is neither tiny nor
// nearly 1, does not depend on rounding, and would change if the token looked ahead. No mistake with
// the weight, the message or the sum leads to an answer that counts as right.
func (a *attention) draw(r *random) bool {
	n, s := 4, 2
	if a.p.Level > 1 {
		n = 5
	}
	if a.p.Level > 2 {
		s = 3
	}
	a.tokens = pick(r, looks)[:n]
	a.q, a.x = r.vector(s, 1, 3), r.vector(s, 0, 5)
	a.k, a.v = nil, nil
	for range n {
		a.k, a.v = append(a.k, r.vector(s, 0, 3)), append(a.v, r.vector(s, 0, 4))
	}
	if a.p.Seed == 0 && a.p.Level == 1 {
		a.tokens, a.q, a.x = looks[0][:n], []int{2, 1}, []int{1, 3}
		a.k, a.v = [][]int{{1, 0}, {2, 1}, {0, 2}, {3, 1}}, [][]int{{1, 0}, {2, 1}, {1, 4}, {3, 2}}
	}
	z := make([]float64, n)
	for i := range z {
		z[i] = a.scaled(i)
	}
	a.seen, a.all = newLogits(z[:n-1]), newLogits(z)
	a.best = int(a.seen.d.Order[0])
	w := a.weight(a.best)
	unique := a.score(a.best) > a.score(int(a.seen.d.Order[1]))
	fair := unique && w < 0.95 && !onHalf(w) && a.score(a.best) < 15
	fair = fair && a.x[0] > 0 && a.sum(a.weight, a.v, 0) > 0.5 && w-a.all.d.P[a.best] > 0.02
	return fair && Probability.tellsApart(a.bestWeights(), a.weightSlips()) &&
		Ratio.tellsApart(a.messages(), a.messageSlips(a.messages()[0])) &&
		Ratio.tellsApart(a.sums(), a.addedSlips(a.messages()[0]))
}

// vector draws n numbers from least to most.
func (r *random) vector(n, least, most int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = r.between(least, most)
	}
	return list
}

// vector formats a list of numbers, such as (2, 1).
func vector(list []int) string {
	parts := make([]string, len(list))
	for i, x := range list {
		parts[i] = fmt.Sprint(x)
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// now returns the index of the token that looks.
func (a *attention) now() int { return len(a.tokens) - 2 }

// root returns √s, where s is the number of numbers in a key.
func (a *attention) root() float64 { return math.Sqrt(float64(len(a.q))) }

func (a *attention) rootText() string { return fmt.Sprintf("√%d", len(a.q)) }

// score returns q · k of token i.
func (a *attention) score(i int) int {
	sum := 0
	for j, x := range a.q {
		sum += x * a.k[i][j]
	}
	return sum
}

func (a *attention) scaled(i int) float64 { return float64(a.score(i)) / a.root() }

// weight returns the weight of token i.
func (a *attention) weight(i int) float64 { return a.seen.d.P[i] }

// softmax returns the share of token i if the scores of the tokens so far were f.
func (a *attention) softmax(i int, f func(j int) float64) float64 {
	var sum float64
	for j := range a.now() + 1 {
		sum += math.Exp(f(j))
	}
	return math.Exp(f(i)) / sum
}

// sum returns the sum over the tokens so far of w times the number at index c of their vectors.
func (a *attention) sum(w func(j int) float64, vectors [][]int, c int) (sum float64) {
	for j := range a.now() + 1 {
		sum += w(j) * float64(vectors[j][c])
	}
	return sum
}

// ahead returns the sum of all weighted values if the token looked ahead.
func (a *attention) ahead() float64 {
	later := a.now() + 1
	return a.sum(func(j int) float64 { return a.all.d.P[j] }, a.v, 0) + a.all.d.P[later]*float64(a.v[later][0])
}

// scores begins the step that asks for the score of the best key. The other scores are given.
func (a *attention) scores(look string) {
	l := a.p.lang
	a.p.begin(Step{
		ID: "scores", Name: l.T("drill.attention.scores.name"), Note: "q · k / √s",
		Title:  l.T("drill.attention.scores.title", "token", look),
		Ask:    l.T("drill.attention.scores.ask", "root", a.rootText()),
		Remark: l.T("drill.attention.scores.remark"),
	}, tokenRows(a.tokens),
		Column{Key: "k", Head: "k", Title: l.T("drill.attention.column.key")},
		Column{Key: "score", Head: "q · k", Title: l.T("drill.attention.column.score")},
		Column{Key: "scaled", Head: "q · k / " + a.rootText(), Title: l.T("drill.attention.column.scaled")})
	a.p.fill("k", Given, func(i int) Item { return Item{Text: vector(a.k[i])} })
	a.p.fill("score", Live, func(i int) Item {
		if i == a.best {
			return Item{Cell: a.scoreCell()}
		}
		return Count.item(float64(a.score(i)))
	})
	a.p.fill("scaled", Live, func(i int) Item {
		if i == a.best {
			return Item{Cell: a.scaledCell()}
		}
		return Ratio.item(a.scaled(i))
	})
}

// weights begins the step that asks for the weights of the best key and of the later token.
func (a *attention) weights(look, later string) {
	l := a.p.lang
	a.p.begin(Step{
		ID: "weights", Name: l.T("drill.attention.weights.name"), Note: l.T("drill.five.softmax.name"),
		Needs:  []string{"scores"},
		Title:  l.T("drill.attention.weights.title"),
		Ask:    l.T("drill.attention.weights.ask", "token", look, "later", later),
		Remark: l.T("drill.attention.weights.remark"),
	}, tokenRows(a.tokens),
		Column{Key: "scaled", Head: "q · k / " + a.rootText(), Title: l.T("drill.attention.column.scaled")},
		Column{Key: "w", Head: "w", Title: l.T("drill.attention.column.weight")})
	a.p.fill("scaled", Given, func(i int) Item { return Ratio.item(a.scaled(i)) })
	a.p.fill("w", Live, func(i int) Item {
		switch i {
		case a.best:
			return Item{Cell: a.weightCell()}
		case a.now() + 1:
			return Item{Cell: a.laterCell(look, later)}
		}
		return Item{}
	})
	a.p.foot("w", due(l.T("drill.must_be_1")))
}

// message begins the step that asks for the message and for the vector to which it is added.
func (a *attention) message(look string) {
	l := a.p.lang
	a.p.begin(Step{
		ID: "message", Name: l.T("drill.attention.message.name"), Note: "Σ w · v",
		Needs:  []string{"weights"},
		Title:  l.T("drill.attention.message.title"),
		Ask:    l.T("drill.attention.message.ask"),
		Remark: l.T("drill.attention.message.remark"),
	}, tokenRows(a.tokens),
		Column{Key: "w", Head: "w", Title: l.T("drill.attention.column.weight")},
		Column{Key: "v", Head: "v", Title: l.T("drill.attention.column.value")})
	a.p.fill("w", Given, func(i int) Item {
		if i > a.now() {
			return Item{Text: "0"}
		}
		return Probability.item(a.weight(i))
	})
	a.p.fill("v", Given, func(i int) Item { return Item{Text: vector(a.v[i])} })
	a.p.ask(l.T("drill.attention.message.ask.first"), a.messageCell())
	a.p.ask(l.T("drill.attention.message.ask.added", "token", look, "x", vector(a.x)), a.addedCell())
}

// others returns the tokens so far, without the best one.
func (a *attention) others() []int {
	var list []int
	for i := range a.now() + 1 {
		if i != a.best {
			list = append(list, i)
		}
	}
	return list
}

// routes returns f computed with the exact weights and with weights rounded to three and four places.
func (a *attention) routes(f func(w func(j int) float64) float64) []float64 {
	want := []float64{f(a.weight)}
	for places := 3; places <= 4; places++ {
		want = append(want, f(func(j int) float64 { return roundTo(a.weight(j), places) }))
	}
	return slices.Compact(want)
}
