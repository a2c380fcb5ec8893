package practice

import (
	"fmt"
	"math"
	"strconv"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/stage"
)

// The dimensions of the calibration chart, in units of its viewBox. The chart is a square with the
// stated confidence on the horizontal axis and the share of correct guesses on the vertical axis.
// On the diagonal, the two are equal.
const (
	chartLeft, chartTop = 40.0, 28.0
	chartSide           = 240.0
	chartWidth          = 300
	chartHeight         = 316
)

// A calibrationChart is the chart and its table.
type calibrationChart struct {
	N      int
	Say    string
	Dots   []calibrationDot
	Ticks  []chartTick
	Rows   []calibrationRow
	Stated string // mean confidence, such as "0.71"
	Hits   string // share of right guesses
	Score  string // mean logarithmic score
}

// A calibrationDot is a bin that contains guesses. The area of the dot grows with the number of
// guesses, which is also shown above it.
type calibrationDot struct {
	X, Y, R, LabelY string
	N               string
	Say             string
}

// A chartTick is a label for one value on both axes.
type chartTick struct{ At, Flip, Label string }

// A calibrationRow is one bin in the table.
type calibrationRow struct{ Range, N, Stated, Hits string }

func newCalibrationChart(w stage.Words, c progress.Calibration) calibrationChart {
	v := calibrationChart{
		N: c.N, Stated: terms.Percent(c.Stated), Score: terms.Decimals(c.Score, 2),
	}
	if c.N > 0 {
		share := float64(c.Right) / float64(c.N)
		v.Hits = terms.Percent(share)
		v.Say = calibrationText(w, c.N, c.Stated-share)
	}
	for _, b := range c.Bins {
		if b.N == 0 {
			continue
		}
		r := 4 + 2*math.Sqrt(float64(min(b.N, 36)))
		x, y := chartLeft+chartSide*b.Stated, chartTop+chartSide*(1-b.Rate)
		between := w.T("practice.calibration.range", "from", terms.Percent(b.From), "to", terms.Percent(b.To))
		v.Dots = append(v.Dots, calibrationDot{
			X: unit(x), Y: unit(y), R: unit(r), LabelY: unit(y - r - 4), N: terms.Count(b.N),
			Say: w.T(
				"practice.calibration.dot", "n", b.N, "sure", terms.Percent(b.Stated), "right", terms.Percent(b.Rate),
			),
		})
		v.Rows = append(
			v.Rows, calibrationRow{between, terms.Count(b.N), terms.Percent(b.Stated), terms.Percent(b.Rate)},
		)
	}
	for _, t := range []float64{0, 0.5, 1} {
		v.Ticks = append(
			v.Ticks, chartTick{unit(chartLeft + chartSide*t), unit(chartTop + chartSide*(1-t)), terms.Decimals(t, 1)},
		)
	}
	return v
}

// frame returns the axes of the chart as an SVG path.
func (calibrationChart) frame() string {
	return fmt.Sprintf("M%g %gv%gh%g", chartLeft, chartTop, chartSide, chartSide)
}

func (calibrationChart) diagonal() string {
	return fmt.Sprintf("M%g %gl%g %g", chartLeft, chartTop+chartSide, chartSide, -chartSide)
}

// fewGuesses is the minimum number of guesses for a verdict on the learner's calibration.
const fewGuesses = 10

// calibrationText describes whether the stated confidence in n guesses exceeds the share of correct
// guesses. A difference below a tenth is attributed to chance.
func calibrationText(w stage.Words, n int, over float64) string {
	switch {
	case n < fewGuesses:
		return w.T("practice.calibration.few")
	case over >= 0.1:
		return w.T("practice.calibration.over")
	case over <= -0.1:
		return w.T("practice.calibration.under")
	}
	return w.T("practice.calibration.close")
}

// unit formats a length in the chart.
func unit(x float64) string { return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64) }
