package sampling

import (
	"math"
	"testing"
)

// TestDivergenceByHand: p = (½, ½) against q = (¾, ¼) gives ½·ln(½ / ¾) + ½·ln(½ / ¼) =
// ½·ln(4/3). Adding a constant to all logits changes nothing.
func TestDivergenceByHand(t *testing.T) {
	got := Divergence([]float32{7, 7}, []float32{100 + float32(math.Log(3)), 100})
	if want := math.Log(4./3) / 2; !(math.Abs(got-want) <= 1e-5) {
		t.Errorf("%v, want %v", got, want)
	}
}
