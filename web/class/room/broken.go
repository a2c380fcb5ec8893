package room

import (
	"context"
	"errors"
	"slices"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/journal"
)

// mostFaults is the number of panics after which a room stays closed until the server
// restarts. After each earlier panic, the room is restarted.
const mostFaults = 5

// brokenNotice is shown to a class whose room was restarted.
var brokenNotice = terms.Refuse(terms.CodeModel, "class.notice.broken")

// run runs a room's goroutine until the room ends. If the goroutine panics, the process
// survives, and the room is restarted from its log with the same people in it.
func (h *Hub) run(r *Local, c *core) {
	defer close(r.done)
	secret := c.secret
	for range mostFaults {
		if fault.Do(h.cfg.Log, "a room", func() error { c.loop(r.ctx); return nil }) == nil {
			return
		}
		err := fault.Do(h.cfg.Log, "restarting a room", func() (err error) {
			c, err = h.again(r, c)
			return err
		})
		if err != nil {
			h.cfg.Log.Error("a room could not be restarted", "error", err)
			break
		}
	}
	h.cfg.Log.Error("a room has failed too often and stays closed until the server restarts")
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
	c.room, c.seq, c.used = r, max(c.seq, old.seq), old.used
	for _, was := range old.members {
		if m := c.byLearner[was.Learner]; m != nil {
			m.pages, m.known, m.address = was.pages, was.known, was.address
			c.here += was.pages
		}
	}
	c.presenter, c.presenterPages = old.presenter, old.presenterPages
	c.servers = old.servers
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
		h.cfg.Log.Error("a class could not be saved", "error", err)
	}
}

// stoppedNotice is shown to a class whose run has failed and could not be restored.
var stoppedNotice = terms.Refuse(terms.CodeModel, "class.notice.stopped")

// runEnded is closed when the room's run has ended. It is nil if there is no run.
func (c *core) runEnded() <-chan struct{} {
	if c.run == nil {
		return nil
	}
	return c.run.Done()
}

// loseRun drops a run that has failed. The class continues to see its last state until there
// is a new run.
func (c *core) loseRun() {
	c.cfg.Log.Error("a room's run failed and was dropped")
	_ = c.commit() // logged; if it failed, the run is reopened at the last saved stage
	last := c.state
	c.replaceRun(nil)
	c.state, c.notice, c.lost = last, brokenNotice, true
	c.publish()
}

// restoreRun reopens the run after a fault, if anyone is watching. If that fails, the class is
// notified.
func (r *Local) restoreRun() {
	h := r.hub
	h.wg.Go(func() {
		err := fault.Do(h.cfg.Log, "reopening a room's run", func() error {
			leave, err := r.lockRun(r.ctx)
			if err != nil {
				return err
			}
			defer leave()
			_, err = r.awake(r.ctx)
			return err
		})
		if err == nil || r.ctx.Err() != nil {
			return
		}
		h.cfg.Log.Error("a room's run could not be reopened", "error", err)
		_ = r.ask(r.ctx, func(c *core) error { // the room may be gone
			c.notice = stoppedNotice
			c.publish()
			return nil
		})
	})
}
