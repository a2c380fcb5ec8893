package learn

import (
	"fmt"
	"strings"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/stage"
)

// A shareChart plots the share of the likeliest token against the temperature.
type shareChart struct {
	Line   string // SVG path
	X, Y   string // the point at T
	One    string // x of T = 1
	Share  string // the share at T
	LabelX string
	End    string // text-anchor of the label
	Token  stage.Text
	Say    string // a description of the chart
}

// The frame of the chart in units of its viewBox, 216 by 160.
const (
	shareLeft, shareTop     = 26.0, 10.0
	shareWidth, shareHeight = 182.0, 118.0
)

// curvePoints is the number of points on the curve. They are evenly spaced from lessons.LeastT to
// lessons.MostT.
const curvePoints = 39

// shareCurve returns the likeliest token's share at each of [curvePoints]
// temperatures: e⁰ over the sum of all e^((z−max)/T).
func shareCurve(logits []float32) []float64 {
	curve := make([]float64, curvePoints)
	for i := range curve {
		_, _, sum := sampling.Softmax(logits, curveT(i))
		curve[i] = 1 / sum
	}
	return curve
}

func curveT(i int) float64 {
	return lessons.LeastT + float64(i)*(lessons.MostT-lessons.LeastT)/(curvePoints-1)
}

// newShareChart plots a curve from [shareCurve] and marks its point at t. The parameters p and one
// are the shares at the temperature t and at T = 1.
func newShareChart(w stage.Words, curve []float64, one, p, t float64, favorite stage.Text) shareChart {
	x := func(t float64) float64 { return shareLeft + shareWidth*t/lessons.MostT }
	y := func(p float64) float64 { return shareTop + shareHeight*(1-p) }
	var path strings.Builder
	letter := "M"
	for i, share := range curve {
		fmt.Fprintf(&path, "%s%.1f %.1f", letter, x(curveT(i)), y(share))
		letter = "L"
	}
	c := shareChart{
		Line: path.String(), X: fmt.Sprintf("%.1f", x(t)), Y: fmt.Sprintf("%.1f", y(p)), One: fmt.Sprintf("%.1f", x(1)),
		Share: terms.ProbShort(p), Token: favorite, LabelX: fmt.Sprintf("%.1f", x(t)+9), End: "start",
		Say: w.T(
			"learn.temperature.chart", "token", favorite, "p", terms.Prob(p), "t", terms.Decimals(t, 2),
			"one", terms.Prob(one), "first", terms.Prob(curve[0]), "least", terms.Decimals(lessons.LeastT, 1),
			"last", terms.Prob(curve[len(curve)-1]), "most", terms.Decimals(lessons.MostT, 1),
		),
	}
	if x(t) > shareLeft+shareWidth-40 {
		c.LabelX, c.End = fmt.Sprintf("%.1f", x(t)-9), "end"
	}
	return c
}
