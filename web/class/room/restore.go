package room

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
)

// restored is the result of [restore].
type restored struct {
	rooms   []*core
	damaged map[string]*Damaged // by code
}

// restore reads all rooms independently of each other. A room that cannot be read is set
// aside.
func restore(ctx context.Context, cfg *Config) (all restored, err error) {
	secrets, err := cfg.Secrets.Secrets(ctx)
	if err != nil {
		return all, err
	}
	logs, err := cfg.Logs.Owners(ctx, journal.Room)
	if err != nil {
		return all, err
	}
	all.rooms = make([]*core, len(logs))
	unread := make([]*Damaged, len(logs))
	group, reading := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, log := range logs {
		hash := secrets[log.Name]
		group.Go(func() error {
			var c *core
			err := fault.Do(cfg.Log, "reading a room", func() (err error) {
				c, err = restoreRoom(reading, cfg, log, hash)
				return err
			})
			if err != nil && reading.Err() == nil {
				cfg.Log.Error("failed to read a room; its data is unchanged", "error", err)
				unread[i] = &Damaged{Hash: hash, Used: log.Used}
				if !records.ValidTime(log.Used) || log.Used.After(cfg.Now()) {
					unread[i].Used = cfg.Now()
				}
				return nil
			}
			all.rooms[i] = c
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return all, err
	}
	all.rooms = slices.DeleteFunc(all.rooms, func(c *core) bool { return c == nil })
	for _, c := range all.rooms {
		delete(secrets, c.code)
	}
	if all.damaged, err = findDamaged(ctx, cfg, secrets); err != nil {
		return all, err
	}
	for _, c := range all.rooms { // only some of these rooms' records were set aside
		delete(all.damaged, c.code)
	}
	for i, d := range unread {
		if d != nil {
			all.damaged[logs[i].Name] = d
		}
	}
	for room := range secrets { // left by rooms whose creation or deletion was interrupted
		if all.damaged[room] == nil {
			if err := cfg.Secrets.DropSecret(ctx, room); err != nil {
				return all, err
			}
		}
	}
	return all, nil
}

// restoreRoom reads a room, and sets aside its unreadable records. If the whole room is
// unreadable, restoreRoom sets all of it aside and returns nil.
func restoreRoom(ctx context.Context, cfg *Config, log journal.Info, hash []byte) (c *core, err error) {
	f, err := journal.Load(ctx, cfg.Logs, log.Owner, records.Folding)
	switch {
	case errors.Is(err, journal.ErrDamaged):
		return nil, setAside(ctx, cfg, log.Owner, "its log is unreadable")
	case err != nil:
		return nil, fmt.Errorf("reading a room: %w", err)
	case len(hash) != sha256.Size:
		return nil, setAside(ctx, cfg, log.Owner, "its secret is damaged or missing")
	case f.Seq == 0:
		return nil, setAside(ctx, cfg, log.Owner, "its log is empty")
	}
	if n := len(f.Unreadable); n > 0 {
		cfg.Log.Error("setting aside a room's unreadable records", "records", n)
		if err := cfg.Logs.SetAside(ctx, log.Owner, cfg.Now(), f.Unreadable...); err != nil {
			return nil, err
		}
	}
	if f.State.Begun.IsZero() {
		f.State.Begun = log.Used
	}
	f.State.Data.Title = cmp.Or(f.State.Data.Title, class.Untitled)
	used := log.Used
	if used.Before(f.State.Begun.Add(-clocksDiffer)) || used.After(cfg.Now().Add(clocksDiffer)) {
		used = cfg.Now() // otherwise, the room might be deleted as expired
	}
	c = &core{cfg: cfg, code: log.Name, secret: [sha256.Size]byte(hash), used: used}
	c.keptUsed = log.Used
	c.empty()
	if c.loss, err = lossOf(ctx, cfg, log.Owner); err != nil {
		return nil, err
	}
	c.become(f.State)
	c.place, c.since, c.owed = f.Seq, f.Since, c.book.OwesErasure() // an erasure may have been interrupted
	return c, nil
}

// clocksDiffer is how far a room's last use can plausibly be in the future or before its creation.
const clocksDiffer = 7 * 24 * time.Hour

// setAside sets a whole room aside.
func setAside(ctx context.Context, cfg *Config, room journal.Owner, why string) error {
	cfg.Log.Error("failed to open a room; its log was set aside: " + why)
	return cfg.Logs.SetAside(ctx, room, cfg.Now())
}

// lossDays is the number of days for which an instructor sees a notice about a room's lost data.
const lossDays = 7

// lossOf returns a notice about data that was recently set aside from a room, or nil if there was
// none.
func lossOf(ctx context.Context, cfg *Config, room journal.Owner) (*terms.Refusal, error) {
	list, err := cfg.Logs.Aside(ctx, room)
	n := 0
	for _, x := range list {
		if cfg.Now().Sub(x.Used) < lossDays*24*time.Hour {
			n += x.Records
		}
	}
	if err != nil || n == 0 {
		return nil, err
	}
	return terms.Refuse(class.CodeDamaged, "class.notice.loss", "n", n), nil
}

// findDamaged returns the rooms that were set aside at this startup or earlier. A log whose name is
// lost might belong to any secret that has no room.
func findDamaged(ctx context.Context, cfg *Config, secrets map[string][]byte) (map[string]*Damaged, error) {
	damaged := map[string]*Damaged{}
	logs, err := cfg.Logs.Owners(ctx, store.SetAsideKind)
	if err != nil {
		return nil, err
	}
	for _, log := range logs {
		switch kind, name := store.SetAsideOf(log.Name); {
		case kind == journal.Room && class.IsCode(name):
			damaged[name] = &Damaged{secrets[name], log.Used, log.Used}
		case kind != journal.Room && kind != journal.Learner:
			for room, hash := range secrets {
				if damaged[room] == nil {
					damaged[room] = &Damaged{hash, log.Used, log.Used}
				}
			}
		}
	}
	return damaged, nil
}
