package room

import (
	"cmp"
	"context"
	"fmt"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons/predict"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/moves"
	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/session"
)

// Present implements [class.Room].
func (r *Local) Present(ctx context.Context, who string, secret class.Secret, form class.Form) (*class.View, error) {
	if !r.Fits(secret) {
		return nil, class.ErrSecret
	}
	cmd, err := form.Command(r.View())
	if err != nil {
		return nil, err
	}
	return r.Execute(ctx, who, cmd)
}

// Execute executes a command from an instructor whose secret has been checked. See
// [class.Room.Present].
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
	case class.AppendMajority:
		return r.appendToken(ctx, run, func(c *core, p *polls.Poll) (string, error) {
			return p.Majority(c.votes[p.At()], c.state)
		})
	}
	return fmt.Errorf("%T does not move the run", cmd)
}
