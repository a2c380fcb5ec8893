package room

import (
	"context"
	"errors"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
)

// damagedHere returns the room if this server could not read it.
func (h *Hub) damagedHere(code string) *damagedRoom {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.damaged[code]
}

// taken reports whether the cluster stores any data of a room with this code.
func (h *shared) taken(ctx context.Context, code string) (bool, error) {
	d, err := h.damagedShared(ctx, code)
	return d != nil, err
}

// damagedShared returns the cluster's damaged room with this code, whose secret cannot be found
// because the room was set aside or cannot be read. It returns nil if the cluster has no data of
// such a room.
func (h *shared) damagedShared(ctx context.Context, code string) (*damagedRoom, error) {
	owner := journal.Owner{Kind: journal.Room, Name: code}
	aside, err := h.cfg.Logs.Aside(ctx, owner)
	if err != nil {
		return nil, err
	}
	if n := len(aside); n > 0 {
		return &damagedRoom{at: aside[n-1].Used, used: aside[n-1].Used}, nil
	}
	is := errors.New("the log is not empty")
	err = h.cfg.Logs.Read(ctx, owner, 0, func(journal.Record) error { return is })
	if errors.Is(err, is) {
		return &damagedRoom{used: h.cfg.Now()}, nil
	}
	return nil, err
}

// missing explains why the room has no log: it was deleted or set aside.
func (f *relay) missing(ctx context.Context) error {
	d, err := f.shared.damagedShared(ctx, f.code)
	switch {
	case err != nil:
		return err
	case d != nil:
		return d.err()
	}
	return class.ErrNoRoom
}

// isDamaged reports whether an error means that a room's data could not be read.
func isDamaged(err error) bool {
	refused, ok := terms.AsRefusal(err)
	return ok && refused.Code == class.CodeDamaged
}

// notForgotten returns a refusal saying that some rooms could not be read and may still contain
// data about a learner. It returns nil if unread is 0.
func notForgotten(unread int) error {
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

// removeDamaged deletes a damaged room, including the data set aside.
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

// sweepAside deletes the rooms of a cluster that have been unused for longer than
// [Limits.TTL] and were set aside completely, and so are missing from the given list of logs.
func (h *shared) sweepAside(ctx context.Context, logs []journal.Info) error {
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
		if kind != journal.Room || !class.IsCode(code) || there[code] || h.cfg.Aged().Sub(x.Used) <= h.cfg.Limits.TTL {
			continue
		}
		if err := h.removeDamaged(ctx, code); err != nil {
			return err
		}
	}
	return nil
}
