package room

import (
	"context"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/moves"
	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/session"
)

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
