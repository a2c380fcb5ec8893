package first

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/web/stage"
)

// TestDrawnSceneSaysWhatWasPossible: after the draw, the page says that other tokens were possible
// only of those that the filters kept. The distribution has four tokens with the shares 0.4, 0.3,
// 0.2 and 0.1, and top-k keeps a number of them.
func TestDrawnSceneSaysWhatWasPossible(t *testing.T) {
	t.Parallel()
	for keep, want := range map[int]string{
		4: "One share was hit. Every other token was possible too.",
		3: "One share was hit. Every other kept token was possible too. The tokens left out were not.",
		1: "All other tokens were left out, so nothing else was possible.",
	} {
		d := &sampling.Distribution{Order: []int32{2, 0, 3, 1}, Keep: keep}
		got := stage.English.T(drawnUnder(d))
		if got != want {
			t.Errorf("%d of 4 tokens are kept: got %q, want %q", keep, got, want)
		}
		if strings.Contains(got, "left out") != (keep < 4) {
			t.Errorf("%d of 4 tokens are kept, and the page says %q", keep, got)
		}
	}
}
