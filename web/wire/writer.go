package wire

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/terms"
)

// write sends queued messages until the connection ends, and then sends the reason why it ended.
// Between two sends, it pauses for pushPause, or for longer after a snapshot if many clients are
// connected. Messages that are queued during a pause are merged. A panic ends only this connection.
func (c *connection) write() {
	defer c.sendClose()
	if fault.Do(c.log, "sending to the part "+c.name, func() error { c.sendQueued(); return nil }) != nil {
		c.end(reasonBroken)
	}
}

// sendQueued does the work of write, without the cleanup.
func (c *connection) sendQueued() {
	ping := time.NewTicker(pingPeriod)
	defer ping.Stop()
	pause := time.NewTimer(0)
	defer pause.Stop()
	var wake <-chan struct{} // nil during the pause after a send
	for {
		var err error
		select {
		case <-c.ctx.Done():
			_ = c.sendAll() // sends the messages queued before the end; the peer may have gone away
			return
		case <-pause.C:
			wake = c.wake
			c.markIdle()
		case <-wake:
			wake, c.pace = nil, pushPause
			err = c.sendAll()
			pause.Reset(c.pace)
		case <-ping.C:
			err = c.conn.ping()
		}
		if err != nil {
			c.fail(err)
		}
	}
}

// fail ends the connection. If err contains a close reason, that is the reason. Otherwise, the
// reason is that the peer no longer reads.
func (c *connection) fail(err error) {
	reason := reasonGone
	errors.As(err, &reason)
	c.end(reason)
}

// sendClose sends the peer the reason why the connection ends, unless the peer has gone.
func (c *connection) sendClose() {
	reason := reasonRestart // the server's own context has ended
	errors.As(context.Cause(c.ctx), &reason)
	if reason != reasonGone {
		c.conn.sendClose(reason.code, reason.in(terms.In(c.ctx)))
	}
}

// markIdle records that the next message would be sent immediately.
func (c *connection) markIdle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle = true
	close(c.nowIdle)
	c.nowIdle = make(chan struct{})
}

// drain empties the queue. since is the time when the oldest message was queued.
func (c *connection) drain() (list []Message, since time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list = c.queue
	c.queue, c.idle = nil, false
	notify(c.room)
	return list, c.queued
}

func (c *connection) sendAll() error {
	list, since := c.drain()
	for _, m := range list {
		if err := c.send(m); err != nil {
			return err
		}
	}
	if len(list) > 0 {
		c.pushes.Observe(time.Since(since))
	}
	return nil
}

// send sends one message with its number.
func (c *connection) send(m Message) error {
	if m.Encoded != nil {
		c.seq, c.numbered = m.Encoded.Seq(), true
		c.pace = max(pushPause, time.Duration(c.crowd(c.name))*time.Second/snapshotsPerSecond)
		return c.conn.writeShared(m.Encoded)
	}
	switch {
	case m.Seq != 0:
		c.seq, c.numbered = m.Seq, true
	case !c.numbered && !m.Alone:
		c.seq++
	}
	if c.html != nil {
		m.Panels = slices.Clone(m.Panels) // the slice may be shared
		for i := range m.Panels {
			m.Panels[i].HTML = c.html(m.Panels[i].HTML)
		}
	}
	m.Seq = c.seq
	if m.Error != nil { // in the language of the connection's request
		said := *m.Error
		said.Message = m.Error.In(terms.In(c.ctx))
		m.Error = &said
	}
	b, err := m.Bytes()
	if err != nil {
		c.log.Error("encoding a message", "part", c.name, "err", err)
		return reasonBroken
	}
	return c.conn.write(b)
}

// joinable reports whether a message may be merged with another.
func (m Message) joinable() bool { return m.Error == nil && m.Encoded == nil && !m.Alone }

// notify signals a channel of capacity 1, unless a signal is pending.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
