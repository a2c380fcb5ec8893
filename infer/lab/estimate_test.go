package lab

import "testing"

// TestLargeRunsNeedConfirmation: users must confirm a run that takes long or needs much
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

// TestEstimateCountsTheFormulas: an estimate counts the same as the formulas: cached and
// recomputed, as often as requested.
func TestEstimateCountsTheFormulas(t *testing.T) {
	env := models(t)
	v := values(t, cacheLab{}, Values{"tokens": "100", "repeats": "3"})
	e, err := cacheLab{}.Estimate(env, v)
	cached, recomputed := env.Target.Shape().Generate(len(env.Target.Encode(v["prompt"])), 100)
	if want := 3 * (cached.Total() + recomputed.Total()); err != nil || e.MultAdds != want || e.Took <= 0 {
		t.Errorf("%+v, %v; want %d multiply-adds", e, err, want)
	}
}
