package lab

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/speculation"
	"github.com/tokenbytoken/viz/infer/terms"
)

// TestIndependentPairYieldsFormula: with a pair of models whose acceptance is independent by
// construction, the engine's speculation yields E(α, γ) tokens per pass.
func TestIndependentPairYieldsFormula(t *testing.T) {
	fixture.Long(t)
	target, draft := constantModel(t, 1), constantModel(t, 2)
	var dists [2][]float64
	for i, m := range []*infer.Model{target, draft} {
		var z [2][]float32
		for j, text := range []string{"a", "b and then c"} { // the distribution is the same after any text
			last, _, err := m.Forward(t.Context(), m.NewCache(), m.Encode(text))
			if err != nil {
				t.Fatal(err)
			}
			if z[j], _, err = m.Logits(last); err != nil {
				t.Fatal(err)
			}
		}
		for id := range z[0] {
			if !near(float64(z[0][id]), float64(z[1][id]), 5e-3) {
				t.Fatalf("token %d has %v after one text, %v after another", id, z[0][id], z[1][id])
			}
		}
		dists[i], _, _ = sampling.Softmax(z[0], 1)
	}
	alpha := overlap(dists[0], dists[1])
	if alpha < 0.2 || alpha > 0.8 {
		t.Fatalf("got α %v, which proves little", alpha)
	}
	for _, gamma := range []int{1, 4} {
		rounds, tokens := 0, 0
		for seed := uint64(0); rounds < 2500; seed++ {
			text := &specText{gamma: gamma}
			sp, err := speculation.New(
				target, draft, "a",
				infer.Settings{Settings: sampling.Pure, Seed: seed, Stop: infer.Stop{MaxTokens: 480}}, gamma,
			)
			if err != nil {
				t.Fatal(err)
			}
			sp.Rows = -1
			for sp.Stopped() == infer.StopNone {
				stages, err := sp.Round(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				n := text.add(stages, 0, target)
				if text.full[len(text.full)-1] {
					rounds, tokens = rounds+1, tokens+n
				}
			}
		}
		got, want := ratio(tokens, rounds), cost.ExpectedTokens(alpha, gamma)
		if !near(got/want, 1, 0.03) {
			t.Errorf("γ %d: got %v tokens per pass, want about E(%.3f, γ) = %v", gamma, got, alpha, want)
		}
	}
}

// TestSyntheticPairYieldsFormula: the lab's synthetic pair also yields E(α, γ) tokens per pass, and
// its tokens have the target's distribution.
func TestSyntheticPairYieldsFormula(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 9))
	for range 12 {
		p, q := randomDistribution(random, 50), randomDistribution(random, 50)
		gamma := 1 + random.IntN(8)
		s, err := synthesize(t.Context(), p, q, gamma, 20_000, random.Uint64N(1<<40))
		if err != nil || !near(s.Off, 0, 0.03) || !near(s.Measured, s.Alpha, 0.02) || s.Rounds != 20_000 {
			t.Errorf("got %+v, %v; want no error, Off ≈ 0, Measured ≈ %v, Rounds = 20_000", s, err, s.Alpha)
		}
		if !near(s.Distance/s.DistanceExpected, 1, 0.5) {
			t.Errorf("got distance %v, want about %v, as for plain draws", s.Distance, s.DistanceExpected)
		}
	}
	// If both models make the same prediction, every proposal is accepted: γ + 1 tokens per pass.
	p := []float64{0.5, 0.25, 0.25}
	if s, err := synthesize(t.Context(), p, p, 3, 100, 1); err != nil || s.PerPass != 4 || s.Alpha != 1 ||
		s.Expected != 4 {
		t.Errorf("got %+v, %v; want no error, PerPass = 4, Alpha = 1, Expected = 4", s, err)
	}
	// If they have no token in common, no proposal is accepted: one token per pass, drawn from p.
	if s, err := synthesize(
		t.Context(), []float64{1, 0}, []float64{0, 1}, 3, 100, 1,
	); err != nil || s.PerPass != 1 || s.Alpha != 0 || s.Distance != 0 {
		t.Errorf("got %+v, %v; want no error, PerPass = 1, Alpha = 0, Distance = 0", s, err)
	}
	// Σ min: 0.2 + 0.3 + 0.1.
	if got := overlap([]float64{0.2, 0.3, 0.5}, []float64{0.6, 0.3, 0.1}); !near(got, 0.6, 1e-12) {
		t.Errorf("overlap %v, want about 0.6", got)
	}
}

func randomDistribution(random *rand.Rand, n int) []float64 {
	p := make([]float64, n)
	sum := 0.0
	for i := range p {
		p[i] = random.ExpFloat64()
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// TestAcceptanceByHand: of two full rounds of γ = 2, one accepts both proposals and one accepts
// none. A third round, at the end, drafts one token and accepts it.
func TestAcceptanceByHand(t *testing.T) {
	judged := func(accepted ...bool) (list []SpecJudged) {
		for _, a := range accepted {
			list = append(list, SpecJudged{Accepted: a})
		}
		return list
	}
	text := &specText{
		gamma:  2,
		rounds: []SpecRound{{Judged: judged(true, true)}, {Judged: judged(false)}, {Judged: judged(true)}},
		full:   []bool{true, true, false},
		totals: speculation.Totals{Rounds: 3, Drafted: 5, Judged: 4, Accepted: 3, Generated: 6},
	}
	a := acceptance(text)
	// α = 3/4; 6 tokens in 3 passes; E = 1 + 0.75 + 0.5625 = 2.3125. The full rounds yielded 3 and
	// 1, which is 2 on average. So dependence accounts for −0.3125 of the gap, and the short round
	// for 0, since it yielded 2 as well.
	if a.Alpha != 0.75 || a.PerPass != 2 || !near(a.Expected, 2.3125, 1e-12) || !near(a.Dependence, -0.3125, 1e-12) ||
		!near(a.Short, 0, 1e-12) || a.FullRounds != 2 {
		t.Errorf(
			"got %+v, want Alpha = 0.75, PerPass = 2, Expected ≈ 2.3125, Dependence ≈ -0.3125, Short ≈ 0, "+
				"FullRounds = 2",
			a,
		)
	}
	want := []PlaceRate{{1, 3, 2, 2.0 / 3}, {2, 1, 1, 1}}
	if len(a.ByPlace) != 2 || a.ByPlace[0] != want[0] || a.ByPlace[1] != want[1] {
		t.Errorf("by place %+v, want %+v", a.ByPlace, want)
	}
}

func TestSpeculationReportAddsUp(t *testing.T) {
	s, _ := result[*Speculation](
		t, "speculation",
		terms.Values{"tokens": "40", "gamma": "4", "gammas": "4,1", "repeats": "2", "rounds": "20000"},
	)
	if !near(s.Acceptance.Gap, s.Acceptance.Dependence+s.Acceptance.Short, 1e-9) ||
		!near(s.Acceptance.PerPass-s.Acceptance.Expected, s.Acceptance.Gap, 1e-9) {
		t.Errorf(
			"wrong sum of the gap: got %+v, want Gap ≈ %v, s.Acceptance.PerPass-s.Acceptance.Expected ≈ %v",
			s.Acceptance, s.Acceptance.Dependence+s.Acceptance.Short, s.Acceptance.Gap,
		)
	}
	if s.Synthetic.Rounds != 20_000 || !near(s.Synthetic.Off, 0, 0.03) {
		t.Errorf("synthetic %+v, want Rounds = 20_000, Off ≈ 0", s.Synthetic)
	}
	n := 0
	for _, r := range s.Rounds {
		for _, j := range r.Judged {
			if j.Chance != sampling.Acceptance(j.P, j.Q) || j.Accepted != (*j.U < j.Chance) || *j.U != sampling.UFor(
				42, j.Step, sampling.ForAccept,
			) {
				t.Errorf(
					"round %d: got %+v; want Chance = %v, Accepted = %t, *j.U = %v", r.Round, j,
					sampling.Acceptance(j.P, j.Q), *j.U < j.Chance, sampling.UFor(42, j.Step, sampling.ForAccept),
				)
			}
			if j.Accepted {
				n++
			}
		}
		if r.Last != nil {
			n++
		}
	}
	if n != len(s.SpecLane) {
		t.Errorf("got %d tokens in the rounds, want %d as in the lane", n, len(s.SpecLane))
	}
	for i, x := range s.SpecLane {
		if x.Step != i+1 || x.At <= 0 || i > 0 && x.At < s.SpecLane[i-1].At {
			t.Errorf("got lane entry %+v, want step %d, at a later time than the entry before", x, i+1)
		}
	}
	// With this seed, the draft changes the text, so the lab may only claim that the odds stay the same.
	if claim := (speculationLab{}).Info(terms.English).Claim; s.Text == s.Plain ||
		!strings.HasSuffix(claim, "the odds stay the same.") {
		t.Errorf("%q alone and %q with a draft, but the claim is %q", s.Plain, s.Text, claim)
	}
	alone := s.Gammas[0]
	if len(s.Gammas) != 3 || alone.Gamma != 0 || s.Gammas[1].Gamma != 1 || s.Gammas[2].Gamma != 4 ||
		alone.Passes != alone.Tokens || alone.SpeedUp != 1 {
		t.Fatalf(
			"got %+v, want 3 elements, alone.Gamma = 0, [1].Gamma = 1, [2].Gamma = 4, alone.Passes = %d, "+
				"alone.SpeedUp = 1",
			s.Gammas, alone.Tokens,
		)
	}
	for _, g := range s.Gammas[1:] {
		if g.PassesSaved != g.Tokens-g.Passes || g.PassesSaved < 0 ||
			!near(g.MsSaved, (alone.PerToken-g.PerToken)*float64(g.Tokens), 1e-9) || g.Ms.N != 2 {
			t.Errorf(
				"got %+v, want PassesSaved = %d, PassesSaved at least 0, MsSaved ≈ %v, Ms.N = 2", g,
				g.Tokens-g.Passes, (alone.PerToken-g.PerToken)*float64(g.Tokens),
			)
		}
		if !near(g.Predicted, cost.SpeedUp(g.Alpha, g.Gamma, g.C, g.V), 1e-9) ||
			g.Expected != cost.ExpectedTokens(g.Alpha, g.Gamma) || !near(
			g.DraftMs+g.VerifyMs+g.OtherMs, g.Ms.Median, 1e-9,
		) {
			t.Errorf("got %+v, want the speed-up and E(α, γ) of the formulas, and parts that add up to Ms.Median", g)
		}
	}
	if s.Gammas[2].Alpha != s.Acceptance.Alpha || s.Gammas[2].PerPass != s.Acceptance.PerPass {
		t.Errorf(
			"γ 4: got α %v and %v tokens a pass, want those shown: %v and %v", s.Gammas[2].Alpha, s.Gammas[2].PerPass,
			s.Acceptance.Alpha, s.Acceptance.PerPass,
		)
	}
	if c := s.Costs; c.StepMs.Median <= 0 || c.C <= 0 || c.V <= 0 || c.Counted.C >= 1 || c.Counted.V <= 1 ||
		c.Counted.V > 5.1 {
		t.Errorf(
			"got %+v, want StepMs.Median more than 0, C more than 0, V more than 0, Counted.C less than 1, "+
				"Counted.V more than 1 and at most 5.1",
			c,
		)
	}
}

// TestSpeculationTimesAreMedians: the times reported for the displayed text are medians over its
// repeats, and c and v are computed from all repeats.
func TestSpeculationTimesAreMedians(t *testing.T) {
	const ms = time.Millisecond
	repeat := func(at float64, draft, verify time.Duration) *specText {
		return &specText{
			gamma: 1, lane: []SpecTime{{Step: 1, At: at}}, rounds: []SpecRound{
				{Round: 1, DraftMs: milliseconds(draft), VerifyMs: milliseconds(verify)},
			},
			draft: []time.Duration{draft}, verify: []time.Duration{verify},
		}
	}
	first := repeat(90, 50*ms, 60*ms) // generated first, with cold caches
	r := &speculationRun{gammas: []int{1, 2}, shown: first, texts: [][]*specText{nil, nil}}
	if got := r.timed(); len(got) != 1 || got[0] != first {
		t.Errorf("before the repeats: got %v, want 1 element, [0] = %v", got, first)
	}
	r.texts[0] = []*specText{repeat(3, 1*ms, 4*ms), repeat(5, 2*ms, 8*ms), repeat(4, 3*ms, 6*ms)}
	s := &Speculation{SpecLane: first.lane, Rounds: first.rounds}
	s.spec(r.timed())
	if s.SpecLane[0].At != 4 || s.Rounds[0].DraftMs != 2 || s.Rounds[0].VerifyMs != 6 || first.lane[0].At != 90 {
		t.Errorf(
			"lane %+v, round %+v; want s.SpecLane[0].At = 4, s.Rounds[0].DraftMs = 2, s.Rounds[0].VerifyMs "+
				"= 6, first.lane[0].At = 90",
			s.SpecLane[0], s.Rounds[0],
		)
	}
	// One step of the target alone takes 2 ms: c = 2/2, v = 6/2.
	c := costs(r.timed(), []plainText{{steps: []time.Duration{2 * ms}}}, tinyShape, tinyShape, 3)
	if c.C != 1 || c.V != 3 {
		t.Errorf("c %v, v %v; want 1, 3", c.C, c.V)
	}
}

// TestShownGammaIsCompared: the γ of the displayed text is measured even if it is not in the list.
func TestShownGammaIsCompared(t *testing.T) {
	s, _ := result[*Speculation](
		t, "speculation", terms.Values{"tokens": "8", "gamma": "3", "gammas": "2", "repeats": "1", "rounds": "100"},
	)
	if len(s.Gammas) != 3 || s.Gammas[1].Gamma != 2 || s.Gammas[2].Gamma != 3 {
		t.Errorf("got %+v, want 3 elements, [1].Gamma = 2, [2].Gamma = 3", s.Gammas)
	}
}

// TestGreedySpeculation: with greedy settings, both lanes generate the same text as the loop.
func TestGreedySpeculation(t *testing.T) {
	greedily := terms.Values{
		"tokens": "30", "gamma": "3", "gammas": "2", "repeats": "1", "rounds": "100", "temperature": "0", "top_p": "1",
	}
	s, _ := result[*Speculation](t, "speculation", greedily)
	if len(s.PlainLane) != len(s.SpecLane) {
		t.Fatalf("got %d tokens alone and %d with a draft, want the same number", len(s.PlainLane), len(s.SpecLane))
	}
	lane, _ := result[*Strategies](
		t, "strategies", terms.Values{"lanes": "greedy", "tokens": "30", "runs": "1", "horizon": "0"},
	)
	for i := range s.PlainLane {
		if s.PlainLane[i].Token != s.SpecLane[i].Token || s.PlainLane[i].Token != lane.Lanes[0].Steps[i].Token {
			t.Errorf(
				"token %d: %v alone, %v with a draft, %v in the loop", i+1, s.PlainLane[i].Token, s.SpecLane[i].Token,
				lane.Lanes[0].Steps[i].Token,
			)
		}
	}
	for _, r := range s.Rounds {
		for _, j := range r.Judged {
			if j.U != nil {
				t.Errorf("round %d has a u, want none under greedy decoding", r.Round)
			}
		}
	}
	if s.Text != s.Plain {
		t.Errorf("%q alone, %q with a draft", s.Plain, s.Text)
	}
}
