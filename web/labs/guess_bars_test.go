package labs

import (
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/web/guess"
)

// TestGuessBarsCoverTheirResults: every choice has a range. A measured value is within the range
// drawn for the choice that it confirms, and a result that confirms no choice has no bar.
func TestGuessBarsCoverTheirResults(t *testing.T) {
	t.Parallel()
	drawn := 0
	for _, r := range borneOutByHand() {
		b := faces[r.lab].bars
		if b == nil {
			continue
		}
		drawn++
		x, ok := b.found(r.result)
		if in := b.ranges[r.want]; ok != (r.want != "") || ok && !(in[0] <= x && x <= in[1]) {
			t.Errorf("%s: measured %v, %v; want it in the bar of %q, from %v to %v", r.lab, x, ok, r.want, in[0], in[1])
		}
	}
	if drawn < 20 {
		t.Errorf("only %d results have bars", drawn)
	}
	for name, f := range faces {
		if f.bars == nil {
			continue
		}
		for key := range f.bars.ranges {
			if !slices.ContainsFunc(f.Choices, func(c guess.Choice) bool { return c.Key == key }) {
				t.Errorf("%s has a bar for %q, which is not a guess.Choice", name, key)
			}
		}
		if len(f.bars.ranges) != len(f.Choices) {
			t.Errorf("%s draws %d bars, want one for each of %d choices", name, len(f.bars.ranges), len(f.Choices))
		}
	}
}
