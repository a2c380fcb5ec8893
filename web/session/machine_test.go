package session_test

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// anyCommand returns a generator of commands, sensible or not.
func anyCommand() *rapid.Generator[session.Command] {
	is := func(c session.Command) *rapid.Generator[session.Command] { return rapid.Just(c) }
	step, stage := rapid.IntRange(0, 5), rapid.IntRange(0, 8)
	return rapid.OneOf(
		is(session.StepStage{}), is(session.StepStage{}), is(session.StepStage{}),
		is(session.StepStage{Withhold: true}), is(session.StepStage{Withhold: true}), is(session.Draw{}),
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
			return session.SetPreset{
				Key: rapid.SampledFrom([]string{"greedy", "pure", "top_k", "no such"}).Draw(t, "key"),
			}
		}),
		rapid.Custom(func(t *rapid.T) session.Command {
			return session.Set{Knobs: anyKnobs(t, infer.Knobs{"temperature": 0.8, "top_k": 3, "seed": 2}, 0, -1)}
		}),
		rapid.Custom(func(t *rapid.T) session.Command {
			return session.Set{
				Knobs: anyKnobs(t, infer.Knobs{"max_tokens": 5}, 1, 3, 0),
				Stop:  rapid.SampledFrom([]*[]string{nil, {"A"}, {"AB"}, {}}).Draw(t, "strings"),
			}
		}),
		rapid.Custom(func(t *rapid.T) session.Command {
			token := rapid.SampledFrom([]int{0, idOf('A'), idOf('B'), 200, 257}).Draw(t, "token")
			return session.Choose{Step: step.Draw(t, "step"), Token: token}
		}),
		rapid.Custom(
			func(t *rapid.T) session.Command { return session.TakeBranch{ID: rapid.IntRange(0, 4).Draw(t, "id")} },
		),
		rapid.Custom(func(t *rapid.T) session.Command {
			return session.Redraw{Seed: rapid.SampledFrom([]uint64{1, 2, 3, infer.MaxSeed + 1}).Draw(t, "seed")}
		}),
		rapid.Custom(func(t *rapid.T) session.Command {
			return session.WhatIf{U: rapid.SampledFrom([]*float64{nil, ptr(0.0), ptr(0.5), ptr(1.0)}).Draw(t, "u")}
		}),
		rapid.Custom(func(t *rapid.T) session.Command { return session.SetLook{On: rapid.Bool().Draw(t, "on")} }),
		rapid.Custom(func(t *rapid.T) session.Command {
			return session.Try{Key: rapid.SampledFrom([]string{"sure", "no such"}).Draw(t, "key")}
		}),
		rapid.Custom(func(t *rapid.T) session.Command {
			return session.SetSpeed{Speed: rapid.SampledFrom([]session.Speed{"1", "max", "7"}).Draw(t, "speed")}
		}),
	)
}

// anyKnobs sets some of the knobs in usual, each either to its value in usual or to one of the
// values in others, which may be out of range.
func anyKnobs(t *rapid.T, usual infer.Knobs, others ...float64) infer.Knobs {
	some := infer.Knobs{}
	for _, key := range slices.Sorted(maps.Keys(usual)) {
		if rapid.Bool().Draw(t, key+" is set") {
			some[key] = rapid.SampledFrom(append(others, usual[key])).Draw(t, key)
		}
	}
	return some
}

// TestAnyCommandSequenceIsConsistent applies random commands. Each command is either carried out or
// refused with a code and an explanation. The state stays consistent. Going back and then forward
// changes nothing. Restoring the run, replaying its log and opening its link elsewhere all result
// in the same state. A state never changes after it has been returned.
func TestAnyCommandSequenceIsConsistent(t *testing.T) {
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
		links := []session.Link{linkTo(rt, s.State())}
		for range rapid.IntRange(1, 25).Draw(rt, "n") {
			before := s.State()
			var err error
			switch rapid.IntRange(0, 11).Draw(rt, "kind") {
			case 0, 1:
				_, err = s.Tick(context.Background())
			case 2:
				links = append(links, linkTo(rt, s.State()))
				_, err = s.Apply(context.Background(), session.Open{Link: rapid.SampledFrom(links).Draw(rt, "link")})
			default:
				_, err = s.Apply(context.Background(), commands.Draw(rt, "command"))
			}
			checkOutcome(rt, s, before, err)
			keep()
			switch rapid.IntRange(0, 8).Draw(rt, "check") {
			case 0:
				checkBackAndForward(rt, s)
			case 1:
				checkEviction(rt, s)
			case 2:
				checkReplay(rt, s.State())
			case 3:
				checkLink(rt, s.State())
			case 4:
				s = checkRest(rt, s)
			}
			keep()
		}
		checkLink(rt, s.State())
		for i, st := range handed {
			if !reflect.DeepEqual(*st, copies[i]) {
				rt.Fatalf("the state of version %d has changed since it was returned", st.Version)
			}
		}
	})
}

func checkOutcome(t *rapid.T, s *session.Session, before *session.State, err error) {
	st := s.State()
	if err != nil {
		var e *terms.Refusal
		if !errors.As(err, &e) || e.Code == "" || e.Message == "" || e.Code == terms.CodeModel ||
			e.Code == terms.CodeUnknown {
			t.Fatalf(
				"refused with %#v, want an error of type *terms.Refusal, e.Code not empty, e.Message not "+
					"empty, e.Code other than %q, e.Code other than %q",
				err, terms.CodeModel, terms.CodeUnknown,
			)
		}
		if (e.Field != "") != (e.Code == terms.CodeRange) || (e.Want != "") != (e.Code == terms.CodeRange) {
			t.Fatalf("got refusal %+v, want a field and a range if and only if it is a range error", e)
		}
		if st != before && !before.Playing { // a refused tick ends playing
			t.Fatalf("got refusal %v, but the state has changed", err)
		}
	} else if st != before && st.Version != before.Version+1 {
		t.Fatalf("got version %d after %d, want the next number", st.Version, before.Version)
	}
	f := st.Frontier()
	if c := st.Cursor; c.Step < 1 || c.Step > f.Step || c.Stage < infer.KindForward || c.Stage > st.Step().Ran ||
		st.Step().N != c.Step {
		t.Fatalf("the cursor %+v is not within the run, which ends at %+v", c, f)
	}
	if (st.Dist == nil) != (st.Step().Ran < infer.KindSoftmax) || st.Dist != nil &&
		st.Dist.Settings != st.Step().Settings.Settings {
		t.Fatalf("at %+v, the distribution differs from the step's", st.Cursor)
	}
	for i, step := range st.Steps[:len(st.Steps)-1] {
		if step.Ran != infer.KindCache || step.N != i+1 || st.Steps[i+1].Input[0] != step.Chosen {
			t.Fatalf(
				"step %d ran %v and chose %d, the next read %v; want step.Ran = %v, step.N = %d, "+
					"st.Steps[i+1].Input[0] = %d",
				step.N, step.Ran, step.Chosen, st.Steps[i+1].Input, infer.KindCache, i+1, step.Chosen,
			)
		}
	}
	if last := st.Steps[len(st.Steps)-1]; last.Ran < infer.KindSample && !last.Settings.Equal(st.Settings) {
		t.Fatalf("the step in progress has %+v, want the settings of the next stage, %+v", last.Settings, st.Settings)
	}
	checkUndrawn(t, st)
	if st.Stage(5).Kind() != st.Cursor.Stage {
		t.Fatalf("at %+v, the stage is %v, want %v", st.Cursor, st.Stage(5).Kind(), st.Cursor.Stage)
	}
}

// checkUndrawn checks that a withheld draw has not been made, so that nothing in the state can
// reveal it.
func checkUndrawn(t *rapid.T, st *session.State) {
	if !st.Undrawn {
		if st.Shown() != st.Cursor.Stage {
			t.Fatalf("at %+v, the stage shown is %v, want %v", st.Cursor, st.Shown(), st.Cursor.Stage)
		}
		return
	}
	step := st.Step()
	if !st.AtFrontier() || st.Cursor.Stage != infer.KindFilter || st.Shown() != infer.KindSample {
		t.Fatalf(
			"a draw is withheld at %+v of a run to %+v, want at the filter stage of its last step", st.Cursor,
			st.Frontier(),
		)
	}
	if step.U != 0 || step.Chosen != 0 || step.Rank != 0 || step.P != 0 || step.Q != 0 || st.WhatIf != nil {
		t.Fatalf(
			"a draw is withheld, and the step has %+v, want U = 0, Chosen = 0, Rank = 0, P = 0, Q = 0, st.WhatIf = nil",
			step,
		)
	}
}

// pause ends playing. Looking back and evicting the run also end playing, and the tests here do not
// compare that side effect.
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
	if before.WhatIf != nil { // a what-if question ends when the learner moves to another stage
		apply(t, s, session.WhatIf{})
		before = s.State()
	}
	apply(t, s, session.Back{}, session.StepStage{Withhold: before.Undrawn})
	wantSameRun(t, "back and forward", content(s.State()), content(before))
}

func checkEviction(t *rapid.T, s *session.Session) {
	before := pause(t, s)
	version := before.Version
	s.Evict()
	if !s.Evicted() || s.Bytes() != 0 {
		t.Fatalf("got evicted %v, with %d bytes; want true, 0", s.Evicted(), s.Bytes())
	}
	st, err := s.Restore(context.Background())
	if err != nil {
		t.Fatalf("restoring: %v", err)
	}
	if s.Evicted() || s.Bytes() == 0 || st.Version <= version {
		t.Fatalf(
			"restored: got evicted %v, %d bytes, version %d; want false, some bytes, a newer version", s.Evicted(),
			s.Bytes(), st.Version,
		)
	}
	wantSameRun(t, "evicted and restored", content(st), content(before))
}

// checkRest puts the run to rest and wakes it, with all its branches. It returns the new
// session.
func checkRest(t *rapid.T, s *session.Session) *session.Session {
	before := pause(t, s)
	packed, err := s.Rest()
	if err != nil {
		t.Fatalf("resting: %v", err)
	}
	woken, err := session.Wake(before.Model, session.DefaultLimits(), packed)
	if err != nil || !woken.Evicted() || woken.State().Version != before.Version {
		t.Fatalf(
			"waking: got %v, evicted %v, %+v; want <nil>, true, the version before", err, woken.Evicted(),
			woken.State(),
		)
	}
	st, err := woken.Restore(context.Background())
	if err != nil {
		t.Fatalf("restoring: %v", err)
	}
	got, want := content(st), content(before)
	wantSameRun(t, "rested and woken", got, want)
	return woken
}

// checkReplay rebuilds the run from its log.
func checkReplay(t *rapid.T, st *session.State) {
	loop, err := infer.Replay(context.Background(), st.Model, infer.LogOf(st.Model, st.Whole(), st.Steps, st.Settings))
	if err != nil {
		t.Fatalf("replaying: %v", err)
	}
	if len(loop.Steps()) != len(st.Steps) || !loop.Settings().Equal(st.Settings) || loop.Stopped() != st.Stopped {
		t.Fatalf(
			"the log replays to %d steps, %+v, stopped by %q; want %d, %+v, %q", len(loop.Steps()), loop.Settings(),
			loop.Stopped(), len(st.Steps), st.Settings, st.Stopped,
		)
	}
	for i, step := range loop.Steps() {
		a, b := *step, *st.Steps[i]
		a.Took, b.Took = [infer.KindCache + 1]time.Duration{}, [infer.KindCache + 1]time.Duration{}
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("replaying the log gives a different step %d:\n%+v\nwant\n%+v", i+1, a, b)
		}
	}
}

func linkTo(t *rapid.T, st *session.State) session.Link {
	link, err := session.ParseLink(st.Model, session.LinkOf(st))
	if err != nil {
		t.Fatalf("the run's own link cannot be parsed: %v", err)
	}
	return link
}

// checkLink opens the link to a state in a new session, which must show the same state. There are a
// few exceptions: the new session has no other branches, ghosts or what-if question, has the
// default speed, and does not play.
func checkLink(t *rapid.T, st *session.State) {
	fresh := session.New(st.Model, session.DefaultLimits())
	apply(t, fresh, session.SetLook{On: st.Looking}, session.Open{Link: linkTo(t, st)})
	got, want := content(fresh.State()), content(st)
	if st.Finishing {
		got.Look, want.Look = nil, nil // the inside view is not available while the run plays to its end
	}
	for _, c := range []*session.State{&got, &want} {
		c.Branches, c.Ghosts, c.WhatIf, c.Playing, c.Finishing, c.Speed, c.Text = nil, nil, nil, false, false, "", 0
	}
	wantSameRun(t, "its link opened", got, want)
	if again := session.LinkOf(fresh.State()); again != session.LinkOf(st) {
		t.Fatalf("the opened run has the link %s, want %s", again, session.LinkOf(st))
	}
}

func wantSameRun(t *rapid.T, what string, got, want session.State) {
	if reflect.DeepEqual(got, want) {
		return
	}
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range g.NumField() {
		if !reflect.DeepEqual(g.Field(i).Interface(), w.Field(i).Interface()) {
			t.Errorf(
				"%s: %s differs: %+v, want %+v", what, g.Type().Field(i).Name, g.Field(i).Interface(),
				w.Field(i).Interface(),
			)
		}
	}
	t.FailNow()
}
