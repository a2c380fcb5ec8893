package room

import (
	"context"
	"slices"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/moves"
	"github.com/tokenbytoken/viz/web/class/polls"
)

// Summary implements [class.Room].
func (r *Local) Summary(ctx context.Context, secret class.Secret) (*class.Summary, error) {
	if !r.Fits(secret) {
		return nil, class.ErrSecret
	}
	return r.SumUp(ctx)
}

// SumUp is [class.Room.Summary] after the secret has been checked.
func (r *Local) SumUp(ctx context.Context) (*class.Summary, error) {
	return get(ctx, r, func(c *core) (*class.Summary, error) {
		c.flush()
		return c.summary(), nil
	})
}

func (c *core) summary() *class.Summary {
	s := &class.Summary{
		Title: c.data.Title, Code: c.code, Begun: c.begun, Used: c.used, Members: c.active(),
		Texts: slices.Clone(c.texts), Assigned: c.assigned(),
	}
	if w := c.course().Walk(c.data.Walk); w != nil {
		s.Walk, s.WalkSlug = w.Title, w.Slug
	}
	if t, ok := moves.TextOf(c.state); ok && !slices.Contains(s.Texts, t) {
		s.Texts = append(s.Texts, t)
	}
	polls.SumUp(s, c.polls, c.votes)
	return s
}

// ending returns the brief summary of a class that all members see.
func (c *core) ending() *class.Ending {
	e := &class.Ending{Asked: len(c.polls), Texts: len(c.texts), Replay: c.room.ReplayKey()}
	if t, ok := moves.TextOf(c.state); ok && !slices.Contains(c.texts, t) {
		e.Texts++
	}
	for _, round := range c.votes {
		e.Votes += len(round)
	}
	return e
}
