package room

import (
	"strconv"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/session"
)

// openSpec opens a poll that a script asks for.
func (c *core) openSpec(st *session.State, a *lessons.AskSpec) error {
	return c.open(polls.Scripted(st, a, c.nextSeed()), time.Duration(a.Seconds)*time.Second)
}

// open opens a poll for the given time, or until the instructor closes it if the time is 0.
func (c *core) open(p *polls.Poll, last time.Duration) error {
	if err := c.mayMove(true); err != nil {
		return err
	}
	if last < 0 || last > polls.MaxTime {
		return terms.Refuse(class.CodeAsk, "class.refused.open_long", "n", int(polls.MaxTime/time.Hour))
	}
	if len(c.polls) >= polls.MaxPolls {
		return terms.Refuse(class.CodeAsk, "class.refused.polls", "n", strconv.Itoa(polls.MaxPolls))
	}
	p.ID, p.Round, p.Phase, p.Asked = len(c.polls)+1, 1, class.Open, c.cfg.Now()
	if last > 0 {
		p.Ends = p.Asked.Add(last)
	}
	next := c.data
	next.Poll = p.ID
	return c.change(next, p)
}

// timeUp closes the poll if its time is up.
func (c *core) timeUp() {
	if p := c.onStage(); p != nil && p.Live() && p.Over(c.cfg.Now()) {
		_ = c.phase(p, class.Closed) // logged; further votes are refused anyway
	}
	c.setAlarm()
}

// phase changes the phase of a poll.
func (c *core) phase(p *polls.Poll, to class.Phase) error {
	next := *p
	next.Phase = to
	return c.change(c.data, &next)
}
