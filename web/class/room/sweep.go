package room

import (
	"context"
	"time"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/web/journal"
)

// Sweep deletes the rooms that nobody has used for [Limits.TTL], and closes the runs that
// nobody is watching. The hub calls Sweep every minute.
func (h *Hub) Sweep(ctx context.Context) {
	h.sweepDamaged(ctx)
	for _, r := range h.all() {
		_ = fault.Do(h.cfg.Log, "sweeping a room", func() error {
			h.SweepRoom(ctx, r)
			return nil
		})
	}
	h.dir.SweepOthers(ctx)
}

// SweepRoom deletes a room that has expired, and suspends the run of a room without
// viewers.
func (h *Hub) SweepRoom(ctx context.Context, r *Local) {
	type state struct{ old, resting bool }
	is, err := get(ctx, r, func(c *core) (state, error) {
		idle, age := h.cfg.Now().Sub(c.used), h.cfg.Aged().Sub(c.used)
		empty := c.here == 0 && len(c.presenterPages) == 0
		return state{old: empty && age > h.cfg.Limits.TTL, resting: empty && c.run != nil && idle > h.cfg.Limits.Rest},
			nil
	})
	switch {
	case err != nil: // the room is gone
	case is.old:
		if err := r.RemoveAll(ctx); err != nil {
			h.cfg.Log.Error("failed to delete an old room", "error", err)
		}
	case is.resting:
		r.rest(ctx)
	}
}

func (h *Hub) sweepOften() {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-tick.C:
			_ = fault.Do(h.cfg.Log, "sweeping rooms", func() error { h.Sweep(h.ctx); return nil })
		}
	}
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
			h.cfg.Log.Error("failed to delete a damaged room", "error", err)
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
