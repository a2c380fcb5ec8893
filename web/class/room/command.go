package room

import (
	"cmp"
	"context"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons/predict"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/moves"
	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/session"
)

// carryOut executes a command. The caller has the controls and holds runLock.
func (r *Local) carryOut(ctx context.Context, cmd class.Command) error {
	switch cmd := cmd.(type) {
	case class.AskNext:
		n := cmp.Or(cmd.Choices, 5)
		if n < predict.LeastCandidates || n > polls.MaxCandidates {
			return terms.Refuse(
				class.CodeAsk, "class.refused.candidates", "n", n, "least", predict.LeastCandidates, "most",
				polls.MaxCandidates,
			)
		}
		return r.moveStage(ctx, class.AskNext{Choices: n, For: cmd.For, Where: cmd.Where})
	case class.Drive, class.GoTo, class.AskWalk, class.AskDraw, class.AppendMajority, class.AppendOf:
		return r.moveStage(ctx, cmd)
	case class.Delete:
		return r.RemoveAll(ctx)
	}
	return r.ask(ctx, func(c *core) error { return c.carryOut(cmd) })
}

// moveStage executes a command that moves the room's run. It reopens the run if it is suspended.
func (r *Local) moveStage(ctx context.Context, cmd class.Command) error {
	run, err := r.awake(ctx)
	if err != nil {
		return err
	}
	switch cmd := cmd.(type) {
	case class.Drive:
		return r.drive(ctx, run, cmd.Do)
	case class.GoTo:
		return r.goTo(ctx, run, cmd.Step)
	case class.AskWalk:
		return r.askWalk(ctx, run)
	case class.AskNext:
		return r.askToken(ctx, run, cmd.Where, class.Offer{Choices: cmd.Choices}, moves.Undrawn,
			func(c *core, st *session.State) error {
				return c.open(polls.NextToken(st, cmd.Choices, c.nextSeed()), cmd.For)
			})
	case class.AskDraw:
		return r.askToken(ctx, run, cmd.Where, class.Offer{Draw: true}, moves.UndrawnBySampling,
			func(c *core, st *session.State) error { return c.open(polls.Drawing(st), cmd.For) })
	case class.AppendOf:
		return r.appendToken(ctx, run, func(c *core, p *polls.Poll) (string, error) {
			v, ok := c.votes[p.At()][cmd.Member]
			if !ok {
				return "", class.ErrNoMember
			}
			return v.Choice, nil
		})
	}
	return r.appendToken(ctx, run, func(c *core, p *polls.Poll) (string, error) {
		return p.Majority(c.votes[p.At()], c.state)
	})
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

// carryOut executes a command that does not need the run.
func (c *core) carryOut(cmd class.Command) error {
	switch cmd := cmd.(type) {
	case class.AskQuestion:
		q := c.course().Question(cmd.ID)
		if q == nil {
			return terms.Refuse(class.CodeAsk, "class.refused.no_question", "id", class.Quoted(cmd.ID))
		}
		return c.open(polls.Quiz(q, c.nextSeed()), cmd.For)
	case class.AskNumber:
		p, err := polls.Numeric(cmd)
		if err != nil {
			return err
		}
		return c.open(p, cmd.For)
	case class.Close, class.Extend, class.ShowSpread, class.Reveal, class.Revote:
		return c.changePoll(cmd)
	case class.Dismiss:
		return c.dismiss()
	case class.DropName:
		return c.dropName(cmd.Member)
	case class.Remove:
		return c.remove(cmd.Member)
	case class.TakeOver: // [Local.Execute] has already made the sender the presenter
		c.publish()
		return nil
	}
	next, err := c.data.With(cmd, c.cfg.Now())
	if err != nil {
		return err
	}
	return c.change(next, nil)
}

// changePoll changes a copy of the poll on the stage, then saves and publishes it. [core.change]
// saves and counts pending votes first.
func (c *core) changePoll(cmd class.Command) error {
	p := c.onStage()
	if p == nil {
		return class.ErrNoPoll
	}
	next := *p
	if err := next.CarryOut(cmd, c.cfg.Now()); err != nil {
		return err
	}
	return c.change(c.data, &next)
}

// dismiss removes the poll from the stage.
func (c *core) dismiss() error {
	if c.onStage() == nil {
		return class.ErrNoPoll
	}
	if err := c.mayMove(true); err != nil {
		return err
	}
	next := c.data
	next.Poll = 0
	return c.change(next, nil)
}
