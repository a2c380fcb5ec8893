package polls

import (
	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/web/session"
)

// Distribution returns the distribution at a step of a state, or nil if there is none.
func Distribution(st *session.State, step int) *sampling.Distribution {
	if st == nil || step < 1 || step > len(st.Steps) || st.Steps[step-1].Ran < infer.KindLogits {
		return nil
	}
	if st.Cursor.Step == step && st.Dist != nil {
		return st.Dist
	}
	return st.Steps[step-1].Distribution()
}

// drawnBy returns the distribution of the current step and the token that the run's random number u
// selects. The scores of the step must have been computed.
func drawnBy(st *session.State) (*sampling.Distribution, int32) {
	d := Distribution(st, st.Cursor.Step)
	return d, d.Order[d.Draw(sampling.U(st.Settings.Seed, st.Cursor.Step))]
}
