package session

import (
	"math"
	"testing"

	"github.com/tokenbytoken/viz/infer"
)

// TestNegativeZeroIsNormalized: a setting of minus zero becomes zero and is shown as zero.
func TestNegativeZeroIsNormalized(t *testing.T) {
	s := newRun(t, "Once upon a time")
	minus := math.Copysign(0, -1)
	st := must(t, s, Set{Knobs: infer.Knobs{"temperature": minus, "min_p": minus}})
	if math.Signbit(st.Settings.Temperature) || math.Signbit(st.Settings.MinP) {
		t.Errorf("got temperature %v, min-p %v; want zeros without a sign", st.Settings.Temperature, st.Settings.MinP)
	}
}
