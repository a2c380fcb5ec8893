package infer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/sampling"
)

// explorer is dice that are not random: it tries every possible outcome of
// every throw, and records each path's probability. Running a text once for
// each path gives its distribution exactly.
type explorer struct {
	path   []choice
	depth  int
	weight float64
}

// choice is a throw: which of its outcomes is being tried.
type choice struct{ taken, outcomes int }

// throw picks an outcome with a probability above 0.
func (e *explorer) throw(p []float64) int {
	var possible []int
	for i, x := range p {
		if x > 0 {
			possible = append(possible, i)
		}
	}
	if e.depth == len(e.path) {
		e.path = append(e.path, choice{0, len(possible)})
	}
	at := possible[e.path[e.depth].taken]
	e.depth++
	e.weight *= p[at]
	return at
}

// turn advances to the next path. It returns false after the last.
func (e *explorer) turn() bool {
	for len(e.path) > 0 {
		last := &e.path[len(e.path)-1]
		if last.taken++; last.taken < last.outcomes {
			return true
		}
		e.path = e.path[:len(e.path)-1]
	}
	return false
}

func (e *explorer) draw(strip strip, _ int, _ sampling.Purpose) (int, float64) {
	p := make([]float64, strip.Len())
	for r := range p {
		from, to := strip.Segment(r)
		p[r] = to - from
	}
	return e.throw(p), 0
}

func (e *explorer) take(a float64, _ int) (bool, float64) {
	a = min(max(a, 0), 1)
	return e.throw([]float64{a, 1 - a}) == 0, 0
}

// three holds the first three generated tokens, −1 after the end of the text.
type three [3]int

func firstThree(tokens []int) three {
	t := three{-1, -1, -1}
	copy(t[:], tokens)
	return t
}

// events counts what happened on the paths.
type events map[SpecKind]int

// speculated is the exact joint distribution of three tokens written by
// speculation: it runs the Speculator itself along every path. alter may break
// it first.
func speculated(
	t *testing.T, target, draft *Model, s Settings, gamma int, alter func(*Speculator),
) (map[three]float64, events) {
	t.Helper()
	joint, seen := map[three]float64{}, events{}
	e := &explorer{}
	for runs := 1; ; runs++ {
		sp, err := NewSpeculator(target, draft, "ab", s, gamma)
		if err != nil {
			t.Fatal(err)
		}
		sp.Rows, sp.dice = 1, e
		if alter != nil {
			alter(sp)
		}
		e.depth, e.weight = 0, 1
		for len(sp.text)-sp.prompt < 3 {
			stage, err := sp.Next(context.Background())
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			seen[stage.SpecKind()]++
		}
		joint[firstThree(sp.Tokens())] += e.weight
		if !e.turn() {
			t.Logf("γ = %d: %d paths, %d outcomes, %d accepted, %d corrected, %d bonus",
				gamma, runs, len(joint), seen[SpecAccept]-seen[SpecCorrect], seen[SpecCorrect], seen[SpecBonus])
			return joint, seen
		}
	}
}

// alone is the exact joint distribution of three tokens by the target itself:
// the product of its probabilities along every text.
func alone(t *testing.T, m *Model, s Settings) map[three]float64 {
	t.Helper()
	joint := map[three]float64{}
	prompt := m.Encode("ab")
	var grow func(tokens []int, weight float64)
	grow = func(tokens []int, weight float64) {
		if n := len(tokens); n == 3 || n > 0 && m.EOS(tokens[n-1]) {
			joint[firstThree(tokens)] += weight
			return
		}
		text := append(append([]int(nil), prompt...), tokens...)
		d := sampling.Context{Text: text}.Decide(logitsAfter(t, m, m.NewCache(), text...), s.Settings)
		for r := range d.Keep {
			if q := d.Q(r); q > 0 {
				grow(append(append([]int(nil), tokens...), int(d.Order[r])), weight*q)
			}
		}
	}
	grow(nil, 1)
	return joint
}

// distance is the largest difference between two distributions at one outcome.
func distance(a, b map[three]float64) (most float64) {
	for k := range a {
		most = max(most, math.Abs(a[k]-b[k]))
	}
	for k := range b {
		most = max(most, math.Abs(a[k]-b[k]))
	}
	return most
}

// noisy returns a copy of weights with a small error on every value: a draft
// that is often right and never exact.
func noisy(w weights, spread float64, seed uint64) weights {
	rng := rand.New(rand.NewPCG(seed, 1))
	out := weights{}
	for name, v := range w {
		out[name] = slices.Clone(v)
	}
	for _, name := range []string{
		"lm_head.weight", "model.layers.0.mlp.down_proj.weight", "model.layers.0.self_attn.v_proj.weight",
	} {
		for i := range out[name] {
			out[name][i] *= 1 + float32(spread*rng.NormFloat64())
		}
	}
	return out
}

// pairs returns models small enough to enumerate every text.
func pairs(t *testing.T) []specPair {
	t.Helper()
	four := func(z ...float32) map[int]float32 {
		next := map[int]float32{}
		for i, id := range []int{'a', 'b', 'c', endID} {
			next[id] = z[i]
		}
		return next
	}
	f := folder{width: 8, layers: 2, heads: 2, kvHeads: 1, headDim: 4, ffn: 8, context: 16}
	w := f.random(3)
	cut := pure(1)
	cut.Settings = sampling.Settings{Temperature: 1.3, TopK: 3, TopP: 0.9, MinP: 0.05}
	repeat := pure(1)
	repeat.Temperature, repeat.TopK, repeat.RepetitionPenalty = 0.8, 3, 2.5
	return []specPair{
		{"the whole text counts, with a repetition penalty", f.model(t, w), f.model(t, noisy(w, 0.5, 4)), repeat, 2},
		{
			"four tokens, each depending on the one before",
			bigram(
				t, nil, map[int]map[int]float32{'a': four(1, 2, 0, 0), 'b': four(0, 0, 3, -1), 'c': four(2, 1, 1, 1)},
			),
			bigram(
				t, nil, map[int]map[int]float32{'a': four(2, 1, 1, -2), 'b': four(1, 2, 1, 1), 'c': four(0, 0, 4, 0)},
			),
			pure(1), 3,
		},
		{"the whole text counts, all filters on", f.model(t, w), f.model(t, noisy(w, 0.5, 4)), cut, 2},
	}
}

type specPair struct {
	name          string
	target, draft *Model
	settings      Settings
	gamma         int // up to which all paths can be enumerated
}

// TestSpeculationHasTheTargetsDistribution: the joint distribution of three
// tokens is the target's own: computed along every path that proposals,
// verdicts and draws can take, not sampled.
func TestSpeculationHasTheTargetsDistribution(t *testing.T) {
	for i, pair := range pairs(t) {
		want := alone(t, pair.target, pair.settings)
		var sum float64
		for _, p := range want {
			sum += p
		}
		if !(math.Abs(sum-1) <= 1e-12) || len(want) < 15 {
			t.Fatalf(
				"%s: the target's own distribution has %d outcomes and sums to %v; want at least 15, about 1",
				pair.name, len(want), sum,
			)
		}
		for gamma := 1; gamma <= pair.gamma; gamma++ {
			if (gamma > 2 || gamma > 1 && i > 0) && !fixture.LongTier() {
				continue // the number of paths grows exponentially
			}
			t.Run(fmt.Sprintf("%s/%d", pair.name, gamma), func(t *testing.T) {
				s := pair.settings
				s.Stop.MaxTokens = gamma + 1 + 3 // so that no round is shortened before the third token
				if gamma == 3 {
					s.Stop.MaxTokens = 4 // the first round has its three; later paths are too many
				}
				got, seen := speculated(t, pair.target, pair.draft, s, gamma, nil)
				if d := distance(got, want); !(d <= 1e-9) {
					t.Errorf("a probability is off by %v, want at most 1e-9", d)
				}
				if seen[SpecAccept] == seen[SpecCorrect] || seen[SpecCorrect] == 0 ||
					seen[SpecBonus] == 0 && gamma < 3 {
					t.Errorf("the paths do not cover every event: %v", seen)
				}
			})
		}
	}
}

// TestDistributionCheckCatchesBrokenRules: the same check finds every way in
// which the rule is broken below.
func TestDistributionCheckCatchesBrokenRules(t *testing.T) {
	fixture.Long(t)
	for name, alter := range map[string]func(*Speculator){
		"everything is accepted": func(s *Speculator) { s.accept = func(_, _ float64) float64 { return 1 } },
		"nothing is accepted":    func(s *Speculator) { s.accept = func(_, _ float64) float64 { return 0 } },
		"p instead of p/q":       func(s *Speculator) { s.accept = func(p, _ float64) float64 { return p } },
		"q/p instead of p/q":     func(s *Speculator) { s.accept = func(p, q float64) float64 { return min(1, q/p) } },
		"a little too generous": func(s *Speculator) {
			s.accept = func(p, q float64) float64 { return min(1, 1.05*p/q) }
		},
		"corrected from p": func(s *Speculator) {
			s.excess = func(p, _ float64) float64 { return p }
		},
		"corrected from q − p": func(s *Speculator) {
			s.excess = func(p, q float64) float64 { return sampling.Excess(q, p) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, pair := range pairs(t) {
				s := pair.settings
				s.Stop.MaxTokens = 4
				got, _ := speculated(t, pair.target, pair.draft, s, 1, alter)
				if d := distance(got, alone(t, pair.target, pair.settings)); d < 1e-4 {
					t.Errorf("%s: a broken rule passes, off by only %v", pair.name, d)
				}
			}
		})
	}
}
