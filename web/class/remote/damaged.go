package remote

import (
	"context"
	"errors"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/room"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
)

// taken reports whether the cluster stores any data of a room with this code.
func (h *shared) taken(ctx context.Context, code string) (bool, error) {
	d, err := h.damagedShared(ctx, code)
	return d != nil, err
}

// damagedShared returns the cluster's damaged room with this code, whose secret cannot be found
// because the room was set aside or cannot be read. It returns nil if the cluster has no data of
// such a room.
func (h *shared) damagedShared(ctx context.Context, code string) (*room.Damaged, error) {
	owner := journal.Owner{Kind: journal.Room, Name: code}
	aside, err := h.Config().Logs.Aside(ctx, owner)
	if err != nil {
		return nil, err
	}
	if n := len(aside); n > 0 {
		return &room.Damaged{SetAside: aside[n-1].Used, Used: aside[n-1].Used}, nil
	}
	is := errors.New("the log is not empty")
	err = h.Config().Logs.Read(ctx, owner, 0, func(journal.Record) error { return is })
	if errors.Is(err, is) {
		return &room.Damaged{Used: h.Config().Now()}, nil
	}
	return nil, err
}

// missing explains why the room has no log: it was deleted or set aside.
func (f *relay) missing(ctx context.Context) error {
	d, err := f.shared.damagedShared(ctx, f.Code())
	switch {
	case err != nil:
		return err
	case d != nil:
		return d.Err()
	}
	return class.ErrNoRoom
}

// sweepAside deletes the rooms of a cluster that have been unused for longer than
// [room.Limits.TTL] and were set aside completely, and so are missing from the given list of logs.
func (h *shared) sweepAside(ctx context.Context, logs []journal.Info) error {
	aside, err := h.Config().Logs.Owners(ctx, store.SetAsideKind)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, log := range logs {
		there[log.Name] = true
	}
	for _, x := range aside {
		kind, code := store.SetAsideOf(x.Name)
		if kind != journal.Room || !class.IsCode(code) || there[code] ||
			h.Config().Aged().Sub(x.Used) <= h.Config().Limits.TTL {
			continue
		}
		if err := h.RemoveDamaged(ctx, code); err != nil {
			return err
		}
	}
	return nil
}
