package room

import (
	"context"
	"errors"
	"fmt"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fault"
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

// moveRun executes commands on the run, then saves and shows the result. If there are
// several commands, followers see only the result; if one fails, the run is rolled back.
// The caller holds runLock.
func (r *local) moveRun(ctx context.Context, run class.Run, f func(class.Do) error) error {
	before, err := get(ctx, r, func(c *core) (*session.State, error) {
		c.held = true
		return c.state, nil
	})
	if err != nil {
		return err
	}
	last, dead := before, false
	do := func(ctx context.Context, cmd session.Command) (*session.State, error) {
		st, err := run.Do(ctx, cmd)
		var refused *terms.Refusal
		switch {
		case err == nil:
			last = st
		case ctx.Err() == nil && !errors.As(err, &refused):
			dead = true // the error is not a refusal, so the run has ended
		}
		return st, err
	}
	if fault.Do(r.hub.cfg.Log, "a command of a room", func() error {
		err = f(do)
		return nil
	}) != nil {
		err = class.ErrBroken // c.held must be reset below
	}
	late := context.WithoutCancel(ctx) // the cleanup must not be interrupted
	if dead {
		_ = r.ask(late, func(c *core) error { // the room may be gone
			if c.run != nil { // the room has not noticed yet that the run ended
				c.loseRun()
			}
			return nil
		})
		_, _ = r.awake(late) // if that fails, the next caller tries again
	} else if err != nil && last != before {
		r.rollBack(late, run, before)
	}
	kept := r.ask(late, func(c *core) error {
		c.held = false
		if err == nil {
			c.update(last)
		}
		return c.settle()
	})
	if err != nil {
		return err
	}
	return kept
}

// rollBack rolls a run back to a state. If that state has no text, the room gets a new run.
func (r *local) rollBack(ctx context.Context, run class.Run, before *session.State) {
	var err error
	if before.Started() {
		var link session.Link
		var st *session.State
		if link, err = session.ParseLink(before.Model, session.LinkOf(before)); err == nil {
			st, err = run.Do(ctx, session.Open{Link: link})
		}
		if err == nil {
			// The text is the same as before, so it is not saved as a new one.
			_ = r.ask(ctx, func(c *core) error { c.state, c.stale = st, true; return nil }) // the room may be gone
			return
		}
	} else if run, err = r.hub.cfg.Driver.Open(ctx, r.code, ""); err == nil {
		err = r.adopt(ctx, run, nil)
	}
	if err != nil && r.ctx.Err() == nil {
		r.hub.cfg.Log.Error("a room's stage could not be rolled back", "error", err)
	}
}

// settle saves the stage if it has changed, and shows it.
func (c *core) settle() error {
	if c.stale {
		c.used = c.cfg.Now()
		if err := c.commit(); err != nil {
			return err
		}
	}
	c.publish()
	return nil
}
