package sampling

import (
	"math"
	"slices"
	"testing"
)

func TestRankBreaksTiesTowardTheLowerID(t *testing.T) {
	negativeZero := float32(math.Copysign(0, -1))
	for _, row := range []struct {
		z    []float32
		want []int32
	}{
		{[]float32{1, 3, 2}, []int32{1, 2, 0}},
		{[]float32{2, 2, 2, 2}, []int32{0, 1, 2, 3}},
		{[]float32{-1, 5, -1, 5}, []int32{1, 3, 0, 2}},
		{[]float32{negativeZero, 0, negativeZero, 0}, []int32{0, 1, 2, 3}},
		{[]float32{-1e30, 1e-45, -1e-45, 1e30, negativeZero}, []int32{3, 1, 4, 2, 0}},
		{[]float32{7}, []int32{0}},
	} {
		if got := Rank(row.z); !slices.Equal(got, row.want) {
			t.Errorf("Rank(%v) = %v, want %v", row.z, got, row.want)
		}
	}
}

// TestTopKKeepsLowerIDsOnTies: if the cut falls between equal tokens, those with lower ids are
// kept.
func TestTopKKeepsLowerIDsOnTies(t *testing.T) {
	z := []float32{1, 5, 1, 5, 1, 5}
	for _, row := range []struct {
		s    Settings
		kept []int32
	}{
		{Settings{TopP: 1}, []int32{1}},
		{Settings{Temperature: 1, TopK: 2, TopP: 1}, []int32{1, 3}},
		{Settings{Temperature: 1, TopK: 4, TopP: 1}, []int32{1, 3, 5, 0}},
		{Settings{Temperature: 1, TopP: 0.5}, []int32{1, 3}}, // 0.327 + 0.327 ≥ 0.5
		// a token whose p equals the largest p is not cut
		{Settings{Temperature: 1, TopP: 1, MinP: 1}, []int32{1, 3, 5}},
		{Settings{Temperature: 1, TopP: 0.01, MinP: 0}, []int32{1}},              // the first already crosses p
		{Settings{Temperature: 1, TopK: 99, TopP: 1}, []int32{1, 3, 5, 0, 2, 4}}, // k exceeds the number of tokens
	} {
		d := Decide(z, row.s)
		if got := d.Order[:d.Keep]; !slices.Equal(got, row.kept) {
			t.Errorf("%+v keeps %v, want %v", row.s, got, row.kept)
		}
	}
}

// TestMinPByHand: p/p_max of the drill is e^{z−4}: 1, 0.3679, 0.1353, 0.0498, 0.0302.
func TestMinPByHand(t *testing.T) {
	for minP, want := range map[float64]int{
		0: 5, 0.03: 5, 0.031: 4, 0.0497: 4, 0.05: 3, 0.1: 3, 0.14: 2, 0.367: 2, 0.368: 1, 1: 1,
	} {
		d := Decide(drill, with(func(s *Settings) { s.MinP = minP }))
		if d.Keep != want {
			t.Errorf("min-p %v keeps %d tokens, want %d", minP, d.Keep, want)
		}
	}
	// Min-p comes after the temperature: at T = 0.5, the ratios are squared, which gives 0.1353 for
	// `a`.
	if d := Decide(drill, Settings{Temperature: 0.5, TopP: 1, MinP: 0.14}); d.Keep != 1 {
		t.Errorf("min-p 0.14 at T = 0.5 keeps %d tokens, want 1", d.Keep)
	}
}

// TestFirstRuleThatCut: each token is marked with the first rule that cuts it. The rules are, in
// order, top-k 4, top-p 0.9 (which keeps 3 tokens) and min-p 0.2 (which keeps 2: 0.3679 ≥ 0.2 >
// 0.1353).
func TestFirstRuleThatCut(t *testing.T) {
	d := Decide(drill, Settings{Temperature: 1, TopK: 4, TopP: 0.9, MinP: 0.2})
	want := []Rule{RuleNone, RuleNone, RuleMinP, RuleTopP, RuleTopK}
	for r := range want {
		if got := d.CutBy(r); got != want[r] {
			t.Errorf("rank %d is cut by %q, want %q", r, got, want[r])
		}
	}
	if d.Reach(RuleTopK) != 4 || d.Reach(RuleTopP) != 3 || d.Reach(RuleMinP) != 2 || d.Keep != 2 {
		t.Errorf(
			"reaches %d, %d, %d, keeps %d; want 4, 3, 2, keeps 2", d.Reach(RuleTopK), d.Reach(RuleTopP),
			d.Reach(RuleMinP), d.Keep,
		)
	}
	// If all three rules cut a token, top-k is named; if only the last two do, top-p is named.
	d = Decide(drill, Settings{Temperature: 1, TopK: 1, TopP: 0.5, MinP: 0.9})
	if d.CutBy(1) != RuleTopK {
		t.Errorf("all three rules cut: got %q, want top_k", d.CutBy(1))
	}
	d = Decide(drill, Settings{Temperature: 1, TopP: 0.5, MinP: 0.9})
	if d.CutBy(1) != RuleTopP {
		t.Errorf("top-p and min-p cut: got %q, want top_p", d.CutBy(1))
	}
}

// TestGreedyKeepsOneToken: regardless of the other filters, greedy decoding shows the distribution
// at T = 1 and keeps one token; the others are marked as cut by the greedy rule.
func TestGreedyKeepsOneToken(t *testing.T) {
	z := []float32{0.5, 4, 1, 4}
	for _, s := range []Settings{{TopP: 1}, {TopP: 0.9, TopK: 40, MinP: 0.1}} {
		d := Decide(z, s)
		if d.Keep != 1 || d.Order[0] != 1 || d.Q(0) != 1 {
			t.Errorf("%+v keeps %d, first %d with q %v; want 1, 1, 1", s, d.Keep, d.Order[0], d.Q(0))
		}
		if one, _, _ := Softmax(z, 1); !slices.Equal(d.P, one) {
			t.Errorf("%+v shows %v, want the distribution at T=1", s, d.P)
		}
		for r := 1; r < 4; r++ {
			if d.CutBy(r) != RuleGreedy || d.Q(r) != 0 {
				t.Errorf("%+v: rank %d is cut by %q with q %v, want greedy and 0", s, r, d.CutBy(r), d.Q(r))
			}
		}
		if d.CutBy(0) != RuleNone {
			t.Errorf("%+v: the first token is cut by %q, want %q", s, d.CutBy(0), RuleNone)
		}
		for _, u := range []float64{0, 0.5, 0.999999} {
			if d.Draw(u) != 0 {
				t.Errorf("%+v: u=%v draws rank %d, want 0", s, u, d.Draw(u))
			}
		}
		if from, to := d.Segment(0); from != 0 || to != 1 {
			t.Errorf("%+v: segment %v to %v, want 0 to 1", s, from, to)
		}
	}
}

// TestTopPOneCutsNothingByRounding: for ten equal tokens, ten times 0.1 adds up to
// 0.9999999999999999. Top-p = 1 is off and must not cut the last token because of this.
func TestTopPOneCutsNothingByRounding(t *testing.T) {
	z := make([]float32, 10)
	d := Decide(z, Pure)
	if last := d.Cum[9]; last >= 1 {
		t.Fatalf("the cumulative sum ends at %v; this test needs one below 1", last)
	}
	if d.Keep != 10 || d.Reach(RuleTopP) != 10 || d.CutBy(9) != RuleNone {
		t.Errorf("keeps %d (reach %d), want all 10", d.Keep, d.Reach(RuleTopP))
	}
	if got := d.Draw(math.Nextafter(1, 0)); got != 9 {
		t.Errorf("the largest u draws rank %d, want the last, 9", got)
	}
	// Top-p also keeps everything if the rounded sum never reaches it.
	d = Decide(make([]float32, 1000), with(func(s *Settings) { s.TopP = math.Nextafter(1, 0) }))
	if d.Keep < 999 {
		t.Errorf("top-p just below 1 keeps %d of 1000, want at least 999", d.Keep)
	}
}

// TestPlaceInRanking: RankIn returns a token's position in the ranking, and Top returns an empty
// list for 0 tokens.
func TestPlaceInRanking(t *testing.T) {
	z := []float32{1, 3, 3, -2, 5}
	for at, id := range Rank(z) {
		if got := RankIn(z, int(id)); got != at+1 {
			t.Errorf("token %d is at index %d, want %d", id, got, at+1)
		}
	}
	if got := Top(z, 0); len(got) != 0 {
		t.Errorf("Top of 0 tokens is %v, want an empty list", got)
	}
}

func TestRankOf(t *testing.T) {
	d := Decide([]float32{1, 3, 2}, Pure)
	for id, want := range []int{2, 0, 1} {
		if got := d.RankOf(int32(id)); got != want {
			t.Errorf("RankOf(%d) = %d, want %d", id, got, want)
		}
	}
	if got := d.RankOf(3); got != -1 {
		t.Errorf("RankOf(3) = %d, want -1", got)
	}
}

// TestNucleusForgivesRounding: eight of ten equal tokens reach top-p 0.8, although eight times 0.1
// adds up to 0.7999999999999999.
func TestNucleusForgivesRounding(t *testing.T) {
	z := make([]float32, 10)
	if got := Decide(z, Settings{Temperature: 1, TopP: 0.8}).Keep; got != 8 {
		t.Errorf("top-p 0.8 keeps %d of ten equal tokens, want 8", got)
	}
}

// TestTailSums: the tail sums from each rank on are 0.05, 0.15, 0.4, 1 and, after the last
// rank, 0. A tail of tiny probabilities is not lost to rounding.
func TestTailSums(t *testing.T) {
	p := []float64{0.25, 0.6, 0.1, 0.05}
	d := Context{}.Filter(Scores{}, p, 0, 1, []int32{1, 0, 2, 3}, Pure)
	for r, want := range []float64{1, 0.4, 0.15, 0.05, 0} {
		if !(math.Abs(d.Tail[r]-want) <= 1e-15) {
			t.Errorf("the tail from rank %d is %v, want %v", r, d.Tail[r], want)
		}
	}
	tiny := Context{}.Filter(Scores{}, []float64{1, 1e-20, 1e-20}, 0, 1, []int32{0, 1, 2}, Pure)
	if tiny.Tail[1] != 2e-20 || tiny.Cum[2] != 1 {
		t.Errorf("the tail after a token with probability 1 is %v, want 2e-20", tiny.Tail[1])
	}
	third := Context{}.Filter(Scores{}, p, 0, 1, d.Order, Settings{Temperature: 1, TopK: 2, TopP: 1})
	if !d.Keeps(3) || third.Keeps(2) {
		t.Error("Keeps is wrong: want all tokens kept without a filter, and the third cut with top-k 2")
	}
}
