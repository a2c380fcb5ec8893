package sampling

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tokenbytoken/viz/infer/terms"
)

// scores generates logits: small whole numbers (for ties), ordinary numbers, and extremes that a
// broken or hostile model could produce.
func scores() *rapid.Generator[[]float32] {
	return rapid.SliceOfN(rapid.OneOf(
		rapid.Map(rapid.IntRange(-3, 3), func(n int) float32 { return float32(n) }),
		rapid.Float32Range(-30, 30),
		rapid.SampledFrom([]float32{0, 1e30, -1e30, 1e-45, math.MaxFloat32, -math.MaxFloat32}),
	), 1, 40)
}

// knobs generates settings over their whole ranges, including the ends.
func knobs() *rapid.Generator[Settings] {
	return rapid.Custom(func(t *rapid.T) Settings {
		s := Settings{
			Temperature: rapid.OneOf(
				rapid.Float64Range(0, 5), rapid.SampledFrom([]float64{0, 1, 1e-300, 5e-324, terms.MaxTemperature}),
			).Draw(t, "temperature"),
			TopK: rapid.IntRange(0, 45).Draw(t, "top_k"),
			TopP: rapid.OneOf(
				rapid.Float64Range(1e-9, 1), rapid.SampledFrom([]float64{1, 5e-324, math.Nextafter(1, 0)}),
			).Draw(t, "top_p"),
			MinP: rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 1})).Draw(t, "min_p"),
			TypicalP: rapid.OneOf(
				rapid.Just(0.0), rapid.Float64Range(1e-9, 1), rapid.SampledFrom(
					[]float64{5e-324, math.Nextafter(1, 0)},
				),
			).Draw(t, "typical_p"),
			RepetitionPenalty: rapid.OneOf(
				rapid.Just(0.0), rapid.Float64Range(1, 10),
			).Draw(t, "repetition_penalty"),
			FrequencyPenalty: rapid.OneOf(
				rapid.Just(0.0), rapid.Float64Range(-2, 2),
			).Draw(t, "frequency_penalty"),
			PresencePenalty: rapid.OneOf(
				rapid.Just(0.0), rapid.Float64Range(-2, 2),
			).Draw(t, "presence_penalty"),
		}
		some := func(from, to float64, name string) float64 {
			return rapid.OneOf(rapid.Just(0.0), rapid.Just(0.0), rapid.Float64Range(from, to)).Draw(t, name)
		}
		s.TopNSigma, s.MirostatTau = some(1e-9, 4, "top_n_sigma"), some(1e-9, 6, "mirostat_tau")
		s.XTCProbability, s.XTCThreshold = some(1e-9, 1, "xtc_probability"), some(1e-9, 0.5, "xtc_threshold")
		s.DRYMultiplier, s.DRYBase = some(1e-9, 100, "dry_multiplier"), some(1, 100, "dry_base")
		if err := s.Check(); err != nil {
			t.Fatalf("generated invalid settings: %v", err)
		}
		return s
	})
}

// naiveKept applies the definitions of the filters one by one, token by token.
func naiveKept(z []float32, p []float64, s Settings) []bool {
	ids := make([]int, len(z))
	for i := range ids {
		ids[i] = i
	}
	slices.SortStableFunc(ids, func(a, b int) int {
		switch {
		case z[a] > z[b]:
			return -1
		case z[a] < z[b]:
			return 1
		}
		return 0
	})
	kept, typical := make([]bool, len(z)), naiveTypical(ids, p, s.TypicalP)
	sigma, chosen, mild := naiveSigma(z, s), naiveXTC(ids, p, s), naiveMirostat(ids, p, s)
	var before float64
	for r, id := range ids {
		inK := s.TopK == 0 || r < s.TopK
		inP := s.TopP == 1 || r == 0 || before < s.TopP-roundingSlack // the ranks before r do not reach top-p
		inMin := p[id] >= s.MinP*p[ids[0]]
		kept[id] = inK && inP && inMin && typical[id] && sigma[id] && chosen[id] && mild[id]
		if s.Temperature == 0 {
			kept[id] = r == 0
		}
		before += p[id]
	}
	if !slices.ContainsFunc(ids, func(id int) bool { return kept[id] && p[id] > 0 }) {
		clear(kept)
		kept[ids[0]] = true
	}
	return kept
}

// naiveSigma returns the tokens within n standard deviations of the highest score.
func naiveSigma(z []float32, s Settings) []bool {
	kept := make([]bool, len(z))
	var mean, squares float64
	order := Rank(z) // the last bits of the sum depend on the order
	for _, id := range order {
		mean += float64(z[id])
	}
	mean /= float64(len(z))
	for _, id := range order {
		squares += (float64(z[id]) - mean) * (float64(z[id]) - mean)
	}
	least := float64(z[order[0]]) - s.TopNSigma*math.Sqrt(squares/float64(len(z)))
	for i, zi := range z {
		kept[i] = s.TopNSigma == 0 || float64(zi) >= least || i == int(order[0])
	}
	return kept
}

// naiveXTC excludes each token that is followed by another token that reaches the threshold.
func naiveXTC(ids []int, p []float64, s Settings) []bool {
	kept := make([]bool, len(p))
	threshold := cmp.Or(s.XTCThreshold, 0.1)
	index := slices.IndexFunc(chain, func(r rule) bool { return r.name == RuleXTC })
	off := UFor(0, 0, ForRule+Purpose(index)) >= s.XTCProbability
	for r, id := range ids {
		kept[id] = off || r+1 == len(ids) || p[ids[r+1]] < threshold
	}
	return kept
}

// naiveMirostat returns the tokens of a first step whose surprise is at most 2τ.
func naiveMirostat(ids []int, p []float64, s Settings) []bool {
	kept := make([]bool, len(p))
	for r, id := range ids {
		kept[id] = r == 0 || s.MirostatTau == 0 || -math.Log2(p[id]) <= 2*s.MirostatTau
	}
	return kept
}

// naiveTypical returns the tokens that typical-p keeps: a token is kept if the probabilities of the
// tokens whose surprise is nearer to the average add up to less than x. ids lists the tokens by
// rank.
func naiveTypical(ids []int, p []float64, x float64) []bool {
	kept := make([]bool, len(p))
	var mean float64
	for _, id := range ids {
		if p[id] > 0 {
			mean -= p[id] * math.Log(p[id])
		}
	}
	away := func(id int) float64 { return math.Abs(-math.Log(p[id]) - mean) }
	nearest := slices.Clone(ids)
	slices.SortStableFunc(nearest, func(a, b int) int { return cmp.Compare(away(a), away(b)) })
	var before float64
	for i, id := range nearest {
		kept[id] = x == 0 || x == 1 || i == 0 || before < x-roundingSlack
		before += p[id]
	}
	return kept
}

// TestFilterProperties: a token is kept if and only if every filter alone keeps it, or it is the
// most probable token and the filters keep no token in common. If the distribution reports that the
// kept tokens are a prefix of the order, they are. Their probabilities sum to 1.
func TestFilterProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z, s := scores().Draw(t, "z"), knobs().Draw(t, "settings")
		d := Decide(z, s)
		kept := naiveKept(z, d.P, s)
		var sumP, sumQ float64
		for r, id := range d.Order {
			p, q := d.P[id], d.Q(r)
			if math.IsNaN(p) || math.IsNaN(q) || p < 0 || p > 1 || q < 0 || q > 1+1e-12 {
				t.Fatalf("rank %d: got p %v, q %v, want both from 0 to 1", r, p, q)
			}
			if got := d.CutBy(r) == RuleNone; got != kept[id] || got != d.Stays(r) || d.Leading() &&
				got != (r < d.Keep) ||
				got != (q > 0 || p == 0 && d.Stays(r)) {
				t.Fatalf(
					"rank %d (token %d): kept %v, by the definitions %v; %d are kept, q %v", r, id, got, kept[id],
					d.Keep, q,
				)
			}
			if r > 0 && (z[d.Order[r-1]] < z[id] || z[d.Order[r-1]] == z[id] && d.Order[r-1] > id) {
				t.Fatalf("ranks %d and %d are out of order", r-1, r)
			}
			sumP += p
			sumQ += q
		}
		if d.Keep < 1 || !(math.Abs(sumP-1) <= 1e-12) || !(math.Abs(sumQ-1) <= 1e-12) {
			t.Fatalf("keeps %d, Σp %v, Σq %v; want at least 1, about 1, about 1", d.Keep, sumP, sumQ)
		}
		if n := d.KeepRenormalizing(); n < 1 || n > d.Keep && leading(s) {
			t.Fatalf("renormalizing in between keeps %d tokens, this order %d; want at most as many", n, d.Keep)
		}
	})
}

// leading reports whether every active filter keeps a prefix of the order, and rescaling affects
// only filters that sum probabilities.
func leading(s Settings) bool {
	return s.TypicalP == 0 && s.TopNSigma == 0 && s.XTCProbability == 0 && s.MirostatTau == 0
}

// TestReachEqualsRuleAlone: the reach of each rule is the number of tokens that the rule keeps on
// its own.
func TestReachEqualsRuleAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z, s := scores().Draw(t, "z"), knobs().Draw(t, "settings")
		if s.Greedy() {
			s.Temperature = 1
		}
		d := Decide(z, s)
		alone := func(change func(*Settings)) int {
			only := Settings{Temperature: s.Temperature, TopP: 1}
			change(&only)
			return Decide(z, only).Keep
		}
		k := alone(func(o *Settings) { o.TopK = s.TopK })
		p := alone(func(o *Settings) { o.TopP = s.TopP })
		m := alone(func(o *Settings) { o.MinP = s.MinP })
		typical := alone(func(o *Settings) { o.TypicalP = s.TypicalP })
		got := []int{d.Reach(RuleTopK), d.Reach(RuleTopP), d.Reach(RuleMinP), d.Reach(RuleTypicalP)}
		if want := []int{k, p, m, typical}; !slices.Equal(got, want) || d.Keep > slices.Min(want) {
			t.Fatalf("got reach %d, want %d as by itself; %d are kept", got, want, d.Keep)
		}
	})
}

// TestDrawProperties: u is in the segment of the token that it draws, and a larger u never
// draws an earlier token.
func TestDrawProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Decide(scores().Draw(t, "z"), knobs().Draw(t, "settings"))
		u := rapid.OneOf(
			rapid.Float64Range(0, math.Nextafter(1, 0)), rapid.SampledFrom([]float64{0, math.Nextafter(1, 0)}),
		)
		a, b := u.Draw(t, "u"), u.Draw(t, "v")
		r := d.Draw(a)
		if from, to := d.Segment(r); !d.Stays(r) || a < from || a >= to {
			t.Fatalf(
				"u=%v draws rank %d of %d, in %v to %v; want a kept one whose segment has u", a, r, d.Keep, from, to,
			)
		}
		if d.Q(r) == 0 {
			t.Fatalf("u=%v draws rank %d, whose q is 0, want d.Q(r) not 0", a, r)
		}
		if a <= b && d.Draw(b) < r {
			t.Fatalf("u=%v draws rank %d, and the larger %v draws rank %d, want no earlier one", a, r, b, d.Draw(b))
		}
		var end float64
		for i := range d.Keep {
			r := d.KeptRank(i)
			from, to := d.Segment(r)
			if from != end || to < from {
				t.Fatalf("segment %d is %v to %v; the previous one ends at %v", r, from, to, end)
			}
			end = to
		}
		if end != 1 {
			t.Fatalf("the strip ends at %v, want 1", end)
		}
	})
}

// TestFrequenciesFollowQ: over an evenly spaced grid of u, every token is drawn as often as
// its q predicts.
func TestFrequenciesFollowQ(t *testing.T) {
	const n = 1000
	rapid.Check(t, func(t *rapid.T) {
		d := Decide(scores().Draw(t, "z"), knobs().Draw(t, "settings"))
		counts := make([]int, len(d.Order))
		for i := range n {
			counts[d.Draw((float64(i)+0.5)/n)]++
		}
		for r, got := range counts {
			if !(math.Abs(float64(got)/n-d.Q(r)) <= 1.0/n+1e-12) {
				t.Fatalf("rank %d came up %d times in %d, want as often as q = %v predicts", r, got, n, d.Q(r))
			}
		}
	})
}

// TestTemperatureKeepsTheOrder: temperature never changes the order. At any T, a higher score is
// never less probable than a lower one.
func TestTemperatureKeepsTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := scores().Draw(t, "z")
		a, b := knobs().Draw(t, "a"), knobs().Draw(t, "b")
		d, e := Decide(z, a), Decide(z, b)
		if !slices.Equal(d.Order, e.Order) {
			t.Fatalf("T=%v and T=%v order the tokens differently", a.Temperature, b.Temperature)
		}
		for r := 1; r < len(z); r++ {
			if d.P[d.Order[r]] > d.P[d.Order[r-1]] {
				t.Fatalf(
					"T=%v: rank %d is more probable than rank %d, want falling probabilities", a.Temperature, r, r-1,
				)
			}
		}
	})
}

// TestDecideDoesNotModifyLogits: Decide does not modify the logits.
func TestDecideDoesNotModifyLogits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := scores().Draw(t, "z")
		before := slices.Clone(z)
		Decide(z, knobs().Draw(t, "settings"))
		if !slices.Equal(z, before) {
			t.Fatal("the logits were modified")
		}
	})
}
