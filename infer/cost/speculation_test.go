package cost

import (
	"math"
	"testing"
)

func TestExpectedTokens(t *testing.T) {
	for _, row := range []struct {
		alpha float64
		gamma int
		want  float64
	}{
		{0.8, 4, 3.3616}, // 1 + 0.8 + 0.64 + 0.512 + 0.4096
		{0.5, 2, 1.75},   // 1 + ½ + ¼
		{0, 4, 1},        // no token is accepted, so there is only the correction
		{1, 4, 5},        // all are accepted, and one more token is drawn
		{0.75, 0, 1},     // no token is drafted: plain decoding
	} {
		if got := ExpectedTokens(row.alpha, row.gamma); !(math.Abs(got-row.want) <= 1e-12) {
			t.Errorf("α = %v, γ = %d: %v tokens, want %v", row.alpha, row.gamma, got, row.want)
		}
	}
	// The formula is numerically stable near 1.
	if got := ExpectedTokens(1-1e-9, 4); !(math.Abs(got-5) <= 1e-6) {
		t.Errorf("α just below 1: %v, want 5", got)
	}
}

func TestSpeedUp(t *testing.T) {
	// α = 0.75, c = 1/8, v = 1: γ = 4 gives 3.0508 / 1.5 = 2.0339, and no other
	// γ is better.
	best, at := 0.0, 0
	for gamma := range 20 {
		if s := SpeedUp(0.75, gamma, 0.125, 1); s > best {
			best, at = s, gamma
		}
	}
	if at != 4 || !(math.Abs(best-2.0339) <= 5e-5) {
		t.Errorf("the best is %v at γ = %d, want 2.0339 at 4", best, at)
	}
	// If a verification costs as much as its five positions, there is no gain even if all tokens
	// are accepted: 5 / (4/8 + 5) < 1.
	if s := SpeedUp(1, 4, 0.125, 5); s >= 1 {
		t.Errorf("speed-up %v with v = 5, want less than 1", s)
	}
	if s := SpeedUp(0.3, 0, 0.125, 1); s != 1 {
		t.Errorf("speed-up %v without drafts, want 1", s)
	}
}
