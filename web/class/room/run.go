package room

import (
	"context"
	"errors"
	"slices"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/journal"
)

// mostFaults is the number of panics after which a room stays closed until the server
// restarts. After each earlier panic, the room is restarted.
const mostFaults = 5

// run runs a room's goroutine until the room ends. If the goroutine panics, the process
// survives, and the room is restarted from its log with the same people in it.
func (h *Hub) run(r *Local, c *core) {
	defer close(r.done)
	secret := c.secret
	for range mostFaults {
		if fault.Do(h.cfg.Log, "a room", func() error {
			c.loop(r.ctx, r.requests, r.woken, r.restoreRun)
			return nil
		}) == nil {
			return
		}
		err := fault.Do(h.cfg.Log, "restarting a room", func() (err error) {
			c, err = h.again(r, c)
			return err
		})
		if err != nil {
			h.cfg.Log.Error("failed to restart a room", "error", err)
			break
		}
	}
	h.cfg.Log.Error("a room has failed too often; it will remain closed until the server restarts")
	h.mu.Lock()
	delete(h.rooms, r.code)
	h.damaged[r.code] = &Damaged{Hash: secret[:], Used: h.cfg.Now()}
	h.mu.Unlock()
	r.stop()
}

// again returns a new core for a room that has panicked. It refuses the votes that have not been
// saved, so that clients resend them.
func (h *Hub) again(r *Local, old *core) (*core, error) {
	for _, p := range slices.Concat(old.saving, old.pending) {
		if p.done != nil {
			p.done(class.ErrKept)
		}
	}
	h.saveJoins(old)
	log := journal.Info{Owner: old.owner(), Used: old.keptUsed}
	c, err := restoreRoom(context.WithoutCancel(r.ctx), &h.cfg, log, old.secret[:])
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, errors.New("the room's log was set aside")
	}
	r.attach(c)
	c.seq, c.used = max(c.seq, old.seq), old.used
	for _, was := range old.members {
		if m := c.byLearner[was.Learner]; m != nil {
			m.pages, m.known, m.address = was.pages, was.known, was.address
			c.here += was.pages
		}
	}
	c.presenter, c.presenterPages = old.presenter, old.presenterPages
	c.servers, c.askers = old.servers, old.askers
	if c.host = old.host; c.epoch != old.epoch {
		r.Abandon() // another server runs the room now
	}
	c.notice, c.lost = brokenNotice, true
	c.publish()
	r.restoreRun()
	return c, nil
}

// saveJoins saves the changes, mostly new members, that a room had confirmed but not yet saved when
// it panicked. It does not add changes that are already in the log.
func (h *Hub) saveJoins(old *core) {
	var left []journal.Record
	for _, p := range slices.Concat(old.saving, old.pending) {
		for _, x := range p.changes {
			if p.done == nil && x.Data != nil {
				left = append(left, x.Record)
			}
		}
	}
	if len(left) == 0 {
		return
	}
	batch := journal.Batch{Owner: old.owner(), At: old.used, Records: left}
	if _, err := old.append(batch); err != nil {
		h.cfg.Log.Error("failed to save a class", "error", err)
	}
}

// begin starts the goroutine of a room.
func (h *Hub) begin(u *Unstarted) *Local {
	c := u.core
	r := &Local{
		Face: NewFace(c.code, c.secret), cfg: &h.cfg, hub: h.ctx, spawn: h.wg.Go,
		requests: make(chan func(*core)), woken: make(chan struct{}, 1), runLock: make(chan struct{}, 1),
		done: make(chan struct{}),
	}
	r.ctx, r.stop = context.WithCancel(h.ctx)
	r.drop = func() { h.Drop(r) }
	r.attach(c)
	c.show()
	u.running = r
	h.wg.Go(func() { h.run(r, c) })
	return r
}

// RestoreOwned reads a room of which this server has become the owner with the given epoch. It
// returns [ErrMoved] if there is already a newer owner.
func (h *Hub) RestoreOwned(
	ctx context.Context, log journal.Info, face *Face, as Host, epoch uint64,
) (*Unstarted, error) {
	var c *core
	if err := fault.Do(h.cfg.Log, "reading a room", func() (err error) {
		c, err = restoreRoom(ctx, &h.cfg, log, face.secret[:])
		return err
	}); err != nil {
		return nil, err
	}
	if c == nil {
		return nil, (&Damaged{SetAside: h.cfg.Now()}).Err()
	}
	if c.epoch != epoch {
		return nil, ErrMoved
	}
	c.host = as
	// The view's number is saved immediately, since the next owner's views must have higher
	// numbers.
	if err := c.saveSeq(); err != nil {
		return nil, err
	}
	c.keptSeq = c.seq
	return &Unstarted{core: c}, nil
}

// Start starts a room. It first calls begun, which returns a function to run in a goroutine that
// [Hub.Close] waits for. The hub is locked during begun.
func (h *Hub) Start(u *Unstarted, begun func(*Local) (watch func())) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil {
		return class.ErrGone
	}
	r := h.begin(u)
	h.rooms[r.code] = r
	h.wg.Go(begun(r))
	return nil
}
