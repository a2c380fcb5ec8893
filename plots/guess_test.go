package plots

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

// TestPrefillChartShowsGuess: before a run, the picture shows only the guess. After the run, it
// shows the guess and the measurement on the same axis, and its description states both.
func TestPrefillChartShowsGuess(t *testing.T) {
	t.Parallel()
	g := Guess{
		Title: "Writing", Whole: "reading", At: 1, High: 8, From: 4, To: math.Inf(1), Guessed: "more than 4",
		Words: func(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) + " times" },
	}
	for _, g.Narrow = range []bool{false, true} {
		g.Measured = nil
		before, err := g.Draw(terms.English)
		if err != nil || !strings.Contains(before.SVG, "not yet") || before.Rows[1][1] != "more than 4" {
			t.Errorf(
				"before: got %v, %v; want no error, before.SVG with %q, before.Rows[1][1] = %q", err, before.Rows,
				"not yet", "more than 4",
			)
		}
		found := 3.25
		g.Measured = &found
		after, err := g.Draw(terms.English)
		if err != nil || !strings.Contains(after.SVG, "3.2 times") || strings.Contains(after.SVG, "not yet") ||
			after.Description != "Your guess: more than 4. Measured: 3.2 times." {
			t.Errorf(
				"after: got %v, %s; want no error, after.SVG with %q, after.SVG without %q, after.Description = %s",
				err, after.Description, "3.2 times", "not yet", "Your guess: more than 4. Measured: 3.2 times.",
			)
		}
		for _, tick := range []string{"0.0 times", "2.0 times", "8.0 times"} {
			if strings.Contains(before.SVG, tick) != strings.Contains(after.SVG, tick) {
				t.Errorf("the tick %s is in one picture only, want the same axis in both", tick)
			}
		}
	}
	g.Guessed = ""
	if c, err := g.Draw(terms.English); err != nil || !strings.Contains(c.SVG, "not guessed yet") {
		t.Errorf("nothing guessed: got %v, %s; want no error, c.SVG with %q", err, c.Description, "not guessed yet")
	}
	for _, bad := range []Guess{{}, {High: 1, At: 2}, {High: 1, Guessed: "x", From: 2, To: 1}, {High: math.NaN()}} {
		bad.Words = g.Words
		if _, err := bad.Draw(terms.English); err == nil {
			t.Errorf("%+v has a picture, want an error", bad)
		}
	}
}
