package infer

import (
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/checkpoint/smallmodel"
	"github.com/tokenbytoken/viz/infer/sampling"
)

// next runs one stage.
func next(tb testing.TB, l *Loop) Stage {
	tb.Helper()
	stage, err := l.Next(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	return stage
}

// finish runs a loop to its end and returns all of its stages.
func finish(tb testing.TB, l *Loop) (stages []Stage) {
	tb.Helper()
	for {
		stage, err := l.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return stages
		}
		if err != nil {
			tb.Fatal(err)
		}
		stages = append(stages, stage)
	}
}

// runTo runs stages until stage kind of step n has run.
func runTo(tb testing.TB, l *Loop, n int, kind Kind) {
	tb.Helper()
	for len(l.steps) < n || l.steps[n-1].Ran < kind {
		next(tb, l)
	}
}

// textOf returns the text released by all steps.
func textOf(l *Loop) (text string) {
	for _, s := range l.Steps() {
		text += s.Text
	}
	return text
}

func chosenTokens(l *Loop) (ids []int) {
	for _, s := range l.Steps() {
		ids = append(ids, s.Chosen)
	}
	return ids
}

// untimed returns a copy of the steps without the measured times, the only difference between two
// runs of the same log.
func untimed(steps []*Step) []Step {
	list := make([]Step, len(steps))
	for i, s := range steps {
		list[i] = *s
		list[i].Took = [KindCache + 1]time.Duration{}
	}
	return list
}

func newLoop(tb testing.TB, m *Model, prompt string, s Settings) *Loop {
	tb.Helper()
	l, err := NewLoop(m, prompt, s)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

func TestSevenStagesInOrder(t *testing.T) {
	want := []Kind{KindForward, KindLogits, KindSoftmax, KindFilter, KindSample, KindAppend, KindCache}
	if !slices.Equal(Kinds, want) {
		t.Fatalf("Kinds are %v, want %v", Kinds, want)
	}
	s := pure(1)
	s.Stop.MaxTokens = 3
	l := newLoop(t, smallModel(t), "Hi", s)
	if !l.BetweenTurns() || l.Stopped() != StopNone || len(l.Steps()) != 0 {
		t.Error("a new loop has already run something")
	}
	for n := 1; n <= 3; n++ {
		for _, kind := range want {
			if stage := next(t, l); stage.Kind() != kind {
				t.Fatalf("step %d: stage %v ran, want %v", n, stage.Kind(), kind)
			}
			if got := l.Steps()[n-1]; len(l.Steps()) != n || got.N != n || got.Ran != kind {
				t.Fatalf(
					"after %v: got %d steps, the last is %d and ran %v; want %d, %d, %v", kind, len(l.Steps()), got.N,
					got.Ran, n, n, kind,
				)
			}
			if l.BetweenTurns() != (kind == KindCache) {
				t.Errorf("after %v: BetweenTurns is %v, want %v", kind, l.BetweenTurns(), kind == KindCache)
			}
		}
	}
	for range 3 { // later calls return io.EOF, too
		if stage, err := l.Next(context.Background()); !errors.Is(err, io.EOF) || stage != nil {
			t.Errorf("after the last stage: %v, %v; want io.EOF", stage, err)
		}
	}
}

// TestCacheGrowsByTheTokensRead: the first pass reads the whole prompt, and each later pass reads
// the token generated before it. The cache grows by the tokens read, and the newest token has no
// column yet.
func TestCacheGrowsByTheTokensRead(t *testing.T) {
	s := pure(1)
	s.Stop.MaxTokens = 3
	l := newLoop(t, smallModel(t), "Hi!", s) // start token and 3 bytes
	for _, stage := range finish(t, l) {
		switch st := stage.(type) {
		case Forward:
			if want := map[int]int{1: 4, 2: 1, 3: 1}[st.Step]; len(st.Tokens) != want ||
				st.Prefill != (st.Step == 1) || st.Positions != 3+st.Step {
				t.Errorf(
					"step %d read %d tokens (prefill %v) to %d positions; want %d, %v, %d", st.Step, len(st.Tokens),
					st.Prefill, st.Positions, want, st.Step == 1, 3+st.Step,
				)
			}
		case CacheGrowth:
			// 2 layers × 2 heads × 4 values × 2 × 4 bytes = 128 bytes per column.
			want := map[int]int{1: 4, 2: 1, 3: 1}[st.Step]
			if st.Positions != 3+st.Step || st.Grew != want || st.Bytes != int64(128*(3+st.Step)) ||
				st.GrewBytes != int64(128*want) {
				t.Errorf(
					"step %d: got %d positions, grew by %d; %d bytes, grew by %d; want %d, %d, %d, %d", st.Step,
					st.Positions, st.Grew, st.Bytes, st.GrewBytes, 3+st.Step, want, int64(128*(3+st.Step)),
					int64(128*want),
				)
			}
			shape := smallModel(t).Shape()
			cached := shape.Step(st.Positions)
			if st.Step == 1 {
				cached = shape.Pass(4)
			}
			totalCached, totalRecomputed := shape.Generate(4, st.Step)
			if st.Cached != cached || st.Recomputed != shape.Pass(st.Positions) ||
				st.TotalCached != totalCached.Total() || st.TotalRecomputed != totalRecomputed.Total() {
				t.Errorf(
					"step %d: got cached %+v, recomputed %+v, sums %d and %d; want %+v, %+v, %d and %d", st.Step,
					st.Cached, st.Recomputed, st.TotalCached, st.TotalRecomputed, cached, shape.Pass(st.Positions),
					totalCached.Total(), totalRecomputed.Total(),
				)
			}
		}
	}
	if got := l.Cache().Positions(); got != 6 {
		t.Errorf("%d positions after 4 + 3 tokens, want 6: the last token has none", got)
	}
}

// TestTextFollowsTheSeed: the same settings give the same text. A different seed gives a different
// text, except under greedy decoding.
// Promise: The same seed and settings give the same text.
func TestTextFollowsTheSeed(t *testing.T) {
	m := smallModel(t)
	a, b := generate(t, m, "Hi", 20, pure(1)), generate(t, m, "Hi", 20, pure(1))
	if !reflect.DeepEqual(untimed(a.Steps()), untimed(b.Steps())) {
		t.Error("two runs with one seed differ")
	}
	if c := generate(t, m, "Hi", 20, pure(2)); reflect.DeepEqual(chosen(a), chosen(c)) {
		t.Error("two seeds give the same text")
	}
	for i, s := range a.Steps() {
		if s.U != sampling.U(1, i+1) {
			t.Errorf("step %d drew u=%v, want U(1, %d)", i+1, s.U, i+1)
		}
	}
	greedy := Settings{Settings: sampling.Settings{TopP: 1}, Seed: 1}
	d := generate(t, m, "Hi", 20, greedy)
	greedy.Seed = 2
	if !reflect.DeepEqual(chosen(d), chosen(generate(t, m, "Hi", 20, greedy))) {
		t.Error("greedy depends on the seed")
	}
	for _, s := range d.Steps() {
		if s.Rank != 1 || s.U != 0 || s.Chosen != argmax(s.Logits) {
			t.Errorf(
				"greedy step %d chose rank %d with u=%v, want rank 1, the largest logit's token, with u=0", s.N, s.Rank,
				s.U,
			)
		}
	}
}

func chosen(l *Loop) (ids []int) {
	for _, s := range l.Steps() {
		ids = append(ids, s.Chosen)
	}
	return ids
}

// TestStepsAreNeverChanged: steps returned earlier never change, no matter what the loop does
// later.
func TestStepsAreNeverChanged(t *testing.T) {
	l := newLoop(t, smallModel(t), "Hi", pure(3))
	type snapshot struct {
		steps []*Step
		deep  []Step
	}
	var taken []snapshot
	keep := func() {
		s := snapshot{steps: l.Steps()}
		for _, step := range s.steps {
			s.deep = append(s.deep, deepCopy(*step))
		}
		taken = append(taken, s)
	}
	for n := range 40 {
		next(t, l)
		keep()
		switch n {
		case 9, 16, 30:
			changed := pure(uint64(n))
			changed.Temperature = 0.5
			if err := l.Set(changed); err != nil {
				t.Fatal(err)
			}
			keep()
		case 20, 27, 38:
			if err := l.Cut(2, Kinds[n%7]); err != nil {
				t.Fatal(err)
			}
			keep()
		}
	}
	for i, s := range taken {
		for j, step := range s.steps {
			if !reflect.DeepEqual(*step, s.deep[j]) {
				t.Fatalf("step %d has changed since it was returned at moment %d", j+1, i)
			}
		}
	}
}

// deepCopy returns a copy that shares no memory with s.
func deepCopy(s Step) Step {
	s.Input, s.Logits, s.last = slices.Clone(s.Input), slices.Clone(s.Logits), slices.Clone(s.last)
	s.Held, s.Conditions = slices.Clone(s.Held), slices.Clone(s.Conditions)
	s.Settings.Stop.Strings = slices.Clone(s.Settings.Stop.Strings)
	return s
}

// TestStagesOwnTheirData: stages own their data, so changing one does not affect the loop.
func TestStagesOwnTheirData(t *testing.T) {
	// The first token is the first of a character's four bytes, so the append stage holds it back.
	l := newLoop(t, chain(t, nil, 'x', 0xf0, 0x9f), "x", pure(3))
	l.Rows = 0
	var before []Step
	for range 7 {
		stage := next(t, l)
		before = nil
		for _, s := range l.Steps() {
			before = append(before, deepCopy(*s))
		}
		switch st := stage.(type) {
		case Forward:
			clear(st.Tokens)
			clear(st.Shapes)
		case Logits:
			clear(st.Rows.Rows)
		case Softmax:
			clear(st.Rows.Rows)
		case Filter:
			clear(st.Rows.Rows)
		case Sample:
			clear(st.Lanes)
		case Append:
			clear(st.Held)
			clear(st.Conditions)
		}
		for i, s := range l.Steps() {
			if !reflect.DeepEqual(*s, before[i]) {
				t.Fatalf("writing to the %v stage changed the step", stage.Kind())
			}
		}
	}
}

// TestCancellationLeavesTheLoopUsable: a context that ends stops the pass, and
// the loop continues afterwards as if nothing had happened.
func TestCancellationLeavesTheLoopUsable(t *testing.T) {
	m := smallModel(t)
	want := generate(t, m, "Hi", 6, pure(4))
	s := pure(4)
	s.Stop.MaxTokens = 6
	l := newLoop(t, m, "Hi", s)
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	for {
		if l.BetweenTurns() && l.Stopped() == StopNone {
			before := l.Steps()
			if stage, err := l.Next(canceled); stage != nil || !errors.Is(err, context.Canceled) {
				t.Fatalf("%v, %v; want context.Canceled", stage, err)
			}
			if !slices.Equal(l.Steps(), before) {
				t.Fatal("a canceled pass left a step")
			}
		}
		if _, err := l.Next(context.Background()); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(untimed(l.Steps()), untimed(want.Steps())) {
		t.Error("the interrupted run differs from an undisturbed one")
	}
}

// TestFailedStageLeavesTheLoopUnchanged: a failure in a later stage of the turn also leaves the
// loop unchanged.
func TestFailedStageLeavesTheLoopUnchanged(t *testing.T) {
	f := folder{smallmodel.Folder{Width: 4, Layers: 1, Heads: 1, KVHeads: 1, HeadDim: 2, FFN: 2, Context: 8}}
	w := f.Zeros()
	for i := range w["model.embed_tokens.weight"] {
		w["model.embed_tokens.weight"][i] = 1
	}
	for name, v := range map[string]float32{"model.norm.weight": 1e30, "lm_head.weight": 1e30} {
		for i := range w[name] {
			w[name][i] = v
		}
	}
	l := newLoop(t, f.model(t, w), "a", pure(1))
	next(t, l)
	before := l.Steps()
	for range 2 {
		if stage, err := l.Next(context.Background()); stage != nil || err == nil {
			t.Fatalf("%v, %v; want an error: the scores are infinite", stage, err)
		}
		if !slices.Equal(l.Steps(), before) || before[0].Ran != KindForward || l.Cache().Positions() != 1 {
			t.Fatal("the failed stage changed the loop")
		}
	}
}
