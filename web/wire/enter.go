package wire

import (
	"context"
	"net/http"
	"time"

	"golang.org/x/time/rate"

	"github.com/tokenbytoken/viz/web/admission"
)

// refusal is the reason why a request is not given a connection.
type refusal struct {
	status int
	say    string
	wait   time.Duration // time until another attempt might succeed
}

// fullWait is how long a client should wait before the next attempt if no place is free.
const fullWait = 5 * time.Second

// enter admits a connection that has no transport yet, or returns the reason why it is refused.
// When the connection ends, the caller must call the connection's leave.
func (s *Server) enter(caller admission.Caller) (*connection, refusal) {
	limiter := s.cfg.Limiter
	var wait time.Duration
	if !caller.Fresh { // first visits have already been counted
		wait = limiter.Openings.Allow(caller)
	}
	if wait > 0 {
		return nil, refusal{
			status: http.StatusTooManyRequests, wait: wait,
			say: "Your network has opened too many connections at once. Try again in a few seconds.",
		}
	}
	c := &connection{
		log: s.cfg.Log, crowd: s.crowd, caller: caller, messages: limiter.Messages,
		pushes: s.pushes, html: s.cfg.HTML,
		limiter: rate.NewLimiter(s.cfg.Limits.CommandsPerSecond, s.cfg.Limits.CommandBurst),
		excess:  rate.NewLimiter(s.cfg.Limits.RefusalsPerSecond, s.cfg.Limits.RefusalBurst),
		in:      make(chan Command, Waiting),
		wake:    make(chan struct{}, 1), room: make(chan struct{}, 1), nowIdle: make(chan struct{}),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.ctx, c.end = context.WithCancelCause(s.ctx)
	place, refused := limiter.Sockets.Hold(caller, func() { c.end(reasonFull) })
	switch {
	case refused == admission.OwnFull:
		c.end(reasonFull) // otherwise, the server's context would keep the connection in memory
		return nil, refusal{
			status: http.StatusTooManyRequests, wait: fullWait,
			say: "You have too many pages of this site open. Close some and try again.",
		}
	case refused != admission.Admitted || s.closed:
		if place != nil {
			place.Release()
		}
		c.end(reasonFull)
		return nil, refusal{
			status: http.StatusServiceUnavailable, wait: fullWait,
			say: "The server is at capacity. Try again in a few seconds.",
		}
	}
	s.wg.Add(1)
	c.place = place
	c.leave = func() {
		c.end(reasonGone)
		place.Release()
		s.wg.Done()
	}
	return c, refusal{}
}

// join adds a connection to the server's list of connections. leave removes it from the list.
func (s *Server) join(c *connection) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[c] = struct{}{}
	s.crowds[c.name]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, c)
		s.crowds[c.name]--
	}
}

// crowd returns the number of connections to the kind of part with the given name.
func (s *Server) crowd(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.crowds[name]
}

// become sets the connection's transport and part.
func (c *connection) become(t transport, name string, kind Kind) {
	c.conn, c.name, c.ordered = t, name, kind.Ordered
}

// mayReceive waits until the caller may send another message, so that messages that are sent too
// fast wait at the client. It returns false if the connection has ended.
func (c *connection) mayReceive() bool {
	for {
		wait := c.messages.Allow(c.caller)
		if wait == 0 {
			return true
		}
		select {
		case <-time.After(wait):
		case <-c.ctx.Done():
			return false
		}
	}
}
