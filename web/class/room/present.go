package room

import (
	"context"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/moves"
	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/session"
)

// drive executes a command on the run. Moving the run takes the presenter off the script.
func (r *Local) drive(ctx context.Context, run class.Run, cmd session.Command) error {
	if err := r.ask(ctx, func(c *core) error { return c.mayMove(false) }); err != nil {
		return err
	}
	if err := r.moveRun(ctx, run, func(do class.Do) error {
		_, err := do(ctx, cmd)
		return err
	}); err != nil {
		return err
	}
	if _, looks := cmd.(session.SetLook); looks {
		return nil // the position has not changed
	}
	return r.ask(ctx, func(c *core) error {
		next := c.freed()
		next.Left = next.Walk != "" && next.Step > 0
		if next == c.data {
			return nil
		}
		return c.change(next, nil)
	})
}

// goTo shows a step of the walkthrough and opens its poll. If the presenter goes back one step, the
// poll is not opened, since a question would only be in the way.
func (r *Local) goTo(ctx context.Context, run class.Run, step int) error {
	w, err := get(ctx, r, func(c *core) (class.WalkView, error) { return c.walk() })
	if err != nil {
		return err
	}
	from := w.Step
	if w.Left { // the stage is no longer the result of the previous step
		from = -1
	}
	var ask *lessons.AskSpec
	var st *session.State
	if err := r.moveRun(ctx, run, func(do class.Do) (err error) {
		if st, err = moves.Perform(ctx, do, w.Walk, step, from); err != nil {
			return err
		}
		if ask = w.Walk.Steps[step-1].Ask; ask == nil || step == w.Step-1 && !w.Left {
			ask = nil
			return nil
		}
		st, err = moves.Ready(ctx, do, st, ask)
		return err
	}); err != nil {
		return err
	}
	return r.ask(ctx, func(c *core) error {
		next := c.freed()
		next.Step, next.Left = step, false
		if err := c.change(next, nil); err != nil || ask == nil {
			return err
		}
		return c.openSpec(st, ask)
	})
}

// asked moves the run to a stage at which the poll can be opened, and opens it.
func (r *Local) asked(
	ctx context.Context, run class.Run, bring func(class.Do) (*session.State, error),
	open func(*core, *session.State) error,
) error {
	if err := r.ask(ctx, func(c *core) error { return c.mayMove(true) }); err != nil {
		return err
	}
	var st *session.State
	if err := r.moveRun(ctx, run, func(do class.Do) (err error) {
		st, err = bring(do)
		return err
	}); err != nil {
		return err
	}
	return r.ask(ctx, func(c *core) error { return open(c, st) })
}

// appendToken appends a token that the class chose to the run's text, and removes the poll from the
// stage.
func (r *Local) appendToken(ctx context.Context, run class.Run, choose func(*core, *polls.Poll) (string, error)) error {
	choice, err := get(ctx, r, func(c *core) (session.Choose, error) {
		p := c.onStage()
		switch {
		case p == nil || !p.AboutToken():
			return session.Choose{}, class.ErrNoPoll
		case p.Live():
			return session.Choose{}, class.ErrOpen
		}
		if d := polls.Distribution(c.state, p.Step); d == nil || c.state.Frontier().Step != p.Step ||
			c.state.Frontier().Stage >= infer.KindSample {
			return session.Choose{}, terms.Refuse(class.CodeClosed, "class.refused.moved_on")
		}
		token, err := choose(c, p)
		return session.Choose{Step: p.Step, Token: polls.TokenID(token)}, err
	})
	if err != nil {
		return err
	}
	if err := r.moveRun(ctx, run, func(do class.Do) error {
		_, err := do(ctx, choice)
		return err
	}); err != nil {
		return err
	}
	return r.ask(ctx, func(c *core) error { return c.change(c.freed(), nil) })
}

// askWalk opens the poll of the walkthrough's current step.
func (r *Local) askWalk(ctx context.Context, run class.Run) error {
	w, err := get(ctx, r, func(c *core) (class.WalkView, error) { return c.walk() })
	if err != nil {
		return err
	}
	step := w.At()
	if step == nil || step.Ask == nil {
		return terms.Refuse(class.CodeAsk, "class.refused.asks_nothing")
	}
	return r.asked(ctx, run, func(do class.Do) (*session.State, error) { return moves.Ready(ctx, do, nil, step.Ask) },
		func(c *core, st *session.State) error { return c.openSpec(st, step.Ask) })
}

// askToken opens a poll about a token. If the position is not open, the instructor may get
// an offer instead.
func (r *Local) askToken(
	ctx context.Context, run class.Run, where class.Where, offer class.Offer,
	at func(context.Context, class.Do) (*session.State, error),
	open func(*core, *session.State) error,
) error {
	bring := func(do class.Do) (*session.State, error) { return at(ctx, do) }
	if where == class.NextOpen {
		isOpen := func(st *session.State) bool { return polls.WhyClosed(st) == nil }
		bring = func(do class.Do) (*session.State, error) { return moves.FindOpen(ctx, do, at, isOpen) }
	}
	return r.asked(ctx, run, bring, func(c *core, st *session.State) error {
		c.offer = nil
		if why := polls.WhyClosed(st); why != nil && where == class.IfOpen {
			offer.Share = why.Share
			c.offer, c.offerAt = &offer, c.state
			return c.change(c.freed(), nil)
		}
		return open(c, st)
	})
}
