package sampling

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestAcceptanceAndResidualByHand: with p = ½, ⅓, ⅙ and q = ¼, ¼, ½, the first two tokens are
// always accepted, and the third is accepted one time in three. p exceeds q by ¼ and 1/12, 1/3
// together, so the residual is ¾, ¼, 0.
func TestAcceptanceAndResidualByHand(t *testing.T) {
	p, q := []float64{1. / 2, 1. / 3, 1. / 6}, []float64{1. / 4, 1. / 4, 1. / 2}
	for i, want := range []float64{1, 1, 1. / 3} {
		if got := Acceptance(p[i], q[i]); !(math.Abs(got-want) <= 1e-15) {
			t.Errorf("token %d is accepted with probability %v, want %v", i, got, want)
		}
	}
	r, mass := Residual(p, q)
	for i, want := range []float64{3. / 4, 1. / 4, 0} {
		if !(math.Abs(r[i]-want) <= 1e-15) {
			t.Errorf("residual of token %d: %v, want %v", i, r[i], want)
		}
	}
	if !(math.Abs(mass-1./3) <= 1e-15) {
		t.Errorf("mass %v, want 1/3", mass)
	}
	// If q equals p, the residual is empty.
	if r, mass := Residual(p, p); mass != 0 || !slices.Equal(r, p) {
		t.Errorf("residual of equal distributions: %v, mass %v; want p and 0", r, mass)
	}
}

// TestOneTokenHasTheTargetsProbability: taking acceptance and replacement together, a token has the
// target's probability, whatever the distribution of proposals is.
func TestOneTokenHasTheTargetsProbability(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "n")
		vector := func(name string) []float64 {
			v := rapid.SliceOfN(rapid.Float64Range(0, 1), n, n).Draw(t, name)
			v[rapid.IntRange(0, n-1).Draw(t, "not zero")] += 0.1
			var sum float64
			for _, x := range v {
				sum += x
			}
			for i := range v {
				v[i] /= sum
			}
			return v
		}
		p, q := vector("p"), vector("q")
		r, _ := Residual(p, q)
		var refused float64
		for x := range q {
			if q[x] > 0 {
				refused += q[x] * (1 - Acceptance(p[x], q[x]))
			}
		}
		for x := range p {
			got := refused * r[x]
			if q[x] > 0 {
				got += q[x] * Acceptance(p[x], q[x])
			}
			if !(math.Abs(got-p[x]) <= 1e-12) {
				t.Fatalf("token %d has probability %v, want the target's %v", x, got, p[x])
			}
		}
	})
}

func TestVectorRoundTrip(t *testing.T) {
	// With top-k 3, the drill has 0.6652, 0.2447, 0.0900 by token id, and 0 for the other tokens.
	v := Decide(drill, with(func(s *Settings) { s.TopK = 3 })).Vector()
	for i, want := range []float64{0.6652, 0.2447, 0.0900, 0, 0} {
		if !(math.Abs(v[i]-want) <= 5e-5) {
			t.Errorf("token %d: %v, want %v", i, v[i], want)
		}
	}
	d := FromVector([]float64{0.25, 0, 0.5, 0.25, 0})
	if !slices.Equal(d.Order, []int32{2, 0, 3, 1, 4}) {
		t.Errorf("got order %v, want the most probable first and, among equals, the lower id first", d.Order)
	}
	for u, want := range map[float64]int32{0: 2, 0.4999: 2, 0.5: 0, 0.75: 3, math.Nextafter(1, 0): 3} {
		if got := d.Order[d.Draw(u)]; got != want {
			t.Errorf("u = %v draws token %d, want %d", u, got, want)
		}
	}
}

// TestUForIsAsDocumented: the upper 53 bits of the streams match the values that an independent
// program computed.
func TestUForIsAsDocumented(t *testing.T) {
	for _, row := range []struct {
		seed    uint64
		purpose Purpose
		step    int
		bits    uint64
	}{
		{0, ForDraft, 1, 0xcd9d6ecaea414},
		{0, ForDraft, 2, 0xc3c78fb2b37d5},
		{0, ForAccept, 1, 0x1fd24e58c7092a},
		{0, ForAccept, 2, 0x1efa815a1f2164},
		{42, ForDraft, 1, 0x85c6efacc98c4},
		{42, ForDraft, 2, 0x761c0b0c4d488},
		{42, ForAccept, 1, 0xe1b43b656273},
		{42, ForAccept, 2, 0x1ec93d687d40f9},
	} {
		if got, want := UFor(row.seed, row.step, row.purpose), float64(row.bits)/(1<<53); got != want {
			t.Errorf("seed %d, step %d, purpose %d: %v, want %v", row.seed, row.step, row.purpose, got, want)
		}
	}
	if UFor(42, 7, ForDraw) != U(42, 7) {
		t.Error("the u for ForDraw differs from U")
	}
}

// TestStreamsAreIndependent: the u of one step for different purposes, and of neighboring
// seeds, are independent: over n steps their correlation is within 4/√n.
func TestStreamsAreIndependent(t *testing.T) {
	const n = 100_000
	streams := map[string]func(step int) float64{
		"draw":            func(i int) float64 { return UFor(42, i, ForDraw) },
		"draft":           func(i int) float64 { return UFor(42, i, ForDraft) },
		"accept":          func(i int) float64 { return UFor(42, i, ForAccept) },
		"draft, seed 43":  func(i int) float64 { return UFor(43, i, ForDraft) },
		"accept, seed 43": func(i int) float64 { return UFor(43, i, ForAccept) },
		"draft, one on":   func(i int) float64 { return UFor(42, i+1, ForDraft) },
	}
	for a, f := range streams {
		for b, g := range streams {
			if a >= b {
				continue
			}
			var sum float64
			for i := 1; i <= n; i++ {
				sum += (f(i) - 0.5) * (g(i) - 0.5) * 12
			}
			if c := sum / n; !(math.Abs(c) <= 4/math.Sqrt(n)) {
				t.Errorf("%s and %s have correlation %v, want about 0", a, b, c)
			}
		}
	}
}
