package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/tokenbytoken/viz/web/class/remote"
	"github.com/tokenbytoken/viz/web/journal/stream"
)

// leases takes and renews the leases of all rooms that this server owns.
type leases struct {
	server string
	life   time.Duration
	keys   *keys
	absent func(ctx context.Context, server string) bool // reports whether NATS has no subscriber under a name
	move   func() error                                  // connects to another NATS node, if there is one
	ctx    context.Context
	stop   context.CancelFunc
	done   chan struct{} // closed when renewal of the session has stopped
	hurry  chan struct{} // signals that a lease must be released; has capacity 1

	mu       sync.Mutex
	session  *tenure              // nil if there is no session
	refused  error                // the last error when beginning or renewing a session
	begun    chan struct{}        // closed while there is a session
	before   string               // the lost session, until its key is marked as over
	held     map[string]*holding  // by room
	released []uint64             // revisions of keys of rooms that this server no longer owns
	seen     map[string]*sighting // active sessions of other servers, by id
	ended    map[string]*sighting // sessions whose keys may be deleted, by id; used only by keep
	answered time.Time            // when NATS last confirmed a renewal
	round    time.Duration        // how long that confirmation took
	clock    clock
	taken    uint64
	lost     uint64
}

// tenure is this server's session, which the server renews.
type tenure struct {
	id       string
	revision uint64    // of the session's key
	sent     time.Time // when the last confirmed renewal was sent
}

// holding is a lease held by this server.
type holding struct {
	term uint64 // the revision of the room's key
	lost chan struct{}
}

// sighting is the last known state of another server's session.
type sighting struct {
	server   string
	revision uint64
	since    time.Time     // when this revision was first seen
	deserted time.Time     // when NATS was first seen to have no subscriber under the server's name; zero if it has one
	over     chan struct{} // closed when the session is over
}

// The values of keys.
type (
	sessionValue struct {
		Server string `json:"server"`
		Over   bool   `json:"over,omitempty"` // the session has been marked as over
	}
	roomValue struct {
		Server  string `json:"server"`
		Session string `json:"session"`
	}
)

func sessionKey(id string) string { return "server." + stream.SubjectPart(id) }
func roomKey(code string) string  { return "room." + stream.SubjectPart(code) }

// errNoSession is returned while this server cannot own rooms.
var errNoSession = fmt.Errorf("%w: this server has no session", ErrAway)

// openLeases begins this server's session.
func openLeases(ctx context.Context, c *Cluster) (*leases, error) {
	js, err := jetstream.New(c.nc)
	if err != nil {
		return nil, err
	}
	l := &leases{
		server: c.server, life: c.cfg.Life, absent: c.bus.absent, done: make(chan struct{}),
		hurry: make(chan struct{}, 1), begun: make(chan struct{}), answered: time.Now(), move: c.nc.ForceReconnect,
		clock: clock{now: c.cfg.Now, log: c.cfg.Log},
		held:  map[string]*holding{}, seen: map[string]*sighting{}, ended: map[string]*sighting{},
		keys: &keys{
			js: js, bucket: c.cfg.Prefix + "_leases", lose: func() error { return nil },
			replicas: func() int { return stream.Replicas(c.nc, c.cfg.Replicas) },
		},
	}
	l.ctx, l.stop = context.WithCancel(context.Background())
	for err = l.begin(ctx); err != nil; err = l.begin(ctx) {
		if !passing(err) || stream.Pause(ctx, again) != nil {
			l.stop()
			return nil, err
		}
	}
	l.compareClocks()
	go l.keep()
	return l, nil
}

// Take implements [remote.Leases].
func (l *leases) Take(ctx context.Context, code string) (remote.Lease, error) {
	for {
		id, err := l.wait(ctx)
		if err != nil {
			return remote.Lease{}, err
		}
		var v roomValue
		revision, err := l.keys.get(ctx, roomKey(code), &v)
		if err != nil {
			return remote.Lease{}, err
		}
		if revision > 0 {
			over, err := l.owned(ctx, code, v, id)
			if err != nil {
				return remote.Lease{}, err
			} else if over != nil {
				return remote.Lease{Server: v.Server, Term: revision, Lost: over}, nil
			}
		}
		term, err := l.keys.put(ctx, roomKey(code), roomValue{l.server, id}, revision)
		if errors.Is(err, errRevision) {
			continue // another server has just written the key
		} else if err != nil {
			return remote.Lease{}, err // if the key was written, the next Take finds it
		}
		return l.hold(code, id, term)
	}
}

// owned returns a channel that is closed when the server named in a room's key no longer
// owns the room. It returns nil if that server does not own the room now.
func (l *leases) owned(ctx context.Context, code string, v roomValue, own string) (<-chan struct{}, error) {
	if v.Session != own {
		return l.alive(ctx, v.Server, v.Session)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.held[code]; h != nil {
		return h.lost, nil
	}
	return nil, nil // the room was released, but its key has not been deleted yet
}

// hold records a lease that was taken under the session with the given id.
func (l *leases) hold(code, id string, term uint64) (remote.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session == nil || l.session.id != id {
		return remote.Lease{}, errNoSession // the session has been lost, and the lease with it
	}
	h := &holding{term, make(chan struct{})}
	l.held[code] = h
	l.taken++
	return remote.Lease{Server: l.server, Term: term, Lost: h.lost, Release: func() { l.release(code, h) }}, nil
}

// release releases a lease. The room's key is deleted shortly afterward.
func (l *leases) release(code string, h *holding) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[code] != h {
		return
	}
	delete(l.held, code)
	l.released = append(l.released, h.term)
	select {
	case l.hurry <- struct{}{}:
	default:
	}
}

// current returns the id of this server's session, or "" if there is none.
func (l *leases) current() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session == nil {
		return ""
	}
	return l.session.id
}

// wait waits for a session, for up to the lifetime of a lease, since the previous one might have
// just been lost.
func (l *leases) wait(ctx context.Context) (id string, err error) {
	l.mu.Lock()
	begun := l.begun
	l.mu.Unlock()
	late := time.NewTimer(l.life)
	defer late.Stop()
	select {
	case <-begun:
	case <-late.C:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if id := l.current(); id != "" {
		return id, nil
	}
	return "", errNoSession
}

// silent returns the time since NATS last confirmed a renewal.
func (l *leases) silent() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Since(l.answered)
}

// why returns the last error that occurred when beginning or renewing a session.
func (l *leases) why() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused
}

// count fills in the statistics about leases.
func (l *leases) count(s *Stats) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.Held, s.Taken, s.Lost = len(l.held), l.taken, l.lost
	s.Silent, s.Round, s.Clock = time.Since(l.answered), l.round, l.clock.behind
}
