package cluster

import (
	"context"
	"log/slog"
	"time"
)

// clock compares this server's clock with that of NATS. Leases need no clock, but what
// servers leave to each other does: when a poll ends, how long a ticket is valid, when a room
// was last used. A server whose clock is wrong would end a poll an hour early when it begins
// to run the room.
type clock struct {
	now func() time.Time
	log *slog.Logger

	// The fields below are guarded by leases.mu.

	sent, got time.Time     // when the newest renewal was sent and confirmed, by this clock
	looked    time.Time     // when the clocks were compared last
	behind    time.Duration // by how much this clock is behind NATS's, 0 if by little
}

// Little is what clocks may differ by: they are set to each other by the network, and a
// message takes a while.
const little = 2 * time.Second

// compareEvery is how often clocks are compared.
const compareEvery = 10 * time.Second

// Now is the time that all servers of the cluster share: this server's, unless it differs
// from that of NATS by more than a little.
func (c *Cluster) Now() time.Time {
	c.leases.mu.Lock()
	defer c.leases.mu.Unlock()
	return c.leases.clock.now().Add(c.leases.clock.behind)
}

// compareClocks reads when NATS stored the newest renewal of this server, which was between
// the moments at which this server sent it and knew it.
func (l *leases) compareClocks() {
	l.mu.Lock()
	s, c := l.session, &l.clock
	if s == nil || !c.looked.IsZero() && time.Since(c.looked) < compareEvery {
		l.mu.Unlock()
		return
	}
	id, newest := s.id, s.revision
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(l.ctx, l.life/6)
	defer cancel()
	var v sessionValue
	revision, at, err := l.keys.getStored(ctx, sessionKey(id), &v)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil || revision != newest || c.got.IsZero() {
		return // the next beat tries again
	}
	c.looked = time.Now()
	c.set(difference(c.sent, c.got, at))
}

// difference is by how much a clock is behind another one, by which something happened at
// a moment that was between sent and got by this one; 0 if it is little.
func difference(sent, got, at time.Time) time.Duration {
	switch {
	case at.After(got.Add(little)):
		return at.Sub(got)
	case at.Before(sent.Add(-little)):
		return at.Sub(sent)
	}
	return 0
}

// set sets what the time of the cluster follows from.
func (c *clock) set(behind time.Duration) {
	if (behind - c.behind).Abs() > little {
		if behind != 0 {
			c.log.Warn("the clock of this server and that of NATS differ; classes go by the one of NATS",
				"behind", behind.Round(time.Second))
		} else {
			c.log.Info("the clock of this server and that of NATS agree again")
		}
	}
	c.behind = behind
}
