package labs

import (
	"math"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/stage"
)

// histogramBars is the number of tokens that fit into a picture. The table contains all tokens.
const histogramBars = 7

var _ = drawGuess(show("draw", drawSections, fallOfDistance, guess.Question{
	Ask: "labs.draw.ask",
	Choices: []guess.Choice{
		{Key: "1", Text: "labs.draw.choice.hardly"},
		{Key: "2", Text: "labs.draw.choice.half"},
		{Key: "10", Text: "labs.draw.choice.tenth"},
		{Key: "100", Text: "labs.draw.choice.hundredth"},
	},
}), "draw", guessBars{
	title: "labs.draw.guess", whole: "labs.draw.guess.whole", words: inPercent,
	caption: "labs.draw.guess.caption",
	scale:   fixed(1, 1),
	ranges: map[string][2]float64{
		"1": {1 / math.Sqrt2, math.Inf(1)}, "2": {1 / math.Sqrt(20), 1 / math.Sqrt2},
		"10": {1 / math.Sqrt(1000), 1 / math.Sqrt(20)}, "100": {0, 1 / math.Sqrt(1000)},
	},
	found: func(result any) (float64, bool) {
		few, many := fewAndMany(result.(*lab.Draw))
		return many / few, few > 0 && many > 0
	},
})

func drawSections(w stage.Words, d *lab.Draw) []section {
	var list []section
	for i, n := range d.Sizes {
		list = append(list, section{
			ID: "draws-" + terms.Count(n), Title: w.T("labs.draw.draws", "n", n), Half: true,
			Say: distanceText(w, d, n), Caption: w.T("labs.draw.draws.caption"),
		}.charted(plots.Histogram(w.Language, bars(w, d, i), n)))
	}
	if d.Kept == 1 {
		return append(list, section{
			ID: "law", Title: w.T("labs.draw.single"), Half: true,
			Say: w.Rich("labs.draw.single.say", "token", tokenName(d.Tokens[0].Token)),
		})
	}
	var points []plots.DistanceAt
	for _, x := range d.Distances {
		q := quartiles(x.Measured)
		q.Mid = x.Mean
		points = append(points, plots.DistanceAt{N: x.N, Measured: q, Expected: x.Expected, Law: x.Law})
	}
	return append(list, section{
		ID: "law", Title: w.T("labs.draw.law"), Half: true,
		Say: w.Rich("labs.draw.law.say", "slope", terms.Decimals(d.Slope, 2),
			"expected", terms.Decimals(d.SlopeExpected, 2), "x", accent),
		Caption: w.T("labs.draw.law.caption"),
	}.charted(plots.Distances(w.Language, points, d.Slope)))
}

// bars returns as many tokens of one histogram as fit, and the rest combined.
func bars(w stage.Words, d *lab.Draw, size int) []plots.Drawn {
	var list []plots.Drawn
	rest := plots.Drawn{Name: w.T("labs.draw.rest"), Q: d.Rest.Q, Count: countAt(d.Rest, size)}
	for i, t := range d.Tokens {
		if i >= histogramBars {
			rest.Q += t.Q
			rest.Count += countAt(t, size)
			continue
		}
		list = append(list, plots.Drawn{Name: tokenName(t.Token), Q: t.Q, Count: countAt(t, size)})
	}
	if rest.Q > 0 || rest.Count > 0 {
		list = append(list, rest)
	}
	return list
}

func countAt(t lab.DrawToken, size int) int {
	if size < len(t.Counts) {
		return t.Counts[size]
	}
	return 0
}

func distanceText(w stage.Words, d *lab.Draw, n int) stage.Rich {
	for _, x := range d.Distances {
		if x.N == n {
			return w.Rich("labs.draw.distance", "distance", terms.Decimals(x.Shown, 4),
				"expected", terms.Decimals(x.Expected, 4))
		}
	}
	return nil
}

// fewAndMany returns the distances after 100 and after 10,000 draws. A distance that was not
// measured is 0.
func fewAndMany(d *lab.Draw) (few, many float64) {
	at := func(n int) float64 {
		for _, x := range d.Distances {
			if x.N == n {
				return x.Mean
			}
		}
		return 0
	}
	return at(100), at(10_000)
}

func fallOfDistance(w stage.Words, d *lab.Draw) (string, string, bool) {
	few, many := fewAndMany(d)
	if few <= 0 || many <= 0 {
		return "", "", false
	}
	fall := few / many
	key := guess.Among(fall, []float64{math.Sqrt2, math.Sqrt(20), math.Sqrt(1000)}, "1", "2", "10", "100")
	return key, w.T("labs.draw.found", "few", terms.Decimals(few, 4), "many", terms.Decimals(many, 4),
		"times", terms.Decimals(fall, 1)), true
}
