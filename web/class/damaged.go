package class

import (
	"context"
	"errors"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
)

// findDamaged returns the room with a code that could not be read, nil if there is none. In a
// cluster it must not have been found by [Hub.lookup].
func (h *Hub) findDamaged(ctx context.Context, code string) (*damagedRoom, error) {
	code = NormalCode(code)
	if d := h.damagedHere(code); d != nil || h.cfg.Cluster == nil || !IsCode(code) {
		return d, nil
	}
	within, cancel := context.WithTimeout(ctx, h.cfg.Cluster.Paces.Try)
	defer cancel()
	d, err := h.damagedShared(within, code)
	if err != nil && ctx.Err() == nil {
		h.cfg.Log.Warn("a room could not be looked up", "error", err)
		err = ErrAway
	}
	return d, err
}

// damagedHere returns the room that could not be read by this server.
func (h *Hub) damagedHere(code string) *damagedRoom {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.damaged[code]
}

// taken reports whether there is anything of a room with a code in the cluster.
func (h *Hub) taken(ctx context.Context, code string) (bool, error) {
	d, err := h.damagedShared(ctx, code)
	return d != nil, err
}

// damagedShared describes the room with a code in the cluster whose secret cannot be found:
// it was set aside, or cannot be read. The result is nil if there is nothing of such a room.
func (h *Hub) damagedShared(ctx context.Context, code string) (*damagedRoom, error) {
	owner := journal.Owner{Kind: journal.Room, Name: code}
	aside, err := h.cfg.Logs.Aside(ctx, owner)
	if err != nil {
		return nil, err
	}
	if n := len(aside); n > 0 {
		return &damagedRoom{at: aside[n-1].Used, used: aside[n-1].Used}, nil
	}
	is := errors.New("there is a record")
	err = h.cfg.Logs.Read(ctx, owner, 0, func(journal.Record) error { return is })
	if errors.Is(err, is) {
		return &damagedRoom{used: h.cfg.Now()}, nil
	}
	return nil, err
}

// missing says why there is no log of the room: it was deleted, or set aside.
func (f *relay) missing(ctx context.Context) error {
	d, err := f.hub.damagedShared(ctx, f.room.code)
	switch {
	case err != nil:
		return err
	case d != nil:
		return d.err()
	}
	return ErrNoRoom
}

// isDamaged reports whether an error says that a room's data could not be read.
func isDamaged(err error) bool {
	refused, ok := terms.AsRefusal(err)
	return ok && refused.Code == CodeDamaged
}

// notForgotten refuses to say that somebody has been forgotten while some rooms cannot be
// read. It is nil for none.
func notForgotten(unread int) error {
	if unread == 0 {
		return nil
	}
	return terms.Refuse(CodeDamaged, "The saved data of %s on this server cannot be read at the moment. "+
		"If you joined, your name there is not deleted.", terms.CountedAs(unread, "class", "classes"))
}

// sweepDamaged deletes the damaged rooms that are older than [Limits.TTL].
func (h *Hub) sweepDamaged(ctx context.Context) {
	h.mu.Lock()
	var old []string
	for code, d := range h.damaged {
		if h.cfg.Aged().Sub(d.used) > h.cfg.Limits.TTL {
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

// sweepAside deletes the rooms of a cluster that were set aside as a whole longer ago than
// [Limits.TTL]: those that are not among the logs of rooms.
func (h *Hub) sweepAside(ctx context.Context, logs []journal.Info) error {
	aside, err := h.cfg.Logs.Owners(ctx, store.SetAsideKind)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, log := range logs {
		there[log.Name] = true
	}
	for _, x := range aside {
		kind, code := store.SetAsideOf(x.Name)
		if kind != journal.Room || !IsCode(code) || there[code] || h.cfg.Aged().Sub(x.Used) <= h.cfg.Limits.TTL {
			continue
		}
		if err := h.removeDamaged(ctx, code); err != nil {
			return err
		}
	}
	return nil
}
