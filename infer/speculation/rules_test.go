package speculation

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/pool"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
)

// TestGreedySpeculationWithPenalty: under greedy decoding, speculation with the penalty generates
// the same text as the target alone.
func TestGreedySpeculationWithPenalty(t *testing.T) {
	m, draft := testmodel.Target(t), shallow(t, 5)
	s := infer.DefaultSettings()
	s.Seed, s.RepetitionPenalty, s.Temperature, s.Stop.MaxTokens = 1, 1.4, 0, 40
	for gamma := 1; gamma <= 5; gamma += 2 {
		want := newLoop(t, m, "Once upon a time there was a", s)
		finish(t, want)
		sp := newSpeculator(t, m, draft, "Once upon a time there was a", s, gamma)
		sp.Rows = 3
		speculate(t, sp)
		if !slices.Equal(sp.Tokens(), chosenTokens(want)) {
			t.Errorf("γ = %d: %v, want %v", gamma, sp.Tokens(), chosenTokens(want))
		}
		if a := sp.totals.Acceptance(); a < 0.05 || a > 0.95 {
			t.Errorf("the acceptance rate of the drafts was %.2f, so the test proves little", a)
		}
	}
}

// TestSpeculationRefusesState: speculation rejects a rule that adapts to each draw, and names the
// rule.
func TestSpeculationRefusesState(t *testing.T) {
	m := testmodel.Target(t)
	s := infer.DefaultSettings()
	s.MirostatTau, s.XTCProbability, s.DRYMultiplier = 3, 0.5, 0.8
	_, err := New(m, m, "Once upon a time there was a", s, 4)
	var refused *terms.RangeError
	if !errors.As(err, &refused) || refused.Field != "mirostat_tau" ||
		!strings.Contains(err.Error(), "mirostat adapts") {
		t.Errorf(
			"got %v, want an error of type *terms.RangeError, refused.Field = %q, Error() with %q", err, "mirostat_tau",
			"mirostat adapts",
		)
	}
	s.MirostatTau = 0
	if _, err := New(m, m, "Once upon a time there was a", s, 4); err != nil {
		t.Errorf("XTC and DRY have no state, but got error %v", err)
	}
}

// TestSpeculationThroughASlot: speculation gives the same results if a pool runs the target's passes.
func TestSpeculationThroughASlot(t *testing.T) {
	m := smallModel(t)
	pool := pool.New(m, 2)
	defer pool.Close()
	s := pure(3)
	s.Stop.MaxTokens = 20
	alone := untimedSpec(t, speculate(t, newSpeculator(t, m, m, "Hello", s, 4)))
	pooled := untimedSpec(t, speculate(t, newSpeculator(t, pool.Slot().Model(), m, "Hello", s, 4)))
	if !slices.Equal(alone, pooled) {
		t.Errorf("through a slot: got %q, want %q", pooled, alone)
	}
	if pool.Stats().Served == 0 {
		t.Error("the pool ran no pass")
	}
}
