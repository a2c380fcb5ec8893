package sampling

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// differs describes how a sampler differs from Decide on the same scores, bit for bit, or returns
// "" if they agree. It draws from both with every u in us.
func differs(s *Sampler, z []float32, settings Settings, us ...float64) string {
	want := Decide(z, settings)
	s.Decide(z, settings)
	if s.Len() != want.Keep {
		return fmt.Sprintf("got %d tokens kept, want %d as in Decide", s.Len(), want.Keep)
	}
	same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
	v := want.Vector()
	for id := range z {
		if p, q := s.P(id), s.Q(id); !same(p, want.P[id]) || !same(q, v[id]) {
			return fmt.Sprintf("token %d has p %v and q %v, Decide: %v and %v", id, p, q, want.P[id], v[id])
		}
	}
	for r := range want.Keep {
		from, to := s.Segment(r)
		wantFrom, wantTo := want.Segment(want.KeptRank(r))
		if s.Token(r) != int(want.Order[want.KeptRank(r)]) || !same(from, wantFrom) || !same(to, wantTo) {
			return fmt.Sprintf(
				"rank %d is token %d from %v to %v, Decide: %d from %v to %v", r, s.Token(r), from, to, want.Order[r],
				wantFrom, wantTo,
			)
		}
		us = append(us, from, math.Nextafter(to, 0))
	}
	for _, u := range us {
		if a, b := want.KeptRank(s.Draw(u)), want.Draw(u); a != b {
			return fmt.Sprintf("u = %v draws rank %d, Decide: %d", u, a, b)
		}
	}
	return ""
}

// TestSamplerEqualsDecide: a sampler agrees with Decide for any scores and settings, no matter what
// it was used for before.
func TestSamplerEqualsDecide(t *testing.T) {
	var s Sampler
	rapid.Check(t, func(t *rapid.T) {
		z, settings := scores().Draw(t, "z"), knobs().Draw(t, "settings")
		if d := differs(&s, z, settings, rapid.Float64Range(0, math.Nextafter(1, 0)).Draw(t, "u")); d != "" {
			t.Fatalf("the sampler differs from Decide: %s; want no difference", d)
		}
	})
}

// TestSamplerOfLargeVocabularies: a sampler also agrees with Decide for vocabularies that are only
// partly ranked: with scores spread out or close together, with ties, and with few or many kept
// tokens.
func TestSamplerOfLargeVocabularies(t *testing.T) {
	var s Sampler
	random := rand.New(rand.NewPCG(8, 1))
	kept, typical := map[bool]int{}, 0
	for _, n := range []int{100, 1000, longFrom, 4096, 20_001} {
		for _, spread := range []float64{0, 0.01, 1, 3, 12, 300} {
			for round := range 12 {
				z := make([]float32, n)
				for i := range z {
					if z[i] = float32(random.NormFloat64() * spread); round%3 == 0 {
						z[i] = float32(math.Round(float64(z[i]))) // makes many scores equal
					}
				}
				settings := Settings{Temperature: []float64{0, 0.05, 0.7, 1, 2, 50}[random.IntN(6)], TopP: 1}
				if round%2 == 0 {
					settings.TopP = random.Float64()
				}
				if random.IntN(3) == 0 {
					settings.TopK = 1 + random.IntN(n+50)
				}
				if random.IntN(3) == 0 {
					settings.MinP = math.Pow(random.Float64(), 4)
				}
				if random.IntN(4) == 0 {
					settings.TypicalP = random.Float64()
					typical++
				}
				if d := differs(&s, z, settings, random.Float64(), random.Float64()); d != "" {
					t.Fatalf("%d scores, spread %v, %+v: the sampler differs from Decide: %s", n, spread, settings, d)
				}
				kept[s.Len() > n/4]++
			}
		}
	}
	if kept[true] < 50 || kept[false] < 50 || typical < 50 {
		t.Errorf("decisions that keep over a quarter: %v, with typical-p: %d; the test proves little", kept, typical)
	}
}

// TestSamplerAppliesEveryFilter: a sampler also applies a filter without a fast path, here
// one that keeps every other rank.
func TestSamplerAppliesEveryFilter(t *testing.T) {
	withRules(t, rule{keep: func(f field, _ input) mask {
		m := mask{some: make([]bool, len(f.ids))}
		for r := 0; r < len(f.ids); r += 2 {
			m.some[r] = true
			m.n++
		}
		return m.leading()
	}, reason: noReason})
	var s Sampler
	for _, settings := range []Settings{Pure, {Temperature: 1, TopP: 0.9}} {
		if d := differs(&s, drill, settings, 0.7); d != "" {
			t.Errorf("%+v: the sampler differs from Decide: %s; want no difference", settings, d)
		}
		if s.Len() != (len(drill)+1)/2 && settings == Pure || s.Q(int(Decide(drill, settings).Order[1])) != 0 {
			t.Errorf(
				"%+v: got %d kept, the second with %v; want every other one, the second with 0", settings, s.Len(),
				s.Q(1),
			)
		}
	}
}

// TestUncutMassEqualsSumByRank: if nothing is cut, the mass equals, to the last bit, the sum over
// all tokens in order of rank, usually without ranking the tokens. This holds both when the sum is
// below 1 and when it exceeds 1.
func TestUncutMassEqualsSumByRank(t *testing.T) {
	var s Sampler
	random := rand.New(rand.NewPCG(6, 2))
	settings, below, past, ranked := Pure, 0, 0, 0
	for round := range 600 {
		z := make([]float32, 3000)
		for i := range z {
			z[i] = float32(random.NormFloat64() * 3)
		}
		settings.Temperature = []float64{1, 0.7, 1.4}[round%3]
		s.Decide(z, settings)
		if want := Decide(z, settings).Mass; s.mass != want {
			t.Fatalf("round %d: the mass is %v, want %v", round, s.mass, want)
		}
		switch {
		case s.ranked:
			ranked++
		case s.mass < 1:
			below++
		default:
			past++
		}
	}
	if below < 100 || past < 100 || ranked == 0 || ranked > 150 {
		t.Errorf(
			"got %d sums below 1, %d above it, %d by ranking all; want at least 100, at least 100, not 0, at most 150",
			below, past, ranked,
		)
	}
}

// TestInUnitsReportsHalfway: inUnits reports that 1½ and 2½, which is rounded to 2, are halfway
// between two units.
func TestInUnitsReportsHalfway(t *testing.T) {
	for _, row := range []struct {
		p       float64
		k       float64
		halfway bool
	}{
		{0, 0, false},
		{1. / units, 1, false},
		{1.5 / units, 2, true},
		{2.5 / units, 2, true},
		{2.75 / units, 3, false},
		{0.5 / units, 0, true},
		{0.5, units / 2, false},
	} {
		if k, halfway := inUnits(row.p); k != row.k || halfway != row.halfway {
			t.Errorf("%v is %v units, halfway: %v; want %v and %v", row.p, k, halfway, row.k, row.halfway)
		}
	}
}

// TestSamplerDoesNotAllocate: once its buffers have grown, a sampler does not allocate, except for
// filters that have to see all tokens. These need a few allocations per draw, no matter how many
// tokens there are.
func TestSamplerDoesNotAllocate(t *testing.T) {
	z := make([]float32, 4096)
	random := rand.New(rand.NewPCG(4, 4))
	for i := range z {
		z[i] = float32(random.NormFloat64() * 3)
	}
	var s Sampler
	for _, settings := range []Settings{
		Pure,
		{TopP: 1},
		{Temperature: 0.7, TopP: 0.9},
		{Temperature: 1, TopK: 40, TopP: 1},
		{Temperature: 2, TopP: 1, MinP: 0.01},
		{Temperature: 1, TopP: 1, TypicalP: 0.9},
	} {
		most := 0.0
		if settings.late() {
			most = 30
		}
		once := func() {
			s.Decide(z, settings)
			s.P(s.Token(s.Draw(0.7)))
		}
		once()
		if n := testing.AllocsPerRun(20, once); n > most {
			t.Errorf("%+v: got %v allocations per draw, want at most %v", settings, n, most)
		}
	}
}

// BenchmarkDraw measures a draw from logits with Decide, as in the loop's stages, and with a
// sampler.
func BenchmarkDraw(b *testing.B) {
	var all [64][]float32 // so that branches cannot be predicted
	random := rand.New(rand.NewPCG(1, 1))
	for k := range all {
		all[k] = make([]float32, 4096)
		for i := range all[k] {
			all[k][i] = float32(random.NormFloat64() * 3)
		}
	}
	for _, c := range []struct {
		name     string
		settings Settings
	}{
		{"pure", Pure},
		{"greedy", Settings{TopP: 1}},
		{"T 0.7 top-p 0.9", Settings{Temperature: 0.7, TopP: 0.9}},
		{"top-k 40", Settings{Temperature: 1, TopK: 40, TopP: 1}},
		{"min-p 0.05", Settings{Temperature: 1, TopP: 1, MinP: 0.05}},
	} {
		b.Run(c.name+"/Decide", func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				d := Decide(all[i%len(all)], c.settings)
				d.Q(d.Draw(random.Float64()))
			}
		})
		b.Run(c.name+"/Sampler", func(b *testing.B) {
			var s Sampler
			for i := 0; b.Loop(); i++ {
				s.Decide(all[i%len(all)], c.settings)
				s.Q(s.Token(s.Draw(random.Float64())))
			}
		})
	}
}

// TestCorrectionEqualsResidual: a correction equals the residual of two samplers, with the
// same draws.
func TestCorrectionEqualsResidual(t *testing.T) {
	var p, q Sampler
	var c Correction
	random := rand.New(rand.NewPCG(9, 9))
	empty, typical := 0, 0
	for range 400 {
		n := 2 + random.IntN(300)
		if random.IntN(20) == 0 {
			n = 6000 // more than longFrom have an excess
		}
		a, b := make([]float32, n), make([]float32, n)
		for i := range a {
			a[i] = float32(random.NormFloat64() * 3)
			b[i] = a[i] + float32(random.NormFloat64()*float64(random.IntN(2)))
		}
		if random.IntN(10) == 0 {
			b = a
		}
		settings := Settings{Temperature: 0.3 + random.Float64(), TopP: 0.5 + random.Float64()/2, TopK: random.IntN(n)}
		if random.IntN(4) == 0 {
			settings.TypicalP = 0.1 + random.Float64()*0.9
			typical++
		}
		if random.IntN(3) == 0 {
			settings = Pure
			settings.Temperature = []float64{0.01, 1, 100}[random.IntN(3)] // makes many close to 0, or close together
		}
		p.Decide(a, settings)
		q.Decide(b, settings)
		c.Decide(&p, &q, Excess)
		r, mass := Residual(Decide(a, settings).Vector(), Decide(b, settings).Vector())
		want := FromVector(r)
		if c.Mass() != mass {
			t.Fatalf("mass %v, want %v", c.Mass(), mass)
		}
		if mass == 0 {
			empty++
		}
		if got := c.Vector(); !slices.Equal(got, r) {
			t.Fatalf("the residual is %v, want %v", got, r)
		}
		for range 20 {
			u := random.Float64()
			rank := c.Draw(u)
			from, to := c.Segment(rank)
			if wantFrom, wantTo := want.Segment(rank); rank != want.Draw(u) ||
				c.Token(rank) != int(want.Order[rank]) || from != wantFrom || to != wantTo {
				t.Fatalf(
					"u = %v draws rank %d, token %d from %v to %v; want rank %d", u, rank, c.Token(rank), from, to,
					want.Draw(u),
				)
			}
		}
	}
	if empty == 0 || typical < 50 {
		t.Errorf("%d pairs were equal, %d cut by typical-p: the test proves little", empty, typical)
	}
}
