package stage

import (
	"strconv"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/session/sessiontest"
)

// TestScoresHaveAZoomedAxis: the drill's scores 4, 3, 2, 1, 0.5 span 3.5. A sixth of that is
// 0.58, so the ticks are 1 apart, the axis begins at 0, and the score 3 is at 3/4.
func TestScoresHaveAZoomedAxis(t *testing.T) {
	st := sessiontest.Drill(t, sampling.Settings{Temperature: 1, TopP: 1}, infer.KindLogits, 0)
	table := English.New(st).Table
	for i, want := range []struct{ dot, behind string }{
		{"100%", "first"}, {"75%", "−1.00"}, {"50%", "−2.00"}, {"25%", "−3.00"}, {"12.5%", "−3.50"},
	} {
		if row := table.Rows[i]; row.DotZ != want.dot || row.Behind != want.behind {
			t.Errorf("row %d has its dot at %s and is %s behind, want %+v", i+1, row.DotZ, row.Behind, want)
		}
	}
	var labels []string
	for _, k := range table.Ticks {
		labels = append(labels, k.X+" "+k.Label)
	}
	if got := strings.Join(labels, ", "); got != "0% 0, 25% 1, 50% 2, 75% 3, 100% 4" {
		t.Errorf("the ticks are %s, want %s", got, "0% 0, 25% 1, 50% 2, 75% 3, 100% 4")
	}
}

// TestHistogramHasEveryScore: every score is in one bar of the histogram, the box covers the rows,
// and a penalty changes the histogram in the same way as the rows.
func TestHistogramHasEveryScore(t *testing.T) {
	for _, penalty := range []float64{1, 1.5} {
		s := session.New(testmodel.Target(t), session.DefaultLimits())
		sessiontest.Do(t, s, session.SetKnob("repetition_penalty", penalty))
		sessiontest.Do(t, s, session.Start{Prompt: "Once upon a time"})
		st := sessiontest.Do(t, s, session.StepStage{})
		h := English.New(st).Histogram
		share := func(text string) float64 {
			x, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
			if err != nil {
				t.Fatal(err)
			}
			return x / 100
		}
		tallest, sum := 0.0, 0.0
		for _, b := range h.Bins {
			tallest, sum = max(tallest, share(b.H)), sum+share(b.H)
			if got := share(b.Y) + share(b.H); got < 0.999 || got > 1.001 {
				t.Errorf("a bar does not begin at the axis: %+v", b)
			}
		}
		if tallest != 1 || len(h.Bins) < 5 || len(h.Bins) > bins+2 {
			t.Errorf("got %d bars, the tallest %v; want at least 5 and at most %d, 1", len(h.Bins), tallest, bins+2)
		}
		rows := st.Stage(RowsShown).(infer.Logits)
		number := func(text string) float64 {
			x, err := strconv.ParseFloat(strings.ReplaceAll(text, terms.Minus, "-"), 64)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		from, to := number(h.From), number(h.To)
		at := func(z float32) float64 { return (float64(z) - from) / (to - from) }
		last := at(rows.Rows.Rows[RowsShown-1].Z)
		if left, right := share(h.BoxX), share(h.BoxX)+share(h.BoxW); left > last+0.001 || right < at(rows.Max)-0.001 ||
			at(rows.Min) < 0 || at(rows.Max) > 1 {
			t.Errorf("penalty %v: the box is from %v to %v, the rows from %v", penalty, left, right, last)
		}
	}
}
