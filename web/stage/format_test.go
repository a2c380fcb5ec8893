package stage

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session/sessiontest"
)

func TestNumbersInWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Share(0), "0%"},
		{Share(0.33584), "33.58%"},
		{Share(-1), "0%"},
		{Share(1.5), "100%"},
		{English.draws(0.6339), "63 draws in 100"}, // 1 − 0.3661
		{English.draws(0.01), "1 draw in 100"},
		{English.draws(0.001), "fewer than 1 draw in 100"},
		{English.draws(0.9999), "more than 99 draws in 100"},
		{English.draws(0), "no draw"},
		{English.blocks(6), "Six blocks"},
		{English.blocks(32), "32 blocks"},
		{English.List([]string{"a", "b", "c"}), "a, b and c"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestRampColorSteps(t *testing.T) {
	for _, c := range []struct {
		p    float64
		want string
	}{
		{0, "p1"},
		{0.0499, "p1"},
		{0.05, "p2"},
		{0.1999, "p2"},
		{0.2, "p3"},
		{0.4999, "p3"},
		{0.5, "p4"},
		{0.7999, "p4"},
		{0.8, "p5"},
		{1, "p5"},
	} {
		if got := Ramp(c.p); got != c.want {
			t.Errorf("Ramp(%v) = %s, want %s", c.p, got, c.want)
		}
	}
}

// TestOnlyTheBarsMoveWithTheTemperature: the probability axis and the marks for T = 1 have the same
// positions at every temperature. Only the bars change, so the distribution looks flatter at a
// higher temperature. At T = 1, the probability of the drill's first token is 1 / 1.5832 = 0.6316.
func TestOnlyTheBarsMoveWithTheTemperature(t *testing.T) {
	for _, temperature := range []float64{0.5, 1, 4} {
		at := sampling.Settings{Temperature: temperature, TopP: 1}
		table := English.New(sessiontest.Drill(t, at, infer.KindSoftmax, 0)).Table
		if !reflect.DeepEqual(table.Ticks, unitTicks) {
			t.Errorf("at T = %v, the axis is %v, want %v", temperature, table.Ticks, unitTicks)
		}
		for i, want := range []string{"0.6316", "0.2324", "0.0855", "0.0314", "0.0191"} {
			row := table.Rows[i]
			one, err := strconv.ParseFloat(strings.TrimSuffix(row.One, "%"), 64)
			if err != nil || terms.Prob(one/100) != want || row.OneSay != want+" at T = 1" {
				t.Errorf("at T = %v, row %d has its mark at %s, %q, want %s", temperature, i, row.One, row.OneSay, want)
			}
			bar, err := strconv.ParseFloat(strings.TrimSuffix(row.BarP, "%"), 64)
			if err != nil || terms.Prob(bar/100) != row.P {
				t.Errorf("at T = %v, the bar of row %d is %s long, want its p, %s", temperature, i+1, row.BarP, row.P)
			}
		}
	}
}
