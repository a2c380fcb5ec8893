package cluster

import (
	"context"
	"log/slog"
	"time"
)

// clock compares this server's clock with the NATS clock. Leases do not depend on clocks, but
// servers exchange times: when a poll ends, how long a ticket is valid, and when a room was last
// used. Without the correction, a new owner whose clock is an hour ahead would end a poll an hour
// early.
type clock struct {
	now func() time.Time
	log *slog.Logger

	// The following fields are guarded by leases.mu.

	sent, got time.Time     // when the newest renewal was sent and confirmed, according to this clock
	looked    time.Time     // when the clocks were last compared
	behind    time.Duration // how far this clock is behind the NATS clock; 0 if the difference is tolerated
}

// little is the tolerated difference between clocks. Some difference is normal, since clocks
// are synchronized over the network and messages take time.
const little = 2 * time.Second

// compareEvery is the interval at which clocks are compared.
const compareEvery = 10 * time.Second

// Now returns the time that all servers of the cluster share. It is this server's time, corrected
// if it differs from the NATS time by more than the tolerance.
func (c *Cluster) Now() time.Time {
	c.leases.mu.Lock()
	defer c.leases.mu.Unlock()
	return c.leases.clock.now().Add(c.leases.clock.behind)
}

// compareClocks compares the clocks using this server's newest renewal. NATS stored the renewal at
// some time after this server sent it and before it got the confirmation.
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

// difference returns how far this clock is behind another one, or 0 if the difference is tolerated.
// It is computed from a single event, which happened at the time at on the other clock and between
// sent and got on this one.
func difference(sent, got, at time.Time) time.Duration {
	switch {
	case at.After(got.Add(little)):
		return at.Sub(got)
	case at.Before(sent.Add(-little)):
		return at.Sub(sent)
	}
	return 0
}

// set replaces the clock's correction.
func (c *clock) set(behind time.Duration) {
	if (behind - c.behind).Abs() > little {
		if behind != 0 {
			c.log.Warn("this server's clock differs from the NATS clock; classes use the NATS clock",
				"behind", behind.Round(time.Second))
		} else {
			c.log.Info("this server's clock and the NATS clock agree again")
		}
	}
	c.behind = behind
}
