package session_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/web/session"
)

func tick(tb testing.TB, s *session.Session) *session.State {
	tb.Helper()
	st, err := s.Tick(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	return st
}

// TestPlayToTheStop: playing runs one stage per tick or, at the highest speed, one token per tick.
// Playing ends when a stop condition has fired and the turn is complete.
func TestPlayToTheStop(t *testing.T) {
	for speed, want := range map[session.Speed]int{
		session.SpeedNormal: 5*7 - 1, session.SpeedFour: 5*7 - 1, session.SpeedMax: 5,
	} {
		s := open(t, session.Start{Prompt: "Hi"}, session.SetSpeed{Speed: speed}, session.Play{})
		ticks := 0
		for s.State().Playing {
			before := s.State()
			if st := tick(t, s); st == before || st.Version != before.Version+1 {
				t.Fatalf("speed %s: a tick of a playing run did nothing", speed)
			}
			ticks++
		}
		st := s.State()
		if ticks != want || st.Stopped != infer.StopMaxTokens || st.Cursor != at(5, infer.KindCache) {
			t.Errorf("speed %s: took %d ticks to %+v, stopped by %q; want %d", speed, ticks, st.Cursor, st.Stopped,
				want)
		}
		if tick(t, s) != st {
			t.Errorf("speed %s: a tick changed a run that was not playing", speed)
		}
	}
}

// TestPlayAfterLookingBack: playing after looking back first moves through the stages that have
// already run.
func TestPlayAfterLookingBack(t *testing.T) {
	s := open(t, session.Start{Prompt: "Hi"}, session.StepToken{}, session.StepStage{},
		session.Seek{Step: 1, Stage: infer.KindAppend}, session.Play{})
	for _, want := range []session.Cursor{at(1, infer.KindCache), at(2, infer.KindForward), at(2, infer.KindLogits)} {
		if st := tick(t, s); st.Cursor != want || !st.Playing {
			t.Errorf("the run is at %+v, want %+v", st.Cursor, want)
		}
	}
	// Playing a run that has stopped moves to its end, without a refusal.
	s = open(t, append([]session.Command{session.Start{Prompt: "Hi"}}, times(5, session.StepToken{})...)...)
	apply(t, s, session.Seek{Step: 5, Stage: infer.KindSample}, session.Play{})
	for _, playing := range []bool{true, false} {
		if st := tick(t, s); st.Playing != playing {
			t.Errorf("at %+v: playing is %v, want %v", st.Cursor, st.Playing, playing)
		}
	}
}

// TestCommandsThatEndPlaying: a pause, looking back, seeking, a reset and a new text end
// playing. A change of speed or of settings does not.
func TestCommandsThatEndPlaying(t *testing.T) {
	for _, row := range []struct {
		c       session.Command
		playing bool
	}{
		{session.Pause{}, false},
		{session.Back{}, false},
		{session.Seek{Step: 1, Stage: infer.KindForward}, false},
		{session.Reset{}, false},
		{session.Start{Prompt: "x"}, false},
		{session.SetSpeed{Speed: session.SpeedMax}, true},
		{session.SetPreset{Key: "greedy"}, true},
		{session.StepStage{}, true},
		{session.Play{}, true},
	} {
		s := open(t, session.Start{Prompt: "Hi"}, session.StepToken{}, session.Play{})
		if st := apply(t, s, row.c); st.Playing != row.playing {
			t.Errorf("after %T%+v: playing is %v, want %v", row.c, row.c, st.Playing, row.playing)
		}
	}
}

// TestLoweredLimitEndsPlaying: lowering the limit below the text's length ends playing.
func TestLoweredLimitEndsPlaying(t *testing.T) {
	s := open(
		t, session.Start{Prompt: "Hi"}, session.StepToken{}, session.StepToken{}, session.Play{},
		session.SetKnob("max_tokens", 1),
	)
	if st := s.State(); st.Playing || st.Stopped != infer.StopMaxTokens {
		t.Errorf("playing is %v, stopped by %q; want false, %q", st.Playing, st.Stopped, infer.StopMaxTokens)
	}
}

// TestTickWithCanceledContext: if the context ends during a tick, the run stays where it was and
// keeps playing.
func TestTickWithCanceledContext(t *testing.T) {
	s := open(t, session.Start{Prompt: "Hi"}, session.StepToken{}, session.Play{})
	before := s.State()
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if st, err := s.Tick(ended); !errors.Is(err, context.Canceled) || st != before || !st.Playing {
		t.Errorf(
			"got %v, playing %v; want the error %v, st = %v, st.Playing = true", err, st.Playing, context.Canceled,
			before,
		)
	}
	tick(t, s)
}

// TestSettingsActAtOnceBeforeTheDraw: up to the filter stage, new settings affect the stages shown
// immediately. Later steps are dropped, and their tokens stay as ghosts until the next draw.
// Promise: Before the draw, a new setting changes what is shown at once.
func TestSettingsActAtOnceBeforeTheDraw(t *testing.T) {
	for _, kind := range []infer.Kind{infer.KindForward, infer.KindLogits, infer.KindSoftmax, infer.KindFilter} {
		s := open(t, session.Start{Prompt: "Hi"}, session.StepToken{}, session.StepToken{}, session.StepToken{})
		old := s.State()
		st := apply(
			t, s, session.Seek{Step: 2, Stage: kind}, session.Set{Knobs: infer.Knobs{"temperature": 0.5, "top_k": 3}},
		)
		if st.Cursor != at(2, kind) || !st.AtFrontier() || len(st.Steps) != 2 {
			t.Fatalf(
				"set at %v of step 2: got %+v of %+v, want to stay there, as the last step", kind, st.Cursor,
				st.Frontier(),
			)
		}
		if want := []infer.Token{
			st.Model.Token(old.Steps[1].Chosen), st.Model.Token(old.Steps[2].Chosen),
		}; !slices.EqualFunc(st.Ghosts, want, sameToken) {
			t.Errorf("set at %v: ghosts %+v, want %+v", kind, st.Ghosts, want)
		}
		if kind >= infer.KindSoftmax {
			want := sampling.Decide(old.Steps[1].Logits, st.Settings.Settings)
			if !slices.Equal(st.Dist.P, want.P) || st.Dist.Keep != 3 {
				t.Errorf("set at %v: the distribution shown does not match the new settings", kind)
			}
		}
		if kind == infer.KindFilter {
			if f := st.Stage(5).(infer.Filter); f.Kept != 3 || f.Settings.Temperature != 0.5 {
				t.Errorf("the filter shown keeps %d at T = %v; want 3, 0.5", f.Kept, f.Settings.Temperature)
			}
		}
		// Ghosts last until the draw.
		for s.State().Cursor.Stage < infer.KindFilter {
			if st := apply(t, s, session.StepStage{}); len(st.Ghosts) != 2 {
				t.Errorf("at %v, there are %d ghosts, want 2", st.Cursor.Stage, len(st.Ghosts))
			}
		}
		if st := apply(t, s, session.StepStage{}); st.Ghosts != nil {
			t.Errorf("after the draw, there are %d ghosts, want 0", len(st.Ghosts))
		}
		if step := s.State().Steps[1]; step.Settings.TopK != 3 || step.Rank > 3 {
			t.Errorf("step 2 chose rank %d with %+v; want TopK = 3, step.Rank at most 3", step.Rank, step.Settings)
		}
	}
}

func sameToken(a, b infer.Token) bool { return a.ID == b.ID }

// TestSettingsWaitAfterTheDraw: once the draw has been made, new settings affect only the next
// step. The step shown keeps its token, and later steps are dropped.
func TestSettingsWaitAfterTheDraw(t *testing.T) {
	for _, kind := range []infer.Kind{infer.KindSample, infer.KindAppend, infer.KindCache} {
		s := open(t, session.Start{Prompt: "Hi"}, session.StepToken{}, session.StepToken{}, session.StepToken{})
		old := s.State()
		st := apply(
			t, s, session.Seek{Step: 2, Stage: kind}, session.Set{Knobs: infer.Knobs{"temperature": 0.5, "top_k": 3}},
		)
		if len(st.Steps) != 2 || st.Cursor != at(2, kind) || !st.AtFrontier() {
			t.Fatalf(
				"set at %v of step 2: got %+v of %+v, want to stay there, as the last step", kind, st.Cursor,
				st.Frontier(),
			)
		}
		if st.Steps[1].Settings.TopK != 0 || st.Steps[1].Chosen != old.Steps[1].Chosen || st.Dist.Keep != 257 {
			t.Errorf("set at %v: step 2 has changed", kind)
		}
		if want := []infer.Token{st.Model.Token(old.Steps[2].Chosen)}; !slices.EqualFunc(st.Ghosts, want, sameToken) {
			t.Errorf("set at %v: ghosts %+v, want %+v", kind, st.Ghosts, want)
		}
		st = apply(t, s, session.Seek{Step: 2, Stage: kind}, session.StepToken{}, session.StepToken{})
		if last := st.Steps[len(st.Steps)-1]; last.Settings.TopK != 3 || last.Settings.Temperature != 0.5 {
			t.Errorf("set at %v: step %d has %+v; want TopK = 3, Temperature = 0.5", kind, last.N, last.Settings)
		}
	}
}

// TestSameSettingsKeepTheText: setting the current values changes nothing, even when looking back.
func TestSameSettingsKeepTheText(t *testing.T) {
	s := open(
		t, session.Start{Prompt: "Hi"}, session.StepToken{}, session.StepToken{},
		session.Seek{Step: 1, Stage: infer.KindFilter},
	)
	st := apply(t, s, session.SetPreset{Key: "pure"}, session.Set{}, session.SetKnob("max_tokens", 5))
	if len(st.Steps) != 2 || st.Ghosts != nil || st.Cursor != at(1, infer.KindFilter) {
		t.Errorf("got %d steps, %d ghosts; want 2, 0 and an unchanged cursor", len(st.Steps), len(st.Ghosts))
	}
}

// TestSeedAloneDecidesTheDraw: only the seed determines the draws. At the filter stage, a new seed
// leads to a different draw, and the old seed to the same token as before.
func TestSeedAloneDecidesTheDraw(t *testing.T) {
	s := open(t, session.Start{Prompt: "Hi"}, session.SetKnob("seed", 1), session.StepToken{})
	first := s.State().Steps[0]
	draw := func(seed uint64) *infer.Step {
		st := apply(
			t, s, session.Seek{Step: 1, Stage: infer.KindFilter}, session.SetKnob("seed", float64(seed)),
			session.StepStage{},
		)
		return st.Steps[0]
	}
	if other := draw(2); other.U == first.U || other.U != sampling.U(2, 1) {
		t.Errorf("seed 2 drew u = %v, want neither %v nor %v", other.U, first.U, sampling.U(2, 1))
	}
	if again := draw(1); again.U != first.U || again.Chosen != first.Chosen {
		t.Errorf("seed 1 drew u = %v and token %d, want %v and %d as before", again.U, again.Chosen, first.U,
			first.Chosen)
	}
}
