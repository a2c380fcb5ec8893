package session

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
)

func newRunF(f *testing.F) *Session {
	f.Helper()
	return startRun(f, "The capital of France is")
}

func newRun(t *testing.T, prompt string) *Session {
	t.Helper()
	return startRun(t, prompt)
}

func startRun(t testing.TB, prompt string) *Session {
	t.Helper()
	m := testmodel.Target(t)
	s := New(m, DefaultLimits())
	if _, err := s.Apply(context.Background(), Start{Prompt: prompt}); err != nil {
		t.Fatal(err)
	}
	return s
}

func must(t *testing.T, s *Session, commands ...Command) *State {
	t.Helper()
	for _, c := range commands {
		if _, err := s.Apply(context.Background(), c); err != nil {
			t.Fatalf("%T: %v", c, err)
		}
	}
	return s.State()
}

func refused(t *testing.T, s *Session, c Command, code terms.Code, field string) {
	t.Helper()
	before := s.State()
	_, err := s.Apply(context.Background(), c)
	var e *terms.Refusal
	if !errors.As(err, &e) || e.Code != code || e.Field != field {
		t.Errorf("%+v: got refusal %v, want code %q, field %q", c, err, code, field)
	}
	if s.State() != before {
		t.Errorf("%+v was refused and changed the state", c)
	}
}

func texts(st *State) (list []string) {
	for _, step := range st.Steps {
		list = append(list, st.Model.Token(step.Chosen).Text)
	}
	return list
}

// Promise: You can try a different token and come back from that branch.
func TestChooseBranchesAndReturns(t *testing.T) {
	s := newRun(t, "Once upon a time there was a")
	first := must(t, s, StepToken{}, StepToken{}, StepToken{})
	firstTexts := texts(first)

	// At step 2, choose the fifth most probable token instead.
	other := int(first.Steps[1].Distribution().Order[4])
	st := must(t, s, Choose{2, other})
	if st.Cursor != (Cursor{2, infer.KindSample}) || st.Steps[1].Chosen != other || !st.Steps[1].Forced {
		t.Fatalf(
			"after the choice: cursor %v, step 2 chose %d (forced %v); want %v, %d, true", st.Cursor,
			st.Steps[1].Chosen, st.Steps[1].Forced, Cursor{2, infer.KindSample}, other,
		)
	}
	if st.Steps[1].Drawn != first.Steps[1].Chosen {
		t.Errorf(
			"the drawn token is %d, want %d as before the choice", st.Steps[1].Drawn, first.Steps[1].Chosen,
		)
	}
	if len(st.Branches) != 2 || st.Branches[0].Current || !st.Branches[1].Current {
		t.Fatalf("branches: got %+v, want 2 elements, [0].Current = false, [1].Current = true", st.Branches)
	}
	second := must(t, s, StepToken{}, StepToken{})
	secondTexts := texts(second)

	// Returning to the first branch and then to the second restores both bit for bit.
	st = must(t, s, TakeBranch{st.Branches[0].ID})
	if got := texts(st); !slices.Equal(got, firstTexts) {
		t.Errorf("back on the first branch: got %q, want %q", got, firstTexts)
	}
	onFirst := must(t, s, StepToken{})
	fresh := newRun(t, "Once upon a time there was a")
	want := must(t, fresh, StepToken{}, StepToken{}, StepToken{}, StepToken{})
	if !slices.Equal(onFirst.Steps[3].Logits, want.Steps[3].Logits) {
		t.Error("after a visit to another branch, the fourth step has different logits than without the visit")
	}
	st = must(t, s, TakeBranch{2})
	if got := texts(st); !slices.Equal(got, secondTexts) {
		t.Errorf("on the second branch: got %q, want %q", got, secondTexts)
	}

	// An eviction keeps all branches.
	s.Evict()
	if _, err := s.Restore(context.Background()); err != nil {
		t.Fatal(err)
	}
	st = must(t, s, TakeBranch{1})
	if !slices.Equal(st.Steps[3].Logits, want.Steps[3].Logits) {
		t.Error("the first branch was restored from its log with different logits")
	}
}

func TestChooseRefuses(t *testing.T) {
	s := newRun(t, "The capital of France is")
	refused(t, s, Choose{1, 5}, terms.CodeRange, "step") // no scores yet
	must(t, s, StepStage{})
	refused(t, s, Choose{1, 4096}, terms.CodeRange, "token")
	refused(t, s, Choose{1, -1}, terms.CodeRange, "token")
	refused(t, s, Choose{2, 5}, terms.CodeRange, "step")
	refused(t, s, TakeBranch{7}, terms.CodeRange, "branch")
	// A token that the filters cut can still be chosen by hand.
	id := int(s.State().DistAt(1).Order[4000])
	st := must(t, s, Choose{1, id})
	if got := st.Stage(20).(infer.Sample); got.Chosen.ID != id || got.Chosen.Kept || got.From != 0 || got.To != 0 {
		t.Errorf(
			"a cut token chosen by hand: got %+v, want Chosen.ID = %d, Chosen.Kept = false, From = 0, To = 0", got, id,
		)
	}
}

func TestGoOnRaisesTheLimit(t *testing.T) {
	s := newRun(t, "The capital of France is")
	refused(t, s, GoOn{}, CodeOrder, "")
	must(t, s, SetKnob("max_tokens", 2), StepToken{}, StepToken{})
	refused(t, s, StepStage{}, CodeStopped, "")
	if st := must(t, s, GoOn{}, StepToken{}); len(st.Steps) != 3 || st.Settings.Stop.MaxTokens != 2+infer.GoOnTokens {
		t.Errorf("got %d steps, limit %d; want 3, %d", len(st.Steps), st.Settings.Stop.MaxTokens, 2+infer.GoOnTokens)
	}

	// Continuing past a stop string releases the text that was held back.
	s = newRun(t, "The capital of France is")
	st := must(t, s, SetKnob("temperature", 0), SetStops(","), StepToken{}, StepToken{})
	if st.Stopped != infer.StopString || st.Steps[1].Text != "" {
		t.Fatalf(`stopped by %q with text %q; want %q, ""`, st.Stopped, st.Steps[1].Text, infer.StopString)
	}
	st = must(t, s, GoOn{}, StepToken{})
	if st.Steps[2].Text[0] != ',' {
		t.Errorf("after the stop, the text continues with %q, want the comma that was held back", st.Steps[2].Text)
	}
	replayed, err := infer.Replay(
		context.Background(), st.Model, infer.LogOf(st.Model, st.Whole(), st.Steps, st.Settings),
	)
	if err != nil {
		t.Fatal(err)
	}
	if last := replayed.Steps()[2]; !slices.Equal(last.Logits, st.Steps[2].Logits) || last.Text != st.Steps[2].Text {
		t.Error("the log of a continued run replays differently")
	}
}

func TestFinishRunsToTheStop(t *testing.T) {
	s := newRun(t, "The capital of France is")
	must(t, s, StepStage{}, Finish{})
	if s.Interval() != 0 || !s.State().Finishing {
		t.Fatal("a run that plays to its end waits between tokens")
	}
	for range 1000 {
		if st, err := s.Tick(context.Background()); err != nil || !st.Playing {
			break
		}
	}
	if st := s.State(); st.Playing || st.Finishing || st.Stopped == infer.StopNone {
		t.Errorf(
			"playing %v, finishing %v, stopped %q; want false, false, anything but %q", st.Playing, st.Finishing,
			st.Stopped, infer.StopNone,
		)
	}
	refused(t, s, Finish{}, CodeStopped, "")
}

func TestWhatIfChangesNothing(t *testing.T) {
	s := newRun(t, "Once upon a time there was a")
	u, bad := 0.25, 1.0
	refused(t, s, WhatIf{&u}, CodeOrder, "")
	must(t, s, StepStage{}, StepStage{}, StepStage{}, StepStage{})
	refused(t, s, WhatIf{&bad}, terms.CodeRange, "u")
	before := s.State().Step().Chosen
	if st := must(t, s, WhatIf{&u}); *st.WhatIf != 0.25 || st.Step().Chosen != before {
		t.Error("a what-if question changed the draw")
	}
	if st := must(t, s, StepStage{}); st.WhatIf != nil {
		t.Error("the what-if question is still set at the next stage")
	}
}

func TestLookOnlyAtForwardStage(t *testing.T) {
	s := newRun(t, "Once upon a time there was a")
	st := s.State()
	if st.Look == nil || st.Look.Position != st.Step().Positions()-1 {
		t.Fatal("there is no look inside the first pass")
	}
	seen := st.Look
	if st = must(t, s, StepStage{}); st.Look != nil {
		t.Error("the logits stage has a look inside the pass")
	}
	must(t, s, StepToken{}, StepToken{}, StepToken{})
	st = must(t, s, Seek{1, infer.KindForward})
	if st.Look == nil || !slices.Equal(st.Look.Blocks[5].Residual, seen.Blocks[5].Residual) {
		t.Error("going back to the first pass shows something different from before")
	}
	if st = must(t, s, SetLook{false}); st.Look != nil {
		t.Error("there is a look inside although it is switched off")
	}
}
