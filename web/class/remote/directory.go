package remote

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/class/room"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
)

// taken reports whether the cluster stores any data of a room with this code.
func (h *shared) taken(ctx context.Context, code string) (bool, error) {
	d, err := h.damagedShared(ctx, code)
	return d != nil, err
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

// Lookup implements [room.Directory]. It can find any room on any server, since servers do not load
// all rooms at startup.
func (h *shared) Lookup(ctx context.Context, code string) (room.Hosted, error) {
	if code = class.NormalCode(code); !class.IsCode(code) {
		return nil, nil
	}
	if f := h.relayOf(code); f != nil {
		f.mu.Lock()
		f.used = time.Now()
		f.mu.Unlock()
		return f, nil
	}
	if h.c.isAway() {
		return nil, class.ErrAway
	}
	within, cancel := context.WithTimeout(ctx, h.c.Paces.Try)
	defer cancel()
	hash, err := h.c.Secret(within, code)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		h.Config().Log.Warn("failed to look up a room", "error", err)
		return nil, class.ErrAway
	case len(hash) != sha256.Size:
		return nil, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.relays[code]
	if f == nil {
		f = h.newRelay(code, [sha256.Size]byte(hash))
		h.relays[code] = f
	}
	return f, nil
}

func (h *shared) StopServing() {
	if h.stop != nil { // nil if the bus refused to serve
		h.stop()
	}
}

// Open implements [room.Directory]. It waits for other servers, and holds no lock while it does.
func (h *shared) Open(ctx context.Context, u *room.Unstarted, most int) (room.Hosted, error) {
	ctx, cancel := context.WithTimeout(ctx, h.c.Paces.Call)
	defer cancel()
	for {
		if h.c.isAway() {
			return nil, class.ErrAway
		}
		if err := h.ChooseCode(u, most); err != nil {
			return nil, err
		}
		taken, err := h.taken(ctx, u.Code())
		if err != nil {
			h.Config().Log.Warn("failed to look up a room code", "error", err)
			return nil, class.ErrAway
		}
		if taken { // the code belongs to a room on another server, or to a damaged one
			continue
		}
		lease, err := h.c.Leases.Take(ctx, u.Code())
		if err != nil {
			h.Config().Log.Warn("failed to acquire the lease of a new room", "error", err)
			return nil, class.ErrAway
		}
		if lease.Release == nil { // another server is creating a room with the same code
			continue
		}
		return h.begin(u, lease)
	}
}

// begin saves a new room under a lease, and starts it. The hash of the room's secret is a record in
// its log.
func (h *shared) begin(u *room.Unstarted, lease Lease) (room.Hosted, error) {
	secret := u.SecretHash()
	f := h.newRelay(u.Code(), secret)
	err := u.Create(f, 1, records.New(
		records.EpochType, "1", records.EpochType, records.Epoch{Epoch: 1},
	), records.SecretEntry(secret[:]))
	if err == nil {
		if _, err = f.start(u, lease); err == nil {
			return f, nil
		}
	}
	lease.Release()
	h.Config().Log.Error("failed to save a new room", "error", err)
	return nil, records.NotKept(err)
}

// FindDamaged implements [room.Directory].
func (h *shared) FindDamaged(ctx context.Context, code string) (*room.Damaged, error) {
	code = class.NormalCode(code)
	if d := h.DamagedHere(code); d != nil || !class.IsCode(code) {
		return d, nil
	}
	within, cancel := context.WithTimeout(ctx, h.c.Paces.Try)
	defer cancel()
	d, err := h.damagedShared(within, code)
	if err != nil && ctx.Err() == nil {
		h.Config().Log.Warn("failed to look up a room", "error", err)
		err = class.ErrAway
	}
	return d, err
}

// ForgetOthers implements [room.Directory].
func (h *shared) ForgetOthers(ctx context.Context, learner string) error {
	logs, err := h.Config().Logs.Owners(ctx, journal.Room)
	if err != nil {
		return err
	}
	var errs []error
	unread := 0
	for _, log := range logs {
		f, err := journal.Load(ctx, h.Config().Logs, log.Owner, records.Folding)
		if errors.Is(err, journal.ErrDamaged) {
			unread++
			continue
		} else if err != nil {
			errs = append(errs, err)
			continue
		}
		is := false
		for _, m := range f.State.Members {
			is = is || m != nil && m.Learner == learner
		}
		if !is {
			continue
		}
		r, err := h.Lookup(ctx, log.Name)
		if err == nil && r != nil {
			err = r.Forget(ctx, learner)
		}
		if err != nil && !errors.Is(err, class.ErrGone) && !errors.Is(err, class.ErrNoRoom) {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	return room.NotForgotten(unread)
}

// expireEvery is the interval at which a server looks for unused rooms without an owner in a
// cluster.
const expireEvery = time.Hour

// SweepOthers implements [room.Directory]. It also drops relays that are no longer needed.
func (h *shared) SweepOthers(ctx context.Context) {
	h.mu.Lock()
	for code, f := range h.relays {
		f.mu.Lock()
		if !f.follows && f.here == nil && time.Since(f.used) > h.c.Paces.Idle {
			delete(h.relays, code)
			f.stop()
		}
		f.mu.Unlock()
	}
	due := time.Since(h.expired) > expireEvery
	if due {
		h.expired = time.Now()
	}
	h.mu.Unlock()
	if !due {
		return
	}
	logs, err := h.Config().Logs.Owners(ctx, journal.Room)
	if err == nil {
		err = h.sweepAside(ctx, logs)
	}
	if err != nil {
		h.Config().Log.Error("failed to list old rooms", "error", err)
		return
	}
	for _, log := range logs {
		if h.Config().Aged().Sub(log.Used) <= h.Config().Limits.TTL {
			continue
		}
		r, err := h.Lookup(ctx, log.Name)
		if err != nil || r == nil {
			continue
		}
		if here, _, err := r.(*relay).locate(ctx, log.Used); err == nil && here != nil {
			h.SweepRoom(ctx, here)
		}
	}
}
