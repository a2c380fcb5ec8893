package wire

import (
	"context"
	"errors"
	"runtime/debug"
	"time"
)

// write sends whatever there is to say until the connection ends, and then says
// why it does. Between two sendings lies pushPause, or after a snapshot the
// crowd's pace, in which more may join. A panic ends this connection and no other.
func (l *line) write() {
	defer l.sayGoodbye()
	defer func() {
		if err := recover(); err != nil {
			l.log.Error("panic while writing", "part", l.name, "err", err, "stack", string(debug.Stack()))
			l.end(byeBroken)
		}
	}()
	ping := time.NewTicker(pingPeriod)
	defer ping.Stop()
	pause := time.NewTimer(0)
	defer pause.Stop()
	var wake <-chan struct{} // nil for a while after a sending
	for {
		var err error
		select {
		case <-l.ctx.Done():
			_ = l.sendAll() // what came before the end; the peer may have gone
			return
		case <-pause.C:
			wake = l.wake
			l.rest()
		case <-wake:
			wake, l.pace = nil, pushPause
			err = l.sendAll()
			pause.Reset(l.pace)
		case <-ping.C:
			err = l.conn.ping()
		}
		if err != nil {
			l.fail(err)
		}
	}
}

// fail ends the connection: by name where the server knows why, else because the
// peer does not take what it is sent.
func (l *line) fail(err error) {
	bye := byeGone
	errors.As(err, &bye)
	l.end(bye)
}

// sayGoodbye tells the peer why the connection ends, unless it has gone.
func (l *line) sayGoodbye() {
	bye := byeRestart // the server's own context has ended
	errors.As(context.Cause(l.ctx), &bye)
	if bye != byeGone {
		l.conn.sayGoodbye(bye)
	}
}

// rest notes that the next message would leave at once.
func (l *line) rest() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resting = true
	close(l.rested)
	l.rested = make(chan struct{})
}

// take empties the queue.
func (l *line) take() []Message {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.queue
	l.queue, l.resting = nil, false
	notify(l.room)
	return list
}

func (l *line) sendAll() error {
	for _, m := range l.take() {
		if err := l.send(m); err != nil {
			return err
		}
	}
	return nil
}

// send sends one message with its number.
func (l *line) send(m Message) error {
	if m.Encoded != nil {
		l.seq, l.numbered = m.Encoded.Seq(), true
		l.pace = max(pushPause, time.Duration(l.crowd())*time.Second/snapshotsPerSecond)
		return l.conn.writeShared(m.Encoded)
	}
	switch {
	case m.Seq != 0:
		l.seq, l.numbered = m.Seq, true
	case !l.numbered && !m.Alone:
		l.seq++
	}
	m.Seq = l.seq
	b, err := m.Bytes()
	if err != nil {
		l.log.Error("encoding a message", "part", l.name, "err", err)
		return byeBroken
	}
	return l.conn.write(b)
}

// joinable reports whether a message may be joined with another.
func (m Message) joinable() bool { return m.Error == nil && m.Encoded == nil && !m.Alone }

// notify tells a channel of capacity 1, unless it has been told already.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
