package session_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/web/session"
)

// anyCommand draws a command, sensible or not.
func anyCommand() *rapid.Generator[session.Command] {
	is := func(c session.Command) *rapid.Generator[session.Command] { return rapid.Just(c) }
	step, stage := rapid.IntRange(0, 5), rapid.IntRange(0, 8)
	return rapid.OneOf(
		is(session.StepStage{}), is(session.StepStage{}), is(session.StepStage{}),
		is(session.StepToken{}), is(session.StepToken{}),
		is(session.Back{}), is(session.Back{}), is(session.Reset{}),
		is(session.Play{}), is(session.Pause{}), is(session.Finish{}), is(session.GoOn{}),
		rapid.Custom(func(t *rapid.T) session.Command {
			return session.Seek{Step: step.Draw(t, "step"), Stage: infer.Kind(stage.Draw(t, "stage"))}
		}),
		rapid.Custom(func(t *rapid.T) session.Command {
			return session.Start{Prompt: rapid.SampledFrom([]string{"", "Hi", "x"}).Draw(t, "prompt")}
		}),
		rapid.Custom(func(t *rapid.T) session.Command {
			return session.SetPreset{Key: rapid.SampledFrom([]string{"greedy", "pure", "top_k", "no such"}).Draw(t, "key")}
		}),
		rapid.Custom(func(t *rapid.T) session.Command {
			return session.SetSampling{
				Temperature: rapid.SampledFrom([]*float64{nil, ptr(0.0), ptr(0.8), ptr(-1.0)}).Draw(t, "temperature"),
				TopK:        rapid.SampledFrom([]*int{nil, ptr(3)}).Draw(t, "top_k"),
				Seed:        rapid.SampledFrom([]*uint64{nil, ptr(uint64(1)), ptr(uint64(2))}).Draw(t, "seed"),
			}
		}),
		rapid.Custom(func(t *rapid.T) session.Command {
			return session.SetStop{
				MaxTokens: rapid.SampledFrom([]*int{nil, ptr(1), ptr(3), ptr(5), ptr(0)}).Draw(t, "max_tokens"),
				Strings:   rapid.SampledFrom([]*[]string{nil, {"A"}, {"AB"}, {}}).Draw(t, "strings"),
			}
		}),
		rapid.Custom(func(t *rapid.T) session.Command {
			token := rapid.SampledFrom([]int{0, idOf('A'), idOf('B'), 200, 257}).Draw(t, "token")
			return session.Choose{Step: step.Draw(t, "step"), Token: token}
		}),
		rapid.Custom(func(t *rapid.T) session.Command { return session.TakeBranch{ID: rapid.IntRange(0, 4).Draw(t, "id")} }),
		rapid.Custom(func(t *rapid.T) session.Command {
			return session.SetSpeed{Speed: rapid.SampledFrom([]session.Speed{"1", "max", "7"}).Draw(t, "speed")}
		}),
	)
}

// Any commands in any order: each is carried out or refused with a code and a
// sentence; the state holds together; looking back and forward again is the
// same; an evicted run comes back the same; its log replays to the same; and
// no state that was handed out ever changes.
func TestAnyCommands(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := open(t)
		apply(t, s, session.SetLook{On: rapid.Bool().Draw(rt, "look")}, session.Start{Prompt: "Hi"})
		handed, copies := []*session.State{s.State()}, []session.State{copyOf(s.State())}
		keep := func() {
			if st := s.State(); st != handed[len(handed)-1] {
				handed, copies = append(handed, st), append(copies, copyOf(st))
			}
		}
		commands := anyCommand()
		for range rapid.IntRange(1, 25).Draw(rt, "n") {
			before := s.State()
			var err error
			if rapid.IntRange(0, 9).Draw(rt, "tick") == 0 {
				_, err = s.Tick(context.Background())
			} else {
				_, err = s.Apply(context.Background(), commands.Draw(rt, "command"))
			}
			checkOutcome(rt, s, before, err)
			keep()
			switch rapid.IntRange(0, 7).Draw(rt, "check") {
			case 0:
				checkBackAndForward(rt, s)
			case 1:
				checkEviction(rt, s)
			case 2:
				checkReplay(rt, s.State())
			}
			keep()
		}
		for i, st := range handed {
			if !reflect.DeepEqual(*st, copies[i]) {
				rt.Fatalf("the state of version %d has changed since it was handed out", st.Version)
			}
		}
	})
}

func checkOutcome(t *rapid.T, s *session.Session, before *session.State, err error) {
	st := s.State()
	if err != nil {
		var e *session.Error
		if !errors.As(err, &e) || e.Code == "" || e.Message == "" || e.Code == session.CodeModel || e.Code == session.CodeUnknown {
			t.Fatalf("refused with %#v", err)
		}
		if (e.Field != "") != (e.Code == session.CodeRange) || (e.Want != "") != (e.Code == session.CodeRange) {
			t.Fatalf("refused with %+v", e)
		}
		if st != before && !before.Playing { // a tick that is refused ends playing
			t.Fatalf("refused with %v, and the state is another", err)
		}
	} else if st != before && st.Version != before.Version+1 {
		t.Fatalf("version %d follows %d", st.Version, before.Version)
	}
	f := st.Frontier()
	if c := st.Cursor; c.Step < 1 || c.Step > f.Step || c.Stage < infer.KindForward || c.Stage > st.Step().Ran || st.Step().N != c.Step {
		t.Fatalf("the cursor %+v is not in the run to %+v", c, f)
	}
	if (st.Dist == nil) != (st.Step().Logits == nil) || st.Dist != nil && st.Dist.Settings != st.Step().Settings.Settings {
		t.Fatalf("at %+v the distribution is not that of the step", st.Cursor)
	}
	for i, step := range st.Steps[:len(st.Steps)-1] {
		if step.Ran != infer.KindCache || step.N != i+1 || st.Steps[i+1].Input[0] != step.Chosen {
			t.Fatalf("step %d ran %v and chose %d, the next read %v", step.N, step.Ran, step.Chosen, st.Steps[i+1].Input)
		}
	}
	if last := st.Steps[len(st.Steps)-1]; last.Ran < infer.KindSample && !last.Settings.Equal(st.Settings) {
		t.Fatalf("the step in progress has %+v, the next stage is to use %+v", last.Settings, st.Settings)
	}
	if st.Stage(5).Kind() != st.Cursor.Stage {
		t.Fatalf("at %+v the stage is %v", st.Cursor, st.Stage(5).Kind())
	}
}

// pause ends playing, which is what looking back and an eviction do besides
// what is compared here.
func pause(t *rapid.T, s *session.Session) *session.State {
	if s.State().Playing {
		apply(t, s, session.Pause{})
	}
	return s.State()
}

func checkBackAndForward(t *rapid.T, s *session.Session) {
	before := pause(t, s)
	if before.Cursor == at(1, infer.KindForward) {
		return
	}
	apply(t, s, session.Back{}, session.StepStage{})
	wantSameRun(t, "back and forward", content(s.State()), content(before))
}

func checkEviction(t *rapid.T, s *session.Session) {
	before := pause(t, s)
	version := before.Version
	s.Evict()
	if !s.Evicted() || s.Bytes() != 0 {
		t.Fatalf("evicted: %v, with %d bytes", s.Evicted(), s.Bytes())
	}
	st, err := s.Restore(context.Background())
	if err != nil {
		t.Fatalf("restoring: %v", err)
	}
	if s.Evicted() || s.Bytes() == 0 || st.Version <= version {
		t.Fatalf("restored: evicted %v, %d bytes, version %d", s.Evicted(), s.Bytes(), st.Version)
	}
	wantSameRun(t, "evicted and restored", content(st), content(before))
}

// checkReplay makes the run again from its log.
func checkReplay(t *rapid.T, st *session.State) {
	loop, err := infer.Replay(context.Background(), st.Model, infer.LogOf(st.Model, st.Prompt, st.Steps, st.Settings))
	if err != nil {
		t.Fatalf("replaying: %v", err)
	}
	if len(loop.Steps()) != len(st.Steps) || !loop.Settings().Equal(st.Settings) || loop.Stopped() != st.Stopped {
		t.Fatalf("the log replays to %d steps, %+v, stopped by %q", len(loop.Steps()), loop.Settings(), loop.Stopped())
	}
	for i, step := range loop.Steps() {
		a, b := *step, *st.Steps[i]
		a.Took, b.Took = [infer.KindCache + 1]time.Duration{}, [infer.KindCache + 1]time.Duration{}
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("the log replays to another step %d:\n%+v\nwant\n%+v", i+1, a, b)
		}
	}
}

func wantSameRun(t *rapid.T, what string, got, want session.State) {
	if reflect.DeepEqual(got, want) {
		return
	}
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range g.NumField() {
		if !reflect.DeepEqual(g.Field(i).Interface(), w.Field(i).Interface()) {
			t.Errorf("%s: %s differs: %+v, want %+v", what, g.Type().Field(i).Name, g.Field(i).Interface(), w.Field(i).Interface())
		}
	}
	t.FailNow()
}
