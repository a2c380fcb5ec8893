package labs

import (
	"fmt"
	"math"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/plots"
)

// histogramBars is the number of tokens that fit into a picture. The table contains all tokens.
const histogramBars = 7

var _ = drawGuess(show("draw", drawSections, fallOfDistance, prediction{
	Ask: "From 100 draws to 10,000 draws, how does the distance to the model’s bars change?",
	Choices: []choice{
		{"1", "hardly"}, {"2", "to about a half"}, {"10", "to about a tenth"}, {"100", "to about a hundredth"},
	},
}), "draw", guessBars{
	title: "The distance at 10,000 draws, compared with that at 100", whole: "at 100 draws", words: terms.Percent,
	caption: "distance to the model’s bars; at 100 draws it is 100%",
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

func drawSections(d *lab.Draw) []section {
	var list []section
	for i, n := range d.Sizes {
		list = append(list, section{
			ID: "draws-" + terms.Count(n), Title: terms.Count(n) + " draws", Half: true,
			Say: distanceText(d, n), Caption: "share drawn (solid) on the probability of each token (dashed outline)",
		}.charted(plots.Histogram(bars(d, i), n)))
	}
	if d.Kept == 1 {
		return append(list, section{
			ID: "law", Title: "A single token", Half: true,
			Say: spans(
				"The filters keep ", b(tokenName(d.Tokens[0].Token)),
				" alone, so every draw falls on it: there is no distance that could fall. Raise the temperature, or "+
					"switch the filters off, to see more tokens drawn.",
			),
		})
	}
	var points []plots.DistanceAt
	for _, x := range d.Distances {
		q := quartiles(x.Measured)
		q.Mid = x.Mean
		points = append(points, plots.DistanceAt{N: x.N, Measured: q, Expected: x.Expected, Law: x.Law})
	}
	return append(list, section{
		ID: "law", Title: "The distance falls as 1/√N", Half: true,
		Say: spans("Slope on these axes: ", x(terms.Decimals(d.Slope, 2)), " measured, ", b(
			terms.Decimals(d.SlopeExpected, 2),
		),
			" expected; 1/√N has −0.5. A hundred times as many draws give you one more decimal place."),
		Caption: "draws, and half the sum of |share − probability|; both axes logarithmic",
	}.charted(plots.Distances(points, d.Slope)))
}

// bars returns as many tokens of one histogram as fit, and the rest combined.
func bars(d *lab.Draw, size int) []plots.Drawn {
	var list []plots.Drawn
	rest := plots.Drawn{Name: "rest", Q: d.Rest.Q, Count: countAt(d.Rest, size)}
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

func distanceText(d *lab.Draw, n int) []span {
	for _, x := range d.Distances {
		if x.N == n {
			return spans(
				"Distance of these draws ", b(terms.Decimals(x.Shown, 4)), "; expected ",
				b(terms.Decimals(x.Expected, 4)), ".",
			)
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

func fallOfDistance(d *lab.Draw) (string, string, bool) {
	few, many := fewAndMany(d)
	if few <= 0 || many <= 0 {
		return "", "", false
	}
	fall := few / many
	key := among(fall, []float64{math.Sqrt2, math.Sqrt(20), math.Sqrt(1000)}, "1", "2", "10", "100")
	return key, fmt.Sprintf(
		"The distance falls from %s to %s, by a factor of %s.", terms.Decimals(few, 4), terms.Decimals(many, 4),
		terms.Decimals(fall, 1),
	), true
}
