package room

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/session"
)

// TestWalksAreTaught: every walkthrough can be taught from its first step to its last with
// the bundled model and a class of twelve who vote in every poll. Then each step is opened
// directly and must look the same.
// Promise: Every script can be taught from its first step to its last with the bundled model.
func TestWalksAreTaught(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	if len(s.cfg.Course.Walks) < 3 {
		t.Fatalf("there are %d walkthroughs, want at least 3", len(s.cfg.Course.Walks))
	}
	for _, w := range s.cfg.Course.Walks {
		t.Run(w.Slug, func(t *testing.T) {
			s.t = t
			l := s.room(class.Options{Walk: w.Slug})
			l.Enroll(12)
			for i, step := range w.Steps {
				v := l.Does(class.GoTo{Step: i + 1})
				if v.Walk.At() != step || v.Walk.Left || (v.Poll != nil) != (step.Ask != nil) {
					t.Fatalf(
						"step %d: walk %+v, poll %+v; want At() = %v, Left = false, v.Poll != nil = %t", i+1, v.Walk,
						v.Poll, step, step.Ask != nil,
					)
				}
				shows(t, v.State, step)
				if step.Ask != nil {
					pollOnce(l, v.Poll, step.Ask)
				}
			}
			if sum, err := l.Summary(t.Context(), l.Secret); err != nil || len(sum.Texts) == 0 || sum.Voters != 12 {
				t.Fatalf("the summary is %+v, %v; want no error, len(Texts) not 0, Voters = 12", sum, err)
			} else if asked := len(sum.Polls); asked != len(w.Steps)-silent(w) {
				t.Errorf("the summary has %d polls, want %d, with the exit ticket", asked, len(w.Steps)-silent(w))
			}
		})
	}
}

// silent returns the number of steps that ask nothing.
func silent(w *lessons.Walk) (n int) {
	for _, s := range w.Steps {
		if s.Ask == nil {
			n++
		}
	}
	return n
}

// shows checks that a state matches a step.
func shows(t *testing.T, st *session.State, step *lessons.WalkStep) {
	t.Helper()
	for _, a := range step.Do {
		switch a := a.(type) {
		case lessons.WalkGo:
			if st.Cursor != session.Cursor(a) && st.Stopped != infer.StopEOS {
				t.Errorf("%s: at %v, want %v", step.ID, st.Cursor, a)
			}
		case lessons.WalkStart:
			if st.Prompt != a.Prompt {
				t.Errorf("%s: the prompt is %q, want %q", step.ID, st.Prompt, a.Prompt)
			}
		case lessons.WalkSet:
			want := st.Settings
			for _, b := range step.Do { // the settings of the step still apply
				if set, ok := b.(lessons.WalkSet); ok {
					for key, x := range set.Knobs {
						want.Set(key, x)
					}
				}
			}
			if !st.Settings.Equal(want) {
				t.Errorf("%s: settings %+v, want %+v", step.ID, st.Settings, want)
			}
		}
	}
}

// pollOnce makes twelve members vote and reveals the result. After a draw, it appends the
// token.
func pollOnce(l *classtest.Lesson, p *class.Poll, ask *lessons.AskSpec) {
	l.T.Helper()
	l.AllCast(12, func(id int) class.Ballot {
		if p.Kind == class.Number {
			return class.Ballot{Choice: "1.5"}
		}
		return class.Ballot{Choice: classtest.Keys(p)[id%len(classtest.Keys(p))]}
	})
	p = l.Does(class.Close{}, class.ShowSpread{}, class.Reveal{}).Poll
	if p.Votes != 12 || string(p.Kind) != string(ask.Kind) {
		l.T.Fatalf("%s: got %d votes of kind %s; want 12, %s", ask.Kind, p.Votes, p.Kind, string(ask.Kind))
	}
	n := 0
	for _, o := range p.Options {
		n += o.Count
	}
	if n != 12 || p.Kind == class.Number && (p.Right == nil || p.Median == nil) {
		l.T.Errorf("%s, revealed: got %+v; want 12 votes, and the right answer or the median", ask.Kind, p)
	}
	if p.Kind == class.Draw {
		if v := l.Does(class.AppendMajority{}); v.Poll != nil || v.State.Cursor.Stage != infer.KindSample ||
			!v.State.Step().Forced && v.State.Step().Chosen < 0 {
			l.T.Errorf("the class's token is not on the stage: %+v", v.State.Cursor)
		}
	}
}

// TestWalkStepsAreIndependent: every step can be opened from every other step, and its text, stage
// and settings are then the same, bit for bit, as when the steps are taken in sequence.
func TestWalkStepsAreIndependent(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	for _, w := range s.cfg.Course.Walks {
		s.t = t
		one, other := s.room(class.Options{Walk: w.Slug}), s.room(class.Options{Walk: w.Slug})
		links := make([]string, len(w.Steps))
		for i := range w.Steps {
			links[i] = one.Does(class.GoTo{Step: i + 1}).Link()
			if p := one.View().Poll; p != nil {
				links[i] = "" // opening the poll may have run one stage further
				one.Does(class.Close{})
			}
		}
		for i := len(w.Steps); i >= 1; i-- {
			v := other.Does(class.GoTo{Step: i})
			if asks := i == len(w.Steps) && w.Steps[i-1].Ask != nil; (v.Poll != nil) != asks {
				t.Errorf("%s: step %d has a poll: %v, want one only if the step was jumped to",
					w.Slug, i, v.Poll != nil)
			}
			if v.Poll != nil {
				other.Does(class.Close{})
			}
			if links[i-1] != "" && v.Link() != links[i-1] && !afterAsking(w, i) {
				t.Errorf("%s: step %d differs when opened directly", w.Slug, i)
			}
		}
	}
}

// afterAsking reports whether an earlier step in the same text asks about a token. The class
// may have chosen another token there.
func afterAsking(w *lessons.Walk, step int) bool {
	for i := step - 1; i >= 1; i-- {
		if w.Steps[i].Starts() {
			return false
		}
		if a := w.Steps[i-1].Ask; a != nil && a.Kind == lessons.AskDraw {
			return true
		}
	}
	return false
}

// TestJumpAsksTheStepsQuestion: a step with a question opens its poll no matter how the presenter
// reached the step, even the second time. The exception is going back one step.
func TestJumpAsksTheStepsQuestion(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	w := s.cfg.Course.Walks[0]
	for i, step := range w.Steps {
		if step.Ask == nil {
			continue
		}
		l := s.room(class.Options{Walk: w.Slug})
		for _, when := range []string{"from the beginning", "again"} {
			if v := l.Does(class.GoTo{Step: i + 1}); v.Poll == nil || string(v.Poll.Kind) != string(step.Ask.Kind) {
				t.Errorf("step %d, opened %s: the poll is %+v, want the kind %s", i+1, when, v.Poll, step.Ask.Kind)
			}
			l.Does(class.Close{})
		}
		if i > 0 && w.Steps[i-1].Ask != nil {
			if v := l.Does(class.GoTo{Step: i}); v.Poll != nil {
				t.Errorf("going back one step from %d opened a poll", i+1)
			}
		}
	}
}

// TestPresenterLeavesAndResumesWalk: the presenter leaves the script by controlling the run
// directly, and can return to it.
func TestPresenterLeavesAndResumesWalk(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{Walk: "cache"})
	first := l.Does(class.GoTo{Step: 1}, class.GoTo{Step: 2})
	if v := l.Does(class.Drive{Do: session.SetLook{}}, class.Drive{Do: session.SetLook{On: true}}); v.Walk.Left {
		t.Error("opening the inside view left the script")
	}
	left := l.Does(class.Drive{Do: session.Start{Prompt: "Somewhere else"}})
	if !left.Walk.Left || left.Walk.Step != 2 {
		t.Fatalf("after starting another text: got %+v, want Left = true, Step = 2", left.Walk)
	}
	if back := l.Does(class.GoTo{Step: 2}); back.Walk.Left || back.Link() != first.Link() {
		t.Errorf(
			"back at step 2: got %+v, the same stage: %v; want Left = false, true", back.Walk,
			back.Link() == first.Link(),
		)
	}
	l.Does(class.Drive{Do: session.Reset{}})
	if on := l.Does(class.GoTo{Step: 3}); on.State.Prompt != first.State.Prompt ||
		on.State.Cursor != first.State.Cursor ||
		on.Poll != nil && on.Poll.Kind != class.Question {
		t.Errorf("continuing at step 3: got %+v, want the same prompt and stage as the first time", on.State.Cursor)
	}
}

// TestUnfitWalkStepIsReported: if a step cannot be shown, the presenter gets an error with
// its number and title, and the class is not affected.
func TestUnfitWalkStepIsReported(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	short := infer.DefaultSettings()
	short.Stop.MaxTokens = 2
	broken := &lessons.Walk{Slug: "broken", Title: "Broken", Steps: []*lessons.WalkStep{
		{
			Title: "Begin",
			Do: []lessons.Action{
				lessons.WalkStart{Prompt: "The", Settings: infer.DefaultSettings()},
				lessons.WalkGo{Step: 1, Stage: infer.KindFilter},
			},
		},
		{Title: "No such heat", Do: []lessons.Action{lessons.WalkSet{Knobs: infer.Knobs{"temperature": -1}}}},
		{
			Title: "No dice", Do: []lessons.Action{lessons.WalkStart{Prompt: "Once", Settings: greedy()}},
			Ask: &lessons.AskSpec{Kind: lessons.AskDraw},
		},
		{
			Title: "Too far",
			Do: []lessons.Action{
				lessons.WalkStart{Prompt: "Once upon a", Settings: short},
				lessons.WalkGo{Step: 9, Stage: infer.KindAppend},
			},
		},
	}}
	course := *s.cfg.Course
	course.Walks = append(course.Walks, broken)
	s.cfg.Course = &course
	l := s.room(class.Options{Walk: "broken"})
	l.Does(class.GoTo{Step: 1})
	for step, says := range map[int]string{
		2: "“No such heat”, cannot be shown: Temperature is -1", 4: "“Too far”", 5: "1 to 4", 0: "1 to 4",
	} {
		if err := l.Refused(class.GoTo{Step: step}, &terms.Refusal{Code: class.CodeWalk}); !strings.Contains(err,
			says) {
			t.Errorf("step %d: the error %q does not contain %q", step, err, says)
		}
	}
	if v := l.View(); v.Walk.Step != 1 || v.State.Prompt != "The" {
		t.Errorf("the class is at %+v with %q; want Step = 1, v.State.Prompt = %q", v.Walk, v.State.Prompt, "The")
	}
	// A step is not shown if its question cannot be asked.
	l.Refused(class.GoTo{Step: 3}, &terms.Refusal{Code: class.CodeAsk})
	other := s.room(class.Options{Walk: "broken"})
	changeData(other, func(d *records.Data) { d.Step = 2 })
	other.Refused(class.GoTo{Step: 3}, &terms.Refusal{Code: class.CodeAsk})
	if v := other.View(); v.Walk.Step != 2 || v.State.Started() {
		t.Errorf("the class is at %+v with the prompt %q; want step 2 without a text", v.Walk, v.State.Prompt)
	}
}

func greedy() infer.Settings {
	s := infer.DefaultSettings()
	s.Temperature = 0
	return s
}

// data changes a room's data.
func changeData(l *classtest.Lesson, change func(*records.Data)) {
	l.T.Helper()
	if err := ask(l.T.Context(), l, func(c *core) error {
		next := c.data
		change(&next)
		return c.change(next, nil)
	}); err != nil {
		l.T.Fatal(err)
	}
}
