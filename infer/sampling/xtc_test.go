package sampling

import (
	"math"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// xtcAsked holds the results of repeated calls of llama.cpp's XTC with one vector
// (testdata/samplers/ask.c, draws). Each call makes its own draw.
type xtcAsked struct {
	Probability float64
	Threshold   float64
	Seed        uint32
	Z           []int   // in units of 1/4096
	Kept        [][]int // at each step, ids of the kept tokens; empty if all were kept
}

// TestXTCStrikesLikeLlamaCpp: given the same u, this program's XTC strikes when llama.cpp's XTC
// does, and both leave the same tokens. llama.cpp's XTC also strikes as often as its probability
// predicts.
func TestXTCStrikesLikeLlamaCpp(t *testing.T) {
	var list []xtcAsked
	fixture.ReadZipped(t, "../../testdata/samplers/draws.json.gz", &list)
	steps, struck, want, variance := 0, 0.0, 0.0, 0.0
	for i, a := range list {
		z := make([]float32, len(a.Z))
		for id, units := range a.Z {
			z[id] = float32(units) / 4096
		}
		s := Settings{Temperature: 1, TopP: 1, XTCProbability: a.Probability, XTCThreshold: a.Threshold}
		f, theirs := Decide(z, Pure).uncut(), newTwister(a.Seed)
		always := excludeTop(f, input{Settings: s})
		for n, kept := range a.Kept {
			m := excludeTop(f, input{Settings: s, u: theirs.float()})
			var ids []int
			for r, id := range f.ids {
				if m.has(r) && m.n < len(z) {
					ids = append(ids, int(id))
				}
			}
			if slices.Sort(ids); !slices.Equal(ids, kept) {
				t.Fatalf("case %d, step %d keeps %v, llama.cpp %v (an empty list means all)", i, n+1, ids, kept)
			}
			if always.n < len(z) { // there is something to cut, so a strike is visible
				steps++
				want, variance = want+a.Probability, variance+a.Probability*(1-a.Probability)
				if len(kept) > 0 {
					struck++
				}
			}
		}
	}
	if steps < 1000 || math.Abs(struck-want) > 4*math.Sqrt(variance) {
		t.Errorf("in %d steps llama.cpp struck %v times, want about %.0f", steps, struck, want)
	}
}

// TestXTCStrikesAtItsProbability: XTC strikes in the given share of 10,000 steps. It strikes at the
// same steps each time, but at different steps if the seed or the first step differs.
func TestXTCStrikesAtItsProbability(t *testing.T) {
	const steps = 10_000
	struck := func(seed uint64, from int, probability float64) (list []bool) {
		s := Settings{Temperature: 1, TopP: 1, XTCProbability: probability}
		for step := range steps {
			list = append(list, !Context{Seed: seed, Step: from + step}.Decide(drill, s).Stays(0))
		}
		return list
	}
	for _, p := range []float64{0.01, 0.3, 0.9} {
		once, n := struck(1, 1, p), 0
		for _, yes := range once {
			if yes {
				n++
			}
		}
		if math.Abs(float64(n)-steps*p) > 4*math.Sqrt(steps*p*(1-p)) { // four standard deviations
			t.Errorf("struck %d times in 10,000 at %v; want about %v", n, p, steps*p)
		}
		if !slices.Equal(once, struck(1, 1, p)) || slices.Equal(once, struck(2, 1, p)) ||
			slices.Equal(once, struck(1, 2, p)) {
			t.Errorf("at %v, seed and step do not determine when it strikes", p)
		}
	}
}

// TestXTCStrikesIndependentOfOrder: XTC's draw does not depend on the rule's position in the order:
// if the rule is moved, it strikes at the same steps.
func TestXTCStrikesIndependentOfOrder(t *testing.T) {
	own := Settings{Temperature: 1, TopP: 1, TopK: 4, XTCProbability: 0.5}
	first := own
	first.Order = "uncut:xtc;top_k;top_p;temperature;min_p;top_n_sigma;typical_p;mirostat"
	for step := range 100 {
		c := Context{Seed: 7, Step: step + 1}
		if c.Decide(drill, own).Stays(0) != c.Decide(drill, first).Stays(0) {
			t.Fatalf("at step %d, XTC strikes in only one of the orders", step+1)
		}
	}
}

// twister is the Mersenne Twister MT19937 (Matsumoto and Nishimura 1998), which llama.cpp
// uses for its draws.
type twister struct {
	x [624]uint32
	n int
}

func newTwister(seed uint32) *twister {
	m := &twister{n: 624}
	m.x[0] = seed
	for i := 1; i < len(m.x); i++ {
		m.x[i] = 1812433253*(m.x[i-1]^m.x[i-1]>>30) + uint32(i)
	}
	return m
}

func (m *twister) next() uint32 {
	if m.n == len(m.x) {
		m.n = 0
		for i := range m.x {
			y := m.x[i]&0x80000000 | m.x[(i+1)%624]&0x7fffffff
			m.x[i] = m.x[(i+397)%624] ^ y>>1 ^ y&1*0x9908b0df
		}
	}
	y := m.x[m.n]
	m.n++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// float returns a number uniform in [0, 1), as GNU's std::uniform_real_distribution<float>
// does.
func (m *twister) float() float64 {
	return float64(min(float32(m.next())/(1<<32), math.Nextafter32(1, 0)))
}
