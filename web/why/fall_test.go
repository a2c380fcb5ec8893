package why

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/web/stage"
)

// parts returns the contributions of a model without heads: an embedding that adds 3 and, for each
// block, the given contributions of attention and feed-forward.
func parts(blocks int, attention, feedForward float64) []infer.Contribution {
	list := []infer.Contribution{{Part: infer.Part{Kind: infer.PartEmbedding}, Z: 3}}
	for b := range blocks {
		list = append(
			list, infer.Contribution{Part: infer.Part{Kind: infer.PartHead, Block: b + 1, Head: 1}, Z: attention},
			infer.Contribution{Part: infer.Part{Kind: infer.PartFeedForward, Block: b + 1}, Z: feedForward},
		)
	}
	return list
}

// TestDeepModelSumScrolls: for a deep model, the picture of the sum can be scrolled, since its text
// would be unreadable if the picture were shrunk to fit the page.
func TestDeepModelSumScrolls(t *testing.T) {
	for blocks, long := range map[int]bool{6: false, 28: true} {
		f := newFall(stage.English, parts(blocks, 1, -1), parts(blocks, 1, -1), "score")
		var page strings.Builder
		if err := fallHTML(f).Render(t.Context(), &page); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(page.String(), "fall--long"); got != long {
			t.Errorf("with %d blocks: got Long = %v, want %v", blocks, got, long)
		}
	}
}

// TestSumBarsAreCumulative: each bar begins where the previous one ends, and the last bar is the
// sum: 3 + 2 - 4 + 2 - 4 is -1. If the first block does not add its 2, the bars after it move.
func TestSumBarsAreCumulative(t *testing.T) {
	base := parts(2, 2, -4)
	now := parts(2, 2, -4)
	now[1].Z = 0
	f := newFall(stage.English, base, now, "score")
	var labels []string
	for i, b := range f.Bars {
		labels = append(labels, b.Name+" "+b.Label)
		if b.Ghost != (i > 0) {
			t.Errorf("bar %d: Ghost is %v, want %v", i, b.Ghost, i > 0)
		}
	}
	want := "[embedding +3.00 attention 0.00 feed-fwd −4.00 attention +2.00 feed-fwd −4.00 score −3.00]"
	if got := fmt.Sprint(labels); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// The sums are 3, 3, -1, 1 and -3. The whole model's sums go up to 5, so the axis spans 8
	// units.
	unit := fallHigh / 8
	for i, want := range []float64{5 - 3, 5 - 3, 5 - 3, 5 - 1, 5 - 1, 5 - 0} {
		if got := (f.Bars[i].Y - fallTop) / unit; got != want {
			t.Errorf("bar %d begins at %v below the top, want %v", i, got, want)
		}
	}
	var ticks []string
	for _, tick := range f.Ticks {
		ticks = append(ticks, tick.Name)
	}
	if got := fmt.Sprintf("%v %s %s", ticks, f.Rows[1].Label, f.Rows[3].Label); got != "[−2 0 2 4] −4.00 −3.00" {
		t.Errorf("narrow picture's ticks, block label and sum label: got %s, want %s", got, "[−2 0 2 4] −4.00 −3.00")
	}
	if !strings.HasSuffix(f.Alt, "block 2 feed-fwd −4.00, score −3.00.") {
		t.Errorf("f.Alt = %q, want it to end with %q", f.Alt, "block 2 feed-fwd −4.00, score −3.00.")
	}
}
