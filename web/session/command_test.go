package session_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/web/session"
)

func TestNewSession(t *testing.T) {
	st := session.New(tinyModel(t), session.DefaultLimits()).State()
	if st.Started() || st.Step() != nil || st.Stage(0) != nil || st.Version != 1 || st.Speed != session.SpeedNormal ||
		st.Playing {
		t.Errorf("%+v", st)
	}
	if !st.Settings.Equal(infer.DefaultSettings()) || st.Model != tinyModel(t) || st.Frontier() != (session.Cursor{}) {
		t.Errorf("%+v", st)
	}
	if session.DefaultLimits().PromptBytes != 4096 {
		t.Errorf("prompts of %d bytes are taken", session.DefaultLimits().PromptBytes)
	}
}

// A start reads the prompt at once and shows the first stage.
func TestStart(t *testing.T) {
	s := open(t, session.Start{Prompt: "Hé"})
	st := s.State()
	if st.Cursor != at(1, infer.KindForward) || !st.AtFrontier() || len(st.Steps) != 1 || st.Prompt != "Hé" {
		t.Errorf("after a start: %+v", st.Cursor)
	}
	if len(st.PromptTokens) != 3 || st.PromptTokens[0].Text != "H" || st.PromptTokens[2].Bytes[0] != 0xa9 {
		t.Errorf("prompt tokens %+v", st.PromptTokens)
	}
	if st.Dist != nil || st.Stage(0).Kind() != infer.KindForward || st.StageOf(infer.KindLogits, 0) != nil {
		t.Error("there is more than the forward pass")
	}
	// A second start leaves nothing of the first.
	apply(t, s, session.StepToken{}, session.StepToken{}, session.Back{}, session.Start{Prompt: "x"})
	st = s.State()
	if st.Prompt != "x" || len(st.Steps) != 1 || st.Cursor != at(1, infer.KindForward) || len(st.PromptTokens) != 1 ||
		st.Ghosts != nil || st.Stopped != infer.StopNone {
		t.Errorf("after a second start: %+v", st)
	}
	if st.Settings.Stop.MaxTokens != 5 {
		t.Error("a start forgot the settings")
	}
}

// Seven stages make a token; Back looks back and undoes nothing.
func TestStageByStage(t *testing.T) {
	s := open(t, session.Start{Prompt: "Hi"})
	for i := 1; i < 14; i++ {
		st := apply(t, s, session.StepStage{})
		if want := at(1+i/7, infer.Kinds[i%7]); st.Cursor != want || !st.AtFrontier() ||
			st.Stage(3).Kind() != want.Stage {
			t.Fatalf("after %d stages: %+v, want %+v", i, st.Cursor, want)
		}
		if (st.Dist != nil) != (st.Step().Ran >= infer.KindSoftmax) {
			t.Errorf("at %+v there is a distribution: %v", st.Cursor, st.Dist != nil)
		}
	}
	frontier := s.State().Cursor
	for i := 12; i >= 0; i-- {
		st := apply(t, s, session.Back{})
		if want := at(1+i/7, infer.Kinds[i%7]); st.Cursor != want || st.Frontier() != frontier {
			t.Fatalf("looking back to %d: %+v of %+v, want %+v", i, st.Cursor, st.Frontier(), want)
		}
	}
	if e := wantRefused(t, s, session.Back{}); e.Code != session.CodeOrder || e.Field != "" {
		t.Errorf("before the first stage: %+v", e)
	}
	steps := s.State().Steps
	for range 13 {
		apply(t, s, session.StepStage{})
	}
	if s.State().Cursor != frontier || &s.State().Steps[1].Logits[0] != &steps[1].Logits[0] {
		t.Error("going forward over what had run ran it again")
	}
}

// StepToken: to the end of this turn, then of the next; looking back it moves
// over turns that have run.
func TestTokenByToken(t *testing.T) {
	for _, row := range []struct {
		name string
		from session.Cursor
		want session.Cursor
	}{
		{"inside an old turn", at(1, infer.KindSoftmax), at(1, infer.KindCache)},
		{"at the end of an old turn", at(1, infer.KindCache), at(2, infer.KindCache)},
		{"at the beginning of an old turn", at(2, infer.KindForward), at(2, infer.KindCache)},
		{"before the turn in progress", at(2, infer.KindCache), at(3, infer.KindCache)},
		{"inside the turn in progress, looking back", at(3, infer.KindForward), at(3, infer.KindCache)},
		{"at the frontier", at(3, infer.KindSoftmax), at(3, infer.KindCache)},
	} {
		s := open(t, session.Start{Prompt: "Hi"}, session.StepToken{}, session.StepToken{},
			session.StepStage{}, session.StepStage{}, session.StepStage{})
		st := apply(t, s, session.Seek{Step: row.from.Step, Stage: row.from.Stage}, session.StepToken{})
		if st.Cursor != row.want {
			t.Errorf("%s: from %+v to %+v, want %+v", row.name, row.from, st.Cursor, row.want)
		}
	}
	s := open(t, session.Start{Prompt: "Hi"})
	for n := 1; n <= 5; n++ {
		if st := apply(t, s, session.StepToken{}); st.Cursor != at(n, infer.KindCache) {
			t.Errorf("token %d: at %+v", n, st.Cursor)
		}
	}
}

func TestSeek(t *testing.T) {
	s := open(t, session.Start{Prompt: "Hi"}, session.StepToken{}, session.StepStage{}, session.StepStage{})
	st := apply(t, s, session.Seek{Step: 1, Stage: infer.KindSample})
	if st.Cursor != at(1, infer.KindSample) || st.Frontier() != at(2, infer.KindLogits) || st.Step().N != 1 ||
		st.Dist == nil {
		t.Errorf("%+v", st.Cursor)
	}
	for _, row := range []struct {
		c           session.Seek
		field, want string
	}{
		{session.Seek{Step: 0, Stage: infer.KindForward}, "step", "1 to 2, the steps so far"},
		{session.Seek{Step: -1, Stage: infer.KindForward}, "step", "1 to 2, the steps so far"},
		{session.Seek{Step: 3, Stage: infer.KindForward}, "step", "1 to 2, the steps so far"},
		{session.Seek{Step: 2, Stage: infer.KindSoftmax}, "stage", "one that has run at step 2: forward to logits"},
		{session.Seek{Step: 1, Stage: 0}, "stage", "one that has run at step 1: forward to cache"},
		{session.Seek{Step: 1, Stage: 8}, "stage", "one that has run at step 1: forward to cache"},
	} {
		if e := wantRefused(t, s, row.c); e.Code != session.CodeRange || e.Field != row.field || e.Want != row.want {
			t.Errorf("%+v: %+v", row.c, e)
		}
	}
}

// Reset goes back to the prompt; the same text comes again.
func TestReset(t *testing.T) {
	s := open(t, append([]session.Command{session.Start{Prompt: "Hi"}}, times(5, session.StepToken{})...)...)
	before := s.State()
	st := apply(t, s, session.Reset{})
	if st.Cursor != at(1, infer.KindForward) || len(st.Steps) != 1 || st.Stopped != infer.StopNone ||
		st.Ghosts != nil || st.Prompt != "Hi" {
		t.Errorf("%+v", st)
	}
	apply(t, s, times(5, session.StepToken{})...)
	for i, step := range s.State().Steps {
		if step.Chosen != before.Steps[i].Chosen {
			t.Fatalf("step %d chose %d, before the reset %d", i+1, step.Chosen, before.Steps[i].Chosen)
		}
	}
	// A reset to settings that were changed since takes them.
	apply(t, s, session.SetPreset{Key: "greedy"}, session.Reset{})
	if got := s.State().Steps[0].Settings; !got.Greedy() {
		t.Errorf("after a reset step 1 has %+v", got)
	}
}

// Every command that needs a text is refused before there is one.
func TestOutOfOrder(t *testing.T) {
	s := session.New(tinyModel(t), session.DefaultLimits())
	for _, c := range []session.Command{
		session.StepStage{},
		session.StepToken{},
		session.Back{},
		session.Seek{Step: 1, Stage: infer.KindForward},
		session.Reset{},
		session.Play{},
		nil,
	} {
		if e := wantRefused(t, s, c); e.Code != session.CodeOrder ||
			e.Message != "There is no text yet: start with a prompt." {
			t.Errorf("%T: %+v", c, e)
		}
	}
	apply(t, s, session.Pause{}, session.SetSpeed{Speed: session.SpeedMax}, session.SetPreset{Key: "greedy"},
		session.SetStop{MaxTokens: ptr(3)}, session.Start{Prompt: "x"})
	if e := wantRefused(t, s, nil); e.Code != session.CodeUnknown {
		t.Errorf("no command: %+v", e)
	}
}

// Every value out of range: the field, the range, a sentence; the run stays.
func TestRefusedValues(t *testing.T) {
	s := open(t, session.Start{Prompt: "Hi"}, session.StepToken{}, session.Back{})
	long := strings.Repeat("x", 4097)
	for _, row := range []struct {
		c       session.Command
		field   string
		want    string
		message string
	}{
		{
			session.Start{},
			"prompt", "1 to 4096 bytes of text",
			"The prompt is empty; it must be 1 to 4096 bytes of text.",
		},
		{
			session.Start{Prompt: long},
			"prompt", "1 to 4096 bytes of text",
			"The prompt is 4097 bytes long; it must be 1 to 4096 bytes of text.",
		},
		{
			session.Start{Prompt: "a\xff"},
			"prompt", "1 to 4096 bytes of text",
			"The prompt is not valid UTF-8 at byte 1; it must be 1 to 4096 bytes of text.",
		},
		{session.Start{Prompt: long[:25]}, "prompt", "at most 24 tokens, the context of this model", ""},
		{
			session.SetSampling{Temperature: ptr(-1.0)},
			"temperature", "0 (greedy) to 100",
			"Temperature is -1; it must be 0 (greedy) to 100.",
		},
		{session.SetSampling{Temperature: ptr(math.NaN())}, "temperature", "0 (greedy) to 100", ""},
		{session.SetSampling{Temperature: ptr(math.Inf(1))}, "temperature", "0 (greedy) to 100", ""},
		{session.SetSampling{TopK: ptr(-1)}, "top_k", "0 (off) or more", "Top-k is -1; it must be 0 (off) or more."},
		{
			session.SetSampling{TopP: ptr(0.0)},
			"top_p", "above 0, up to 1 (off)",
			"Top-p is 0; it must be above 0, up to 1 (off).",
		},
		{session.SetSampling{TopP: ptr(1.01)}, "top_p", "above 0, up to 1 (off)", ""},
		{session.SetSampling{TopP: ptr(math.NaN())}, "top_p", "above 0, up to 1 (off)", ""},
		{session.SetSampling{MinP: ptr(-0.1)}, "min_p", "0 (off) to 1", "Min-p is -0.1; it must be 0 (off) to 1."},
		{session.SetSampling{MinP: ptr(1.1)}, "min_p", "0 (off) to 1", ""},
		{session.SetSampling{Seed: ptr(uint64(1 << 53))}, "seed", "a whole number from 0 to 9007199254740991", ""},
		{
			session.SetStop{MaxTokens: ptr(0)},
			"max_tokens", "1 to 1,000,000",
			"Max tokens is 0; it must be 1 to 1,000,000.",
		},
		{
			session.SetStop{Strings: &[]string{""}},
			"stop", "1 to 100 bytes of text",
			"A stop string is an empty string; it must be 1 to 100 bytes of text.",
		},
		{session.SetStop{Strings: &[]string{"\xff"}}, "stop", "1 to 100 bytes of text", ""},
		{session.SetStop{Strings: ptr(strings.Split("abcdefghi", ""))}, "stop", "at most 8 strings", ""},
		{
			session.SetPreset{Key: "warm"},
			"preset", "greedy, pure, top_k, top_p or common",
			"The preset is warm; it must be greedy, pure, top_k, top_p or common.",
		},
		{
			session.SetSpeed{Speed: "3"},
			"speed", "0.5, 1, 2, 4 or max",
			"The speed is 3; it must be 0.5, 1, 2, 4 or max.",
		},
		{session.SetSpeed{}, "speed", "0.5, 1, 2, 4 or max", ""},
	} {
		e := wantRefused(t, s, row.c)
		if e.Code != session.CodeRange || e.Field != row.field || e.Want != row.want ||
			row.message != "" && e.Message != row.message {
			t.Errorf("%T%+v: %+v, want field %q, range %q, %q", row.c, row.c, e, row.field, row.want, row.message)
		}
		if e.Error() != e.Message || !strings.HasSuffix(e.Message, ".") {
			t.Errorf("%q is no sentence", e.Message)
		}
	}
}

// A stop is a typed refusal that says which condition it was.
func TestRefusedAfterAStop(t *testing.T) {
	finish := session.SetStop{Strings: &[]string{}}
	for _, row := range []struct {
		name     string
		commands []session.Command
		reason   infer.StopReason
		message  string
	}{
		{
			"limit", times(5, session.StepToken{}), infer.StopMaxTokens,
			"Stopped: the limit on tokens is reached. It is 5: raise it to go on.",
		},
		{
			"end of text",
			[]session.Command{session.StepStage{}, session.Choose{Step: 1, Token: 0}, session.StepToken{}},
			infer.StopEOS, "Stopped: the model ended the text.",
		},
		{
			"context",
			append(
				[]session.Command{session.SetStop{MaxTokens: ptr(99)}}, times(tinyContext-1, session.StepToken{})...,
			),
			infer.StopContext, "Stopped: the context window is full.",
		},
		{
			"stop string",
			[]session.Command{
				session.SetStop{Strings: &[]string{"A"}},
				session.StepStage{},
				session.Choose{Step: 1, Token: idOf('A')},
				session.StepToken{},
			},
			infer.StopString, "Stopped: a stop string came up.",
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
					t.Errorf("%T: %+v, want %q", c, e, row.message)
				}
			}
			// Looking back and forward over the text is free.
			apply(
				t, s, session.Back{}, session.StepStage{}, session.Seek{Step: 1, Stage: infer.KindForward},
				session.StepToken{},
			)
		})
	}
}

// idOf finds the token of a byte in the tiny model.
func idOf(b byte) int {
	m, err := tiny()
	if err != nil {
		panic(err)
	}
	return m.Encode(string(rune(b)))[0]
}

// Raising the limit lets a stopped run go on where it was.
func TestRaisedLimitGoesOn(t *testing.T) {
	s := open(t, append([]session.Command{session.Start{Prompt: "Hi"}}, times(5, session.StepToken{})...)...)
	st := apply(t, s, session.SetStop{MaxTokens: ptr(6)})
	if st.Stopped != infer.StopNone || len(st.Steps) != 5 || st.Ghosts != nil {
		t.Fatalf("with the limit raised: %q, %d steps", st.Stopped, len(st.Steps))
	}
	if st = apply(t, s, session.StepToken{}); len(st.Steps) != 6 || st.Stopped != infer.StopMaxTokens {
		t.Errorf("%d steps, stopped by %q", len(st.Steps), st.Stopped)
	}
}

// A context that ends is passed on as it is; the run stays where it was.
func TestEndedContext(t *testing.T) {
	s := open(t, session.Start{Prompt: "Hi"}, session.StepToken{})
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []session.Command{session.StepStage{}, session.StepToken{}, session.Start{Prompt: "x"}} {
		before := s.State()
		if _, err := s.Apply(ended, c); !errors.Is(err, context.Canceled) || s.State() != before {
			t.Errorf("%T: %v", c, err)
		}
	}
	apply(t, s, session.StepToken{})
}

func TestPresetAndSpeed(t *testing.T) {
	s := open(t, session.SetSampling{Seed: ptr(uint64(7))})
	for _, p := range sampling.Presets {
		st := apply(t, s, session.SetPreset{Key: p.Key})
		if st.Settings.Settings != p.Settings || st.Settings.Seed != 7 || st.Settings.Stop.MaxTokens != 5 {
			t.Errorf("preset %s gives %+v", p.Key, st.Settings)
		}
	}
	for speed, want := range map[session.Speed]time.Duration{
		"0.5": 2400 * time.Millisecond, "1": 1200 * time.Millisecond, "2": 600 * time.Millisecond,
		"4": 300 * time.Millisecond, "max": 0,
	} {
		if st := apply(t, s, session.SetSpeed{Speed: speed}); st.Speed != speed || s.Interval() != want {
			t.Errorf("speed %s: a tick every %v, want %v", speed, s.Interval(), want)
		}
	}
}

// Only the fields given change.
func TestSetChangesWhatIsGiven(t *testing.T) {
	s := open(t)
	base := s.State().Settings
	for name, row := range map[string]struct {
		c    session.Command
		want func(*infer.Settings)
	}{
		"temperature": {session.SetSampling{Temperature: ptr(0.3)}, func(w *infer.Settings) { w.Temperature = 0.3 }},
		"top-k":       {session.SetSampling{TopK: ptr(9)}, func(w *infer.Settings) { w.TopK = 9 }},
		"top-p":       {session.SetSampling{TopP: ptr(0.3)}, func(w *infer.Settings) { w.TopP = 0.3 }},
		"min-p":       {session.SetSampling{MinP: ptr(0.3)}, func(w *infer.Settings) { w.MinP = 0.3 }},
		"seed":        {session.SetSampling{Seed: ptr(uint64(5))}, func(w *infer.Settings) { w.Seed = 5 }},
		"max tokens":  {session.SetStop{MaxTokens: ptr(9)}, func(w *infer.Settings) { w.Stop.MaxTokens = 9 }},
		"strings": {
			session.SetStop{Strings: &[]string{"x"}}, func(w *infer.Settings) { w.Stop.Strings = []string{"x"} },
		},
	} {
		want := base
		row.want(&want)
		if got := apply(t, open(t), row.c).Settings; !got.Equal(want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	// The list given stays the caller's.
	list := []string{"a"}
	st := apply(t, s, session.SetStop{Strings: &list})
	list[0] = "b"
	if st.Settings.Stop.Strings[0] != "a" {
		t.Error("the state follows the caller's list")
	}
}
