package infer

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/sampling"
)

// TestCutAnywhereAndContinue: a run that is cut back to any stage of any step and then continued
// gives the same result, bit for bit.
func TestCutAnywhereAndContinue(t *testing.T) {
	const steps = 4
	m := smallModel(t)
	want := generate(t, m, "Hi", steps, pure(6))
	for n := 1; n <= steps; n++ {
		for _, kind := range Kinds {
			l := generate(t, m, "Hi", steps, pure(6))
			if err := l.Cut(n, kind); err != nil {
				t.Fatal(err)
			}
			if len(l.Steps()) != n || l.steps[n-1].Ran != kind ||
				l.Cache().Positions() != want.Steps()[n-1].Positions() {
				t.Fatalf(
					"cut to step %d, %v: got %d steps, ran %v, %d positions; want this stage of this "+
						"step with the columns it had",
					n, kind, len(l.Steps()), l.steps[n-1].Ran, l.Cache().Positions(),
				)
			}
			// The step is as it was when that stage had just run.
			fresh := newLoop(t, m, "Hi", want.Settings())
			runTo(t, fresh, n, kind)
			if !reflect.DeepEqual(untimed(l.Steps()), untimed(fresh.Steps())) {
				t.Fatalf("cut to step %d, %v: the steps differ from a run that got that far", n, kind)
			}
			finish(t, l)
			if !reflect.DeepEqual(untimed(l.Steps()), untimed(want.Steps())) {
				t.Fatalf("cut to step %d, %v and continued: the run differs", n, kind)
			}
		}
	}
}

// TestCutAfterContinuing: if a run was continued past a stop, it remains continued when later steps
// are cut. If the step that stopped it is itself cut, the run stops there again.
func TestCutAfterContinuing(t *testing.T) {
	greedy := Settings{Settings: sampling.Settings{TopP: 1}, Stop: Stop{MaxTokens: 9}}
	l := newLoop(t, chain(t, nil, 'x', 'a'), "x", greedy)
	finish(t, l)
	if err := l.GoOn(); err != nil {
		t.Fatal(err)
	}
	runTo(t, l, 3, KindLogits)
	if err := l.Cut(2, KindCache); err != nil {
		t.Fatal(err)
	}
	if l.Stopped() != StopNone {
		t.Errorf("cut back to the step that was continued: stopped by %q, want %q", l.Stopped(), StopNone)
	}
	runTo(t, l, 3, KindForward)
	if err := l.Cut(2, KindSample); err != nil {
		t.Fatal(err)
	}
	finish(t, l)
	if l.Stopped() != StopEOS || len(l.Steps()) != 2 {
		t.Errorf("cut into that step: stopped by %q after %d steps, want eos after 2", l.Stopped(), len(l.Steps()))
	}
}

// TestCutKeepsTimes: the times of dropped stages are dropped, and the others are kept.
func TestCutKeepsTimes(t *testing.T) {
	l := generate(t, smallModel(t), "Hi", 2, pure(6))
	before := l.Steps()[1].Took
	if err := l.Cut(2, KindLogits); err != nil {
		t.Fatal(err)
	}
	want := [KindCache + 1]time.Duration{KindForward: before[KindForward], KindLogits: before[KindLogits]}
	if got := l.Steps()[1].Took; got != want {
		t.Errorf("cut to the logits, the step took %v, want %v", got, want)
	}
}

func TestCutRefusesStagesNotReached(t *testing.T) {
	l := newLoop(t, smallModel(t), "Hi", pure(6))
	runTo(t, l, 2, KindSoftmax)
	before := l.Steps()
	for _, at := range []struct {
		n    int
		kind Kind
	}{{0, KindForward}, {3, KindForward}, {-1, KindCache}, {2, KindFilter}, {2, 0}, {1, KindCache + 1}} {
		if err := l.Cut(at.n, at.kind); err == nil {
			t.Errorf("cutting to step %d, %v, which has not run, succeeded", at.n, at.kind)
		}
	}
	if !reflect.DeepEqual(l.Steps(), before) {
		t.Error("a rejected cut changed the steps")
	}
}

// TestSetBeforeAndAfterTheDraw: before the draw, new settings apply immediately: the stages equal
// the stages of a run that had the settings from the start of the step. After the draw, they apply to
// the next step.
func TestSetBeforeAndAfterTheDraw(t *testing.T) {
	m := smallModel(t)
	old, changed := pure(7), pure(8)
	changed.Temperature, changed.TopK = 0.5, 3
	changed.Stop.MaxTokens = 3
	for _, kind := range Kinds {
		l := newLoop(t, m, "Hi", old)
		runTo(t, l, 2, kind)
		shown := l.Steps()
		if err := l.Set(changed); err != nil {
			t.Fatal(err)
		}
		if !l.Settings().Equal(changed) {
			t.Errorf("after %v: Settings are %+v, want %+v", kind, l.Settings(), changed)
		}
		want := newLoop(t, m, "Hi", old)
		runTo(t, want, 1, KindCache)
		if kind == KindSample { // the stop conditions have not been checked yet
			stops := old
			stops.Stop = changed.Stop
			if err := want.Set(stops); err != nil {
				t.Fatal(err)
			}
		}
		if kind >= KindSample {
			runTo(t, want, 2, KindCache)
		}
		if err := want.Set(changed); err != nil {
			t.Fatal(err)
		}
		if kind < KindSample {
			runTo(t, want, 2, kind)
			if reflect.DeepEqual(shown, l.Steps()) || shown[1].Settings.Equal(changed) {
				t.Errorf("after %v: the current step has not changed, or the step returned earlier has", kind)
			}
		} else if got := l.Steps()[1]; got.Chosen != shown[1].Chosen || got.Settings.Settings != old.Settings {
			t.Errorf("after %v: the draw has changed although it had already run", kind)
		} else if kind > KindSample && got != shown[1] {
			t.Errorf("after %v: the step has changed although its stop conditions had been checked", kind)
		}
		if kind < KindSample && !reflect.DeepEqual(untimed(l.Steps()), untimed(want.Steps())) {
			t.Errorf("after %v: the step differs from a step with the new settings", kind)
		}
		finish(t, l)
		finish(t, want)
		if !reflect.DeepEqual(untimed(l.Steps()), untimed(want.Steps())) {
			t.Errorf("set after %v: the continued run differs from one with the settings set between turns", kind)
		}
	}
}

// TestCutUsesTheCurrentSettings: Settings also returns the right settings after a cut. A step whose
// draw was dropped uses the current settings.
func TestCutUsesTheCurrentSettings(t *testing.T) {
	m := smallModel(t)
	l := generate(t, m, "Hi", 3, pure(7))
	greedy := Settings{Settings: sampling.Settings{TopP: 1}, Stop: Stop{MaxTokens: 3}}
	if err := l.Set(greedy); err != nil {
		t.Fatal(err)
	}
	if err := l.Cut(2, KindSoftmax); err != nil {
		t.Fatal(err)
	}
	if got := l.Steps()[1].Settings; !got.Equal(greedy) || !l.Settings().Equal(greedy) {
		t.Errorf("the step continues with %+v, the loop returns %+v; want %+v, %+v", got, l.Settings(), greedy, greedy)
	}
	runTo(t, l, 2, KindCache)
	if l.steps[1].Rank != 1 || l.steps[1].U != 0 {
		t.Errorf("the step chose rank %d with u=%v, want 1, 0 under greedy decoding", l.steps[1].Rank, l.steps[1].U)
	}
	replays(t, l)
}

// replays checks that a replay of the loop's log gives the same steps, bit for bit.
func replays(tb testing.TB, l *Loop) {
	tb.Helper()
	again, err := Replay(context.Background(), l.Model(), l.Log())
	if err != nil {
		tb.Fatalf("replaying %+v: %v", l.Log(), err)
	}
	if !reflect.DeepEqual(untimed(again.Steps()), untimed(l.Steps())) {
		tb.Fatalf("the log %+v replays to different steps", l.Log())
	}
	if !again.Settings().Equal(l.Settings()) || again.Stopped() != l.Stopped() ||
		again.Cache().Positions() != l.Cache().Positions() {
		tb.Fatalf("replayed: settings %+v, stopped %q, %d positions; want %+v, %q, %d", again.Settings(),
			again.Stopped(),
			again.Cache().Positions(), l.Settings(), l.Stopped(), l.Cache().Positions())
	}
}

// TestReplayFromEveryStage: a log replays bit for bit from every stage, including with the bundled
// model.
func TestReplayFromEveryStage(t *testing.T) {
	s := pure(9)
	s.Stop = Stop{MaxTokens: 3, Strings: []string{"qq"}}
	l := newLoop(t, smallModel(t), "Hi", s)
	replays(t, l) // nothing has run
	for len(l.steps) < 3 || l.steps[2].Ran < KindCache {
		next(t, l)
		replays(t, l)
	}
	replays(t, generate(t, bundledModel(t), "Once upon a time", 20, pure(9)))
}

// TestReplayAfterChangedStops: limits and stop strings that were changed during the run do not end
// the replay, no matter when they were changed.
func TestReplayAfterChangedStops(t *testing.T) {
	m := smallModel(t)
	set := func(l *Loop, s Settings) {
		t.Helper()
		if err := l.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("limit raised", func(t *testing.T) {
		l := generate(t, m, "Hi", 2, pure(9))
		set(l, stopAt(4))
		finish(t, l)
		replays(t, l)
	})
	t.Run("limit lowered below the step in progress", func(t *testing.T) {
		l := newLoop(t, m, "Hi", pure(9))
		runTo(t, l, 3, KindLogits)
		set(l, stopAt(1))
		replays(t, l)
		finish(t, l)
		if s := l.Steps()[2]; s.Stop != StopMaxTokens {
			t.Errorf("step 3 of a limit of 1 stopped by %q, want %q", s.Stop, StopMaxTokens)
		}
		replays(t, l)
	})
	t.Run("stop string taken away and set again", func(t *testing.T) {
		greedy := Settings{Settings: sampling.Settings{TopP: 1}, Stop: Stop{MaxTokens: 9}}
		strung := greedy
		strung.Stop.Strings = []string{"a"}
		l := newLoop(t, chain(t, nil, 'x', 'a', 'b', 'c'), "x", strung)
		finish(t, l)
		if l.Stopped() != StopString {
			t.Fatalf("stopped by %q, want %q", l.Stopped(), StopString)
		}
		set(l, greedy)
		runTo(t, l, 2, KindForward)
		set(l, strung)
		replays(t, l)
		finish(t, l)
		replays(t, l)
		if textOf(l) != "abc" {
			t.Errorf("the text is %q, want abc, since a was not a stop string when the run continued", textOf(l))
		}
	})
}

func TestReplayRefusesUnfitLogs(t *testing.T) {
	m := smallModel(t)
	log := generate(t, m, "Hi", 2, pure(9)).Log()
	other := log
	other.Model = "another"
	if _, err := Replay(context.Background(), m, other); err == nil {
		t.Error("replaying a log of another model succeeded")
	}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	if l, err := Replay(canceled, m, log); l != nil || err == nil {
		t.Errorf("with a canceled context: got %v, %v; want nil, an error", l, err)
	}
	// This log contains more steps than the text has.
	abc := chain(t, nil, 'x', 'a')
	log = generate(t, abc, "x", 9, Settings{Settings: sampling.Settings{TopP: 1}}).Log()
	log.Steps++
	if l, err := Replay(context.Background(), abc, log); l != nil || err == nil {
		t.Errorf("a log that continues after the end of the text: got %v, %v; want nil, an error", l, err)
	}
}

// TestLoopBytes: a loop reports at least the memory that its numbers take.
func TestLoopBytes(t *testing.T) {
	l := newLoop(t, smallModel(t), "Hi", pure(1))
	last := l.Bytes()
	if last != 0 {
		t.Errorf("a loop that has not started holds %d bytes", last)
	}
	for range 5 {
		runTo(t, l, len(l.steps)+1, KindCache)
		n := l.Bytes()
		if want := int64(len(l.steps)) * int64(
			4*(smallFolder.Vocab()+smallFolder.Width),
		); n <= last || n < want+l.Cache().Reserved() {
			t.Errorf("%d steps: got %d bytes (before: %d), want at least the numbers' %d", len(l.steps), n, last, want)
		}
		last = n
	}
}
