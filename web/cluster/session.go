package cluster

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nuid"

	"github.com/tokenbytoken/viz/web/journal/stream"
)

// forgotten is the number of lease lifetimes without a renewal after which the key of a
// session is deleted.
const forgotten = 20

// deaf is the number of lease lifetimes without a confirmation after which the server tries another
// NATS node: a node that is cut off from the others keeps its connections but cannot store
// anything. Electing a leader takes less time.
const deaf = 3

// begin begins a session.
func (l *leases) begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, l.life/2)
	defer cancel()
	if err := l.keys.ensure(ctx); err != nil {
		return err
	}
	id, sent := nuid.Next(), time.Now()
	revision, err := l.keys.put(ctx, sessionKey(id), sessionValue{Server: l.server}, 0)
	if err != nil {
		l.failed(err)
		return err // if the key was stored anyway, it is a session without rooms, which expires
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session, l.released = &tenure{id, revision, sent}, nil
	close(l.begun)
	l.confirmed(sent)
	return nil
}

// confirmed records that NATS has confirmed a renewal. The caller holds the lock.
func (l *leases) confirmed(sent time.Time) {
	l.answered, l.round, l.refused = time.Now(), time.Since(sent), nil
	l.clock.got = l.clock.now()
	l.clock.sent = l.clock.got.Add(-l.round)
}

// failed records the reason why a session could not be begun or renewed.
func (l *leases) failed(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused = err
}

// keep renews the session until the leases are closed. If the session is lost, keep begins
// another one.
func (l *leases) keep() {
	defer close(l.done)
	var looking sync.WaitGroup
	looking.Go(l.lookOften)
	defer looking.Wait()
	beat := time.NewTicker(l.life / 6)
	defer beat.Stop()
	clean, moved := time.Now(), time.Now()
	for {
		select {
		case <-beat.C:
		case <-l.hurry:
			l.deleteReleased()
			continue
		case <-l.ctx.Done():
			return
		}
		if l.current() == "" {
			if l.begin(l.ctx) != nil {
				if l.silent() > deaf*l.life && time.Since(moved) > deaf*l.life {
					moved = time.Now()
					_ = l.move() // an error means that the connection is closed because the program is ending
				}
				continue // retried at the next beat
			}
			l.finishBefore()
		}
		l.renew()
		l.compareClocks()
		l.deleteReleased()
		if time.Since(clean) > forgotten*l.life {
			clean = time.Now()
			l.clean()
		}
	}
}

// renew renews the session once. If there has been no confirmation for too long, it ends the
// session.
func (l *leases) renew() {
	l.mu.Lock()
	s := *l.session
	l.mu.Unlock()
	until, cancel := context.WithDeadline(l.ctx, s.sent.Add(l.life/2))
	defer cancel()
	for {
		sent := time.Now()
		try, end := context.WithTimeout(until, l.life/4)
		revision, err := l.keys.put(try, sessionKey(s.id), sessionValue{Server: l.server}, s.revision)
		end()
		if err != nil {
			l.failed(err)
		}
		switch {
		case err == nil:
			l.mu.Lock()
			l.session.revision, l.session.sent = revision, sent
			l.confirmed(sent)
			l.mu.Unlock()
			return
		case errors.Is(err, errRevision) && l.adopt(until, &s):
			continue
		case errors.Is(err, errRevision) || stream.Pause(until, min(l.life/24, again)) != nil:
			if l.ctx.Err() == nil {
				l.lose()
			}
			return
		}
	}
}

// adopt checks whether a renewal whose reply got lost was stored. It returns false if the session
// is over.
func (l *leases) adopt(ctx context.Context, s *tenure) bool {
	var v sessionValue
	revision, err := l.keys.get(ctx, sessionKey(s.id), &v)
	if err != nil {
		return ctx.Err() == nil
	}
	s.revision = revision
	return revision > 0 && !v.Over
}

// lose ends the session and all its leases.
func (l *leases) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.before = l.session.id
	if l.ctx.Err() == nil {
		l.lost += uint64(len(l.held))
	}
	for _, h := range l.held {
		close(h.lost)
	}
	l.session, l.held, l.released = nil, map[string]*holding{}, nil
	l.begun = make(chan struct{})
}

// deleteReleased deletes the keys of released rooms. Failed deletions are retried at the
// next beat.
func (l *leases) deleteReleased() {
	l.mu.Lock()
	list := l.released
	l.released = nil
	l.mu.Unlock()
	for i, revision := range list {
		ctx, cancel := context.WithTimeout(l.ctx, l.life/6)
		err := l.keys.remove(ctx, revision)
		cancel()
		if err != nil {
			l.mu.Lock()
			l.released = append(l.released, list[i:]...)
			l.mu.Unlock()
			return
		}
	}
}

// clean deletes the keys of sessions that ended a long time ago.
func (l *leases) clean() {
	ctx, cancel := context.WithTimeout(l.ctx, l.life/2)
	defer cancel()
	ids, err := l.keys.list(ctx, sessionKey("*"))
	if err != nil {
		return // the next call retries this
	}
	own := l.current()
	for _, id := range ids {
		if id == own {
			continue
		}
		if revision := l.old(ctx, id); revision > 0 {
			_ = l.keys.remove(ctx, revision) // the next call retries this
		}
	}
}

// old returns the revision of a session's key if this server has not seen it change for a long
// time, and otherwise 0.
func (l *leases) old(ctx context.Context, id string) uint64 {
	var v sessionValue
	revision, err := l.keys.get(ctx, sessionKey(id), &v)
	if err != nil || revision == 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.ended[id]
	if s == nil || s.revision != revision {
		s = &sighting{revision: revision, since: time.Now()}
		l.ended[id] = s
	}
	if time.Since(s.since) < forgotten*l.life/2 {
		return 0
	}
	delete(l.ended, id)
	return revision
}

// finishBefore marks the key of the session that this server has lost as over, so that other
// servers can take its rooms immediately.
func (l *leases) finishBefore() {
	l.mu.Lock()
	id := l.before
	l.before = ""
	l.mu.Unlock()
	if id == "" {
		return
	}
	ctx, cancel := context.WithTimeout(l.ctx, l.life/2)
	defer cancel()
	_ = l.finish(ctx, id) // if this fails, the other servers will soon consider it over anyway
}

// finish marks the key of one of this server's sessions as over.
func (l *leases) finish(ctx context.Context, id string) error {
	for {
		var v sessionValue
		revision, err := l.keys.get(ctx, sessionKey(id), &v)
		if err != nil || revision == 0 || v.Over {
			return err
		}
		_, err = l.keys.put(ctx, sessionKey(id), sessionValue{l.server, true}, revision)
		if !errors.Is(err, errRevision) {
			return err
		}
	}
}

// close ends the session, so that other servers can take its rooms immediately.
func (l *leases) close() error {
	l.stop()
	<-l.done
	id := l.current()
	if id == "" {
		return nil
	}
	l.lose()
	ctx, cancel := context.WithTimeout(context.Background(), l.life)
	defer cancel()
	return l.finish(ctx, id)
}
