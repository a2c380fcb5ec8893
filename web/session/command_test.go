package session_test

import (
	"math"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

func TestNewSessionIsEmpty(t *testing.T) {
	st := session.New(tinyModel(t), session.DefaultLimits()).State()
	if st.Started() || st.Step() != nil || st.Stage(0) != nil || st.Version != 1 || st.Speed != session.SpeedNormal ||
		st.Playing {
		t.Errorf("got state %+v, want one without a text or a step, at version 1 and normal speed, not playing", st)
	}
	if !st.Settings.Equal(infer.DefaultSettings()) || st.Model != tinyModel(t) || st.Frontier() != (session.Cursor{}) {
		t.Errorf("got state %+v, want the default settings, the given model and an empty frontier", st)
	}
	if session.DefaultLimits().PromptBytes != 256<<10 {
		t.Errorf("prompts of up to %d bytes are accepted, want 262144", session.DefaultLimits().PromptBytes)
	}
}

// TestStartReadsThePrompt: Start reads the prompt immediately and shows the first stage.
func TestStartReadsThePrompt(t *testing.T) {
	s := open(t, session.Start{Prompt: "Hé"})
	st := s.State()
	if st.Cursor != at(1, infer.KindForward) || !st.AtFrontier() || len(st.Steps) != 1 || st.Prompt != "Hé" {
		t.Errorf("after a start: got cursor %+v, want the first stage of one step of the prompt", st.Cursor)
	}
	if len(st.PromptTokens) != 3 || st.PromptTokens[0].Text != "H" || st.PromptTokens[2].Bytes[0] != 0xa9 {
		t.Errorf("prompt tokens %+v, want 3 elements, [0].Text = %q, [2].Bytes[0] = 0xa9", st.PromptTokens, "H")
	}
	if st.Dist != nil || st.Stage(0).Kind() != infer.KindForward || st.StageOf(infer.KindLogits, 0) != nil {
		t.Error("stages after the forward pass have run")
	}
	// A second start drops the first run but keeps the settings.
	apply(t, s, session.StepToken{}, session.StepToken{}, session.Back{}, session.Start{Prompt: "x"})
	st = s.State()
	if st.Prompt != "x" || len(st.Steps) != 1 || st.Cursor != at(1, infer.KindForward) || len(st.PromptTokens) != 1 ||
		st.Ghosts != nil || st.Stopped != infer.StopNone {
		t.Errorf("after a second start: got %+v, want only the text x, at its first stage", st)
	}
	if st.Settings.Stop.MaxTokens != 5 {
		t.Error("the second start has reset the settings")
	}
}

// TestStepStageAndBack: generating a token takes seven stages. Back moves back without undoing
// anything.
func TestStepStageAndBack(t *testing.T) {
	s := open(t, session.Start{Prompt: "Hi"})
	for i := 1; i < 14; i++ {
		st := apply(t, s, session.StepStage{})
		if want := at(1+i/7, infer.Kinds[i%7]); st.Cursor != want || !st.AtFrontier() ||
			st.Stage(3).Kind() != want.Stage {
			t.Fatalf("after %d stages, the run is at %+v, want %+v", i, st.Cursor, want)
		}
		if (st.Dist != nil) != (st.Step().Ran >= infer.KindSoftmax) {
			t.Errorf(
				"at %+v there is a distribution: got %v, want %v", st.Cursor, st.Dist != nil,
				st.Step().Ran >= infer.KindSoftmax,
			)
		}
	}
	frontier := s.State().Cursor
	for i := 12; i >= 0; i-- {
		st := apply(t, s, session.Back{})
		if want := at(1+i/7, infer.Kinds[i%7]); st.Cursor != want || st.Frontier() != frontier {
			t.Fatalf("looking back to stage %d: the run is at %+v of %+v, want %+v", i, st.Cursor, st.Frontier(), want)
		}
	}
	if e := wantRefused(t, s, session.Back{}); e.Code != session.CodeOrder || e.Field != "" {
		t.Errorf(`before the first stage: got %+v, want Code = %q, Field = ""`, e, session.CodeOrder)
	}
	steps := s.State().Steps
	for range 13 {
		apply(t, s, session.StepStage{})
	}
	if s.State().Cursor != frontier || &s.State().Steps[1].Logits[0] != &steps[1].Logits[0] {
		t.Error("going forward over stages that had already run ran them again")
	}
}

// TestStepTokenEndsTheTurn: StepToken goes to the end of this turn, and then to the end of the
// next. When looking back, it moves through turns that have already run.
func TestStepTokenEndsTheTurn(t *testing.T) {
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
			t.Errorf("token %d: got cursor %+v, want the cache stage of this token", n, st.Cursor)
		}
	}
}

func TestSeekMovesTheCursor(t *testing.T) {
	s := open(t, session.Start{Prompt: "Hi"}, session.StepToken{}, session.StepStage{}, session.StepStage{})
	st := apply(t, s, session.Seek{Step: 1, Stage: infer.KindSample})
	if st.Cursor != at(1, infer.KindSample) || st.Frontier() != at(2, infer.KindLogits) || st.Step().N != 1 ||
		st.Dist == nil {
		t.Errorf("got cursor %+v, want the sample stage of step 1, and the frontier at the logits of step 2", st.Cursor)
	}
	for _, row := range []struct {
		c           session.Seek
		field, want string
	}{
		{session.Seek{Step: 0, Stage: infer.KindForward}, "step", "1 to 2, the steps so far"},
		{session.Seek{Step: -1, Stage: infer.KindForward}, "step", "1 to 2, the steps so far"},
		{session.Seek{Step: 3, Stage: infer.KindForward}, "step", "1 to 2, the steps so far"},
		{
			session.Seek{Step: 2, Stage: infer.KindSoftmax},
			"stage",
			`a stage that has already run at step 2, from "forward" to "logits"`,
		},
		{session.Seek{Step: 1, Stage: 0}, "stage", `a stage that has already run at step 1, from "forward" to "cache"`},
		{session.Seek{Step: 1, Stage: 8}, "stage", `a stage that has already run at step 1, from "forward" to "cache"`},
	} {
		if e := wantRefused(t, s, row.c); e.Code != terms.CodeRange || e.Field != row.field || e.Want != row.want {
			t.Errorf(
				"%+v: got %+v; want Code = %q, Field = %q, Want = %q", row.c, e, terms.CodeRange, row.field, row.want,
			)
		}
	}
}

// TestResetReturnsToThePrompt: Reset goes back to the prompt, and then the same text is
// generated again.
func TestResetReturnsToThePrompt(t *testing.T) {
	s := open(t, append([]session.Command{session.Start{Prompt: "Hi"}}, times(5, session.StepToken{})...)...)
	before := s.State()
	st := apply(t, s, session.Reset{})
	if st.Cursor != at(1, infer.KindForward) || len(st.Steps) != 1 || st.Stopped != infer.StopNone ||
		st.Ghosts != nil || st.Prompt != "Hi" {
		t.Errorf(`after a reset: got %+v, want the first stage of the prompt "Hi", one step, no stop and no ghosts`, st)
	}
	apply(t, s, times(5, session.StepToken{})...)
	for i, step := range s.State().Steps {
		if step.Chosen != before.Steps[i].Chosen {
			t.Fatalf("step %d chose %d, want %d as before the reset", i+1, step.Chosen, before.Steps[i].Chosen)
		}
	}
	// A reset uses settings that have been changed since the start.
	apply(t, s, session.SetPreset{Key: "greedy"}, session.Reset{})
	if got := s.State().Steps[0].Settings; !got.Greedy() {
		t.Errorf("after a reset, step 1 has %+v, want the greedy settings", got)
	}
}

// TestCommandsBeforeStartAreRefused: every command that needs a text is refused before there is one.
func TestCommandsBeforeStartAreRefused(t *testing.T) {
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
			t.Errorf(
				"%T: got %+v; want Code = %q, Message = %q", c, e, session.CodeOrder,
				"There is no text yet: start with a prompt.",
			)
		}
	}
	apply(t, s, session.Pause{}, session.SetSpeed{Speed: session.SpeedMax}, session.SetPreset{Key: "greedy"},
		session.SetKnob("max_tokens", 3), session.Start{Prompt: "x"})
	if e := wantRefused(t, s, nil); e.Code != terms.CodeUnknown {
		t.Errorf("no command: got %+v, want Code = %q", e, terms.CodeUnknown)
	}
}

// TestValuesOutOfRangeAreRefused: every value out of range is refused with an error that gives the
// field, the range and an explanation, and the run does not change.
func TestValuesOutOfRangeAreRefused(t *testing.T) {
	s := open(t, session.Start{Prompt: "Hi"}, session.StepToken{}, session.Back{})
	long := strings.Repeat("x", 256<<10+1)
	for _, row := range []struct {
		c       session.Command
		field   string
		want    string
		message string
	}{
		{
			session.Start{},
			"prompt", "1 to 262144 bytes of text",
			"The prompt is empty; it must be 1 to 262144 bytes of text.",
		},
		{
			session.Start{Prompt: long},
			"prompt", "1 to 262144 bytes of text",
			"The prompt is 262145 bytes long; it must be 1 to 262144 bytes of text.",
		},
		{
			session.Start{Prompt: "a\xff"},
			"prompt", "1 to 262144 bytes of text",
			"The prompt is not valid UTF-8 at byte 1; it must be 1 to 262144 bytes of text.",
		},
		{session.Start{Prompt: long[:25]}, "prompt", "at most 24 tokens, the context of this model", ""},
		{
			session.SetKnob("temperature", -1.0),
			"temperature", "0 (greedy) to 100",
			"Temperature is -1; it must be 0 (greedy) to 100.",
		},
		{session.SetKnob("temperature", math.NaN()), "temperature", "0 (greedy) to 100", ""},
		{session.SetKnob("temperature", math.Inf(1)), "temperature", "0 (greedy) to 100", ""},
		{session.SetKnob("top_k", -1), "top_k", "0 (off) or more", "Top-k is -1; it must be 0 (off) or more."},
		{
			session.SetKnob("top_p", 0.0),
			"top_p", "above 0, up to 1 (off)",
			"Top-p is 0; it must be above 0, up to 1 (off).",
		},
		{session.SetKnob("top_p", 1.01), "top_p", "above 0, up to 1 (off)", ""},
		{session.SetKnob("top_p", math.NaN()), "top_p", "above 0, up to 1 (off)", ""},
		{session.SetKnob("min_p", -0.1), "min_p", "0 (off) to 1", "Min-p is -0.1; it must be 0 (off) to 1."},
		{session.SetKnob("min_p", 1.1), "min_p", "0 (off) to 1", ""},
		{session.SetKnob("seed", 1<<53), "seed", "a whole number from 0 to 9007199254740991", ""},
		{
			session.SetKnob("max_tokens", 0),
			"max_tokens", "1 to 1,000,000",
			"Max tokens is 0; it must be 1 to 1,000,000.",
		},
		{
			session.SetStops(""),
			"stop", "1 to 100 bytes of text",
			"A stop string is an empty string; it must be 1 to 100 bytes of text.",
		},
		{session.SetStops("\xff"), "stop", "1 to 100 bytes of text", ""},
		{session.Set{Stop: ptr(strings.Split("abcdefghi", ""))}, "stop", "at most 8 strings", ""},
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
		if e.Code != terms.CodeRange || e.Field != row.field || e.Want != row.want ||
			row.message != "" && e.Message != row.message {
			t.Errorf("%T%+v: got %+v, want field %q, range %q, message %q", row.c, row.c, e, row.field, row.want,
				row.message)
		}
		if e.Error() != e.Message || !strings.HasSuffix(e.Message, ".") {
			t.Errorf("%q is not a sentence", e.Message)
		}
	}
}
