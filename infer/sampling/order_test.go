package sampling

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestOrdersByHand: at T = 1, the drill's p is 0.6316, 0.2324, 0.0855, 0.0314 and 0.0191. Top-k 3
// leaves 0.9495, of which the first two have shares of 0.6652 and 0.2447, together 0.9100. So top-p
// 0.9 keeps two tokens if it is measured on the rest, but three if it is measured before any cut.
func TestOrdersByHand(t *testing.T) {
	s := Settings{Temperature: 1, TopP: 0.9, TopK: 3}
	for order, want := range map[Order]int{OrderOwn: 3, OrderHugging: 2, OrderLlama: 2, OrderOpenAI: 2} {
		if s.Order = order; Decide(drill, s).Keep != want {
			t.Errorf("%s keeps %d, want %d", order.Name(), Decide(drill, s).Keep, want)
		}
		if got := Decide(drill, Settings{Temperature: 1, TopP: 0.9, TopK: 3}).KeepIn(order); got != want {
			t.Errorf("KeepIn(%s) = %d, want %d", order.Name(), got, want)
		}
	}
	// At T = 2, p is 0.4217, 0.2558, 0.1551, 0.0941 and 0.0733. With the temperature last, three
	// tokens reach top-p 0.9 at T = 1 (0.9495), and they are drawn with weights e^{z/2}: 7.3891,
	// 4.4817 and 2.7183, together 14.5891. With the temperature first, top-p keeps four (0.9267).
	late := Settings{Temperature: 2, TopP: 0.9, Order: OrderLlama}
	d := Decide(drill, late)
	if d.Keep != 3 || !near4(d.P[0], 0.6316) || !near4(d.Mass, 0.9495) || late.ShownTemperature() != 1 {
		t.Errorf(
			"%d kept with %v; p of the first is %v; want d.Keep = 3, d.P[0] ≈ 0.6316, d.Mass ≈ 0.9495, "+
				"late.ShownTemperature() = 1",
			d.Keep, d.Mass, d.P[0],
		)
	}
	for r, q := range []float64{0.5065, 0.3072, 0.1863, 0, 0} {
		if !near4(d.Q(r), q) {
			t.Errorf("rank %d is drawn with %v, want %v", r+1, d.Q(r), q)
		}
	}
	if from, to := d.Segment(1); !near4(from, 0.5065) || !near4(to, 0.8137) || d.Draw(0.6) != 1 {
		t.Errorf("the second segment is %v to %v; want from ≈ 0.5065, to ≈ 0.8137, d.Draw(0.6) = 1", from, to)
	}
	if n, p, q := d.KeptIn(1, 5); n != 2 || !near4(p, 0.3178) || !near4(q, 0.4935) {
		t.Errorf("KeptIn after the first rank: %d with p %v and q %v; want 2, about 0.3178, about 0.4935", n, p, q)
	}
	if n := d.KeepIn(OrderHugging); n != 4 {
		t.Errorf("with the temperature first, %d are kept, want 4", n)
	}
}

// TestChainCountsCutsPerRule: the tokens that each rule cuts are counted among those that the
// previous rule left, and a token is marked with the rule that cut it.
func TestChainCountsCutsPerRule(t *testing.T) {
	d := Decide(drill, Settings{Temperature: 1, TopK: 4, TopP: 0.8, MinP: 0.5, Order: "top_k;min_p;top_p;temperature;" +
		"typical_p;top_n_sigma;xtc;mirostat"})
	// Top-k leaves 4 of 5 and cuts 0.0191. Min-p cuts the three tokens whose p is below half of the
	// first token's p. They have 0.2324 + 0.0855 + 0.0314 = 0.3493 of 0.9809, a share of 0.3561.
	// One token is left for top-p.
	want := []Cut{
		{Rule: RuleTopK, Keeps: 4, Of: 5, Moved: 0.0191},
		{Rule: RuleMinP, Keeps: 1, Of: 4, Moved: 0.3561},
		{Rule: RuleTopP, Keeps: 1, Of: 1},
	}
	if len(d.Cuts) != len(want) {
		t.Fatalf("%d rules cut, want %d", len(d.Cuts), len(want))
	}
	for i, c := range d.Cuts {
		if w := want[i]; c.Rule != w.Rule || c.Keeps != w.Keeps || c.Of != w.Of || !near4(c.Moved, w.Moved) {
			t.Errorf("rule %d is %s, keeps %d of %d and moves %v, want %+v", i+1, c.Rule, c.Keeps, c.Of, c.Moved, w)
		}
	}
	if d.CutBy(4) != RuleTopK || d.CutBy(1) != RuleMinP || !d.Idle()[RuleTopP] || d.Idle()[RuleTopK] {
		t.Errorf(
			"cut by %s and %s; idle %v; want d.CutBy(4) = %s, d.CutBy(1) = %s, d.Idle()[RuleTopP] = true, "+
				"d.Idle()[RuleTopK] = false",
			d.CutBy(4), d.CutBy(1), d.Idle(), RuleTopK, RuleMinP,
		)
	}
	if why := d.Why(1); !near4(why.Value, 0.2369) || !near4(why.Bound, 0.3220) { // 0.2324/0.9809, and 0.6439/2
		t.Errorf("rank 2 is cut because of %+v, want Value ≈ 0.2369, Bound ≈ 0.3220", why)
	}
}

func TestParseOrder(t *testing.T) {
	for text, want := range map[string]Order{
		"own": "", "llama.cpp": OrderLlama, "Hugging_Face": OrderHugging, " openai ": OrderOpenAI,
		"penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature": OrderLlama, // llama.cpp's own spelling
		"temperature,top-k,top-p,min-p,typical_p":                           OrderHugging,
		string(own):               OrderOwn,
		"uncut:temperature;top_p": "uncut:temperature;top_p;top_k;min_p;typical_p;top_n_sigma;xtc;mirostat",
	} {
		if got, _, err := ParseOrder(text); got != want || err != nil || got.Check() != nil {
			t.Errorf("%q is %q, %v, want %q", text, got, err, want)
		}
	}
	for text, why := range map[string]string{
		"": "empty", ";;": "empty", "top_k;top_q": `"top_q", which is not a rule`, "top_k;top-k": "top_k twice",
		"top_k;penalties": "penalties after top_k", "greedy": "not a rule", strings.Repeat("top_k;", 99): "longer",
	} {
		var refused *RangeError
		if _, _, err := ParseOrder(text); !errors.As(err, &refused) || refused.Field != "samplers" ||
			!strings.Contains(refused.Got.String(), why) {
			t.Errorf("%q: %v, want %q", text, err, why)
		}
	}
	if _, unnamed, _ := ParseOrder("top_k;temperature"); len(unnamed) != 6 || slices.Contains(unnamed, RuleTopK) {
		t.Errorf("unnamed rules: got %v, want 6 elements without %q", unnamed, RuleTopK)
	}
	if Order("top_k").Check() == nil || Order("top_k;TEMPERATURE").Check() == nil {
		t.Error("Check accepts an order that is not in canonical form")
	}
}

// TestNamedOrders: links and logs contain the orders of other programs, so these must never change.
func TestNamedOrders(t *testing.T) {
	for o, want := range map[Order]string{
		own:          "uncut:temperature;top_k;top_p;min_p;typical_p;top_n_sigma;xtc;mirostat",
		OrderLlama:   "top_n_sigma;top_k;typical_p;top_p;min_p;xtc;temperature;mirostat",
		OrderHugging: "temperature;top_k;top_p;min_p;typical_p;top_n_sigma;xtc;mirostat",
		OrderOpenAI:  "temperature;top_k;top_p;min_p;top_n_sigma;typical_p;xtc;mirostat",
	} {
		if string(o) != want {
			t.Errorf("got order %q, want %q", o, want)
		}
	}
	lacks := func(o Order) (list []Rule) {
		return slices.DeleteFunc(o.Rules(), o.Has)
	}
	if got := lacks(OrderHugging); !slices.Equal(got, []Rule{RuleTopNSigma, RuleXTC, RuleMirostat}) {
		t.Errorf("Hugging Face lacks %v, want top-nσ, XTC and mirostat", got)
	}
	if got := lacks(OrderOpenAI); !slices.Equal(
		got, []Rule{RuleMinP, RuleTopNSigma, RuleTypicalP, RuleXTC, RuleMirostat},
	) {
		t.Errorf("GPT-2's program lacks %v, want all but the temperature, top-k and top-p", got)
	}
	if got := append(lacks(OrderOwn), lacks(OrderLlama)...); len(got) > 0 {
		t.Errorf("this program or llama.cpp lacks %v, want neither to lack any", got)
	}
}

func TestOrderMove(t *testing.T) {
	o, err := OrderHugging.Move(RuleTemperature, 4)
	if want := Order("top_k;top_p;min_p;typical_p;temperature;top_n_sigma;xtc;mirostat"); o != want || err != nil {
		t.Errorf("%q, %v, want %q", o, err, want)
	}
	if back, _ := o.Move(RuleTemperature, -3); back != OrderHugging {
		t.Errorf("moved back, the order is %q, want %q", back, OrderHugging)
	}
	if last, _ := OrderLlama.Move(RuleTopK, 99); !strings.HasSuffix(string(last), ";top_k") {
		t.Errorf("moved beyond the end, the order is %q, want it to end with %q", last, ";top_k")
	}
	if o, _ := OrderOwn.Move(RuleTopP, 1); o.Measure() != OnRest {
		t.Errorf("the measure of %q is not %d", o, OnRest)
	}
	if _, err := OrderLlama.Move(RuleDRY, 2); err == nil {
		t.Error("DRY was moved among the rules that cut")
	}
}

// orders generates orders.
func orders() *rapid.Generator[Order] {
	return rapid.Custom(func(t *rapid.T) Order {
		return orderOf(rapid.Permutation(own.Rules()).Draw(t, "rules"), rapid.Bool().Draw(t, "uncut"))
	})
}

// TestInvariantsHoldInAnyOrder: in any order, the probabilities of the kept tokens sum to 1, and
// the shares of all tokens that can be drawn are positive; the strip has no gaps; the temperature never
// reorders tokens; and a sampler draws the same tokens as Decide.
func TestInvariantsHoldInAnyOrder(t *testing.T) {
	var sampler Sampler
	rapid.Check(t, func(t *rapid.T) {
		z, s := scores().Draw(t, "z"), knobs().Draw(t, "settings")
		s.Order = orders().Draw(t, "order")
		c := Context{Seed: 3, Step: 1, Text: text(t, len(z))}
		d := c.Decide(z, s)
		var sum, end float64
		last := math.Inf(1)
		for i := range d.Keep {
			r := d.KeptRank(i)
			q := d.Q(r)
			if from, to := d.Segment(r); q != d.KeptQ(i) || q > last+1e-15 || from != end || to < from {
				t.Fatalf(
					"rank %d: got q %v after %v, from %v to %v after %v; want falling q and adjacent segments", r, q,
					last, from, to, end,
				)
			} else {
				sum, end, last = sum+q, to, q
			}
		}
		if d.Keep < 1 || math.Abs(sum-1) > 1e-12 || end != 1 {
			t.Fatalf("%d kept, Σq %v, the strip ends at %v; want at least 1, about 1, 1", d.Keep, sum, end)
		}
		if n, _, q := d.KeptIn(0, len(z)); n != d.Keep || math.Abs(q-1) > 1e-12 {
			t.Fatalf("%d of %d kept ranks, with %v; want %d, about 1", n, d.Keep, q, d.Keep)
		}
		for r := range d.Order {
			if (d.CutBy(r) == RuleNone) != d.Stays(r) || d.Stays(r) != d.Keeps(d.Order[r]) {
				t.Fatalf("rank %d: kept = %v, cut by %q; want one or the other", r, d.Stays(r), d.CutBy(r))
			}
		}
		u := rapid.Float64Range(0, math.Nextafter(1, 0)).Draw(t, "u")
		id := int(d.Order[d.Draw(u)])
		sampler.DecideIn(c, z, s)
		if got := sampler.Token(sampler.Draw(u)); got != id || sampler.Len() != d.Keep ||
			sampler.Q(id) != d.Q(d.RankOf(int32(id))) || sampler.P(id) != d.P[id] {
			t.Fatalf("drew %d of %d, want %d of %d as in Decide", got, sampler.Len(), id, d.Keep)
		}
	})
}

// TestEquivalentOrdersAgree: equivalent orders give the same result. If each rule is measured
// before any cut, its position does not matter as long as the temperature does not move. A single
// rule gives the same result when measured on the rest. At T = 1, the temperature's position does
// not matter.
func TestEquivalentOrdersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z, s := scores().Draw(t, "z"), knobs().Draw(t, "settings")
		same := func(a, b Settings) {
			x, y := Decide(z, a), Decide(z, b)
			if !slices.Equal(kept(x), kept(y)) {
				t.Fatalf("%q keeps %v, want the same as %q: %v", a.Order, kept(x), b.Order, kept(y))
			}
			for _, r := range kept(x) {
				if math.Abs(x.Q(r)-y.Q(r)) > 1e-9 {
					t.Fatalf("rank %d has probability %v, want %v as in the other order", r, x.Q(r), y.Q(r))
				}
			}
		}
		rules := own.Rules()[1:]
		mixed := append([]Rule{RuleTemperature}, rapid.Permutation(rules).Draw(t, "rules")...)
		other := s
		other.Order = orderOf(mixed, true)
		same(s, other)

		alone := Pure
		alone.Temperature = s.Temperature
		key := rapid.SampledFrom([]string{"top_k", "top_p", "min_p", "top_n_sigma", "mirostat_tau"}).Draw(t, "key")
		x, _ := s.Value(key)
		alone.Set(key, x)
		rest := alone
		rest.Order = orderOf(mixed, false)
		same(alone, rest)

		if s.Temperature = 1; s.TypicalP == 0 {
			first, last := s, s
			first.Order = orderOf(mixed, false)
			last.Order = orderOf(append(slices.Clone(mixed[1:]), RuleTemperature), false)
			same(first, last)
		}
	})
}

// TestLateTemperatureUnderflow: if each rule is measured before any cut and a low temperature comes
// last, the scores of the remaining tokens can be far below the first token's score. With scores of
// 0.5 and seven times 0, typical-p 0.1 keeps a token with score 0, and e^{−0.5/0.0001} underflows
// to 0. Then the most probable token is kept, as if no token were left.
func TestLateTemperatureUnderflow(t *testing.T) {
	z := []float32{0.5, 0, 0, 0, 0, 0, 0, 0}
	o := Order("uncut:typical_p;temperature;top_k;top_p;min_p;top_n_sigma;xtc;mirostat")
	s := Settings{Temperature: 1, TypicalP: 0.1, TopP: 1, Order: o}
	if d := Decide(z, s); d.Leading() || d.Fallback { // typical-p alone cuts the first
		t.Fatalf("got %d kept, first kept = %v; want the first cut, without a fallback", d.Keep, d.Leading())
	}
	s.Temperature = 1e-4
	d := Decide(z, s)
	if d.Keep != 1 || !d.Fallback || d.Q(0) != 1 || d.Draw(0.5) != 0 {
		t.Errorf(
			"%d kept, fallback %v, the first is drawn with %v; want d.Keep = 1, d.Fallback = true, d.Q(0) "+
				"= 1, d.Draw(0.5) = 0",
			d.Keep, d.Fallback, d.Q(0),
		)
	}
	if n := Decide(z, Settings{Temperature: 1e-4, TypicalP: 0.1, TopP: 1}).KeepIn(o); n != 1 {
		t.Errorf("KeepIn of another order is %d", n)
	}
}

// TestGreedyInAnyOrder: greedy keeps the most probable token in every order, even if XTC
// comes first and always strikes.
// Promise: At temperature 0, the most likely token is chosen in any order of the rules.
func TestGreedyInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z, s := scores().Draw(t, "z"), knobs().Draw(t, "settings")
		s.Temperature, s.XTCProbability, s.Order = 0, 1, orders().Draw(t, "order")
		c := Context{Text: text(t, len(z))}
		d := c.Decide(z, s)
		if d.Keep != 1 || !d.Stays(0) || d.Fallback || s.HeatsLate() || s.ShownTemperature() != 0 {
			t.Fatalf("got %d kept, the first %v; want 1, true, shown at temperature 0", d.Keep, d.Stays(0))
		}
		for _, o := range []Order{OrderOwn, OrderLlama, OrderHugging} {
			if d.KeepIn(o) != 1 {
				t.Fatalf("%s keeps %d, want 1", o.Name(), d.KeepIn(o))
			}
		}
	})
}

// TestCorrectionInAnyOrder: for a draft and a target in different orders, the correction
// draws from the same distribution as [Residual].
func TestCorrectionInAnyOrder(t *testing.T) {
	var p, q Sampler
	var c Correction
	rapid.Check(t, func(t *rapid.T) {
		z, s := scores().Draw(t, "z"), knobs().Draw(t, "settings")
		y := slices.Clone(z)
		slices.Reverse(y)
		s.Order = orders().Draw(t, "order")
		in := Context{Text: text(t, len(z))}
		p.DecideIn(in, z, s)
		q.DecideIn(in, y, s)
		c.Decide(&p, &q, Excess)
		want, mass := Residual(in.Decide(z, s).Vector(), in.Decide(y, s).Vector())
		if got := c.Vector(); !slices.Equal(got, want) || c.Mass() != mass {
			t.Fatalf("the residual is %v with %v, want %v with %v", got, c.Mass(), want, mass)
		}
	})
}

// TestProbabilitiesRoundedToZero: if the probabilities of all tokens that the rules keep are rounded to
// 0, the most probable token is kept, and every other token has a reason.
func TestProbabilitiesRoundedToZero(t *testing.T) {
	s := Settings{Temperature: 0.001, TopP: 1, MinP: 0.25, XTCProbability: 1, XTCThreshold: 0.1}
	var err error
	if s.Order, _, err = ParseOrder("uncut:xtc;min_p;temperature"); err != nil {
		t.Fatal(err)
	}
	d := Decide([]float32{4, 3, 2.9, 2.8}, s)
	if d.Keep != 1 || !d.Stays(0) || !d.Fallback {
		t.Errorf("got %d tokens kept, fallback %v; want only the first, as a fallback", d.Keep, d.Fallback)
	}
	for r := 1; r < 4; r++ {
		if d.CutBy(r) == RuleNone {
			t.Errorf("rank %d was cut by no rule", r)
		}
	}
}

// TestRulesAreNamedAndPlaced: orders accept aliases for rules, and each rule has its usual name and
// its unit. The stage of each setting and the rules that can read a text are known.
func TestRulesAreNamedAndPlaced(t *testing.T) {
	for alias, want := range map[string]Rule{
		"typ_p": RuleTypicalP, "typical": RuleTypicalP, "nucleus": RuleTopP, "top_nsigma": RuleTopNSigma,
	} {
		o, _, err := ParseOrder(alias)
		if err != nil || o.Rules()[0] != want {
			t.Errorf("%s: got %v, %v; want an order that begins with %s", alias, o, err, want)
		}
	}
	units := map[Rule]Unit{
		RuleTopK: UnitRank, RuleTopP: UnitProbability, RuleMinP: UnitProbability, RuleTypicalP: UnitNats,
		RuleTopNSigma: UnitScore, RuleXTC: UnitProbability, RuleMirostat: UnitBits,
	}
	for rule, unit := range units {
		if got := rule.link().unit; got != unit {
			t.Errorf("%s is measured in %v, want %v", rule, got, unit)
		}
	}
	for rule, name := range map[Rule]string{RuleXTC: "XTC", RuleDRY: "DRY", RuleMirostat: "mirostat"} {
		if got := rule.Name(); got != name {
			t.Errorf("%s is called %q, want %q", rule, got, name)
		}
	}
	for key, stage := range map[string]int{
		"logit_bias": 2, "repetition_penalty": 2, "dry_base": 2, "temperature": 3, "top_k": 4, "xtc_threshold": 4,
		"grammar": 0, "greedy": 0, "seed": 0,
	} {
		if got := StageOf(key); got != stage {
			t.Errorf("StageOf(%q) = %d, want %d", key, got, stage)
		}
	}
	for _, key := range []string{"xtc_probability", "xtc_threshold", "mirostat_tau", "mirostat_eta"} {
		if Reads(key) {
			t.Errorf("Reads(%q) = true, want false", key)
		}
	}
	if !Reads("top_p") || !Reads("dry_base") {
		t.Error("a text cannot be read with top-p or DRY, want it to be")
	}
}
