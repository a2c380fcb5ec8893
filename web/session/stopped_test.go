package session_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/web/session"
)

// TestRefusedAfterAStop: after a stop, commands get a typed refusal that names the condition.
func TestRefusedAfterAStop(t *testing.T) {
	finish := session.SetStops()
	for _, row := range []struct {
		name     string
		commands []session.Command
		reason   infer.StopReason
		message  string
	}{
		{
			"limit", times(5, session.StepToken{}), infer.StopMaxTokens,
			"Stopped at the limit of 5 tokens. Raise it to continue.",
		},
		{
			"end of text",
			[]session.Command{session.StepStage{}, session.Choose{Step: 1, Token: 0}, session.StepToken{}},
			infer.StopEOS, "Stopped: the model ended the text.",
		},
		{
			"context",
			append(
				[]session.Command{session.SetKnob("max_tokens", 99)}, times(tinyContext-1, session.StepToken{})...,
			),
			infer.StopContext, "Stopped: the context window is full.",
		},
		{
			"stop string",
			[]session.Command{
				session.SetStops("A"),
				session.StepStage{},
				session.Choose{Step: 1, Token: idOf('A')},
				session.StepToken{},
			},
			infer.StopString, "Stopped at a stop string.",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := open(t, append([]session.Command{finish, session.Start{Prompt: "Hi"}}, row.commands...)...)
			if s.State().Stopped != row.reason {
				t.Fatalf("stopped by %q, want %q", s.State().Stopped, row.reason)
			}
			for _, c := range []session.Command{session.StepStage{}, session.StepToken{}, session.Play{}} {
				if e := wantRefused(t, s, c); e.Code != session.CodeStopped || e.Message != row.message ||
					e.Field != "" {
					t.Errorf("%T: got %+v, want %q", c, e, row.message)
				}
			}
			if row.reason == infer.StopContext {
				e := wantRefused(t, s, session.GoOn{})
				if e.Code != session.CodeOrder || e.Message != "Cannot continue: the context window is full." {
					t.Errorf("GoOn: got %+v, want that the context window is full", e)
				}
			}
			// Moving backward and forward in the text is allowed.
			apply(
				t, s, session.Back{}, session.StepStage{}, session.Seek{Step: 1, Stage: infer.KindForward},
				session.StepToken{},
			)
		})
	}
}

// idOf returns the tiny model's token id for a byte.
func idOf(b byte) int {
	m, err := tiny()
	if err != nil {
		panic(err)
	}
	return m.Encode(string(rune(b)))[0]
}

// TestRaisedLimitContinues: after the limit is raised, a stopped run continues where it was.
func TestRaisedLimitContinues(t *testing.T) {
	s := open(t, append([]session.Command{session.Start{Prompt: "Hi"}}, times(5, session.StepToken{})...)...)
	st := apply(t, s, session.SetKnob("max_tokens", 6))
	if st.Stopped != infer.StopNone || len(st.Steps) != 5 || st.Ghosts != nil {
		t.Fatalf(
			"with the limit raised: got %q, %d steps; want st.Stopped = %q, len(st.Steps) = 5, st.Ghosts = nil",
			st.Stopped, len(st.Steps), infer.StopNone,
		)
	}
	if st = apply(t, s, session.StepToken{}); len(st.Steps) != 6 || st.Stopped != infer.StopMaxTokens {
		t.Errorf("got %d steps, stopped by %q; want 6, %q", len(st.Steps), st.Stopped, infer.StopMaxTokens)
	}
}

// TestCanceledContextKeepsTheRun: a context's error is returned unchanged, and the run stays where
// it was.
func TestCanceledContextKeepsTheRun(t *testing.T) {
	s := open(t, session.Start{Prompt: "Hi"}, session.StepToken{})
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []session.Command{session.StepStage{}, session.StepToken{}, session.Start{Prompt: "x"}} {
		before := s.State()
		if _, err := s.Apply(ended, c); !errors.Is(err, context.Canceled) || s.State() != before {
			t.Errorf("%T: got %v; want the error %v, s.State() = %v", c, err, context.Canceled, before)
		}
	}
	apply(t, s, session.StepToken{})
}

func TestSetPresetAndSpeed(t *testing.T) {
	s := open(t, session.SetKnob("seed", 7))
	for _, p := range sampling.Presets {
		st := apply(t, s, session.SetPreset{Key: p.Key})
		if st.Settings.Settings != p.Settings || st.Settings.Seed != 7 || st.Settings.Stop.MaxTokens != 5 {
			t.Errorf(
				"preset %s gives %+v; want Settings = %+v, Seed = 7, Stop.MaxTokens = 5", p.Key, st.Settings,
				p.Settings,
			)
		}
	}
	for speed, want := range map[session.Speed]time.Duration{
		"0.5": 2400 * time.Millisecond, "1": 1200 * time.Millisecond, "2": 600 * time.Millisecond,
		"4": 300 * time.Millisecond, "max": 0,
	} {
		if st := apply(t, s, session.SetSpeed{Speed: speed}); st.Speed != speed || s.Interval() != want {
			t.Errorf("speed %s: got a tick every %v, want every %v", speed, s.Interval(), want)
		}
	}
}

// TestSetChangesOnlyGivenFields: only the given fields change.
func TestSetChangesOnlyGivenFields(t *testing.T) {
	s := open(t)
	base := s.State().Settings
	for name, row := range map[string]struct {
		c    session.Command
		want func(*infer.Settings)
	}{
		"temperature": {session.SetKnob("temperature", 0.3), func(w *infer.Settings) { w.Temperature = 0.3 }},
		"top-k":       {session.SetKnob("top_k", 9), func(w *infer.Settings) { w.TopK = 9 }},
		"top-p":       {session.SetKnob("top_p", 0.3), func(w *infer.Settings) { w.TopP = 0.3 }},
		"min-p":       {session.SetKnob("min_p", 0.3), func(w *infer.Settings) { w.MinP = 0.3 }},
		"seed":        {session.SetKnob("seed", 5), func(w *infer.Settings) { w.Seed = 5 }},
		"max tokens":  {session.SetKnob("max_tokens", 9), func(w *infer.Settings) { w.Stop.MaxTokens = 9 }},
		"strings": {
			session.SetStops("x"), func(w *infer.Settings) { w.Stop.Strings = []string{"x"} },
		},
	} {
		want := base
		row.want(&want)
		if got := apply(t, open(t), row.c).Settings; !got.Equal(want) {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	// The caller keeps ownership of the list.
	list := []string{"a"}
	st := apply(t, s, session.Set{Stop: &list})
	list[0] = "b"
	if st.Settings.Stop.Strings[0] != "a" {
		t.Error("the state changes with the caller's list")
	}
}
