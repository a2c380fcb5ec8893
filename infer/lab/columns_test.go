package lab

import (
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

// TestColumnComparisonFindsFirstDifference: if two caches hold different texts, comparing their
// keys and values finds the first position at which they differ.
func TestColumnComparisonFindsFirstDifference(t *testing.T) {
	m := models(t).Target
	same, other := []int{5, 6, 7, 8}, []int{5, 6, 9, 8}
	r := &cacheRun{
		m: m, ids: same, prompt: 3, v: terms.Values{"block": "2", "position": "2"},
		kept: m.NewCache(), again: m.NewCache(),
	}
	r.result.Shape = m.Shape()
	for cache, ids := range map[*infer.Cache][]int{r.kept: same, r.again: other} {
		if _, _, err := m.Forward(t.Context(), cache, ids); err != nil {
			t.Fatal(err)
		}
	}
	r.compareColumns(2)
	c := r.columns
	// 2 · 6 layers · 2 heads · 32 · 4 positions, of which at most the last two differ.
	if c.Compared != 3072 || c.Different == 0 || c.Different > 1536 || slices.Equal(c.KeyA, c.KeyB) ||
		slices.Equal(c.ValueA, c.ValueB) {
		t.Errorf("%d of %d differ; key %v and %v", c.Different, c.Compared, c.KeyA[:3], c.KeyB[:3])
	}
	r.v["position"] = "1"
	r.compareColumns(2)
	if c := r.columns; !slices.Equal(c.KeyA, c.KeyB) || !slices.Equal(c.ValueA, c.ValueB) || c.Token.ID != 6 {
		t.Error("the columns before the first difference differ")
	}
	if n := differentBits([]float32{0, 1, 2}, []float32{float32(negativeZero()), 1, 3}); n != 2 {
		t.Errorf("%d numbers differ in their bits, want 2: −0 is not 0", n)
	}
}

func negativeZero() float64 { z := 0.0; return -1 * z }
