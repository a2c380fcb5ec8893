package cluster

import (
	"context"
	"log/slog"
	"time"
)

// clock compares this server's clock with the NATS clock. Leases need no clock, but servers
// share times: when a poll ends, how long a ticket is valid, when a room was last used. A
// new owner with a wrong clock would end a poll an hour early.
type clock struct {
	now func() time.Time
	log *slog.Logger

	// The following fields are guarded by leases.mu.

	sent, got time.Time     // when the newest renewal was sent and confirmed, by this clock
	looked    time.Time     // when the clocks were last compared
	behind    time.Duration // how far this clock is behind the NATS clock, 0 if only a little
}

// little is the tolerated difference between clocks: they are synchronized over the
// network, and messages take a while.
const little = 2 * time.Second

// compareEvery is how often clocks are compared.
const compareEvery = 10 * time.Second

// Now returns the time that all servers of the cluster share: this server's time, corrected
// if it differs from the NATS time by more than a little.
func (c *Cluster) Now() time.Time {
	c.leases.mu.Lock()
	defer c.leases.mu.Unlock()
	return c.leases.clock.now().Add(c.leases.clock.behind)
}

// compareClocks reads when NATS stored this server's newest renewal, which was between the
// moments at which this server sent it and got the confirmation.
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
		return // retried at the next beat
	}
	c.looked = time.Now()
	c.set(difference(c.sent, c.got, at))
}

// difference returns how far a clock is behind another one, on which an event happened at
// the time at that was between sent and got on this one; 0 if it is only a little.
func difference(sent, got, at time.Time) time.Duration {
	switch {
	case at.After(got.Add(little)):
		return at.Sub(got)
	case at.Before(sent.Add(-little)):
		return at.Sub(sent)
	}
	return 0
}

// set sets the correction of the clock.
func (c *clock) set(behind time.Duration) {
	if (behind - c.behind).Abs() > little {
		if behind != 0 {
			c.log.Warn("the clocks of this server and of NATS differ; classes use the NATS clock",
				"behind", behind.Round(time.Second))
		} else {
			c.log.Info("the clocks of this server and of NATS agree again")
		}
	}
	c.behind = behind
}
