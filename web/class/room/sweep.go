package room

import (
	"context"
	"time"

	"github.com/tokenbytoken/viz/infer/fault"
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
			_ = fault.Do(h.cfg.Log, "sweeping rooms", func() error { h.Sweep(h.ctx); return nil })
		}
	}
}
