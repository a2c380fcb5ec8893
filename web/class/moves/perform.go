package moves

import (
	"context"
	"errors"
	"fmt"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
)

const firstChosen = infer.KindSample // once this stage has run, the step has a token

var firstStage = session.Cursor{Step: 1, Stage: infer.KindForward}

// Perform shows a step of a walkthrough on a run; from is the step shown previously, or 0. If from
// is not step − 1, Perform starts with the nearest step at or before step that begins a new text.
// The result therefore looks the same as when the steps are shown in order. An error is a
// [*terms.Refusal] or the error of ctx. After an error, the run can be at any stage.
func Perform(ctx context.Context, do class.Do, w *lessons.Walk, step, from int) (*session.State, error) {
	if step < 1 || step > len(w.Steps) {
		return nil, terms.Refuse(class.CodeWalk, "class.refused.no_step", "n", len(w.Steps), "step", step)
	}
	st, err := do(ctx, session.Pause{})
	for _, a := range actions(w, step, from) {
		if err == nil {
			st, err = act(ctx, do, st, a)
		}
	}
	if err != nil && ctx.Err() == nil {
		why := any(err.Error())
		if refused, ok := terms.AsRefusal(err); ok {
			why = refused
		}
		return nil, terms.Refuse(
			class.CodeWalk, "class.refused.step", "n", step, "title", w.Steps[step-1].Title, "why", why,
		)
	}
	return st, err
}

// actions returns the actions that take a run from one step (from) to another (step).
func actions(w *lessons.Walk, step, from int) (list []lessons.Action) {
	first := step
	if from != step-1 {
		for ; first > 1 && !w.Steps[first-1].Starts(); first-- {
		}
	}
	for _, s := range w.Steps[first-1 : step] {
		list = append(list, s.Do...)
	}
	return list
}

// act executes one action on a run in state st.
func act(ctx context.Context, do class.Do, st *session.State, a lessons.Action) (*session.State, error) {
	switch a := a.(type) {
	case lessons.WalkStart:
		if _, err := do(ctx, session.SetAll(a.Settings)); err != nil {
			return nil, err
		}
		return do(ctx, session.Start{Prompt: a.Prompt})
	case lessons.WalkSet:
		return do(ctx, session.Set{Knobs: a.Knobs, Stop: a.Stop})
	case lessons.WalkGo:
		next, err := goTo(ctx, do, st, session.Cursor(a))
		var stopped *terms.Refusal
		if errors.As(err, &stopped) && stopped.Code == session.CodeStopped {
			// If the class has chosen tokens, the text can end earlier than the script expects. In
			// that case, show its end. If the text reaches a limit instead, the script is wrong.
			if st, e := do(ctx, session.Pause{}); e == nil && (st.Stopped == infer.StopEOS ||
				st.Stopped == infer.StopString) {
				return do(ctx, session.Seek(st.Frontier()))
			}
		}
		return next, err
	}
	return nil, terms.Refuse(terms.CodeUnknown, "class.refused.action", "action", fmt.Sprintf("%T", a))
}

// goTo shows a stage, running the model up to it if necessary.
func goTo(ctx context.Context, do class.Do, st *session.State, to session.Cursor) (*session.State, error) {
	var err error
	for err == nil {
		f := st.Frontier()
		switch {
		case to.Step < f.Step || to.Step == f.Step && to.Stage <= f.Stage:
			return do(ctx, session.Seek(to))
		case !st.AtFrontier():
			st, err = do(ctx, session.Seek(f))
		case to.Step > f.Step+1 || to.Step == f.Step+1 && f.Stage < infer.KindCache:
			st, err = do(ctx, session.StepToken{})
		default:
			st, err = do(ctx, session.StepStage{})
		}
	}
	return nil, err
}
