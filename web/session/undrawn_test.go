package session_test

import (
	"context"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/web/session"
)

var withheld = session.StepStage{Withhold: true}

// toUndrawn returns a run of the tiny model whose first draw is withheld.
func toUndrawn(tb tester) *session.Session {
	s := open(tb, session.Start{Prompt: "Hi"})
	if st := apply(tb, s, times(4, withheld)...); !st.Undrawn {
		tb.Fatalf("at %+v, no draw is withheld", st.Cursor)
	}
	return s
}

// TestCommandsWhileTheDrawIsWithheld: for every command that is possible while a draw is
// withheld, the test checks which stage the run shows next and whether the draw stays withheld.
func TestCommandsWhileTheDrawIsWithheld(t *testing.T) {
	t.Parallel()
	filter, sample := at(1, infer.KindFilter), at(1, infer.KindSample)
	for _, row := range []struct {
		name    string
		command session.Command
		want    session.Cursor
		undrawn bool
	}{
		{"the draw", session.Draw{}, sample, false},
		{"a step", session.StepStage{}, sample, false},
		{"a step that withholds", withheld, sample, false},
		{"a token", session.StepToken{}, at(1, infer.KindCache), false},
		{"a choice by hand", session.Choose{Step: 1, Token: idOf('A')}, sample, false},
		{"back", session.Back{}, filter, false},
		{"a look at the filter", session.Seek{Step: 1, Stage: infer.KindFilter}, filter, false},
		{"a look at the scores", session.Seek{Step: 1, Stage: infer.KindLogits}, at(1, infer.KindLogits), false},
		{"a reset", session.Reset{}, at(1, infer.KindForward), false},
		{"another text", session.Start{Prompt: "x"}, at(1, infer.KindForward), false},
		{"another seed", session.SetKnob("seed", 7), filter, true},
		{"another temperature", session.SetKnob("temperature", 2), filter, true},
		{"greedy", session.SetPreset{Key: "greedy"}, filter, true},
		{"a speed", session.SetSpeed{Speed: session.SpeedFour}, filter, true},
		{"play", session.Play{}, filter, true},
		{"to the end", session.Finish{}, filter, true},
		{"pause", session.Pause{}, filter, true},
		{"a look inside", session.SetLook{On: true}, filter, true},
	} {
		st := apply(t, toUndrawn(t), row.command)
		if st.Cursor != row.want || st.Undrawn != row.undrawn {
			t.Errorf("%s: at %+v, withheld: %v; want %+v, %v", row.name, st.Cursor, st.Undrawn, row.want, row.undrawn)
		}
	}
}

// TestWithheldDrawCannotBeQueried: commands about a draw are refused while it is withheld.
func TestWithheldDrawCannotBeQueried(t *testing.T) {
	t.Parallel()
	s := toUndrawn(t)
	for _, c := range []session.Command{
		session.Redraw{Seed: 3}, session.WhatIf{U: ptr(0.5)}, session.Seek{Step: 1, Stage: infer.KindSample},
	} {
		wantRefused(t, s, c)
	}
	if st := s.State(); !st.Undrawn {
		t.Error("a refused command made the draw")
	}
}

// TestPlayDrawsAutomatically: Play, StepToken and Finish make a withheld draw, and later
// ones, automatically.
func TestPlayDrawsAutomatically(t *testing.T) {
	t.Parallel()
	for _, c := range []session.Command{session.Play{}, session.Finish{}} {
		s := toUndrawn(t)
		apply(t, s, c)
		for s.State().Playing {
			if _, err := s.Tick(context.Background()); err != nil {
				t.Fatal(err)
			}
			if s.State().Undrawn {
				t.Fatalf("%T: after a tick, the draw is still withheld", c)
			}
		}
		if st := s.State(); st.Stopped == infer.StopNone {
			t.Errorf("%T ended at %+v, before a stop condition", c, st.Cursor)
		}
	}
}

// TestDrawRevealsWithheldDraw: at the filter and sample stages of the last step, the draw can be
// requested. A second request changes nothing.
func TestDrawRevealsWithheldDraw(t *testing.T) {
	t.Parallel()
	s := open(t, session.Start{Prompt: "Hi"})
	for range 2 {
		wantRefused(t, s, session.Draw{})
		apply(t, s, session.StepStage{})
	}
	apply(t, s, session.StepStage{})
	if st := apply(t, s, session.Draw{}); st.Cursor != at(1, infer.KindSample) {
		t.Fatalf("after a draw at the filter stage, the run shows %+v, want the sample stage", st.Cursor)
	}
	before := content(s.State())
	if after := content(apply(t, s, session.Draw{})); !reflect.DeepEqual(before, after) {
		t.Error("a second draw changed the run")
	}
	apply(t, s, session.Back{})
	wantRefused(t, s, session.Draw{}) // looking back at a step that was drawn
	apply(t, s, session.StepToken{})
	wantRefused(t, s, session.Draw{})
}

// TestGreedyWithholdsNothing: greedy decoding takes the most probable token, so there is no draw to
// withhold.
func TestGreedyWithholdsNothing(t *testing.T) {
	t.Parallel()
	s := open(t, session.SetPreset{Key: "greedy"}, session.Start{Prompt: "Hi"})
	if st := apply(t, s, times(4, withheld)...); st.Undrawn || st.Cursor != at(1, infer.KindSample) {
		t.Errorf("got cursor %+v, withheld: %v; want the sample stage, false", st.Cursor, st.Undrawn)
	}
}

// TestDrawnStepIsNotWithheldAgain: a step that has been drawn is not withheld again when
// the learner looks back.
func TestDrawnStepIsNotWithheldAgain(t *testing.T) {
	t.Parallel()
	s := open(t, session.Start{Prompt: "Hi"}, session.StepToken{}, session.Seek{Step: 1, Stage: infer.KindFilter})
	if st := apply(t, s, withheld); st.Undrawn || st.Cursor != at(1, infer.KindSample) {
		t.Errorf("got cursor %+v, withheld: %v; want the sample stage, false", st.Cursor, st.Undrawn)
	}
}

// TestLinkToAWithheldDraw: a link opens at the stage at which it was made: either at the sample
// stage with the draw withheld, or at the filter stage, as do all links made before draws could be
// withheld.
func TestLinkToAWithheldDraw(t *testing.T) {
	t.Parallel()
	s := toUndrawn(t)
	st := s.State()
	link, err := session.ParseLink(st.Model, session.LinkOf(st))
	if err != nil || !link.Undrawn || link.Cursor != at(1, infer.KindFilter) {
		t.Fatalf("the link is %+v, %v; want a withheld draw at the filter stage, <nil>", link, err)
	}
	filter := apply(t, s, session.Back{})
	if link, err := session.ParseLink(st.Model, session.LinkOf(filter)); err != nil || link.Undrawn {
		t.Errorf("the link to the filter stage is %+v, %v; want no draw withheld, <nil>", link, err)
	}
}

// TestWithholdingChangesNoDraw: withholding draws changes what a learner sees and when, but
// changes neither draws nor logs.
func TestWithholdingChangesNoDraw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		asked, plain := open(t, session.Start{Prompt: "Hi"}), open(t, session.Start{Prompt: "Hi"})
		for range rapid.IntRange(1, 30).Draw(rt, "stages") {
			if asked.State().Stopped != infer.StopNone && asked.State().AtFrontier() {
				break
			}
			apply(rt, plain, session.StepStage{})
			for st := apply(rt, asked, withheld); st.Undrawn; {
				switch rapid.IntRange(0, 3).Draw(rt, "while withheld") {
				case 0:
					asked.Evict()
				case 1: // as after a restart
					link := linkTo(rt, asked.State())
					asked = open(t)
					apply(rt, asked, session.Rebuild{Link: link})
				case 2:
					hot := session.SetKnob("temperature", rapid.SampledFrom([]float64{0.5, 1, 2}).Draw(rt, "T"))
					apply(rt, asked, hot)
					apply(rt, plain, session.Back{}, hot, session.StepStage{})
				}
				st = apply(rt, asked, rapid.SampledFrom(
					[]session.Command{session.Draw{}, session.StepStage{}, withheld}).Draw(rt, "how it falls"))
			}
			if rapid.IntRange(0, 5).Draw(rt, "rewinds") == 0 && plain.State().Cursor.Step > 1 {
				for _, s := range []*session.Session{asked, plain} {
					apply(rt, s, session.Seek{Step: 1, Stage: infer.KindFilter}, session.SetKnob("seed", 3))
				}
			}
			if a, b := session.LinkOf(asked.State()), session.LinkOf(plain.State()); a != b {
				rt.Fatalf("got runs at %+v and %+v, want the same link", asked.State().Cursor, plain.State().Cursor)
			}
		}
	})
}
