package sampling

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// withRules adds rules to the end of the chain until the test ends. These rules are always on.
// Tests of this package must not run in parallel.
func withRules(t *testing.T, rules ...rule) {
	t.Helper()
	old := chain
	t.Cleanup(func() { chain = old })
	chain = slices.Concat(old, rules)
	for i := len(old); i < len(chain); i++ {
		chain[i].name, chain[i].off = Rule(string(rune('a'+i))), -1 // there is no such knob, so its value is 0
	}
}

// surprising returns version 2 of mirostat (Basu et al. 2020) with a target of 1 bit and a learning
// rate of 0.5: it cuts tokens whose surprise exceeds μ bits, and moves μ toward the target by half
// the error of the drawn token.
func surprising() rule {
	mu := func(in input) float64 {
		if in.state == nil {
			return 2
		}
		return in.state.(float64)
	}
	return rule{
		keep: func(f field, in input) mask {
			n := 1
			for n < len(f.ids) && -math.Log2(f.p[f.ids[n]]/f.mass) <= mu(in) {
				n++
			}
			return mask{n: n}
		},
		reason: noReason,
		next:   func(d *Distribution, r int, in input) any { return mu(in) - 0.5*(-math.Log2(d.Q(r))-1) },
	}
}

// xtc returns a rule that, in half of the steps, cuts all tokens with a probability of at least 0.2
// except the least probable of them.
func xtc(us *[]float64) rule {
	return rule{
		keep: func(f field, in input) mask {
			*us = append(*us, in.u)
			m := mask{n: len(f.ids), some: make([]bool, len(f.ids))}
			for r := range m.some {
				cut := in.u < 0.5 && r+1 < len(f.ids) && f.p[f.ids[r+1]] >= 0.2*f.mass
				if m.some[r] = !cut; cut {
					m.n--
				}
			}
			return m.leading()
		},
		reason: noReason,
	}
}

// TestRuleStateCarriesBetweenSteps: a rule's state at each step equals values computed by hand. The
// drill's p are 0.6316, 0.2324, 0.0855, 0.0314 and 0.0191, with a surprise of 0.663, 2.105, 3.549,
// 4.991 and 5.712 bits. With μ = 2, only the first token is kept. It is drawn with q = 1, so μ
// becomes 2 − 0.5·(0 − 1) = 2.5. Then the first two are kept, with q = 0.7310 and 0.2690. After the
// second is drawn, with a surprise of 1.894 bits, μ is 2.5 − 0.447 = 2.053.
func TestRuleStateCarriesBetweenSteps(t *testing.T) {
	withRules(t, surprising())
	index := len(chain) - 1
	first := Context{Step: 1}.Decide(drill, Pure)
	if first.Keep != 1 {
		t.Fatalf("with μ = 2, %d tokens are kept, want 1", first.Keep)
	}
	second := Context{Step: 2, State: first.Next(0)}
	for range 2 { // a step that is repeated, as after going back, starts from the same state
		d := second.Decide(drill, Pure)
		if mu := second.State[index]; mu != 2.5 || d.Keep != 2 {
			t.Fatalf("μ is %v and %d tokens are kept, want 2.5 and 2", mu, d.Keep)
		}
		if mu := d.Next(1)[index].(float64); !(math.Abs(mu-2.0530) <= 5e-4) {
			t.Fatalf("after the second token, μ is %v, want 2.0530", mu)
		}
		if mu := d.Next(0)[index].(float64); !(mu > 2.5) { // a different branch
			t.Fatalf("after the first token, μ is %v, want more than 2.5", mu)
		}
	}
	if greedy := Decide(drill, Settings{TopP: 1}); greedy.Next(0) == nil {
		t.Error("greedy loses the state")
	}
}

// TestEachRuleHasItsOwnU: a rule's u is a function of seed, step and index in the chain,
// and differs from the u of the draw and of any other rule.
func TestEachRuleHasItsOwnU(t *testing.T) {
	var us []float64
	withRules(t, xtc(&us), xtc(&us))
	c := Context{Seed: 42, Step: 3}
	c.Decide(drill, Pure)
	c.Decide(drill, Pure)
	if len(us) != 4 || us[0] != us[2] || us[1] != us[3] {
		t.Fatalf("the same step draws %v, want 4 elements, [0] = %v, [1] = %v", us, us[2], us[3])
	}
	for _, other := range []Context{{Seed: 43, Step: 3}, {Seed: 42, Step: 4}} {
		other.Decide(drill, Pure)
	}
	us = append(us[:2], us[4:]...)
	for purpose := ForDraw; purpose <= ForAccept; purpose++ {
		us = append(us, UFor(42, 3, purpose))
	}
	slices.Sort(us)
	if n := len(slices.Compact(us)); n != 9 {
		t.Errorf("%d distinct u, want 9", n)
	}
}

// TestRuleWithItsOwnDraw: the first two tokens of the drill have a probability of at least 0.2. If
// the rule's u is below one half, the rule cuts the first token; it always keeps the others.
func TestRuleWithItsOwnDraw(t *testing.T) {
	var us []float64
	withRules(t, xtc(&us))
	seen := map[bool]bool{}
	for step := range 20 {
		d := Context{Seed: 1, Step: step}.Decide(drill, Pure)
		cut := us[len(us)-1] < 0.5
		if d.Stays(0) == cut || !d.Stays(1) || !d.Stays(4) {
			t.Fatalf(
				"u = %v, first token kept = %v; want it cut below one half, and the others kept", us[len(us)-1],
				d.Stays(0),
			)
		}
		seen[cut] = true
	}
	if len(seen) != 2 {
		t.Error("every u was on the same side of one half, so the test proves little")
	}
}

// TestRuleChangingScoresActsFirst: a rule that changes scores can use the text, and everything
// after the rule works on the scores that it returned. The rule here prevents any token from being
// drawn twice.
func TestRuleChangingScoresActsFirst(t *testing.T) {
	withRules(t)
	chain = append([]rule{{name: "once", off: -1, score: func(s Scores, in input) Scores {
		s.Z = slices.Clone(s.Z)
		for _, id := range in.text {
			s.Z[id] = -1e30
		}
		return s
	}}}, chain...)
	c := Context{Text: []int{0, 2}}
	d := c.Decide(drill, Settings{Temperature: 0.5, TopP: 1, TopK: 3})
	if !slices.Equal(d.Order, []int32{1, 3, 4, 0, 2}) || d.P[0] != 0 || d.P[2] != 0 || d.MaxZ != float64(drill[1]) {
		t.Errorf(
			"order %v, p %v, max %v; want d.Order = %v, d.P[0] = 0, d.P[2] = 0, d.MaxZ = %v", d.Order, d.P, d.MaxZ,
			[]int32{1, 3, 4, 0, 2}, float64(drill[1]),
		)
	}
	if want := []float32{drill[0], drill[1]}; !slices.Equal(drill[:2], want) || drill[0] < drill[1] {
		t.Error("the logits were modified")
	}
}

// TestSamplerRunsEveryRule: a sampler draws the same tokens as Decide with any rules, including
// rules without a fast path.
func TestSamplerRunsEveryRule(t *testing.T) {
	var us []float64
	withRules(t, surprising(), xtc(&us))
	var sampler Sampler
	rapid.Check(t, func(t *rapid.T) {
		z, s := scores().Draw(t, "z"), knobs().Draw(t, "settings")
		c := Context{Seed: 7, Step: rapid.IntRange(1, 100).Draw(t, "step"), State: make(State, len(chain))}
		c.State[len(chain)-2] = rapid.Float64Range(0, 9).Draw(t, "μ")
		d := c.Decide(z, s)
		sampler.DecideIn(c, z, s)
		u := rapid.Float64Range(0, math.Nextafter(1, 0)).Draw(t, "u")
		r := d.Draw(u)
		id := int(d.Order[r])
		if got := sampler.Token(sampler.Draw(u)); got != id || sampler.Len() != d.Keep || sampler.Q(id) != d.Q(r) {
			t.Fatalf("token %d of %d with q %v, want %d of %d with %v",
				got, sampler.Len(), sampler.Q(got), id, d.Keep, d.Q(r))
		}
	})
}

// TestScoresBeforeCuts: rules that change scores come first, so every cutting rule sees the same
// distribution.
func TestScoresBeforeCuts(t *testing.T) {
	cuts := false
	for _, r := range chain {
		if (r.score == nil) == (r.keep == nil) || (r.keep == nil) != (r.reason == nil) {
			t.Errorf("%s must either change scores or cut with a reason", r.name)
		}
		if r.score != nil && cuts {
			t.Errorf("%s changes scores after a rule that cuts", r.name)
		}
		cuts = cuts || r.keep != nil
	}
}
