package session_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/session"
)

// A branch goes on with the settings that it had when it was left, and with
// them again after the run was given up for memory.
func TestBranchKeepsItsSettings(t *testing.T) {
	t.Parallel()
	s := open(t, session.Start{Prompt: "Hi"}, session.StepToken{}, session.StepToken{})
	first := s.State().Branches[0].ID
	// Looking back, a setting cuts the second token off: another branch begins.
	st := apply(t, s, session.Back{}, session.Back{}, session.Back{}, session.SetSampling{Temperature: ptr(2.5)}, session.StepToken{})
	if len(st.Branches) != 2 {
		t.Fatalf("branches: %+v", st.Branches)
	}
	second := st.Branches[1].ID
	for _, row := range []struct {
		id    int
		want  float64
		evict bool
	}{{first, 1, false}, {second, 2.5, false}, {first, 1, true}, {second, 2.5, true}} {
		if row.evict {
			s.Evict()
		}
		if st := apply(t, s, session.TakeBranch{ID: row.id}); st.Settings.Temperature != row.want {
			t.Errorf("branch %d (evicted before: %v) goes on at T = %v, want %v", row.id, row.evict, st.Settings.Temperature, row.want)
		}
	}
}
