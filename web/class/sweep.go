package class

import (
	"context"
	"time"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/web/journal"
)

// sweepDamaged deletes the damaged rooms that are older than [Limits.TTL].
func (h *Hub) sweepDamaged(ctx context.Context) {
	h.mu.Lock()
	var old []string
	for code, d := range h.damaged {
		if h.cfg.Now().Sub(d.used) > h.cfg.Limits.TTL {
			old = append(old, code)
		}
	}
	h.mu.Unlock()
	for _, code := range old {
		if err := h.removeDamaged(ctx, code); err != nil {
			h.cfg.Log.Error("a damaged room could not be deleted", "error", err)
		}
	}
}

// removeDamaged deletes a damaged room and what was set aside of it.
func (h *Hub) removeDamaged(ctx context.Context, code string) error {
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

// Sweep deletes the rooms that nobody has used for [Limits.TTL] and closes the runs
// that nobody is watching. The hub calls it every minute.
func (h *Hub) Sweep(ctx context.Context) {
	h.sweepDamaged(ctx)
	for _, r := range h.all() {
		_ = fault.Do(h.cfg.Log, "clearing up a room", func() error {
			h.sweepRoom(ctx, r)
			return nil
		})
	}
	if h.cfg.Cluster != nil {
		h.sweepShared(ctx)
	}
}

// sweepRoom deletes a room that nobody has used for long, and suspends the run of one
// that nobody uses now.
func (h *Hub) sweepRoom(ctx context.Context, r *Room) {
	type state struct{ old, resting bool }
	is, err := get(ctx, r, func(c *core) (state, error) {
		idle := h.cfg.Now().Sub(c.used)
		empty := c.here == 0 && len(c.presenterPages) == 0
		return state{empty && idle > h.cfg.Limits.TTL, empty && c.run != nil && idle > h.cfg.Limits.Rest}, nil
	})
	switch {
	case err != nil: // it is gone
	case is.old:
		if err := h.remove(ctx, r); err != nil {
			h.cfg.Log.Error("an old room could not be deleted", "error", err)
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
			_ = fault.Do(h.cfg.Log, "clearing up rooms", func() error { h.Sweep(h.ctx); return nil })
		}
	}
}
