package sampling

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// taking returns a context with a grammar that allows the given ids.
func taking(ids ...int) Context {
	return Context{Allowed: func(id int) bool { return slices.Contains(ids, id) }}
}

// TestGrammarByHand: the grammar allows ids 1, 3 and 4 of the drill. Their p are 0.2324, 0.0314 and
// 0.0191, together 0.2829. The two tokens that the grammar forbids have 0.7171. The first allowed
// token then has 20.0855/24.4525 = 0.8214, and the others have 0.1112 and 0.0674.
func TestGrammarByHand(t *testing.T) {
	c := taking(1, 3, 4)
	d := c.Decide(drill, Settings{Temperature: 1, TopP: 1, Grammar: "x"})
	if got := kept(d); !slices.Equal(got, []int{1, 3, 4}) || !near4(d.Mass, 0.2829) {
		t.Errorf("ranks %v with %.4f are kept; want %v, about 0.2829", got, d.Mass, []int{1, 3, 4})
	}
	if cut := d.Cuts[0]; cut.Rule != RuleGrammar || cut.Keeps != 3 || cut.Of != 5 || !near4(cut.Moved, 0.7171) {
		t.Errorf("the grammar: got %+v, want Rule = %q, Keeps = 3, Of = 5, Moved ≈ 0.7171", cut, RuleGrammar)
	}
	if !near4(d.P[0], 0.6316) || !near4(d.Q(1), 0.8214) || !near4(d.Q(3), 0.1112) || !near4(d.Q(4), 0.0674) {
		t.Errorf(
			"p %.4f, q %.4f, %.4f, %.4f; want about 0.6316, about 0.8214, about 0.1112, about 0.0674", d.P[0], d.Q(1),
			d.Q(3), d.Q(4),
		)
	}
	if d.CutBy(0) != RuleGrammar || d.CutBy(2) != RuleGrammar || d.CutBy(1) != RuleNone {
		t.Errorf(
			"cut by %q, %q and %q; want %q, %q, %q", d.CutBy(0), d.CutBy(1), d.CutBy(2), RuleGrammar, RuleNone,
			RuleGrammar,
		)
	}
	// The other rules see only the tokens that the grammar allows: top-k 1 keeps the first, and
	// top-p 0.9 keeps the first two, since 0.8214 < 0.9 ≤ 0.9326.
	for _, s := range []Settings{
		{Temperature: 1, TopP: 0.9, Grammar: "x"},
		{Temperature: 1, TopP: 0.9, Grammar: "x", Order: OrderLlama},
		{Temperature: 1, TopP: 1, TopK: 2, Grammar: "x"},
	} {
		if got := kept(c.Decide(drill, s)); !slices.Equal(got, []int{1, 3}) {
			t.Errorf("%+v keeps %v, want %v", s, got, []int{1, 3})
		}
	}
	if got := kept(c.Decide(drill, Settings{TopP: 1, Grammar: "x"})); !slices.Equal(got, []int{1}) {
		t.Errorf("greedy keeps %v, want %v", got, []int{1})
	}
	// XTC keeps only the least probable allowed token, and top-k 1 keeps only the most probable
	// one. Since they have no token in common, the most probable one is kept.
	none := Settings{Temperature: 1, TopP: 1, TopK: 1, XTCProbability: 1, XTCThreshold: 0.05, Grammar: "x"}
	if d := c.Decide(drill, none); !d.Fallback || !slices.Equal(kept(d), []int{1}) || d.KeptQ(0) != 1 {
		t.Errorf("with nothing in common, ranks %v are kept", kept(d))
	}
	if rule := (Settings{Temperature: 1, TopP: 1, Grammar: "x"}).Stateful(); rule != RuleGrammar {
		t.Errorf("the rule with state is %q, want %q", rule, RuleGrammar)
	}
}

// TestGrammarBoundsEveryRule: with any rules, the kept tokens are a subset of those that the
// grammar allows, and they can be drawn even if their probability is too small for a float64.
func TestGrammarBoundsEveryRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := rapid.SliceOfN(rapid.Float32Range(-2000, 2000), 2, 12).Draw(t, "z")
		s := knobs().Draw(t, "settings")
		s.Order, s.Grammar = orders().Draw(t, "order"), "x"
		takes := rapid.SliceOfNDistinct(rapid.IntRange(0, len(z)-1), 1, len(z), rapid.ID).Draw(t, "takes")
		c := taking(takes...)
		c.Step, c.Text = 1, text(t, len(z))
		d := c.Decide(z, s)
		var sum float64
		for i := range d.Keep {
			id := int(d.Order[d.KeptRank(i)])
			if !slices.Contains(takes, id) {
				t.Fatalf("token %d is kept, want only tokens that the grammar allows, %v", id, takes)
			}
			sum += d.KeptQ(i)
		}
		if !(math.Abs(sum-1) < 1e-9) {
			t.Fatalf("q sums to %v, want about 1", sum)
		}
		if id := int(d.Order[d.Draw(rapid.Float64Range(0, 0.999).Draw(t, "u"))]); !slices.Contains(takes, id) {
			t.Fatalf("token %d is drawn, want only tokens that the grammar allows, %v", id, takes)
		}
	})
}

// TestGrammarAcceptingAllChangesNothing: a grammar that allows every token changes nothing.
func TestGrammarAcceptingAllChangesNothing(t *testing.T) {
	for _, s := range []Settings{{TopP: 1}, {Temperature: 0.7, TopP: 0.9}, {Temperature: 2, TopP: 1, TypicalP: 0.5}} {
		want := Decide(drill, s)
		s.Grammar = "x"
		got := taking(0, 1, 2, 3, 4).Decide(drill, s)
		for r := range drill {
			if got.Q(r) != want.Q(r) {
				t.Errorf("%+v: rank %d has %v, want %v", s, r, got.Q(r), want.Q(r))
			}
		}
	}
}
