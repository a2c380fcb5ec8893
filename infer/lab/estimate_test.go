package lab

import (
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
)

// TestLargeRunsNeedConfirmation: users must confirm a run that takes a long time or needs a lot of
// memory.
func TestLargeRunsNeedConfirmation(t *testing.T) {
	for _, c := range []struct {
		e    Estimate
		want bool
	}{
		{Estimate{Took: LargeRun - 1, Bytes: LargeBytes - 1}, false},
		{Estimate{Took: LargeRun}, true},
		{Estimate{Bytes: LargeBytes}, true},
	} {
		if c.e.judge(); c.e.Large != c.want {
			t.Errorf("got %+v, want Large = %t", c.e, c.want)
		}
	}
}

// TestEstimateCountsTheFormulas: the multiply-adds in an estimate are the sum of the formulas for
// the cached and the recomputed run, times the number of repeats.
func TestEstimateCountsTheFormulas(t *testing.T) {
	env := models(t)
	v := values(t, cacheLab{}, terms.Values{"tokens": "100", "repeats": "3"})
	e, err := cacheLab{}.Estimate(env, v)
	cached, recomputed := env.Target.Shape().Generate(len(env.Target.Encode(v["prompt"])), 100)
	if want := 3 * (cached.Total() + recomputed.Total()); err != nil || e.MultAdds != want || e.Took <= 0 {
		t.Errorf("%+v, %v; want %d multiply-adds", e, err, want)
	}
}

// TestEstimateTellsPassesFromSteps: an estimate uses the speed of multi-position passes for tokens
// that are read in one pass, and the speed of single steps for tokens that are generated one by
// one.
func TestEstimateTellsPassesFromSteps(t *testing.T) {
	m := models(t).Target
	speeds.Lock()
	was, ok := speeds.best[m.Hash()]
	speeds.best[m.Hash()] = speed{step: 1e9, pass: 4e9, until: time.Now().Add(time.Hour)}
	speeds.Unlock()
	t.Cleanup(func() {
		speeds.Lock()
		defer speeds.Unlock()
		if delete(speeds.best, m.Hash()); ok {
			speeds.best[m.Hash()] = was
		}
	})
	e := guess(Env{Target: m}, work{steps: 2e9, passes: 8e9}, 0, 0)
	if e.MultAdds != 10e9 || e.Took != 4*time.Second {
		t.Errorf("got %d multiply-adds in %v, want 10e9 in 2 s + 2 s", e.MultAdds, e.Took)
	}
	// A prompt of 7 positions takes one pass, which yields the first of 5 tokens; the other 4 take
	// one step each.
	s := m.Shape()
	var steps int64
	for n := 8; n <= 11; n++ {
		steps += s.Step(n).Total()
	}
	if got, want := written(s, 7, 5), (work{steps, s.Pass(7).Total()}); got != want {
		t.Errorf("generating 5 tokens after 7 positions: got %+v, want %+v", got, want)
	}
}
