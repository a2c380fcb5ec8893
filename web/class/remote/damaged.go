package remote

import (
	"context"
	"errors"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/room"
	"github.com/tokenbytoken/viz/web/journal"
)

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
