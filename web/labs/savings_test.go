package labs

import (
	"testing"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/stage"
)

// TestSavingsColumnsMatchHeads: in the bill's table of alternative requests, each number is in the
// column that its heading belongs to.
func TestSavingsColumnsMatchHeads(t *testing.T) {
	var s lab.Saving
	s.Title, s.Saved, s.Share, s.ADay = lab.Text("shorter"), 0.25, 0.5, 12
	s.Cost.InputTokens, s.Cost.OutputTokens, s.Cost.Total = 30, 20, 0.75
	g := savingsGrid(stage.English, &lab.Bill{Savings: []lab.Saving{s}})
	want := map[string]string{
		"change": "shorter", "tokens in": "30", "tokens out": "20",
		"cost": terms.Dollars(0.75), "saved": terms.Dollars(0.25), "share": terms.Percent(0.5),
		"a day": terms.Dollars(12),
	}
	for i, head := range g.Head {
		if w, known := want[head]; known && g.Rows[0][i] != w {
			t.Errorf("under %q: got %q, want %q", head, g.Rows[0][i], w)
		}
		delete(want, head)
	}
	if len(want) > 0 {
		t.Errorf("no heads for %v", want)
	}
}
