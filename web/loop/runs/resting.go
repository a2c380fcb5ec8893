package runs

import (
	"slices"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/session"
)

// resting is a run that has been put to rest because it was idle. It has no goroutine and no
// session, only one block of memory with everything needed to rebuild it. It still belongs to the
// learner, keeps its permit, and wakes when its id is requested.
type resting struct {
	place      *admission.Permit
	used, left int64 // as in [Run]
	pages      pageAcks
	session    []byte // [session.Session.Rest]
}

// wakes is the approximate amount of memory that a run releases when it is put to rest, in addition
// to its cache and trace. It includes the goroutine with its stack, timers, channels, and a few
// dozen small objects.
const wakes = 16 << 10

// rest puts an evicted run to rest, unless it is being watched or has just been used. It is called
// by the run's goroutine, which ends if rest returns true.
func (rs *Registry) rest(r *Run, s *session.Session) bool {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	place, id := r.place.Load(), strings.Clone(r.id)
	if rs.byID[r.id] != r || r.pinned || place == nil || r.watched() ||
		r.used.Load() > time.Now().Add(-restedAfter).UnixNano() {
		return false
	}
	packed, err := s.Rest()
	if err != nil {
		rs.cfg.Log.Error("failed to encode an idle run", "err", err)
		return false
	}
	if place = rs.settle(place, id); place == nil {
		return false // the run is about to end
	}
	r.mu.Lock()
	pages := slices.Clone(r.pages)
	r.mu.Unlock()
	rs.resting[id] = resting{place, r.used.Load(), r.left.Load(), pages, packed}
	delete(rs.byID, id)
	rs.memory.freed.Add(wakes)
	return true
}

// settle calls [admission.Permit.Settle], so that the run at rest ends when its permit is given to
// another run.
func (rs *Registry) settle(place *admission.Permit, id string) (settled *admission.Permit) {
	settled = place.Settle(func() {
		rs.mu.Lock()
		defer rs.mu.Unlock()
		rs.endOf(id, settled)
	})
	return settled
}

// wake starts a goroutine for the resting run with the given id, and returns the run, which is
// still evicted. It returns nil if the learner has no such run: somebody who has merely seen the id
// in an address can neither wake the run nor keep it from expiring. mu is held.
func (rs *Registry) wake(learner, id string) *Run {
	x, found := rs.resting[id]
	if !found || x.place.Caller().Learner != learner {
		return nil
	}
	slot := rs.cfg.Slot()
	s, err := session.Wake(slot.Model(), rs.limits(), x.session)
	if err != nil {
		rs.cfg.Log.Error("failed to decode an idle run", "err", err)
		rs.dropID(id)
		return nil
	}
	delete(rs.resting, id)
	r := rs.newRun(x.place.Caller(), id, false, slot)
	r.place.Store(x.place)
	r.pages = x.pages
	r.left.Store(x.left)
	r.started.Store(true)
	r.version.Store(s.State().Version)
	rs.start(r, s)
	return r
}

// endOf ends the run with the given id if the run has this permit. mu is held.
func (rs *Registry) endOf(id string, place *admission.Permit) {
	if r := rs.byID[id]; r != nil && r.place.Load() == place || rs.resting[id].place == place {
		rs.dropID(id)
	}
}
