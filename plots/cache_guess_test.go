package plots

import (
	"math"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

// TestCacheChartShowsGuess: before a run, the chart shows the guess and states that nothing was
// measured. After the run, it shows the guess and the measurements, and nothing is cut off.
func TestCacheChartShowsGuess(t *testing.T) {
	t.Parallel()
	g := CacheGuess{Tokens: 8, First: 1, Top: 4, Guess: &[2]float64{3, 1}}
	c, in, err := g.Draw(terms.English)
	if err != nil || !strings.Contains(c.SVG, "you: all again 3") || !strings.Contains(c.Description, "Nothing") {
		t.Errorf(
			"before: got %v, %s, %s; want <nil>, it containing %q, it containing %q", err, c.Description, c.SVG,
			"Nothing", "you: all again 3",
		)
	}
	if half := in.Y(in.High / 2); math.Abs(half-(in.Top+in.Bottom)/2) > 1e-9 || in.Y(9*in.High) != in.Top {
		t.Errorf(
			"half of the height is at %g of %+v; want half ≈ %g, in.Y(9*in.High) = %v", half, in, (in.Top+in.Bottom)/2,
			in.Top,
		)
	}
	for step := 1; step <= 8; step++ {
		g.Points = append(g.Points, Ways{step, Exactly(1), Exactly(float64(step))})
	}
	for _, g.Narrow = range []bool{false, true} {
		c, in, err = g.Draw(terms.English)
		if err != nil || in.High < 8 || len(c.Rows) != 8 || !strings.Contains(c.Description, "8.00 ms all read again") {
			t.Errorf(
				"after: got %v, up to %g, %d rows, %s; want <nil>, at least 8, 8, it containing %q", err, in.High,
				len(c.Rows), c.Description, "8.00 ms all read again",
			)
		}
	}
	if want := [2]float64{narrowWidth, chartHeight}; in.Width != want[0] || in.Height != want[1] {
		t.Errorf("a phone's drawing is %g by %g; want %g, %g", in.Width, in.Height, want[0], want[1])
	}
	g.Tokens = 1
	if _, _, err := g.Draw(terms.English); err == nil {
		t.Error("got a chart for a text of one token, want an error")
	}
}
