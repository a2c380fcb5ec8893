package labs

import (
	"math"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/why"
	"github.com/tokenbytoken/viz/plots"
)

var _ = drawGuess(show("induction", inductionSections, headsFound, prediction{
	Ask: "How many heads of this model give " + terms.Percent(why.Passing) +
		" or more of their weight to what came after the same token?",
	Choices: []choice{
		{"0", "none"}, {"1", "one"}, {"few", "two to five"}, {"many", "more"},
	},
}), "induction", guessBars{
	title: "Heads that look at what came after the same token", whole: "all heads", words: inCount,
	caption: "heads of this model",
	scale:   allHeads,
	ranges:  map[string][2]float64{"0": {0, 0}, "1": {1, 1}, "few": {2, 5}, "many": {6, math.Inf(1)}},
	found: func(result any) (float64, bool) {
		r := result.(*lab.Induction)
		return float64(r.Pass), len(r.Heads) > 0
	},
})

func inductionSections(r *lab.Induction) []section {
	var heads []plots.HeadAt
	for _, h := range r.Heads {
		heads = append(heads, plots.HeadAt{Name: h.Part, Block: h.Block, Score: h.Induction})
	}
	list := []section{section{
		ID: "heads", Title: "Who looks there", Half: true,
		Say: spans(
			"First reading ", b(terms.Decimals(r.First, 2)), " bits a token, second ", x(terms.Decimals(r.Second, 2)),
			". A dot is a head, a column a block.",
		),
		Caption: "block, and the share of a head's weight on what came after the same token before",
	}.charted(plots.HeadScores(heads, r.Passing))}
	if len(r.Strong) == 0 {
		return list
	}
	var off []plots.WithoutHead
	for _, h := range r.Strong {
		off = append(off, plots.WithoutHead{Name: h.Part, Bits: h.Second, Strong: true})
	}
	for _, h := range r.Weak {
		off = append(off, plots.WithoutHead{Name: h.Part, Bits: h.Second})
	}
	return append(list, section{
		ID: "off", Title: "What is lost without it", Half: true, Say: lossText(r),
		Caption: "one head switched off at a time; solid: the candidates, outlined: those that look there least",
	}.charted(plots.WithoutHeads(off, r.Second)))
}

// lossText states whether switching off the best candidate matters more than switching off a
// control head.
func lossText(r *lab.Induction) []span {
	best := r.Strong[0]
	lost := r.Lost(best)
	list := spans(
		"Without ", b(lab.HeadName(best.Part)), " the second reading surprises the model by ", x(lab.MoreOrLess(lost)),
		" bits a token",
	)
	if len(r.Weak) == 0 {
		return append(list, spans(".")...)
	}
	list = append(list, spans(", without one of the others by ", b(lab.MoreOrLess(r.Usual())), ".")...)
	if lost <= r.Usual() {
		return append(list, spans(" So it is not what the second reading depends on.")...)
	}
	return append(list, spans(" It matters here, but that doesn’t mean that an idea is stored there.")...)
}

func headsFound(r *lab.Induction) (string, string, bool) {
	if len(r.Heads) == 0 {
		return "", "", false
	}
	key := "many"
	switch n := r.Pass; {
	case n == 0:
		key = "0"
	case n == 1:
		key = "1"
	case n <= 5:
		key = "few"
	}
	return key, terms.Capital(terms.Counted(r.Pass, "head")) + " of " + terms.Count(len(r.Heads)) + " pass: " +
		terms.Percent(r.Passing) + " of the weight or more.", true
}
