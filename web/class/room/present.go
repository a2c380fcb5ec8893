package room

import (
	"context"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/moves"
	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/session"
)

// Present implements [class.Room].
func (r *Local) Present(ctx context.Context, who string, secret class.Secret, cmd class.Command) (*class.View, error) {
	if !r.Fits(secret) {
		return nil, class.ErrSecret
	}
	return r.Execute(ctx, who, cmd)
}

// Execute is [class.Room.Present] after the secret has been checked.
func (r *Local) Execute(ctx context.Context, who string, cmd class.Command) (*class.View, error) {
	leave, err := r.lockRun(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := r.ask(ctx, func(c *core) error {
		if _, take := cmd.(class.TakeOver); take {
			c.presenter = who
		}
		return c.mayPresent(who)
	}); err != nil {
		return nil, err
	}
	if err := r.carryOut(ctx, cmd); err != nil {
		if _, refused := terms.AsRefusal(err); !refused && r.ctx.Err() != nil {
			return nil, class.ErrGone // the room ended and closed its run
		}
		return nil, err
	}
	return r.View(), nil
}

// mayMove returns an error if the run cannot be moved now. While a poll about a token is open, the
// stage must not change; while any poll is open, another one cannot be opened.
func (c *core) mayMove(newPoll bool) error {
	if p := c.onStage(); p != nil && p.Live() && (newPoll || p.AboutToken()) {
		return class.ErrOpen
	}
	return nil
}

// freed returns the room's data with a closed poll removed from the stage.
func (c *core) freed() records.Data {
	next := c.data
	if p := c.onStage(); p != nil && !p.Live() {
		next.Poll = 0
	}
	return next
}

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

func (c *core) walk() (class.WalkView, error) {
	w := c.course().Walk(c.data.Walk)
	if w == nil {
		return class.WalkView{}, terms.Refuse(class.CodeWalk, "class.refused.no_walk")
	}
	return class.WalkView{Walk: w, Step: c.data.Step, Left: c.data.Left}, c.mayMove(true)
}

// course returns the course in the language of the person who created the class. Everyone in the
// class sees its script and questions in that language.
func (c *core) course() *lessons.Course { return c.cfg.Course.Translated(c.data.Language) }

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
