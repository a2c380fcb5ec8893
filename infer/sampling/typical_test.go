package sampling

import (
	"slices"
	"testing"
)

// TestTypicalPByHand: at T = 1, the drill's p is 0.6316, 0.2324, 0.0855, 0.0314, 0.0191, so −ln p
// is 0.4594, 1.4594, 2.4594, 3.4594, 3.9594 and Σ −p·ln p is 1.0239. The distances from that mean
// are 0.5644, 0.4356, 1.4356, 2.4356 and 2.9356: the second token is the most typical one, then the
// first, and then the others in order.
func TestTypicalPByHand(t *testing.T) {
	for _, c := range []struct {
		x     float64
		ranks []int
		mass  float64
	}{
		{0.2, []int{1}, 0.2324}, // the most typical token alone reaches 0.2, so the most probable one is cut
		{0.5, []int{0, 1}, 0.8640},
		{0.9, []int{0, 1, 2}, 0.9495},
		{0.99, []int{0, 1, 2, 3, 4}, 1}, // four sum to 0.9809
	} {
		d := Decide(drill, with(func(s *Settings) { s.TypicalP = c.x }))
		var ranks []int
		for i := range d.Keep {
			ranks = append(ranks, d.KeptRank(i))
		}
		if !slices.Equal(ranks, c.ranks) || !near4(d.Mass, c.mass) || d.Leading() != (c.x > 0.2) {
			t.Errorf("typical-p %v keeps ranks %v with mass %v, want %v with %v", c.x, ranks, d.Mass, c.ranks, c.mass)
		}
	}
}

// TestTopTokenCutByTypicalP: if the first token is cut, the draw starts with the next one, and the
// first is not included in any count of kept tokens.
func TestTopTokenCutByTypicalP(t *testing.T) {
	d := Decide(drill, with(func(s *Settings) { s.TypicalP = 0.2; s.TopK = 4 }))
	if d.Keep != 1 || d.Stays(0) || !d.Stays(1) || d.Keeps(0) || !d.Keeps(1) || d.Q(0) != 0 || d.Q(1) != 1 {
		t.Errorf("got %d kept; q %v, %v; want only the second token, with q 0, 1", d.Keep, d.Q(0), d.Q(1))
	}
	for _, u := range []float64{0, 0.5, 0.999} {
		if r := d.Draw(u); r != 1 {
			t.Errorf("u = %v draws rank %d, want 1", u, r)
		}
	}
	if from, to := d.Segment(1); from != 0 || to != 1 {
		t.Errorf("the segment is %v to %v; want 0, 1", from, to)
	}
	for _, c := range []struct{ from, to, n int }{{0, 1, 0}, {0, 2, 1}, {1, 2, 1}, {2, 5, 0}, {0, 5, 1}} {
		n, p, _ := d.KeptIn(c.from, c.to)
		if n != c.n || (p > 0.23) != (c.n == 1) {
			t.Errorf("of ranks %d to %d, %d are kept with p %v, want %d", c.from, c.to, n, p, c.n)
		}
	}
	why := d.Why(0)
	if why.Rule != RuleTypicalP || !near4(why.Surprise, 0.4594) || !near4(why.Mean, 1.0239) ||
		!near4(why.Value, 0.5644) || !near4(why.Bound, 0.4356) {
		t.Errorf(
			"the first token is cut because of %+v, want Rule = %q, Surprise ≈ 0.4594, Mean ≈ 1.0239, Value ≈ "+
				"0.5644, Bound ≈ 0.4356",
			why, RuleTypicalP,
		)
	}
	if why := d.Why(4); why.Rule != RuleTopK || why.Value != 5 || why.Bound != 4 {
		t.Errorf("the last token is cut because of %+v, want Rule = %q, Value = 5, Bound = 4", why, RuleTopK)
	}
}

// TestDisjointFiltersKeepTopToken: top-k 1 keeps the first token, and typical-p 0.2 keeps the
// second. If filters keep no token in common, the most probable token is kept. If each filter is
// measured on the tokens that the previous one left, some token always remains.
func TestDisjointFiltersKeepTopToken(t *testing.T) {
	d := Decide(drill, with(func(s *Settings) { s.TypicalP = 0.2; s.TopK = 1 }))
	if d.Keep != 1 || !d.Stays(0) || d.CutBy(0) != RuleNone || d.KeepRenormalizing() != 1 || !d.Fallback {
		t.Errorf(
			"got %d kept, the first cut by %q, fallback %v; want 1, the first, by the fallback", d.Keep, d.CutBy(0),
			d.Fallback,
		)
	}
	// One token in common is enough. Greedy does not depend on whether the filters have tokens in
	// common.
	if d := Decide(drill, with(func(s *Settings) { s.TypicalP = 0.2; s.TopK = 2 })); d.Fallback || d.Keep != 1 {
		t.Errorf("with one token in common, %d are kept, fallback %v; want 1, false", d.Keep, d.Fallback)
	}
	if d := Decide(drill, Settings{TopP: 1, TopK: 1, TypicalP: 0.2}); d.Fallback {
		t.Error("greedy falls back")
	}
	// For the first two tokens, rescaled to 0.7311 and 0.2689, the entropy is 0.5822. −ln p is
	// 0.3133 and 1.3133, so the first token is more typical and suffices.
	d = Decide(drill, with(func(s *Settings) { s.TypicalP = 0.7; s.TopK = 2 }))
	if d.KeepRenormalizing() != 1 || d.Keep != 2 {
		t.Errorf("renormalizing keeps %d, want 1; this order %d, want 2", d.KeepRenormalizing(), d.Keep)
	}
}
