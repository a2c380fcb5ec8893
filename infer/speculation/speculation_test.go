package speculation

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint/smallmodel"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/testmodel"
)

func newSpeculator(tb testing.TB, target, draft *infer.Model, prompt string, s infer.Settings, gamma int) *Speculator {
	tb.Helper()
	sp, err := New(target, draft, prompt, s, gamma)
	if err != nil {
		tb.Fatal(err)
	}
	return sp
}

// speculate runs a speculator to the end of its text and returns all of its stages.
func speculate(tb testing.TB, s *Speculator) (stages []Stage) {
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

func specText(stages []Stage) (text string) {
	for _, st := range stages {
		if e, ok := st.(Extend); ok {
			text += e.Text
		}
	}
	return text
}

func chosenTokens(l *infer.Loop) (ids []int) {
	for _, s := range l.Steps() {
		ids = append(ids, s.Chosen)
	}
	return ids
}

var greedySettings = infer.Settings{Settings: sampling.Settings{TopP: 1}, Stop: infer.Stop{MaxTokens: 12}}

// TestGreedySpeculationIsPlainGreedy: greedy text equals the target's own greedy text, no matter
// how poor the draft is.
func TestGreedySpeculationIsPlainGreedy(t *testing.T) {
	m := testmodel.Target(t)
	drafts := []*infer.Model{shallow(t, 3), shallow(t, 4), shallow(t, 5)}
	subjects := []string{
		"Lucy", "The dog", "A small bird", "Tom and his mother", "The capital of France", "My name", "The sun", "3 + 4",
		"User: Hello", "He",
	}
	verbs := []string{
		"", " is", " was", " went to", " said", " had a big", " did not", " wanted to", ", who", " and the",
	}
	totals := Totals{}
	for i := range 100 {
		if !fixture.LongTier() && i%3 > 0 { // 34 prompts that include every depth, verb, length and subject
			continue
		}
		prompt := subjects[i/10] + verbs[i%10]
		want := newLoop(t, m, prompt, greedySettings)
		for err := error(nil); err == nil; {
			_, err = want.Advance(context.Background())
		}
		s := newSpeculator(t, m, drafts[i/3%3], prompt, greedySettings, 1+i%5)
		s.Rows = 1
		stages := speculate(t, s)
		if !slices.Equal(s.Tokens(), chosenTokens(want)) || specText(stages) != textOf(want) ||
			s.Stopped() != want.Stopped() {
			t.Fatalf(
				"%q continues with %q (%s), want plain greedy's %q (%s)", prompt, specText(stages), s.Stopped(),
				textOf(want), want.Stopped(),
			)
		}
		totals.Judged, totals.Accepted = totals.Judged+s.totals.Judged, totals.Accepted+s.totals.Accepted
	}
	if a := totals.Acceptance(); a < 0.05 || a > 0.95 {
		t.Errorf("got acceptance %.2f, so the test proves little; want at least 0.05 and at most 0.95", a)
	}
}

// TestTargetAsItsOwnDraftIsNeverRejected: if the target is its own draft, no proposal is rejected,
// and every round generates γ + 1 tokens.
func TestTargetAsItsOwnDraftIsNeverRejected(t *testing.T) {
	m := testmodel.Target(t)
	s := pure(5)
	s.Stop.MaxTokens = 40 // 8 rounds of 5
	for seed := range uint64(4) {
		s.Seed = seed
		sp := newSpeculator(t, m, m, "Once upon a time", s, 4)
		stages := speculate(t, sp)
		totals := sp.Totals()
		if totals.Acceptance() != 1 || totals.Accepted != totals.Judged || totals.Accepted == 0 {
			t.Errorf(
				"seed %d: got %d of %d accepted; want totals.Acceptance() = 1, totals.Accepted = %d, "+
					"totals.Accepted not 0",
				seed, totals.Accepted, totals.Judged, totals.Judged,
			)
		}
		for _, st := range stages {
			switch st := st.(type) {
			case Accept:
				if st.Ratio != 1 || st.P != st.Q {
					t.Errorf("seed %d, step %d: p %v and q %v differ", seed, st.Step, st.P, st.Q)
				}
			case Extend:
				if len(st.Tokens) != 5 && st.Stop == infer.StopNone {
					t.Errorf("seed %d, round %d generated %d tokens, want 5", seed, st.Round, len(st.Tokens))
				}
			}
		}
		if sp.Stopped() == infer.StopMaxTokens && (totals.Rounds != 8 || totals.TokensPerPass() != cost.ExpectedTokens(
			1, 4,
		)) {
			t.Errorf(
				"seed %d: got %d rounds, %v tokens per pass; want 8, %v", seed, totals.Rounds, totals.TokensPerPass(),
				cost.ExpectedTokens(1, 4),
			)
		}
	}
}

// TestSpeculationStopsLikeTheLoop: with any stop condition and any draft, the text ends where plain
// greedy ends, even within a series of accepted tokens. Both caches contain all tokens of the text
// except the last.
func TestSpeculationStopsLikeTheLoop(t *testing.T) {
	target := smallModel(t)
	f := smallmodel.Small
	f.Context = 40 // the draft's window ends earlier
	drafts := []*infer.Model{target, modelOf(t, f, noisy(f.Random(7), 0.02, 1)), modelOf(t, f, f.Random(8))}
	rapid.Check(t, func(rt *rapid.T) {
		s := greedySettings
		s.Stop.MaxTokens = rapid.IntRange(1, 70).Draw(rt, "max tokens")
		prompt := rapid.SampledFrom(
			[]string{"a", "Hi", "User: ab", strings.Repeat("ab", 15), strings.Repeat("x", 55), strings.Repeat("y", 63)},
		).Draw(rt, "prompt")
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
			rt.Fatalf("got %q and %v, stopped by %q; want the loop's %q and %v, stopped by %q",
				specText(stages), sp.Tokens(), last.Stop, textOf(want), chosenTokens(want), end.Stop)
		}
		if n := len(sp.text) - 1; last.TargetPositions != n || last.DraftPositions > n ||
			sp.caches.target.Positions() != n {
			rt.Fatalf(
				"after %d tokens of text, the caches have %d and %d positions; want last.TargetPositions = %d, "+
					"last.DraftPositions at most %d, sp.caches.target.Positions() = %d",
				len(sp.text), last.TargetPositions, last.DraftPositions, n, n, n,
			)
		}
		if _, err := sp.Next(context.Background()); !errors.Is(err, io.EOF) {
			rt.Fatalf("after the end: got error %v, want %v", err, io.EOF)
		}
		for _, st := range stages { // no token beyond the limit is drafted
			if e, ok := st.(Extend); ok && e.Generated-len(e.Tokens)+e.Drafted >= s.Stop.MaxTokens {
				rt.Fatalf("%d tokens drafted after %d of %d", e.Drafted, e.Generated-len(e.Tokens), s.Stop.MaxTokens)
			}
		}
	})
	// Make sure that the text ends within a series of accepted tokens: the target is its own draft,
	// and the stop string is complete before the first round ends.
	s := greedySettings
	s.Stop.MaxTokens = MaxGamma
	whole := newLoop(t, target, "Hi", s)
	finish(t, whole)
	for n := 1; n <= 2; n++ { // the text begins with plain ASCII, so the string is found
		s.Stop.Strings = []string{textOf(whole)[:n]}
		want := newLoop(t, target, "Hi", s)
		finish(t, want)
		stages := speculate(t, newSpeculator(t, target, target, "Hi", s, MaxGamma))
		last := stages[len(stages)-1].(Extend)
		if _, accepted := stages[len(stages)-2].(Accept); !accepted || last.Round != 1 ||
			last.Stop != infer.StopString ||
			last.Generated != len(
				want.Steps(),
			) {
			t.Errorf(
				"stop string %q: ended in round %d by %q with %d tokens, want round 1 with %d", s.Stop.Strings,
				last.Round, last.Stop, last.Generated, len(want.Steps()),
			)
		}
	}
}

// TestSpeculationKeepsCachesConsistent: after every round, the caches are the same as if the text
// had been read from the start.
func TestSpeculationKeepsCachesConsistent(t *testing.T) {
	target := smallModel(t)
	draft := modelOf(t, smallmodel.Small, noisy(smallmodel.Small.Random(7), 0.1, 2))
	s := pure(3)
	s.TopK, s.Stop.MaxTokens = 8, 40
	sp := newSpeculator(t, target, draft, "Hello", s, 4)
	refused := 0
	for sp.Stopped() == infer.StopNone {
		stages, err := sp.Round(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		e := stages[len(stages)-1].(Extend)
		if e.Accepted < e.Drafted {
			refused++
		}
		for name, have := range map[*infer.Model]*infer.Cache{target: sp.caches.target, draft: sp.caches.draft} {
			want := name.NewCache()
			n := have.Positions()
			logitsAfter(t, name, want, sp.text[:n]...)
			for at := range n * name.Config().Layers {
				block, position := at/n, at%n
				key, value := have.Column(block, position)
				wantKey, wantValue := want.Column(block, position)
				if !sameBits(key, wantKey) || !sameBits(value, wantValue) {
					t.Fatalf("round %d: block %d of a cache differs from the text's cache", e.Round, block)
				}
			}
		}
	}
	if refused < 3 {
		t.Errorf("got %d rounds with a rejection, so the test proves little; want at least 3", refused)
	}
}

func TestNewSpeculatorRefusesMismatchedPairs(t *testing.T) {
	small := smallModel(t)
	other := smallmodel.Small
	other.Extra = slices.Clone(other.Extra)
	other.Extra[0] = "zz"
	fewer := smallmodel.Small
	fewer.Extra = fewer.Extra[1:]
	unmarked := smallmodel.Small
	unmarked.BOS = false
	bad := pure(1)
	bad.TopP = 0
	for _, row := range []struct {
		name   string
		draft  *infer.Model
		prompt string
		s      infer.Settings
		gamma  int
		want   string
	}{
		{"another token", modelOf(t, other, other.Random(1)), "a", pure(1), 4, `its token 257 is "zz", not "ab"`},
		{"fewer tokens", modelOf(t, fewer, fewer.Random(1)), "a", pure(1), 4, "its vocabulary has 266 tokens, not 267"},
		{"no start mark", modelOf(t, unmarked, unmarked.Random(1)), "a", pure(1), 4, "its start token is -1, not 256"},
		{"settings", small, "a", bad, 4, "top_p is 0"},
		{"no gamma", small, "a", pure(1), 0, "gamma is 0; it must be 1 to 16"},
		{"too much gamma", small, "a", pure(1), 17, "gamma is 17"},
		{"prompt too long", small, strings.Repeat("x", 64), pure(1), 4, "65 tokens long, including the start mark"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, err := New(
				small, row.draft, row.prompt, row.s, row.gamma,
			); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v, want an error with %q", err, row.want)
			}
		})
	}
}

// BenchmarkSpeculate generates 100 tokens with a draft that has half the layers.
func BenchmarkSpeculate(b *testing.B) {
	m := testmodel.Target(b)
	s := infer.DefaultSettings()
	s.Stop.MaxTokens = 100
	var totals Totals
	for b.Loop() {
		sp := newSpeculator(b, m, shallow(b, 3), "Once upon a time there was a", s, 4)
		speculate(b, sp)
		totals = sp.Totals()
	}
	b.ReportMetric(totals.Acceptance(), "accepted")
	b.ReportMetric(totals.TokensPerPass(), "tokens/pass")
}
