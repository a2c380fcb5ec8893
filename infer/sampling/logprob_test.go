package sampling

import (
	"math"
	"testing"
)

// TestLogProbsByHand: in the five-token drill, the softmax at T = 1 is 0.6316, 0.2324, 0.0855,
// 0.0314, 0.0191. ln 86.4397 = 4.4594, so ln p of the first token is 4 − 4.4594 = −0.4594.
func TestLogProbsByHand(t *testing.T) {
	z := []float32{1, 4, 0.5, 3, 2}
	l := LogProbsOf(z)
	if got := l.Of(1); math.Abs(got-(-0.4594)) > 5e-5 {
		t.Errorf("ln p of the first token is %.4f, want -0.4594", got)
	}
	p, _, _ := Softmax(z, 1)
	for id := range z {
		if got := math.Exp(l.Of(id)); math.Abs(got-p[id]) > 1e-15 {
			t.Errorf("token %d: got e^ln p %v, want %v as in the softmax", id, got, p[id])
		}
	}
	if top := l.Top(2); len(top) != 2 || top[0] != 1 || top[1] != 3 {
		t.Errorf("the two most probable are %v, want 1 and 3", top)
	}
	if top := l.Top(0); len(top) != 0 {
		t.Errorf("the first 0 tokens are %v, want none", top)
	}
	// e^−2000 underflows a float64; its logarithm does not.
	if got := LogProbsOf([]float32{0, -2000}).Of(1); got != -2000 {
		t.Errorf("ln p is %v, want -2000", got)
	}
}
