package room

import (
	"context"
	"crypto/subtle"
	"slices"

	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/moves"
)

// Replay returns a class's texts, and its questions with their answers, so that anyone can go
// through them alone. It omits the participants and, unless its answer has been revealed, the poll
// on the stage.
//
// Errors: [class.ErrTries], and [class.ErrNoRoom] if the key is wrong. A wrong key counts like a wrong
// code.
func (h *Hub) Replay(ctx context.Context, code, key string, who admission.Caller) (*class.Summary, error) {
	r, err := h.dir.Lookup(ctx, code)
	if err != nil {
		return nil, err
	}
	if r == nil || subtle.ConstantTimeCompare([]byte(key), []byte(r.ReplayKey())) != 1 {
		if !h.mayTry(who) {
			return nil, class.ErrTries
		}
		h.cfg.WrongCodes.Spend(who)
		return nil, class.ErrNoRoom
	}
	return r.Replay(ctx)
}

// Replay implements [Hosted].
func (r *Local) Replay(ctx context.Context) (*class.Summary, error) {
	if err := r.Wake(ctx); err != nil { // the replay includes the text on the stage
		return nil, err
	}
	return get(ctx, r, func(c *core) (*class.Summary, error) { return c.replay(), nil })
}

func (c *core) replay() *class.Summary {
	all := c.summary()
	s := &class.Summary{
		Title: all.Title, Code: all.Code, Begun: all.Begun, Walk: all.Walk, WalkSlug: all.WalkSlug, Polls: all.Polls,
		Texts: all.Texts,
	}
	p := c.onStage()
	if p == nil || p.Phase == class.Revealed {
		return s
	}
	s.Polls = slices.Delete(slices.Clone(s.Polls), p.ID-1, p.ID)
	if t, ok := moves.TextOf(c.state); ok && p.AboutToken() {
		s.Texts = slices.DeleteFunc(s.Texts, func(x class.Text) bool { return x == t }) // it could reveal the answer
	}
	return s
}
