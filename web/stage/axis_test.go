package stage

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/web/session/sessiontest"
)

// TestProbabilityAxisIsFixed: the probability bars have the same axis at every temperature, even in
// the Story, so a higher temperature makes the first bar shorter. These are the shares for the
// drill's scores 4, 3, 2, 1, 0.5, calculated by hand: e⁰ / (e⁰ + e⁻² + e⁻⁴ + e⁻⁶ + e⁻⁷) = 0.8643 at
// T = 0.5, 0.6316 at T = 1, and 0.4217 at T = 2.
// Promise: The axis of probabilities stays the same while you compare temperatures.
func TestProbabilityAxisIsFixed(t *testing.T) {
	t.Parallel()
	ghost := ""
	for temperature, first := range map[float64]string{0.5: "86.43%", 1: "63.16%", 2: "42.17%"} {
		set := sampling.Pure
		set.Temperature = temperature
		s := sessiontest.Drill(t, set, infer.KindSoftmax, 0.5)
		table := English.New(s).Table
		if !reflect.DeepEqual(table.Ticks, unitTicks) {
			t.Errorf("T = %v: the axis has the ticks %+v, want %+v", temperature, table.Ticks, unitTicks)
		}
		if got := table.Rows[0].BarP; got != first {
			t.Errorf("T = %v: the first bar is %s of the axis, want %s", temperature, got, first)
		}
		story := English.NewStory(s).Shares.Rows
		bar, err := strconv.ParseFloat(strings.TrimSuffix(story[0].Bar, "%"), 64)
		want, _ := strconv.ParseFloat(strings.TrimSuffix(first, "%"), 64)
		if err != nil || math.Abs(bar-want) > 0.01 {
			t.Errorf("T = %v: the Story's first bar is %s of the axis, want %s", temperature, story[0].Bar, first)
		}
		if temperature == 1 {
			continue
		}
		if ghost == "" {
			ghost = story[0].Ghost
		}
		if story[0].Ghost != ghost || ghost == "" {
			t.Errorf(
				"T = %v: the mark of T = 1 is at %q, elsewhere at %q; want %q, non-empty", temperature, story[0].Ghost,
				ghost, ghost,
			)
		}
	}
}
