package room

import (
	"context"
	"errors"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
)

// moveRun executes commands on the run, then saves and shows the result. If there are
// several commands, followers see only the result; if one fails, the run is rolled back.
// The caller holds runLock.
func (r *Local) moveRun(ctx context.Context, run class.Run, f func(class.Do) error) error {
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
	if fault.Do(r.cfg.Log, "a room's command", func() error {
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
func (r *Local) rollBack(ctx context.Context, run class.Run, before *session.State) {
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
	} else if run, err = r.cfg.Driver.Open(ctx, r.code, ""); err == nil {
		err = r.adopt(ctx, run, nil)
	}
	if err != nil && r.ctx.Err() == nil {
		r.cfg.Log.Error("failed to roll back a room's stage", "error", err)
	}
}
