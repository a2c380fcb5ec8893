package sampling

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// linksAre checks the rule of each link, the tokens that it keeps, and the shares after it (0 for a
// token that has been cut).
func linksAre(t *testing.T, d *Distribution, want []Link, shares [][]float64) {
	t.Helper()
	got := d.Links()
	if len(got) != len(want) {
		t.Fatalf("%d links, want %d: %+v", len(got), len(want), got)
	}
	for i, l := range got {
		w := want[i]
		if l.Rule != w.Rule || l.Keeps != w.Keeps || l.Of != w.Of || l.Place != w.Place || !near4(l.Moved, w.Moved) {
			t.Errorf("link %d is %s at %d, %d of %d, moves %.6f, want %+v",
				i, l.Rule, l.Place, l.Keeps, l.Of, l.Moved, w)
		}
		for r, share := range shares[i] {
			if p, kept := l.Share(r); !near4(p, share) || kept != (share > 0) {
				t.Errorf("after %s, rank %d has %.6f, %v, want %.4f", l.Rule, r+1, p, kept, share)
			}
		}
	}
}

// TestChainLinksByHand: the links equal values computed by hand, for the drill in llama.cpp's order
// at T = 2. At T = 1, p is 0.6316, 0.2324, 0.0855, 0.0314 and 0.0191. Top-k 4 cuts the last,
// 0.0191, and divides each of the others by 0.9809. The first three tokens reach top-p 0.9 of the
// rest (0.9680), so the share that moves is 0.0314 ÷ 0.9809 = 0.0321; their shares are then
// relative to 0.9495. The temperature changes them to 0.5065, 0.3072 and 0.1863: the first loses
// 0.6652 − 0.5065 = 0.1587, which is the share that moves.
func TestChainLinksByHand(t *testing.T) {
	linksAre(t, Decide(drill, Settings{Temperature: 2, TopP: 0.9, TopK: 4, Order: OrderLlama}),
		[]Link{
			{Rule: RuleNone, Keeps: 5, Of: 5, Place: -1},
			{Rule: RuleTopK, Keeps: 4, Of: 5, Place: 1, Moved: 0.0191},
			{Rule: RuleTopP, Keeps: 3, Of: 4, Place: 3, Moved: 0.0321},
			{Rule: RuleTemperature, Keeps: 3, Of: 3, Place: 6, Moved: 0.1588},
		}, [][]float64{
			{0.6316, 0.2324, 0.0855, 0.0314, 0.0191},
			{0.6439, 0.2369, 0.0871, 0.0321, 0},
			{0.6652, 0.2447, 0.0900, 0, 0},
			{0.5065, 0.3072, 0.1863, 0, 0},
		})
}

// TestChainLinksOnUncutDistribution: in this program's order, every rule is measured on the same
// shares. At T = 2, they are 0.4217, 0.2558, 0.1551, 0.0941 and 0.0733, and the first has lost
// 0.6316 − 0.4217 = 0.2099. Top-k 3 cuts 0.1674 of them. Top-p 0.9 by itself keeps four tokens
// (0.9267) and cuts 0.0733.
func TestChainLinksOnUncutDistribution(t *testing.T) {
	s := Settings{Temperature: 2, TopP: 0.9, TopK: 3}
	d := Decide(drill, s)
	linksAre(t, d, []Link{
		{Rule: RuleNone, Keeps: 5, Of: 5, Place: -1},
		{Rule: RuleTemperature, Keeps: 5, Of: 5, Place: 0, Moved: 0.2099},
		{Rule: RuleTopK, Keeps: 3, Of: 5, Place: 1, Moved: 0.1674},
		{Rule: RuleTopP, Keeps: 4, Of: 5, Place: 2, Moved: 0.0733},
	}, [][]float64{
		{0.6316, 0.2324, 0.0855, 0.0314, 0.0191},
		{0.4217, 0.2558, 0.1551, 0.0941, 0.0733},
		{0.4217, 0.2558, 0.1551, 0, 0},
		{0.4217, 0.2558, 0.1551, 0.0941, 0},
	})
	if n, share := d.Links()[3].Others([]int{0, 1}); n != 2 || !near4(share, 0.2492) { // 0.1551 + 0.0941
		t.Errorf("of the other ranks, top-p leaves %d with share %v; want 2, about 0.2492", n, share)
	}
	s.Temperature = 0
	linksAre(t, Decide(drill, s), []Link{
		{Rule: RuleNone, Keeps: 5, Of: 5, Place: -1},
		{Rule: RuleGreedy, Keeps: 1, Of: 5, Place: -1, Moved: 0.3684},
		{Rule: RuleTopK, Keeps: 3, Of: 5, Place: 1, Moved: 0.0505},
		{Rule: RuleTopP, Keeps: 3, Of: 5, Place: 2, Moved: 0.0505},
	}, [][]float64{{0.6316}, {1, 0, 0, 0, 0}, {0.6316}, {0.6316}})
}

// TestChainLinksEndInTheDraw: for any scores, settings and order, the last link of a chain has the
// probabilities of the draw, and at each link all shares sum to 1.
func TestChainLinksEndInTheDraw(t *testing.T) {
	t.Parallel()
	orders := []Order{OrderLlama, OrderHugging, OrderOpenAI, own.On(OnRest)}
	rapid.Check(t, func(t *rapid.T) {
		z := rapid.SliceOfN(rapid.Float32Range(-8, 8), 2, 40).Draw(t, "z")
		s := Settings{
			Temperature: rapid.Float64Range(0.1, 3).Draw(t, "T"), TopK: rapid.IntRange(0, 20).Draw(t, "k"),
			TopP: rapid.Float64Range(0.05, 1).Draw(t, "p"), MinP: rapid.Float64Range(0, 0.5).Draw(t, "min"),
			TypicalP: rapid.Float64Range(0.05, 1).Draw(t, "typical"), TopNSigma: rapid.Float64Range(0, 3).Draw(t, "n"),
			Order: rapid.SampledFrom(orders).Draw(t, "order"),
		}
		c := Context{Allowed: func(id int) bool { return id%3 != 1 }}
		if rapid.Bool().Draw(t, "grammar") {
			s.Grammar = "any"
		}
		d := c.Decide(z, s)
		links := d.Links()
		for i, l := range links {
			var sum float64
			n := 0
			for r := range z {
				if p, kept := l.Share(r); kept {
					sum, n = sum+p, n+1
				}
			}
			if n != l.Keeps || sum < 1-1e-9 || sum > 1+1e-9 {
				t.Fatalf(
					"link %d, %s, leaves %d of %d with %v; want %d, at least 1-1e-9 and at most 1+1e-9", i, l.Rule, n,
					l.Keeps, sum, l.Keeps,
				)
			}
			if i > 0 && (l.Keeps > l.Of || l.Of != links[i-1].Keeps && !s.heatsFirst()) {
				t.Fatalf(
					"link %d, %s, keeps %d of %d after %d; want at most as many, of those left", i, l.Rule, l.Keeps,
					l.Of, links[i-1].Keeps,
				)
			}
		}
		last := links[len(links)-1]
		for r := range z {
			if p, kept := last.Share(r); kept != d.Stays(r) || p < d.Q(r)-1e-9 || p > d.Q(r)+1e-9 {
				t.Fatalf("rank %d leaves the chain with %v, %v; want it kept if drawn, with %v", r, p, kept, d.Q(r))
			}
		}
		if !slices.ContainsFunc(links, func(l Link) bool { return l.Rule == RuleTemperature }) {
			t.Fatal("the temperature has no link")
		}
	})
}
