package infer

import (
	"context"
	"slices"
	"testing"
)

// withState returns settings in which each step depends on earlier draws.
func withState() Settings {
	s := DefaultSettings()
	s.Temperature, s.TopP, s.Stop.MaxTokens = 1, 1, 24
	s.MirostatTau, s.XTCProbability, s.DRYMultiplier = 3, 0.5, 0.8
	return s
}

// TestStatefulRulesReplayFromTheLog: with rules that have state, draw random numbers or consider
// earlier text, the text is the same when the log is replayed, when a step is rerun after going
// back, and when a branch is left and resumed.
func TestStatefulRulesReplayFromTheLog(t *testing.T) {
	m := bundledModel(t)
	l := newLoop(t, m, holePrompt, withState())
	finish(t, l)
	replays(t, l)
	whole := chosenTokens(l)
	for _, at := range []int{1, 7, len(whole) - 1} {
		if err := l.Cut(at, KindLogits); err != nil {
			t.Fatal(err)
		}
		finish(t, l)
		if got := chosenTokens(l); !slices.Equal(got, whole) {
			t.Fatalf("after going back to step %d, got %v, want %v", at, got, whole)
		}
	}
	// A different token at step 5 changes the state from step 5 on, but not before.
	steps := l.Steps()
	other := int(steps[4].Distribution().Order[30])
	if err := l.Choose(context.Background(), 5, other); err != nil {
		t.Fatal(err)
	}
	finish(t, l)
	replays(t, l)
	branch := chosenTokens(l)
	if !slices.Equal(branch[:4], whole[:4]) || branch[4] != other {
		t.Fatalf("the branch is %v of %v; want branch[:4] = %v, branch[4] = %d", branch, whole, whole[:4], other)
	}
	if err := l.Adopt(context.Background(), steps[:12], withState()); err != nil {
		t.Fatal(err)
	}
	finish(t, l)
	if got := chosenTokens(l); !slices.Equal(got, whole) {
		t.Fatalf("back on the first branch, got %v, want %v", got, whole)
	}
}
