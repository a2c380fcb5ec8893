package stage

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
)

// TestGrowthCurvesAddUp: if a text has several tokens, the Story's seventh stage draws the
// accumulated work of all steps, with and without the cache, on one scale from zero to the larger
// total.
func TestGrowthCurvesAddUp(t *testing.T) {
	drawn := 0
	for i, s := range manyStates(t) {
		if !s.Started() || ended(s) || s.Cursor.Stage != infer.KindCache {
			continue
		}
		g := English.NewStory(s).Memory.Grows
		if n := s.Cursor.Step; g == nil && n > 1 || g != nil && n < 2 {
			t.Errorf("state %d at token %d has curves: %v, want curves from the second token on", i, n, g != nil)
		}
		if g == nil {
			continue
		}
		drawn++
		var with, without int64
		points := func(text string) (list [][2]float64) {
			for _, f := range strings.Fields(text) {
				var p [2]float64
				if _, err := fmt.Sscanf(f, "%g,%g", &p[0], &p[1]); err != nil {
					t.Fatalf("state %d: the point %q: %v", i, f, err)
				}
				list = append(list, p)
			}
			return list
		}
		a, b := points(g.With), points(g.Without)
		for _, step := range s.Steps[:s.Cursor.Step] {
			with += step.Blocks.Plus(step.Output).Total()
			without += s.Model.Shape().Pass(step.Positions()).Total()
		}
		share := float64(with) / float64(without)
		if end := a[len(a)-1]; end[0] != growthWidth || math.Abs(end[1]-growthHeight*(1-share)) > 0.01 {
			t.Errorf("state %d: with memory, the curve ends at %v, want %v of the height", i, end, share)
		}
		if end := b[len(b)-1]; end != [2]float64{growthWidth, 0} || b[0] != [2]float64{0, growthHeight} {
			t.Errorf("state %d: without memory, the curve goes from %v to %v, want it to go from corner to corner", i,
				b[0], end)
		}
	}
	if drawn < 3 {
		t.Errorf("got %d states with curves, want at least 3", drawn)
	}
}
