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
	"github.com/tokenbytoken/viz/web/stage"
)

// roundedBars is the number of tokens that fit into a picture. The table contains all tokens.
const roundedBars = 7

var _ = drawGuess(show("quantization", quantizationSections, favoritesLost, prediction{
	Ask: "Rounded to four bits, at how many steps does the favorite token change?",
	Choices: []choice{
		{"0", "at no step"},
		{"tenth", "at up to a tenth of them"},
		{"third", "at up to a third"},
		{"more", "at more"},
	},
}), "quantization", guessBars{
	title: "Steps at which the favorite token changes", whole: "all steps", words: terms.Percent,
	caption: "share of the steps, rounded to four bits",
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

func quantizationSections(q *lab.Quantization) []section {
	var names []string
	for _, w := range q.Ways {
		names = append(names, w.Name)
	}
	var list []section
	if len(q.Bars) > 0 {
		var tokens []plots.RoundedBar
		for _, b := range q.Bars[:min(len(q.Bars), roundedBars)] {
			tokens = append(tokens, plots.RoundedBar{Name: tokenName(b.Token), P: b.P})
		}
		list = append(list, section{
			ID: "bars", Title: fmt.Sprintf("Step %d, rounded and not", q.Step), Half: len(q.Ways) > 1,
			Say: barsText(q), Caption: "probability of each token; from left to right " + waysText(names),
		}.charted(plots.RoundedBars(tokens, names)))
	}
	if len(q.Ways) > 1 {
		kl := make([][]float64, len(q.Ways)-1)
		for _, s := range q.Steps {
			for i := range kl {
				kl[i] = append(kl[i], s.KL[i+1])
			}
		}
		list = append(list, section{
			ID: "steps", Title: "And every step of the text", Half: len(q.Bars) > 0,
			Say: stepsText(q), Caption: "generated token; KL in nats, a logarithmic axis",
		}.charted(plots.RoundedSteps(names[1:], kl)))
	}
	list = append(
		list,
		section{ID: "ways", Title: "What it saves, and what it costs", Say: savesText(q), Numbers: table(waysGrid(q))},
	)
	return list
}

// waysText describes the bars of a group. There is one bar for each way of storing the weights.
func waysText(names []string) string {
	looks := []string{" (dashed outline)", " (solid)", " (pale, with an edge)"}
	text := ""
	for i, n := range names {
		if i > 0 {
			text += ", "
		}
		text += n + looks[i]
	}
	return text
}

// barsText states whether the most probable token remains the same at the step shown.
func barsText(q *lab.Quantization) []span {
	parts := []any{"With its own weights the model favours ", b(tokenName(q.Bars[0].Token)), "."}
	for _, w := range q.Ways[1:] {
		if w.Same {
			parts = append(parts, " With "+w.Name+" it still does, KL ", b(kl(w.KL)), ".")
		} else {
			parts = append(
				parts, " With "+w.Name+" the favorite is ", x(tokenName(w.Top)), " instead, KL ", b(kl(w.KL)), ".",
			)
		}
	}
	return spans(parts...)
}

func stepsText(q *lab.Quantization) []span {
	var parts []any
	for _, w := range q.Ways[1:] {
		parts = append(
			parts, w.Name+" keeps the favorite token at ", x(fmt.Sprintf("%d of %d", w.Kept, len(q.Steps))),
			" steps; mean KL ", b(kl(w.MeanKL)), ". ",
		)
	}
	return spans(parts...)
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

func savesText(q *lab.Quantization) []span {
	own := q.Ways[0]
	var parts []any
	for _, w := range q.Ways[1:] {
		parts = append(
			parts, w.Name+" keeps all weights in ", x(terms.Bytes(w.Bytes)), " instead of ", b(terms.Bytes(own.Bytes)),
			". ",
		)
	}
	for _, w := range q.Ways[1:] {
		if w.Wide {
			parts = append(
				parts,
				"Here "+w.Name+" is widened to float32 before anything is computed, so its time doesn't show what the "+
					"format can do: a program that works on the four bits directly has less to read. ",
			)
		}
	}
	if q.LeftOut != "" {
		parts = append(parts, "Left out: "+stage.Marked(q.LeftOut).String()+".")
	}
	return spans(parts...)
}

func waysGrid(q *lab.Quantization) grid {
	g := grid{
		Caption: "Ways of keeping the weights",
		Head: []string{
			"weights", "size", "bits a weight", "favorite stays", "mean KL, nats", "largest KL", "a token, ms",
		},
	}
	for _, w := range q.Ways {
		took := "–"
		if w.Ms.N > 0 {
			took = spreadText(w.Ms)
		}
		mean, most := "–", "–" // the model's own weights are the baseline
		if w.Kind != infer.QuantNone {
			mean, most = kl(w.MeanKL), kl(w.MaxKL)
		}
		g.Rows = append(
			g.Rows,
			[]string{
				w.Name, terms.Bytes(w.Bytes), terms.Measured(w.BitsEach), fmt.Sprintf("%d of %d", w.Kept, len(q.Steps)),
				mean, most, took,
			},
		)
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

func favoritesLost(q *lab.Quantization) (string, string, bool) {
	w, ok := fourBits(q)
	if !ok {
		return "", "", false
	}
	lost := len(q.Steps) - w.Kept
	key := among(float64(lost)/float64(len(q.Steps)), []float64{0, 0.1, 1.0 / 3}, "0", "tenth", "third", "more")
	return key, fmt.Sprintf(
		"With %s the favorite token changes at %d of %s.", w.Name, lost,
		terms.Counted(len(q.Steps), "step"),
	), true
}
