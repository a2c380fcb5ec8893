package labs

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/stage"
)

// roundedBars is the number of tokens that fit into a picture. The table contains all tokens.
const roundedBars = 7

var _ = drawGuess(show("quantization", quantizationSections, favoritesLost, guess.Question{
	Ask: "labs.quantization.ask",
	Choices: []guess.Choice{
		{Key: "0", Text: "labs.quantization.choice.none"},
		{Key: "tenth", Text: "labs.quantization.choice.tenth"},
		{Key: "third", Text: "labs.quantization.choice.third"},
		{Key: "more", Text: "labs.quantization.choice.more"},
	},
}), "quantization", guessBars{
	title: "labs.quantization.guess", whole: "labs.quantization.guess.whole", words: inPercent,
	caption: "labs.quantization.guess.caption",
	scale:   fixed(1, 1),
	ranges: map[string][2]float64{
		"0": {0, 0}, "tenth": {0, 0.1}, "third": {0.1, 1.0 / 3}, "more": {1.0 / 3, math.Inf(1)},
	},
	found: func(result any) (float64, bool) {
		q := result.(*lab.Quantization)
		w, ok := fourBits(q)
		return float64(len(q.Steps)-w.Kept) / float64(len(q.Steps)), ok
	},
})

func quantizationSections(w stage.Words, q *lab.Quantization) []section {
	var names []string
	for _, way := range q.Ways {
		names = append(names, way.Name.In(w.Language))
	}
	var list []section
	if len(q.Bars) > 0 {
		var tokens []plots.RoundedBar
		for _, b := range q.Bars[:min(len(q.Bars), roundedBars)] {
			tokens = append(tokens, plots.RoundedBar{Name: tokenName(b.Token), P: b.P})
		}
		list = append(list, section{
			ID: "bars", Title: w.T("labs.quantization.bars", "n", fmt.Sprint(q.Step)), Half: len(q.Ways) > 1,
			Say: barsText(w, q), Caption: w.T("labs.quantization.bars.caption", "ways", waysText(w, names)),
		}.charted(plots.RoundedBars(w.Language, tokens, names)))
	}
	if len(q.Ways) > 1 {
		kl := make([][]float64, len(q.Ways)-1)
		for _, s := range q.Steps {
			for i := range kl {
				kl[i] = append(kl[i], s.KL[i+1])
			}
		}
		list = append(list, section{
			ID: "steps", Title: w.T("labs.quantization.steps"), Half: len(q.Bars) > 0,
			Say: stepsText(w, q), Caption: w.T("labs.quantization.steps.caption"),
		}.charted(plots.RoundedSteps(w.Language, names[1:], kl)))
	}
	return append(list, section{
		ID: "ways", Title: w.T("labs.quantization.ways"), Say: savesText(w, q), Numbers: table(waysGrid(w, q)),
	})
}

// waysText describes the bars of a group: one for each way of storing the weights.
func waysText(w stage.Words, names []string) string {
	text := ""
	for i, n := range names {
		n = w.T("labs.quantization.look."+strconv.Itoa(i), "way", n)
		if i > 0 {
			n = w.T("list.next", "list", text, "next", n)
		}
		text = n
	}
	return text
}

// barsText states whether the most probable token is the same with all ways of storing the weights,
// at the step shown.
func barsText(w stage.Words, q *lab.Quantization) stage.Rich {
	say := w.Rich("labs.quantization.bars.own", "token", tokenName(q.Bars[0].Token))
	for _, way := range q.Ways[1:] {
		next := w.Rich("labs.quantization.bars.changed", "way", way.Name.In(w.Language), "token", tokenName(way.Top),
			"kl", kl(way.KL), "x", accent)
		if way.Same {
			next = w.Rich("labs.quantization.bars.same", "way", way.Name.In(w.Language), "kl", kl(way.KL))
		}
		say = w.Rich("labs.quantization.both", "say", say, "next", next)
	}
	return say
}

func stepsText(w stage.Words, q *lab.Quantization) stage.Rich {
	var list []stage.Rich
	for _, way := range q.Ways[1:] {
		list = append(list, w.Rich("labs.quantization.steps.say", "way", way.Name.In(w.Language),
			"kept", fmt.Sprint(way.Kept), "steps", fmt.Sprint(len(q.Steps)), "kl", kl(way.MeanKL), "x", accent))
	}
	return following(w, list)
}

// following joins sentences.
func following(w stage.Words, list []stage.Rich) stage.Rich {
	var say stage.Rich
	for i, next := range list {
		if i > 0 {
			next = w.Rich("labs.quantization.both", "say", say, "next", next)
		}
		say = next
	}
	return say
}

// kl formats a divergence in nats. A small one is formatted with a power of ten.
func kl(x float64) string {
	if x >= 0.0001 || x <= 0 {
		return terms.Decimals(x, 4)
	}
	power := int(math.Floor(math.Log10(x)))
	return terms.Decimals(x*math.Pow(10, float64(-power)), 1) + " · 10" + superscript.Replace(strconv.Itoa(power))
}

var superscript = strings.NewReplacer(
	"-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴",
	"5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹",
)

func savesText(w stage.Words, q *lab.Quantization) stage.Rich {
	own := q.Ways[0]
	var list []stage.Rich
	for _, way := range q.Ways[1:] {
		list = append(list, w.Rich("labs.quantization.ways.saves", "way", way.Name.In(w.Language),
			"bytes", w.Bytes(way.Bytes), "own", w.Bytes(own.Bytes), "x", accent))
	}
	for _, way := range q.Ways[1:] {
		if way.Wide {
			list = append(list, w.Rich("labs.quantization.ways.wide", "way", way.Name.In(w.Language)))
		}
	}
	if !q.LeftOut.IsZero() {
		what := stage.Marked(q.LeftOut.In(w.Language)).String()
		list = append(list, w.Rich("labs.quantization.ways.left_out", "what", what))
	}
	return following(w, list)
}

func waysGrid(w stage.Words, q *lab.Quantization) grid {
	g := newGrid(w, "labs.quantization.grid.", "weights", "size", "bits", "stays", "mean", "largest", "ms")
	for _, way := range q.Ways {
		took := "–"
		if way.Ms.N > 0 {
			took = spreadText(w, way.Ms)
		}
		mean, most := "–", "–" // the model's own weights are the baseline
		if way.Kind != infer.QuantNone {
			mean, most = kl(way.MeanKL), kl(way.MaxKL)
		}
		g.Rows = append(g.Rows, []string{
			way.Name.In(w.Language), w.Bytes(way.Bytes), terms.Measured(way.BitsEach),
			w.T("labs.quantization.of", "n", fmt.Sprint(way.Kept), "all", fmt.Sprint(len(q.Steps))), mean, most, took,
		})
	}
	return g
}

// fourBits returns the result of rounding to four bits. ok is false if it was not tried.
func fourBits(q *lab.Quantization) (w lab.QuantWay, ok bool) {
	n := slices.IndexFunc(q.Ways, func(w lab.QuantWay) bool { return w.Kind == infer.QuantQ4 })
	if n < 0 || len(q.Steps) == 0 {
		return w, false
	}
	return q.Ways[n], true
}

func favoritesLost(w stage.Words, q *lab.Quantization) (string, string, bool) {
	way, ok := fourBits(q)
	if !ok {
		return "", "", false
	}
	lost := len(q.Steps) - way.Kept
	key := guess.Among(float64(lost)/float64(len(q.Steps)), []float64{0, 0.1, 1.0 / 3}, "0", "tenth", "third", "more")
	return key, w.T("labs.quantization.found", "way", way.Name.In(w.Language), "lost", fmt.Sprint(lost),
		"n", len(q.Steps)), true
}
