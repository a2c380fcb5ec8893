package records

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
)

// Saved describes a saved room for the operator.
type Saved struct {
	Code, Title   string
	Begun, Used   time.Time
	Members       int // without removed members
	Polls, Votes  int
	Texts         int
	Ended, Locked bool
	Records       int
	Bytes         int64
	// Fault describes why the room, or part of it, cannot be read; "" if it can.
	Fault string
}

// List returns the saved rooms, ordered by code. It only reads the logs and does not need a
// [room.Hub].
func List(ctx context.Context, logs journal.Journal, secrets Secrets) ([]Saved, error) {
	hashes, err := secrets.Secrets(ctx)
	if err != nil {
		return nil, err
	}
	owners, err := logs.Owners(ctx, journal.Room)
	if err != nil {
		return nil, err
	}
	var list []Saved
	for _, o := range owners {
		s, err := savedRoom(ctx, logs, o)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		} else if err != nil {
			s.Fault = err.Error()
		} else if hashes[o.Name] == nil {
			s.Fault = "the hash of its secret is missing"
		}
		list = append(list, s)
	}
	return addDamaged(ctx, logs, list)
}

// addDamaged adds the rooms that were set aside to list.
func addDamaged(ctx context.Context, logs journal.Journal, list []Saved) ([]Saved, error) {
	aside, err := logs.Owners(ctx, store.SetAsideKind)
	if err != nil {
		return nil, err
	}
	for _, o := range aside {
		kind, code := store.SetAsideOf(o.Name)
		known := func(s Saved) bool { return s.Code == code }
		if kind != journal.Room || !class.IsCode(code) || slices.ContainsFunc(list, known) {
			continue
		}
		list = append(list, Saved{
			Code: code, Used: o.Used, Records: o.Records, Bytes: o.Bytes,
			Fault: "it was unreadable and has been set aside",
		})
	}
	slices.SortFunc(list, func(a, b Saved) int { return strings.Compare(a.Code, b.Code) })
	return list, nil
}

func savedRoom(ctx context.Context, logs journal.Journal, o journal.Info) (s Saved, err error) {
	s = Saved{Code: o.Name, Used: o.Used, Records: o.Records, Bytes: o.Bytes}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("its log is invalid: %v", v)
		}
	}()
	f, err := journal.Load(ctx, logs, o.Owner, Folding)
	if err != nil {
		return s, err
	}
	k := f.State
	s.Title, s.Begun, s.Ended, s.Locked = k.Data.Title, k.Begun, k.Data.Ended, k.Data.Locked
	s.Polls, s.Texts = len(k.Polls), len(k.Texts)
	for _, m := range k.Members {
		if m != nil && !m.Removed {
			s.Members++
		}
	}
	for _, round := range k.Votes {
		s.Votes += len(round)
	}
	return s, nil
}

// Readable reports whether a record of a room's log can be read.
func Readable(r journal.Record) bool {
	if r.Type == TypeVote || r.Type == TypeWithdrawn {
		return read(r, func(VoteRecord) {})
	}
	_, ok := Folding.Begin().add(r)
	return ok
}
