package room

import (
	"context"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/journal"
)

// DamagedHere returns the room if this server could not read it.
func (h *Hub) DamagedHere(code string) *Damaged {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.damaged[code]
}

// isDamaged reports whether an error means that a room's data could not be read.
func isDamaged(err error) bool {
	refused, ok := terms.AsRefusal(err)
	return ok && refused.Code == class.CodeDamaged
}

// NotForgotten returns a refusal saying that some rooms could not be read and may still contain
// data about a learner. It returns nil if unread is 0.
func NotForgotten(unread int) error {
	if unread == 0 {
		return nil
	}
	return terms.Refuse(class.CodeDamaged, "class.refused.not_forgotten", "n", unread)
}

// sweepDamaged deletes the damaged rooms that have been unused for longer than [Limits.TTL].
func (h *Hub) sweepDamaged(ctx context.Context) {
	h.mu.Lock()
	var old []string
	for code, d := range h.damaged {
		if h.cfg.Aged().Sub(d.Used) > h.cfg.Limits.TTL {
			old = append(old, code)
		}
	}
	h.mu.Unlock()
	for _, code := range old {
		if err := h.RemoveDamaged(ctx, code); err != nil {
			h.cfg.Log.Error("a damaged room could not be deleted", "error", err)
		}
	}
}

// RemoveDamaged deletes a damaged room, including the data set aside.
func (h *Hub) RemoveDamaged(ctx context.Context, code string) error {
	err := h.cfg.Logs.Drop(ctx, journal.Owner{Kind: journal.Room, Name: code})
	if err == nil {
		err = h.cfg.Secrets.DropSecret(ctx, code)
	}
	if err == nil {
		h.mu.Lock()
		delete(h.damaged, code)
		h.mu.Unlock()
	}
	return err
}
