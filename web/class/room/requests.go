package room

import (
	"context"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
)

// Join implements [class.Room].
func (r *Local) Join(ctx context.Context, who admission.Caller, nick string) (*class.Member, error) {
	name, err := class.CleanNick(nick)
	if err != nil {
		return nil, err
	}
	if err := r.Wake(ctx); err != nil {
		return nil, err
	}
	joined, err := get(ctx, r, func(c *core) (class.Member, error) { return c.join(who) })
	if err == nil && name != "" {
		if joined, err = r.rename(ctx, who.Learner, name); err != nil {
			r.Leave(who.Learner)
		}
	}
	if err != nil {
		return nil, err
	}
	return &joined, nil
}

func (r *Local) rename(ctx context.Context, learner, name string) (class.Member, error) {
	return send(ctx, r, func(c *core, reply func(class.Member, error)) { c.rename(learner, name, reply) })
}

// Leave implements [class.Room].
func (r *Local) Leave(learner string) {
	_ = r.ask(context.Background(), func(c *core) error { // the room may be gone
		c.leave(learner)
		return nil
	})
}

// Standing implements [class.Room].
func (r *Local) Standing(ctx context.Context, learner string) (class.Standing, error) {
	return get(ctx, r, func(c *core) (class.Standing, error) { return c.standing(learner) })
}

// Vote implements [class.Room].
func (r *Local) Vote(ctx context.Context, learner string, b class.Ballot) (class.Receipt, error) {
	return send(ctx, r, func(c *core, reply func(class.Receipt, error)) { c.vote(learner, b, reply) })
}

// Ask implements [class.Room].
func (r *Local) Ask(ctx context.Context, learner, text string) error {
	text, err := class.CleanRaised(text)
	if err != nil {
		return err
	}
	return r.ask(ctx, func(c *core) error { return c.raise(learner, text) })
}

// Raised implements [class.Room].
func (r *Local) Raised(ctx context.Context, secret class.Secret) ([]class.Raised, error) {
	if !r.Fits(secret) {
		return nil, class.ErrSecret
	}
	return r.ListRaised(ctx)
}

// ListRaised is [class.Room.Raised] after the secret has been checked.
func (r *Local) ListRaised(ctx context.Context) ([]class.Raised, error) {
	return get(ctx, r, func(c *core) ([]class.Raised, error) { return c.raisedList(shownAway), nil })
}

// Attendees implements [class.Room].
func (r *Local) Attendees(ctx context.Context, secret class.Secret) ([]class.Attendee, error) {
	if !r.Fits(secret) {
		return nil, class.ErrSecret
	}
	return r.ListAttendees(ctx)
}

// ListAttendees is [class.Room.Attendees] after the secret has been checked.
func (r *Local) ListAttendees(ctx context.Context) ([]class.Attendee, error) {
	return get(ctx, r, func(c *core) ([]class.Attendee, error) { return c.attendees(), nil })
}

// OpenPresenter implements [class.Room].
func (r *Local) OpenPresenter(ctx context.Context, who string, secret class.Secret) (closed func(), err error) {
	if !r.Fits(secret) {
		return nil, class.ErrSecret
	}
	if err := r.Wake(ctx); err != nil {
		return nil, err
	}
	if err := r.ask(ctx, func(c *core) error {
		c.openPresenter(who)
		return nil
	}); err != nil {
		return nil, err
	}
	return func() {
		_ = r.ask(context.Background(), func(c *core) error { // the room may be gone
			c.closePresenter(who)
			return nil
		})
	}, nil
}

// CanPresent implements [class.Room].
func (r *Local) CanPresent(ctx context.Context, who string) (bool, error) {
	return get(ctx, r, func(c *core) (bool, error) { return c.canPresent(who), nil })
}

// Entering implements [Hosted].
func (r *Local) Entering(ctx context.Context, who admission.Caller) (Entered, error) {
	return get(ctx, r, func(c *core) (Entered, error) {
		e := Entered{Known: c.byLearner[who.Learner] != nil}
		refused, _ := terms.AsRefusal(c.admit(who))
		e.Refused = refused.Encode()
		return e, nil
	})
}

// Ready implements [Hosted].
func (r *Local) Ready(ctx context.Context) error { return r.Wake(ctx) }

// EndClass implements [Hosted].
func (r *Local) EndClass(ctx context.Context) error {
	return r.carryOut(context.WithoutCancel(ctx), class.End{})
}

// Forget implements [Hosted].
func (r *Local) Forget(ctx context.Context, learner string) error {
	return r.ask(ctx, func(c *core) error { return c.forget(learner) })
}

// DropSilent drops the pages of servers that have not reported for longer than gone.
func (r *Local) DropSilent(gone time.Duration) {
	_ = r.ask(r.ctx, func(c *core) error { c.dropSilent(gone); return nil }) // the room may be gone
}

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

// Assignment implements [class.Room].
func (r *Local) Assignment(ctx context.Context, learner string) (class.Assignment, error) {
	return get(ctx, r, func(c *core) (class.Assignment, error) {
		a := class.Assignment{Title: c.data.Title, Tasks: strings.Fields(c.data.Tasks), Names: c.data.AskNames}
		if m := c.byLearner[learner]; m != nil && !m.Removed {
			a.Name = m.Name
			if m.Work != nil {
				w := *m.Work
				a.Work = &w
			}
		}
		return a, nil
	})
}

// HandIn implements [class.Room].
func (r *Local) HandIn(ctx context.Context, who admission.Caller, name string, w class.Work) error {
	nick, err := class.CleanNick(name)
	if err != nil {
		return err
	}
	return r.handIn(ctx, who, nick, w)
}

func (r *Local) handIn(ctx context.Context, who admission.Caller, nick string, w class.Work) error {
	return r.ask(ctx, func(c *core) error { return c.handIn(who, nick, w) })
}

// Replay implements [Hosted].
func (r *Local) Replay(ctx context.Context) (*class.Summary, error) {
	if err := r.Wake(ctx); err != nil { // the replay includes the text on the stage
		return nil, err
	}
	return get(ctx, r, func(c *core) (*class.Summary, error) { return c.replay(), nil })
}

// SetPages records a server's report and returns the newest view. If the report lists any pages, the
// run is opened.
func (r *Local) SetPages(ctx context.Context, a Report) (*class.View, error) {
	watched := len(a.Pages)+len(a.Presenters) > 0
	err := r.ask(ctx, func(c *core) error {
		if c.pagesOn(a.Server).take(a) {
			c.recount()
		}
		return nil
	})
	if err == nil && watched {
		err = r.Wake(ctx)
	}
	return r.View(), err
}

// JoinFrom is [class.Room.Join] for a page on any server. It saves the member before it returns,
// since the next owner needs the record.
func (r *Local) JoinFrom(
	ctx context.Context, server string, who admission.Caller, nick string,
) (class.Member, error) {
	name, err := class.CleanNick(nick)
	if err != nil {
		return class.Member{}, err
	}
	if err := r.Wake(ctx); err != nil {
		return class.Member{}, err
	}
	return send(ctx, r, func(c *core, reply func(class.Member, error)) {
		m, err := c.join(who)
		if err != nil {
			reply(m, err)
			return
		}
		c.pagesOn(server).pages[who.Learner]++
		c.rename(who.Learner, name, func(m class.Member, err error) {
			if err != nil {
				reply(m, err)
				return
			}
			c.whenSaved(func(err error) { // another join may have renamed them by then
				if now := c.byLearner[who.Learner]; now != nil {
					m = now.Member
				}
				reply(m, err)
			})
		})
	})
}

// OpenPresenterFrom is [class.Room.OpenPresenter] for a page on any server. The secret has been
// checked.
func (r *Local) OpenPresenterFrom(ctx context.Context, server, who string) error {
	if err := r.Wake(ctx); err != nil {
		return err
	}
	return r.ask(ctx, func(c *core) error {
		c.openPresenter(who)
		c.pagesOn(server).presenters[who]++
		return nil
	})
}
