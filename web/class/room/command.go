package room

import (
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/polls"
)

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
	case class.Handle:
		return c.handle(cmd)
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
