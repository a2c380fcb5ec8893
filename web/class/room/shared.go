package room

import (
	"context"
	"crypto/sha256"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/journal"
)

// shared is the directory of a server in a cluster.
type shared struct {
	*Hub
	c       *Cluster
	relays  map[string]*relay // by code; guarded by Hub.mu
	expired time.Time         // when rooms without an owner were last swept
	reports atomic.Uint64
	stop    func() // stops serving other servers
}

// lookup implements [directory]. It can find any room on any server, since servers do not load all
// rooms at startup.
func (h *shared) lookup(ctx context.Context, code string) (hosted, error) {
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
		h.cfg.Log.Warn("a room could not be looked up", "error", err)
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

func (h *shared) relayOf(code string) *relay {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.relays[code]
}

// ownedIn returns a room that this server owns under the lease with the given term.
func (h *shared) ownedIn(code string, term uint64) (o owned, ok bool) {
	f := h.relayOf(code)
	if f == nil {
		return o, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.here == nil || f.lease.Term != term || f.here.lost.Load() {
		return o, false
	}
	return owned{f.here, f}, true
}

// joinCluster starts handling requests from other servers.
func (h *Hub) joinCluster() (err error) {
	x := &shared{Hub: h, c: h.cfg.Cluster, relays: map[string]*relay{}, expired: time.Now()}
	h.dir, h.damaged = x, map[string]*damagedRoom{}
	h.cfg.Broker = &watchers{h.cfg.Broker, x}
	if x.stop, err = x.c.Bus.Serve(x.c.Server, x.answer); err != nil {
		h.cancel()
		return err
	}
	h.wg.Go(h.sweepOften)
	return nil
}

func (h *shared) stopServing() {
	if h.stop != nil { // nil if the bus refused to serve
		h.stop()
	}
}

// watchers is a broker that makes this server follow a room while anyone watches the room here,
// even if only on a classroom screen.
type watchers struct {
	class.Broker
	shared *shared
}

func (w *watchers) Subscribe(room string) (<-chan class.Note, func()) {
	notes, stop := w.Broker.Subscribe(room)
	f := w.shared.relayOf(room)
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

// open implements [directory]. It waits for other servers, and holds no lock while it does.
func (h *shared) open(ctx context.Context, c *core, most int) (hosted, error) {
	ctx, cancel := context.WithTimeout(ctx, h.c.Paces.Call)
	defer cancel()
	for {
		if h.c.isAway() {
			return nil, class.ErrAway
		}
		h.mu.Lock()
		err := h.choose(c, most)
		h.mu.Unlock()
		if err != nil {
			return nil, err
		}
		taken, err := h.taken(ctx, c.code)
		if err != nil {
			h.cfg.Log.Warn("a room code could not be looked up", "error", err)
			return nil, class.ErrAway
		}
		if taken { // the code belongs to a room on another server, or to a damaged one
			continue
		}
		lease, err := h.c.Leases.Take(ctx, c.code)
		if err != nil {
			h.cfg.Log.Warn("the lease of a new room could not be acquired", "error", err)
			return nil, class.ErrAway
		}
		if lease.Release == nil { // another server is creating a room with the same code
			continue
		}
		return h.begin(c, lease)
	}
}

// begin saves a new room under a lease, and starts it. The hash of the room's secret is a record in
// its log.
func (h *shared) begin(c *core, lease Lease) (hosted, error) {
	f := h.newRelay(c.code, c.secret)
	c.host, c.epoch = f, 1
	err := c.create(
		records.New(records.EpochType, strconv.FormatUint(c.epoch, 10), records.EpochType,
			records.Epoch{Epoch: c.epoch}),
		records.Entry{Record: records.SecretRecord(c.secret[:]), About: records.TypeSecret},
	)
	if err == nil {
		if _, err = f.start(c, lease); err == nil {
			return f, nil
		}
	}
	lease.Release()
	h.cfg.Log.Error("a new room could not be saved", "error", err)
	return nil, records.NotKept(err)
}

// findDamaged implements [directory].
func (h *shared) findDamaged(ctx context.Context, code string) (*damagedRoom, error) {
	code = class.NormalCode(code)
	if d := h.damagedHere(code); d != nil || !class.IsCode(code) {
		return d, nil
	}
	within, cancel := context.WithTimeout(ctx, h.c.Paces.Try)
	defer cancel()
	d, err := h.damagedShared(within, code)
	if err != nil && ctx.Err() == nil {
		h.cfg.Log.Warn("a room could not be looked up", "error", err)
		err = class.ErrAway
	}
	return d, err
}

// forgetOthers implements [directory].
func (h *shared) forgetOthers(ctx context.Context, learner string) error {
	logs, err := h.cfg.Logs.Owners(ctx, journal.Room)
	if err != nil {
		return err
	}
	var errs []error
	unread := 0
	for _, log := range logs {
		f, err := journal.Load(ctx, h.cfg.Logs, log.Owner, records.Folding)
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
			err = r.forget(ctx, learner)
		}
		if err != nil && !errors.Is(err, class.ErrGone) && !errors.Is(err, class.ErrNoRoom) {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	return notForgotten(unread)
}

// expireEvery is the interval at which a server looks for unused rooms without an owner in a
// cluster.
const expireEvery = time.Hour

// sweepOthers implements [directory]. It also drops relays that are no longer needed.
func (h *shared) sweepOthers(ctx context.Context) {
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
		if here, _, err := r.(*relay).locate(ctx, log.Used); err == nil && here != nil {
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
