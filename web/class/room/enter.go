package room

import (
	"context"
	"crypto/subtle"

	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
)

// mayTry reports whether a caller may try a code, either because they have not tried a wrong code
// recently or because they have budget left. A caller therefore cannot lock out others at the same
// address.
func (h *Hub) mayTry(c admission.Caller) bool {
	return h.cfg.WrongCodes.Wait(c) == 0 || !h.cfg.WrongCodes.Spent(c)
}

// Enter returns the room with the given code for a follower. Wrong codes are counted. A learner who
// is already a member needs no budget and may enter even if the room is locked or full.
//
// Errors: [class.ErrNoRoom], [class.ErrExpired], [class.ErrFull], [class.ErrLocked],
// [class.ErrRemoved], [class.ErrTries], and [class.CodeDamaged].
func (h *Hub) Enter(ctx context.Context, code string, who admission.Caller) (class.Room, error) {
	r, err := h.dir.Lookup(ctx, code)
	if err != nil {
		return nil, err
	}
	var a Entered
	if r != nil {
		if a, err = r.Entering(ctx, who); err != nil {
			return nil, err
		}
	}
	if !a.Known {
		if !h.mayTry(who) {
			return nil, class.ErrTries
		}
		if r == nil {
			if d, err := h.dir.FindDamaged(ctx, code); err != nil {
				return nil, err
			} else if d != nil {
				return nil, d.Err()
			}
			h.cfg.WrongCodes.Spend(who)
			return nil, class.ErrNoRoom
		}
	}
	if a.Refused != nil {
		return nil, a.Refused.Decode()
	}
	return r, r.Ready(ctx)
}

// Fits reports whether a secret belongs to a room. Since it does not count wrong tries, use
// it only to choose among the secrets in one request.
func (h *Hub) Fits(code string, secret class.Secret) bool {
	r, err := h.dir.Lookup(h.ctx, code)
	return err == nil && r != nil && r.Fits(secret)
}

// Instruct returns the room with the given code for its instructor. A wrong secret counts like a
// wrong code, and the error does not reveal whether there is such a room.
func (h *Hub) Instruct(
	ctx context.Context, code string, secret class.Secret, who admission.Caller,
) (class.Room, error) {
	r, err := h.dir.Lookup(ctx, code)
	if err != nil {
		return nil, err
	}
	if r == nil || !r.Fits(secret) {
		if !h.mayTry(who) {
			return nil, class.ErrTries
		}
		if d, err := h.dir.FindDamaged(ctx, code); err != nil {
			return nil, err
		} else if d != nil && d.mayKnow(secret) {
			return nil, d.Err()
		}
		h.cfg.WrongCodes.Spend(who)
		return nil, class.ErrSecret
	}
	return r, r.Ready(ctx)
}

// Assigned returns the room with the given code if key opens its assignment. It checks the key in
// the same way as [Hub.Replay].
func (h *Hub) Assigned(code, key string, who admission.Caller) (class.Room, error) {
	r, err := h.dir.Lookup(h.ctx, code)
	if err != nil {
		return nil, err
	}
	if r == nil || subtle.ConstantTimeCompare([]byte(key), []byte(r.WorkKey())) != 1 {
		if !h.mayTry(who) {
			return nil, class.ErrTries
		}
		h.cfg.WrongCodes.Spend(who)
		return nil, class.ErrNoRoom
	}
	return r, nil
}

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
