package learn

import (
	"fmt"
	"strings"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/web/view"
)

// shareChart is the share of the likeliest token against the temperature.
type shareChart struct {
	Line     string // SVG path
	X, Y     string // the point at T
	One      string // x of T = 1
	Share    string // at T
	LabelX   string
	End      string // text-anchor of the label
	Token    view.Text
	Say      string // the picture in words
	From, To string // shares at both ends
}

// The frame of the chart in units of its viewBox, 216 by 160.
const (
	shareLeft, shareTop     = 26.0, 10.0
	shareWidth, shareHeight = 182.0, 118.0
)

func newShareChart(logits []float32, t float64, favourite view.Text) shareChart {
	at := func(t float64) (x, y, p float64) {
		_, _, sum := sampling.Softmax(logits, t)
		p = 1 / sum // e⁰ of the highest score over the sum of all
		return shareLeft + shareWidth*t/mostT, shareTop + shareHeight*(1-p), p
	}
	var path strings.Builder
	const points = 39
	letter := "M"
	for i := range points {
		x, y, _ := at(leastT + float64(i)*(mostT-leastT)/(points-1))
		fmt.Fprintf(&path, "%s%.1f %.1f", letter, x, y)
		letter = "L"
	}
	x, y, p := at(t)
	one, _, pOne := at(1)
	_, _, low := at(leastT)
	_, _, high := at(mostT)
	c := shareChart{
		Line: path.String(), X: fmt.Sprintf("%.1f", x), Y: fmt.Sprintf("%.1f", y), One: fmt.Sprintf("%.1f", one),
		Share: view.ProbShort(p), Token: favourite, LabelX: fmt.Sprintf("%.1f", x+9), End: "start",
		Say: fmt.Sprintf("Share of %s against the temperature: %s at T = %s, %s at T = 1.",
			favourite, view.Prob(p), view.Decimals(t, 2), view.Prob(pOne)),
		From: view.Prob(low), To: view.Prob(high),
	}
	if x > shareLeft+shareWidth-40 {
		c.LabelX, c.End = fmt.Sprintf("%.1f", x-9), "end"
	}
	return c
}
