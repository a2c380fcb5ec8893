package class

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/journal"
)

// lookup returns the room with a code, or nil if there is none. In a cluster, lookup finds
// every room on every server, since servers do not load all rooms at startup.
func (h *Hub) lookup(ctx context.Context, code string) (*Room, error) {
	c := h.cfg.Cluster
	if c == nil {
		return h.find(code), nil
	}
	if code = NormalCode(code); !IsCode(code) {
		return nil, nil
	}
	if f := h.relayOf(code); f != nil {
		f.mu.Lock()
		f.used = time.Now()
		f.mu.Unlock()
		return f.room, nil
	}
	if c.isAway() {
		return nil, ErrAway
	}
	within, cancel := context.WithTimeout(ctx, c.Paces.Try)
	defer cancel()
	hash, err := c.Secret(within, code)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		h.cfg.Log.Warn("a room could not be looked up", "error", err)
		return nil, ErrAway
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
	return f.room, nil
}

func (h *Hub) relayOf(code string) *relay {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.relays[code]
}

// ownedIn returns a room that this server owns under the lease with the given term.
func (h *Hub) ownedIn(code string, term uint64) *Room {
	f := h.relayOf(code)
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.here == nil || f.lease.Term != term || f.here.lost.Load() {
		return nil
	}
	return f.here
}

// joinCluster starts handling the requests of other servers.
func (h *Hub) joinCluster() error {
	c := h.cfg.Cluster
	stop, err := c.Bus.Serve(c.Server, h.answer)
	if err != nil {
		h.cancel()
		return err
	}
	h.cfg.Broker = &watchers{h.cfg.Broker, h}
	h.stop, h.damaged, h.expired = stop, map[string]*damagedRoom{}, time.Now()
	h.wg.Go(h.sweepOften)
	return nil
}

// watchers is a broker that makes its server follow a room while anyone watches the room
// there, even if only on a classroom screen.
type watchers struct {
	Broker
	hub *Hub
}

func (w *watchers) Subscribe(room string) (<-chan Note, func()) {
	notes, stop := w.Broker.Subscribe(room)
	f := w.hub.relayOf(room)
	if f == nil {
		return notes, stop
	}
	f.watched(1)
	return notes, func() {
		f.watched(-1)
		stop()
	}
}

func (f *relay) watched(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watching += n
	f.used = time.Now()
}

// openShared is [Hub.open] in a cluster. It waits for other servers, so it holds no lock
// while it waits.
func (h *Hub) openShared(ctx context.Context, c *core, most int) (*Room, error) {
	ctx, cancel := context.WithTimeout(ctx, h.cfg.Cluster.Paces.Call)
	defer cancel()
	for {
		if h.cfg.Cluster.isAway() {
			return nil, ErrAway
		}
		h.mu.Lock()
		err := h.choose(c, most)
		h.mu.Unlock()
		if err != nil {
			return nil, err
		}
		taken, err := h.taken(ctx, c.code)
		if err != nil {
			h.cfg.Log.Warn("a code could not be looked up", "error", err)
			return nil, ErrAway
		}
		if taken { // the code belongs to a room on another server, or to a damaged one
			continue
		}
		lease, err := h.cfg.Cluster.Leases.Take(ctx, c.code)
		if err != nil {
			h.cfg.Log.Warn("the lease of a new room could not be taken", "error", err)
			return nil, ErrAway
		}
		if lease.Release == nil { // another server is making a room with the same code
			continue
		}
		return h.beginShared(ctx, c, lease)
	}
}

func (h *Hub) beginShared(ctx context.Context, c *core, lease Lease) (*Room, error) {
	f := h.newRelay(c.code, c.secret)
	c.relay, c.epoch = f, 1
	err := c.create(ctx)
	if err == nil {
		var r *Room
		if r, err = f.start(c, lease); err == nil {
			return r, nil
		}
	}
	lease.Release()
	h.cfg.Log.Error("a new room could not be saved", "error", err)
	return nil, notKept(err)
}

// entering reports whether a learner is a member and, if they may not enter, why.
func (r *Room) entering(ctx context.Context, who admission.Caller) (entered, error) {
	if r.relay != nil {
		return call(ctx, r.relay, opEnter, whoArgs{who})
	}
	return r.enter(ctx, who)
}

func (r *Room) enter(ctx context.Context, who admission.Caller) (entered, error) {
	return get(ctx, r, func(c *core) (entered, error) {
		e := entered{Known: c.byLearner[who.Learner] != nil}
		e.Refused, _ = terms.AsRefusal(c.admit(who))
		return e, nil
	})
}

// ready opens the run of a room that someone is about to view.
func (r *Room) ready(ctx context.Context) error {
	if r.relay != nil {
		return r.relay.ready(ctx)
	}
	return r.wake(ctx)
}

// forgetShared removes a learner from the cluster's rooms that other servers own.
func (h *Hub) forgetShared(ctx context.Context, learner string) error {
	logs, err := h.cfg.Logs.Owners(ctx, journal.Room)
	if err != nil {
		return err
	}
	var errs []error
	unread := 0
	for _, log := range logs {
		f, err := journal.Load(ctx, h.cfg.Logs, log.Owner, folding)
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
		r, err := h.lookup(ctx, log.Name)
		if err == nil && r != nil {
			_, err = call(ctx, r.relay, opForget, whoArgs{admission.Caller{Learner: learner}})
		}
		if err != nil && !errors.Is(err, ErrGone) && !errors.Is(err, ErrNoRoom) {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	return notForgotten(unread)
}

// expireEvery is the interval at which a server looks for unused rooms of a cluster that
// have no owner.
const expireEvery = time.Hour

// sweepShared deletes unused rooms without an owner, and drops relays that are no longer
// needed.
func (h *Hub) sweepShared(ctx context.Context) {
	h.mu.Lock()
	for code, f := range h.relays {
		f.mu.Lock()
		if !f.follows && f.here == nil && time.Since(f.used) > h.cfg.Cluster.Paces.Idle {
			delete(h.relays, code)
			f.room.stop()
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
	logs, err := h.cfg.Logs.Owners(ctx, journal.Room)
	if err == nil {
		err = h.sweepAside(ctx, logs)
	}
	if err != nil {
		h.cfg.Log.Error("listing old rooms failed", "error", err)
		return
	}
	for _, log := range logs {
		if h.cfg.Aged().Sub(log.Used) <= h.cfg.Limits.TTL {
			continue
		}
		r, err := h.lookup(ctx, log.Name)
		if err != nil || r == nil {
			continue
		}
		if here, _, err := r.relay.locate(ctx, log.Used); err == nil && here != nil {
			h.sweepRoom(ctx, here)
		}
	}
}

// async calls each function in list in its own goroutine; [Hub.Close] waits for them. If the
// hub is closed, async calls none of them and returns false. The caller must not hold the
// hub's lock.
func (h *Hub) async(list ...func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil {
		return false
	}
	for _, f := range list {
		h.wg.Go(f)
	}
	return true
}
