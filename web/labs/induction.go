package labs

import (
	"math"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/why"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/stage"
)

var _ = drawGuess(show("induction", inductionSections, headsFound, guess.Question{
	Ask: "labs.induction.ask", With: []any{"share", terms.Percent(why.Passing)},
	Choices: []guess.Choice{
		{Key: "0", Text: "labs.induction.choice.none"},
		{Key: "1", Text: "labs.induction.choice.one"},
		{Key: "few", Text: "labs.induction.choice.few"},
		{Key: "many", Text: "labs.induction.choice.more"},
	},
}), "induction", guessBars{
	title: "labs.induction.guess", whole: "labs.induction.guess.whole", words: inCount,
	caption: "labs.induction.guess.caption",
	scale:   allHeads,
	ranges:  map[string][2]float64{"0": {0, 0}, "1": {1, 1}, "few": {2, 5}, "many": {6, math.Inf(1)}},
	found: func(result any) (float64, bool) {
		r := result.(*lab.Induction)
		return float64(r.Pass), len(r.Heads) > 0
	},
})

func inductionSections(w stage.Words, r *lab.Induction) []section {
	var heads []plots.HeadAt
	for _, h := range r.Heads {
		heads = append(heads, plots.HeadAt{Name: h.Part, Block: h.Block, Score: h.Induction})
	}
	list := []section{section{
		ID: "heads", Title: w.T("labs.induction.heads"), Half: true,
		Say: w.Rich("labs.induction.heads.say", "first", terms.Decimals(r.First, 2),
			"second", terms.Decimals(r.Second, 2), "x", accent),
		Caption: w.T("labs.induction.heads.caption"),
	}.charted(plots.HeadScores(w.Language, heads, r.Passing))}
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
		ID: "off", Title: w.T("labs.induction.off"), Half: true, Say: lossText(w, r),
		Caption: w.T("labs.induction.off.caption"),
	}.charted(plots.WithoutHeads(w.Language, off, r.Second)))
}

// lossText states whether switching off the best candidate has more effect than switching off a
// control head.
func lossText(w stage.Words, r *lab.Induction) stage.Rich {
	best := r.Strong[0]
	lost := r.Lost(best)
	with := []any{
		"head", lab.HeadName(best.Part).In(w.Language), "change", lab.MoreOrLess(lost).In(w.Language),
		"usual", lab.MoreOrLess(r.Usual()).In(w.Language), "x", accent,
	}
	switch {
	case len(r.Weak) == 0:
		return w.Rich("labs.induction.off.say", with...)
	case lost <= r.Usual():
		return w.Rich("labs.induction.off.idle", with...)
	}
	return w.Rich("labs.induction.off.matters", with...)
}

func headsFound(w stage.Words, r *lab.Induction) (string, string, bool) {
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
	return key, w.T("labs.induction.found", "n", r.Pass, "all", terms.Count(len(r.Heads)),
		"share", terms.Percent(r.Passing)), true
}
