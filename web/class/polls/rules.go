package polls

import (
	"fmt"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
)

// CarryOut executes a command that changes a poll.
func (p *Poll) CarryOut(cmd class.Command, now time.Time) error {
	switch cmd := cmd.(type) {
	case class.Close:
		if !p.Live() {
			return class.ErrClosed
		}
		p.Phase = class.Closed
	case class.Extend:
		return p.extend(cmd.By, now)
	case class.ShowSpread:
		if p.Phase == class.Revealed {
			return class.ErrClosed
		}
		p.Phase = class.Spread
	case class.Reveal:
		p.Phase = class.Revealed
	case class.Revote:
		return p.again(cmd.For, now)
	default:
		return fmt.Errorf("%T does not change a poll", cmd)
	}
	return nil
}

// maxRounds is the maximum number of rounds in a poll.
const maxRounds = 9

// again opens a poll for another round, for a limited time unless limit is 0.
func (p *Poll) again(limit time.Duration, now time.Time) error {
	switch {
	case p.Live():
		return class.ErrOpen
	case p.Phase == class.Revealed && p.Kind != class.Draw || p.Round >= maxRounds:
		return terms.Refuse(class.CodeClosed, "class.refused.revote", "n", maxRounds)
	case limit < 0 || limit > MaxTime:
		return terms.Refuse(class.CodeAsk, "class.refused.open_long", "n", int(MaxTime/time.Hour))
	}
	p.Round, p.Phase, p.Ends = p.Round+1, class.Open, time.Time{}
	if limit > 0 {
		p.Ends = now.Add(limit)
	}
	return nil
}

// extend gives a poll more time, and reopens a closed one. An open poll without a time limit
// stays unchanged.
func (p *Poll) extend(by time.Duration, now time.Time) error {
	switch {
	case by <= 0 || by > MaxTime:
		return terms.Refuse(class.CodeAsk, "class.refused.extend_long", "n", int(MaxTime/time.Hour))
	case p.Phase == class.Revealed:
		return terms.Refuse(class.CodeClosed, "class.refused.is_revealed")
	case p.Live() && p.Ends.IsZero():
		return nil
	}
	from := now
	if p.Live() && p.Ends.After(now) {
		from = p.Ends
	}
	p.Phase, p.Ends = class.Open, from.Add(by)
	return nil
}

// MaxPolls is the maximum number of polls in a room. Each poll stays in memory with its votes while
// the room exists.
const MaxPolls = 1000

// MaxTime is the longest time that a poll or the timer can run.
const MaxTime = 24 * time.Hour
