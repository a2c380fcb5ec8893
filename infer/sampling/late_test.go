package sampling

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// kept returns the ranks of the kept tokens.
func kept(d *Distribution) (ranks []int) {
	for i := range d.Keep {
		ranks = append(ranks, d.KeptRank(i))
	}
	return ranks
}

// TestTopNSigmaByHand: the drill's scores are 4, 3, 2, 1 and 0.5. Their mean is 2.1. The squared
// deviations are 3.61, 0.81, 0.01, 1.21 and 2.56, together 8.2, so σ = √1.64 = 1.2806. The bound is
// 2.7194 for 1σ below 4, 1.4388 for 2σ and 0.1582 for 3σ.
func TestTopNSigmaByHand(t *testing.T) {
	for n, want := range map[float64]int{0: 5, 0.5: 1, 1: 2, 2: 3, 3: 5} {
		for _, temperature := range []float64{0.1, 1, 5} {
			d := Decide(drill, Settings{Temperature: temperature, TopP: 1, TopNSigma: n})
			if d.Keep != want || !d.Leading() {
				t.Errorf("n = %v at T = %v keeps %d, want %d", n, temperature, d.Keep, want)
			}
		}
	}
	d := Decide(drill, Settings{Temperature: 1, TopP: 1, TopNSigma: 1})
	if why := d.Why(2); why.Rule != RuleTopNSigma || why.Value != 2 || !near4(why.Bound, 2.7194) {
		t.Errorf("rank 3 is cut because of %+v, want Rule = %q, Value = 2, Bound ≈ 2.7194", why, RuleTopNSigma)
	}
}

// TestXTCByHand: p is 0.6316, 0.2324, 0.0855, 0.0314 and 0.0191. A threshold of 0.2 excludes the
// first token, and a threshold of 0.08 the first two. If only one token reaches the threshold, it
// is not excluded.
func TestXTCByHand(t *testing.T) {
	for threshold, want := range map[float64][]int{
		0.2: {1, 2, 3, 4}, 0.08: {2, 3, 4}, 0.01: {4}, 0.3: {0, 1, 2, 3, 4},
	} {
		d := Decide(drill, Settings{Temperature: 1, TopP: 1, XTCProbability: 1, XTCThreshold: threshold})
		if got := kept(d); !slices.Equal(got, want) {
			t.Errorf("threshold %v keeps ranks %v, want %v", threshold, got, want)
		}
	}
	d := Decide(drill, Settings{Temperature: 1, TopP: 1, XTCProbability: 1}) // the usual threshold, 0.1
	if why := d.Why(0); d.Keep != 4 || why.Rule != RuleXTC || why.Bound != 0.1 || !near4(why.Value, 0.6316) {
		t.Errorf(
			"%d kept; the first is cut for %+v; want d.Keep = 4, Rule = %q, Bound = 0.1, Value ≈ 0.6316", d.Keep, why,
			RuleXTC,
		)
	}
}

// TestDRYByHand: the text ends with 1 2 3, which also occurs earlier, followed by 4. The passage 2
// 3 at its end also occurs earlier followed by 5, and the token 3 followed by 1. With base 2,
// allowed length 2 and a multiplier of 0.5, the score of token 4 is lowered by 0.5·2^(3−2) = 1 and
// the score of token 5 by 0.5.
func TestDRYByHand(t *testing.T) {
	text := []int{1, 2, 3, 4, 2, 3, 5, 3, 1, 2, 3}
	z := []float32{6, 5, 4, 3, 2, 1}
	s := Settings{Temperature: 1, TopP: 1, DRYMultiplier: 0.5, DRYBase: 2}
	for _, c := range []struct {
		breaks int
		change func(*Settings)
		want   []float32
	}{
		{-1, func(*Settings) {}, []float32{6, 5, 4, 3, 1, 0.5}},
		{-1, func(s *Settings) { s.DRYAllowed = 3 }, []float32{6, 5, 4, 3, 1.5, 1}},
		// If the allowed length is 1, the scores fall by 0.5·2² for token 4, 0.5·2 for token 5, and
		// 0.5 for token 1.
		{-1, func(s *Settings) { s.DRYAllowed = 1 }, []float32{6, 4.5, 4, 3, 0, 0}},
		{-1, func(s *Settings) { s.DRYAllowed = 4 }, z},
		// If token 1 ends passages, the repetition starts after the last 1, so it has at most two
		// tokens.
		{1, func(*Settings) {}, []float32{6, 5, 4, 3, 1.5, 0.5}},
		{2, func(*Settings) {}, z},                             // the repetition is a single token
		{4, func(*Settings) {}, []float32{6, 5, 4, 3, 2, 0.5}}, // the score of a breaking token is never lowered
	} {
		with := s
		c.change(&with)
		got := Context{Text: text, Breaks: func(id int) bool { return id == c.breaks }}.Score(z, with).Z
		if !slices.Equal(got, c.want) {
			t.Errorf("broken by %d, allowed %v: got %v, want %v", c.breaks, with.DRYAllowed, got, c.want)
		}
	}
}

// TestDRYProperties: the computed lengths of repetitions match the definition, and huge penalties
// give finite scores.
func TestDRYProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.IntRange(0, 2), 1, 60).Draw(t, "text")
		for back, n := range repeats(text)[1:] {
			at, want := len(text)-back-1, 0
			for want < at && text[at-1-want] == text[len(text)-1-want] {
				want++
			}
			if n != want {
				t.Fatalf("%d tokens back %d are repeated, want %d", back+1, n, want)
			}
		}
		s := Settings{Temperature: 1, TopP: 1, DRYMultiplier: 100, DRYBase: 100, DRYAllowed: 1}
		for _, z := range (Context{Text: text}).Score(make([]float32, 3), s).Z {
			if math.IsNaN(float64(z)) || math.IsInf(float64(z), 0) || z > 0 {
				t.Fatalf("a score of 0 becomes %v, want a finite one of at most 0", z)
			}
		}
	})
}

// TestMirostatByHand: the drill's p have a surprise of 0.663, 2.105, 3.548, 4.991 and 5.712 bits.
// With τ = 1, the limit starts at 2, so one token is kept. It is drawn with q = 1, so with η = 0.5
// the limit becomes 2 − 0.5·(0 − 1) = 2.5. Then the second token is also kept, with q = 0.2690.
func TestMirostatByHand(t *testing.T) {
	s := Settings{Temperature: 1, TopP: 1, MirostatTau: 1, MirostatEta: 0.5}
	first := Context{Step: 1}.Decide(drill, s)
	if first.Keep != 1 {
		t.Fatalf("%d tokens are kept, want 1", first.Keep)
	}
	second := Context{Step: 2, State: first.Next(0)}.Decide(drill, s)
	why := second.Why(2)
	if second.Keep != 2 || why.Rule != RuleMirostat || why.Bound != 2.5 || !near4(why.Value, 3.5482) {
		t.Errorf("%d tokens are kept, want 2; the third is cut because of %+v", second.Keep, why)
	}
	index := slices.IndexFunc(chain, func(r rule) bool { return r.name == RuleMirostat })
	if mu := second.Next(1)[index].(float64); !near4(mu, 2.0527) { // 2.5 − 0.5·(1.8947 − 1)
		t.Errorf("after the second token, the limit is %v, want 2.0527", mu)
	}
	// A user can also choose a token that was cut. The limit then becomes 2.5 − 0.5·(5.7123 − 1).
	if mu := second.Next(4)[index].(float64); !near4(mu, 0.1439) {
		t.Errorf("after a token that was cut, the limit is %v, want 0.1439", mu)
	}
	if s.Stateful() != RuleMirostat || (Settings{Temperature: 1, TopP: 1, XTCProbability: 1}).Stateful() != RuleNone {
		t.Error("Stateful does not return the rule that has state")
	}
}

// TestMirostatReachesItsTarget: over many steps the mean surprise of the drawn tokens approaches τ,
// as the paper claims. With draws from a flat distribution over 4,096 tokens, it would be 12 bits.
func TestMirostatReachesItsTarget(t *testing.T) {
	z := make([]float32, 4096)
	for i := range z { // Zipf's law, as the paper assumes
		z[i] = -float32(math.Log(float64(i + 1)))
	}
	for _, tau := range []float64{2, 4, 6} {
		s := Settings{Temperature: 1, TopP: 1, MirostatTau: tau}
		var state State
		var sum float64
		const steps, warm = 600, 100
		for step := range steps {
			d := Context{Step: step, State: state}.Decide(z, s)
			r := d.Draw(U(9, step))
			if step >= warm {
				sum -= math.Log2(d.Q(r))
			}
			state = d.Next(r)
		}
		if mean := sum / (steps - warm); math.Abs(mean-tau) > 0.1 {
			t.Errorf("τ = %v: the mean surprise is %v bits, want about τ", tau, mean)
		}
	}
}

// TestDisabledRulesChangeNothing: a rule that is off changes nothing, whatever the values of its
// other knobs.
func TestDisabledRulesChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z, s := scores().Draw(t, "z"), knobs().Draw(t, "settings")
		s.XTCProbability, s.DRYMultiplier, s.MirostatTau = 0, 0, 0
		on := s
		on.XTCThreshold, on.DRYBase, on.DRYAllowed, on.MirostatEta = 0.3, 9, 7, 0.9
		c := Context{Text: text(t, len(z)), Seed: 5, Step: 2}
		a, b := c.Decide(z, s), c.Decide(z, on)
		if !slices.Equal(a.P, b.P) || !slices.Equal(kept(a), kept(b)) {
			t.Fatalf("%v differ from %v", kept(b), kept(a))
		}
	})
}
