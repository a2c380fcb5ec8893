package cluster

import (
	"context"
	"errors"
	"time"
)

// lookOften repeatedly checks the sessions of the servers that this server has looked up. It
// detects the end of a session before the session's rooms are needed, so that requests do not wait
// for a dead server.
func (l *leases) lookOften() {
	beat := time.NewTicker(l.life / 12)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			l.lookAround()
		case <-l.ctx.Done():
			return
		}
	}
}

func (l *leases) lookAround() {
	l.mu.Lock()
	all := map[string]string{} // servers by session
	for id, s := range l.seen {
		all[id] = s.server
	}
	l.mu.Unlock()
	for id, server := range all {
		ctx, cancel := context.WithTimeout(l.ctx, l.life/6)
		_, err := l.alive(ctx, server, id)
		cancel()
		if err != nil {
			return // NATS is down
		}
	}
}

// alive returns a channel that will be closed when the session of another server is over, or
// nil if it is already over. It ends a session that has not been renewed for too long.
//
// By then, the other server, whether it is slow, stopped or disconnected, also counts the session
// as lost, provided that its clock runs at a steady rate. It is therefore safe for another server
// to take over. A dead server is detected earlier: for longer than a reconnection takes, NATS
// reports that nobody subscribes under the server's name.
func (l *leases) alive(ctx context.Context, server, id string) (over <-chan struct{}, err error) {
	s, err := l.look(ctx, id)
	if err != nil || s == nil {
		return nil, err
	}
	quiet := time.Since(s.since)
	if quiet < l.life/4 || quiet < l.life/2+l.life/8 && !l.deserted(ctx, server, id) {
		return s.over, nil
	}
	_, err = l.keys.put(ctx, sessionKey(id), sessionValue{server, true}, s.revision)
	if errors.Is(err, errRevision) { // the session was renewed after all
		return s.over, nil
	} else if err != nil {
		return nil, err
	}
	l.passed(id)
	return nil, nil
}

// look reads the key of another server's session, and returns its last known state, or nil
// if it is over.
func (l *leases) look(ctx context.Context, id string) (*sighting, error) {
	var v sessionValue
	revision, err := l.keys.get(ctx, sessionKey(id), &v)
	if err != nil {
		return nil, err
	}
	if revision == 0 || v.Over {
		l.passed(id)
		return nil, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.seen[id]
	if s == nil {
		s = &sighting{server: v.Server, over: make(chan struct{})}
		l.seen[id] = s
	}
	if s.revision != revision {
		s.revision, s.since, s.deserted = revision, time.Now(), time.Time{}
	}
	is := *s
	return &is, nil
}

// passed records that another server's session is over.
func (l *leases) passed(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.seen[id]; s != nil {
		close(s.over)
		delete(l.seen, id)
	}
}

// deserted reports whether NATS has had no subscriber under a server's name for at least a
// sixth of a lease lifetime. If NATS does not respond immediately, it returns false.
func (l *leases) deserted(ctx context.Context, server, id string) bool {
	ctx, cancel := context.WithTimeout(ctx, l.life/12)
	defer cancel()
	absent := l.absent(ctx, server)
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.seen[id]
	switch {
	case s == nil || !absent:
		if s != nil {
			s.deserted = time.Time{}
		}
		return false
	case s.deserted.IsZero():
		s.deserted = time.Now()
	}
	return time.Since(s.deserted) >= l.life/6
}
