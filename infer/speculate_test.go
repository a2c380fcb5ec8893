package infer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/sampling"
	"pgregory.net/rapid"
)

func newSpeculator(tb testing.TB, target, draft *Model, prompt string, s Settings, gamma int) *Speculator {
	tb.Helper()
	sp, err := NewSpeculator(target, draft, prompt, s, gamma)
	if err != nil {
		tb.Fatal(err)
	}
	return sp
}

// speculate runs to the end and returns the stages on the way.
func speculate(tb testing.TB, s *Speculator) (stages []SpecStage) {
	tb.Helper()
	for {
		stage, err := s.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return stages
		} else if err != nil {
			tb.Fatal(err)
		}
		stages = append(stages, stage)
	}
}

func specText(stages []SpecStage) (text string) {
	for _, st := range stages {
		if e, ok := st.(Extend); ok {
			text += e.Text
		}
	}
	return text
}

func chosenTokens(l *Loop) (ids []int) {
	for _, s := range l.Steps() {
		ids = append(ids, s.Chosen)
	}
	return ids
}

// shallow is a poor draft: the model without its last blocks.
func shallow(m *Model, layers int) *Model {
	cut := *m
	cut.blocks = m.blocks[:layers]
	cut.config.Layers = layers
	return &cut
}

var greedySettings = Settings{Settings: sampling.Settings{TopP: 1}, Stop: Stop{MaxTokens: 12}}

// Greedy text is the target's own greedy text, however poor the draft.
func TestGreedySpeculationIsPlainGreedy(t *testing.T) {
	m := bundledModel(t)
	subjects := []string{"Lucy", "The dog", "A small bird", "Tom and his mother", "The capital of France", "My name", "The sun", "3 + 4", "User: Hello", "He"}
	verbs := []string{"", " is", " was", " went to", " said", " had a big", " did not", " wanted to", ", who", " and the"}
	totals := SpecTotals{}
	for i := range 100 {
		prompt := subjects[i/10] + verbs[i%10]
		want := newLoop(t, m, prompt, greedySettings)
		for err := error(nil); err == nil; {
			_, err = want.Advance(context.Background())
		}
		s := newSpeculator(t, m, shallow(m, 3+i%3), prompt, greedySettings, 1+i%5)
		s.Rows = 1
		stages := speculate(t, s)
		if !slices.Equal(s.Tokens(), chosenTokens(want)) || specText(stages) != textOf(want) || s.Stopped() != want.Stopped() {
			t.Fatalf("%q goes on with %q (%s), plain greedy %q (%s)", prompt, specText(stages), s.Stopped(), textOf(want), want.Stopped())
		}
		totals.Judged, totals.Accepted = totals.Judged+s.totals.Judged, totals.Accepted+s.totals.Accepted
	}
	if a := totals.Acceptance(); a < 0.05 || a > 0.95 {
		t.Errorf("the drafts were accepted at %.2f: the test says little", a)
	}
}

// A draft that is the target is never refused, and every round writes γ + 1
// tokens.
func TestTheTargetAsItsOwnDraft(t *testing.T) {
	m := bundledModel(t)
	s := pure(5)
	s.Stop.MaxTokens = 40 // 8 rounds of 5
	for seed := range uint64(4) {
		s.Seed = seed
		sp := newSpeculator(t, m, m, "Once upon a time", s, 4)
		stages := speculate(t, sp)
		totals := sp.Totals()
		if totals.Acceptance() != 1 || totals.Accepted != totals.Judged || totals.Accepted == 0 {
			t.Errorf("seed %d: %d of %d accepted", seed, totals.Accepted, totals.Judged)
		}
		for _, st := range stages {
			switch st := st.(type) {
			case Accept:
				if st.Ratio != 1 || st.P != st.Q {
					t.Errorf("seed %d, step %d: p %v and q %v differ", seed, st.Step, st.P, st.Q)
				}
			case Extend:
				if len(st.Tokens) != 5 && st.Stop == StopNone {
					t.Errorf("seed %d, round %d wrote %d tokens", seed, st.Round, len(st.Tokens))
				}
			}
		}
		if sp.Stopped() == StopMaxTokens && (totals.Rounds != 8 || totals.TokensPerPass() != cost.ExpectedTokens(1, 4)) {
			t.Errorf("seed %d: %d rounds, %v tokens a pass", seed, totals.Rounds, totals.TokensPerPass())
		}
	}
}

// With any stop condition and any draft the text ends where plain greedy ends,
// also inside an accepted run, and both caches hold the text but its last token.
func TestSpeculationStopsWhereTheLoopDoes(t *testing.T) {
	target := smallModel(t)
	f := smallFolder
	f.context = 40 // the draft's window ends earlier
	drafts := []*Model{target, f.model(t, noisy(f.random(7), 0.02, 1)), f.model(t, f.random(8))}
	inside := map[StopReason]int{}
	rapid.Check(t, func(rt *rapid.T) {
		s := greedySettings
		s.Stop.MaxTokens = rapid.IntRange(1, 70).Draw(rt, "max tokens")
		prompt := rapid.SampledFrom([]string{"a", "Hi", "User: ab", strings.Repeat("ab", 15), strings.Repeat("x", 55), strings.Repeat("y", 63)}).Draw(rt, "prompt")
		draft := drafts[rapid.IntRange(0, 2).Draw(rt, "draft")]
		want := newLoop(t, target, prompt, s)
		finish(t, want)
		if text := textOf(want); len(text) > 2 { // a stop string that occurs
			at := rapid.IntRange(0, len(text)-2).Draw(rt, "at")
			str := text[at:min(len(text), at+rapid.IntRange(1, 4).Draw(rt, "length"))]
			if s.Stop.Strings = []string{str, "never this"}; s.Check() == nil {
				want = newLoop(t, target, prompt, s)
				finish(t, want)
			} else {
				s.Stop.Strings = nil
			}
		}
		sp := newSpeculator(t, target, draft, prompt, s, rapid.IntRange(1, MaxGamma).Draw(rt, "gamma"))
		stages := speculate(t, sp)
		last := stages[len(stages)-1].(Extend)
		end := want.Steps()[len(want.Steps())-1]
		if !slices.Equal(sp.Tokens(), chosenTokens(want)) || specText(stages) != textOf(want) ||
			last.Stop != end.Stop || last.StopString != end.StopString || string(last.Held) != string(end.Held) {
			rt.Fatalf("%q and %v, stopped by %q; the loop writes %q and %v, stopped by %q",
				specText(stages), sp.Tokens(), last.Stop, textOf(want), chosenTokens(want), end.Stop)
		}
		if n := len(sp.text) - 1; last.TargetPositions != n || last.DraftPositions > n || sp.caches.target.Positions() != n {
			rt.Fatalf("%d tokens of text leave caches of %d and %d", len(sp.text), last.TargetPositions, last.DraftPositions)
		}
		if _, err := sp.Next(context.Background()); !errors.Is(err, io.EOF) {
			rt.Fatalf("after the end: %v", err)
		}
		for _, st := range stages { // nothing is drafted that the limit would cut
			if e, ok := st.(Extend); ok && e.Generated-len(e.Tokens)+e.Drafted >= s.Stop.MaxTokens {
				rt.Fatalf("%d tokens drafted after %d of %d", e.Drafted, e.Generated-len(e.Tokens), s.Stop.MaxTokens)
			}
		}
		if _, accepted := stages[len(stages)-2].(Accept); accepted {
			inside[last.Stop]++
		}
	})
	if inside[StopString] == 0 {
		t.Errorf("no text ended inside an accepted run: %v", inside)
	}
}

// After every round the caches hold what reading the text from nothing writes.
func TestSpeculationKeepsTheCachesTrue(t *testing.T) {
	target := smallModel(t)
	draft := smallFolder.model(t, noisy(smallFolder.random(7), 0.1, 2))
	s := pure(3)
	s.TopK, s.Stop.MaxTokens = 8, 40
	sp := newSpeculator(t, target, draft, "Hello", s, 4)
	refused := 0
	for sp.Stopped() == StopNone {
		stages, err := sp.Round(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		e := stages[len(stages)-1].(Extend)
		if e.Accepted < e.Drafted {
			refused++
		}
		for name, have := range map[*Model]*Cache{target: sp.caches.target, draft: sp.caches.draft} {
			want := name.NewCache()
			n := have.Positions()
			logitsAfter(t, name, want, sp.text[:n]...)
			for b := range have.keys {
				if w := n * have.width; !sameBits(have.keys[b][:w], want.keys[b][:w]) || !sameBits(have.values[b][:w], want.values[b][:w]) {
					t.Fatalf("round %d: block %d of a cache is not that of the text", e.Round, b)
				}
			}
		}
	}
	if refused < 3 {
		t.Errorf("%d rounds with a refusal: the test says little", refused)
	}
}

// Multiply-adds as they were tallied are those of the formulas: every round is
// one pass of the target over γ + 1 positions with a score for each.
func TestSpeculationTallies(t *testing.T) {
	target := smallModel(t)
	draft := smallFolder.model(t, noisy(smallFolder.random(7), 0.1, 2))
	s := pure(3)
	s.Stop.MaxTokens = 30
	sp := newSpeculator(t, target, draft, "Hello", s, 3)
	n := len(target.Encode("Hello"))
	shape := target.Shape()
	have := map[*Model]int{target: n - 1, draft: n - 1} // positions in the caches
	var sum SpecTotals
	for _, st := range speculate(t, sp) {
		switch st := st.(type) {
		case Prefill:
			if want := shape.Blocks(0, n-1); st.Tokens != n-1 || st.Target.Parts != want || st.Draft.Parts != want {
				t.Errorf("prefill of %d: %+v and %+v, want %+v", n-1, st.Target, st.Draft, want)
			}
		case Propose:
			var want cost.Parts
			at, positions := have[draft], 0
			for i := range st.Drafted {
				read := 1
				if i == 0 {
					read = n - at
				}
				want = want.Plus(shape.Blocks(at, read)).Plus(shape.Output())
				at, positions = at+read, positions+read
			}
			if st.Cost.Parts != want || st.Cost.Passes != len(st.Drafted) || st.Cost.Positions != positions {
				t.Errorf("round %d: the draft spent %+v, want %+v", st.Round, st.Cost, want)
			}
			sum.Draft = sum.Draft.plus(st.Cost)
			have[draft] = at
		case Verify:
			k := len(st.Scored)
			want := shape.Blocks(n-1, k)
			want.Output = int64(k) * shape.Output().Output
			if st.Cost.Parts != want || st.Cost.Positions != k || st.Cost.Passes != 1 {
				t.Errorf("round %d: the target spent %+v, want %+v", st.Round, st.Cost, want)
			}
			sum.Target = sum.Target.plus(st.Cost)
		case Extend:
			n += len(st.Tokens)
			have[draft] = min(have[draft], n-1)
			if st.DraftPositions != have[draft] {
				t.Errorf("round %d: the draft's cache has %d columns, want %d", st.Round, st.DraftPositions, have[draft])
			}
			if st.Totals.Draft != sum.Draft || st.Totals.Target != sum.Target {
				t.Errorf("round %d: totals %+v", st.Round, st.Totals)
			}
		}
	}
}

// A pass that is interrupted leaves the speculator where it was: going on, it
// writes what it would have written.
func TestInterruptedSpeculationGoesOn(t *testing.T) {
	target := smallModel(t)
	draft := smallFolder.model(t, noisy(smallFolder.random(7), 0.1, 2))
	s := pure(9)
	s.Stop.MaxTokens = 25
	want := untimedSpec(t, speculate(t, newSpeculator(t, target, draft, "Hello", s, 4)))
	// Scores are interrupted too: only where others run the passes can that be.
	sp := newSpeculator(t, target.Through(&unsteady{Model: target}), draft.Through(&unsteady{Model: draft}), "Hello", s, 4)
	var got []SpecStage
	for interrupted := 0; ; {
		stage, err := sp.Next(&lateContext{context.Background(), interrupted % 29})
		if errors.Is(err, io.EOF) {
			break
		}
		if interrupted++; err == nil {
			got = append(got, stage)
		} else if !errors.Is(err, context.Canceled) || stage != nil {
			t.Fatalf("%v, %v", stage, err)
		}
	}
	if all := untimedSpec(t, got); !slices.Equal(all, want) {
		t.Errorf("interrupted:\n%s\nin one go:\n%s", strings.Join(all, "\n"), strings.Join(want, "\n"))
	}
}

// unsteady is a runner that interrupts every fifth scoring.
type unsteady struct {
	*Model
	calls int
}

func (u *unsteady) LogitsTo(ctx context.Context, last, z []float32) (cost.Parts, error) {
	if u.calls++; u.calls%5 == 0 {
		return cost.Parts{}, context.Canceled
	}
	return u.Model.LogitsTo(ctx, last, z)
}

func (u *unsteady) Waited() time.Duration { return 0 }

// untimedSpec is the stages' JSON without measured times.
func untimedSpec(t *testing.T, stages []SpecStage) (lines []string) {
	t.Helper()
	for _, st := range stages {
		lines = append(lines, specJSON(t, st))
	}
	return lines
}

func specJSON(t *testing.T, st SpecStage) string {
	t.Helper()
	timeless := func(c *SpecCost) { c.Took = 0 }
	switch x := st.(type) {
	case Prefill:
		timeless(&x.Draft)
		timeless(&x.Target)
		st = x
	case Propose:
		timeless(&x.Cost)
		st = x
	case Verify:
		timeless(&x.Cost)
		st = x
	case Extend:
		x.Took = 0
		for _, c := range []*SpecCost{&x.Totals.PrefillDraft, &x.Totals.PrefillTarget, &x.Totals.Draft, &x.Totals.Target} {
			timeless(c)
		}
		st = x
	}
	data, err := json.Marshal(st)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// One round by hand. After x the target says a ½, b ½ (equal logits), the draft
// a for sure. a is accepted with ½ / 1; what replaces it is b for sure: the
// residual is max(0, ½ − 1), max(0, ½ − 0) = 0, ½.
func TestOneRoundByHand(t *testing.T) {
	target := bigram(t, nil, map[int]map[int]float32{'x': {'a': 0, 'b': 0}, 'a': {'b': 0}, 'b': {endID: 0}})
	draft := bigram(t, nil, map[int]map[int]float32{'x': {'a': 0}, 'a': {'b': 0}, 'b': {endID: 0}})
	outcomes := map[bool]int{}
	for seed := range uint64(20) {
		s := pure(seed)
		sp := newSpeculator(t, target, draft, "x", s, 1)
		stages, err := sp.Round(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var kinds []SpecKind
		for _, st := range stages {
			kinds = append(kinds, st.SpecKind())
		}
		u := sampling.UFor(seed, 1, sampling.ForAccept)
		accept := stages[2].(Accept)
		if accept.P != 0.5 || accept.Q != 1 || accept.Probability != 0.5 || accept.U != u || accept.Accepted != (u < 0.5) {
			t.Fatalf("seed %d: %+v, want p ½, q 1 and u %v", seed, accept, u)
		}
		outcomes[accept.Accepted]++
		last := SpecCorrect
		if accept.Accepted {
			last = SpecBonus
			if b := stages[3].(Bonus); b.Chosen.ID != 'b' || b.Chosen.P != 1 || b.Step != 2 || b.U != sampling.U(seed, 2) {
				t.Errorf("seed %d: bonus %+v, want b", seed, b)
			}
		} else {
			c := stages[3].(Correct)
			if c.Chosen.ID != 'b' || c.Chosen.R != 1 || c.Mass != 0.5 || c.Refused.ID != 'a' || c.Refused.P != 0.5 || c.From != 0 || c.To != 1 {
				t.Errorf("seed %d: correction %+v, want b for a", seed, c)
			}
		}
		if want := []SpecKind{SpecPropose, SpecVerify, SpecAccept, last, SpecExtend}; !slices.Equal(kinds, want) {
			t.Errorf("seed %d: stages %v, want %v", seed, kinds, want)
		}
		if want := fmt.Sprintf(`{"round":1,"stage":"accept","step":1,"token":{"id":97,"text":"a"},"p":0.5,"q":1,"ratio":0.5,"probability":0.5,"seed":%d,"u":%v,"accepted":%v}`,
			seed, u, u < 0.5); specJSON(t, accept) != want {
			t.Errorf("%s\nwant\n%s", specJSON(t, accept), want)
		}
	}
	if outcomes[true] == 0 || outcomes[false] == 0 {
		t.Errorf("outcomes %v", outcomes)
	}
}

// What stages list sums to 1, holds the tokens that matter, and is not changed
// by what runs later.
func TestSpecStagesOwnTheirData(t *testing.T) {
	target := smallModel(t)
	draft := smallFolder.model(t, noisy(smallFolder.random(7), 0.1, 2))
	s := pure(4)
	s.Stop.MaxTokens = 30
	sp := newSpeculator(t, target, draft, "Hello", s, 4)
	sp.Rows = 3
	var stages []SpecStage
	var then []string
	whole := func(c Candidates, must int, what string, of func(Candidate) float64, rest float64) {
		t.Helper()
		var listed bool
		for _, row := range c.Rows {
			rest += of(row)
			listed = listed || row.ID == must
		}
		if math.Abs(rest-1) > 1e-12 || len(c.Rows) > 3 || len(c.Rows)+c.Rest.N != target.config.Vocab || !listed {
			t.Errorf("%s: %d rows and %d others sum to %v; token %d listed: %v", what, len(c.Rows), c.Rest.N, rest, must, listed)
		}
	}
	p, q, r := func(c Candidate) float64 { return c.P }, func(c Candidate) float64 { return c.Q }, func(c Candidate) float64 { return c.R }
	for {
		st, err := sp.Next(context.Background())
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		stages, then = append(stages, st), append(then, specJSON(t, st))
		switch st := st.(type) {
		case Propose:
			for _, d := range st.Drafted {
				whole(d.Candidates, d.Chosen.ID, "propose", q, d.Rest.Q)
				if d.U < d.From || d.U >= d.To || d.U != sampling.UFor(4, d.Step, sampling.ForDraft) {
					t.Errorf("u %v is not in [%v, %v)", d.U, d.From, d.To)
				}
			}
		case Verify:
			for _, at := range st.Scored {
				if at.Drafted == nil {
					whole(at.Candidates, at.Rows[0].ID, "verify, last", p, at.Rest.P)
					continue
				}
				whole(at.Candidates, at.Drafted.ID, "verify", p, at.Rest.P)
				whole(at.Candidates, at.Drafted.ID, "verify", q, at.Rest.Q)
			}
		case Correct:
			whole(st.Candidates, st.Chosen.ID, "correct", r, st.Rest.R)
			whole(st.Candidates, st.Chosen.ID, "correct", p, st.Rest.P)
			if st.U < st.From || st.U >= st.To {
				t.Errorf("u %v is not in [%v, %v)", st.U, st.From, st.To)
			}
		case Bonus:
			whole(st.Candidates, st.Chosen.ID, "bonus", p, st.Rest.P)
		}
	}
	if now := untimedSpec(t, stages); !slices.Equal(now, then) {
		t.Error("a stage changed after it had been handed out")
	}
}

func TestNewSpeculatorRefuses(t *testing.T) {
	small := smallModel(t)
	other := smallFolder
	other.extra = slices.Clone(other.extra)
	other.extra[0] = "zz"
	fewer := smallFolder
	fewer.extra = fewer.extra[1:]
	unmarked := smallFolder
	unmarked.bos = false
	bad := pure(1)
	bad.TopP = 0
	for _, row := range []struct {
		name   string
		draft  *Model
		prompt string
		s      Settings
		gamma  int
		want   string
	}{
		{"another token", other.model(t, other.random(1)), "a", pure(1), 4, `its token 257 is "zz", not "ab"`},
		{"fewer tokens", fewer.model(t, fewer.random(1)), "a", pure(1), 4, "its vocabulary has 266 tokens, not 267"},
		{"no start mark", unmarked.model(t, unmarked.random(1)), "a", pure(1), 4, "its start token is -1, not 256"},
		{"settings", small, "a", bad, 4, "top_p is 0"},
		{"no gamma", small, "a", pure(1), 0, "gamma is 0; it must be 1 to 16"},
		{"too much gamma", small, "a", pure(1), 17, "gamma is 17"},
		{"prompt too long", small, strings.Repeat("x", 64), pure(1), 4, "65 tokens long with its start mark"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, err := NewSpeculator(small, row.draft, row.prompt, row.s, row.gamma); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v, want an error with %q", err, row.want)
			}
		})
	}
}

// Several positions of one pass are the vectors and scores that the positions
// have one by one, wherever the pass is cut into chunks.
func TestSeveralPositionsOfOnePass(t *testing.T) {
	m := smallModel(t)
	d, v := m.config.Width, m.config.Vocab
	ids := make([]int, 40)
	for i := range ids {
		ids[i] = (i * 37) % v
	}
	single := m.NewCache()
	var vectors, scores []float32
	for _, id := range ids {
		last, _, err := m.Forward(context.Background(), single, []int{id})
		if err != nil {
			t.Fatal(err)
		}
		z, _, err := m.Logits(last)
		if err != nil {
			t.Fatal(err)
		}
		vectors, scores = append(vectors, last...), append(scores, z...)
	}
	for n := 1; n <= len(ids); n++ {
		out, z := make([]float32, n*d), make([]float32, n*v)
		if _, err := m.ForwardTo(context.Background(), m.NewCache(), ids, out); err != nil {
			t.Fatal(err)
		}
		tally, err := m.LogitsTo(context.Background(), out, z)
		if err != nil {
			t.Fatal(err)
		}
		if !sameBits(out, vectors[len(vectors)-n*d:]) || !sameBits(z, scores[len(scores)-n*v:]) {
			t.Errorf("the last %d of %d positions differ from single ones", n, len(ids))
		}
		if tally.Output != int64(n*d*v) {
			t.Errorf("%d scores tallied %d multiply-adds", n, tally.Output)
		}
	}
}

// BenchmarkSpeculate writes 100 tokens with a draft of half the layers.
func BenchmarkSpeculate(b *testing.B) {
	m := bundledModel(b)
	s := DefaultSettings()
	s.Stop.MaxTokens = 100
	var totals SpecTotals
	for b.Loop() {
		sp := newSpeculator(b, m, shallow(m, 3), "Once upon a time there was a", s, 4)
		speculate(b, sp)
		totals = sp.Totals()
	}
	b.ReportMetric(totals.Acceptance(), "accepted")
	b.ReportMetric(totals.TokensPerPass(), "tokens/pass")
}
