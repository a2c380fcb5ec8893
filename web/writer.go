package web

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/gorilla/websocket"
)

// writer is what the writing goroutine of a socket knows.
type writer struct {
	*socket
	seq      uint64 // version of the state last sent, 0 before the first
	ack      uint64
	answered int
}

// write sends whatever there is to say until the connection ends, and then
// the close frame.
func (s *socket) write() {
	defer s.finish()
	w := &writer{socket: s}
	w.ack, w.answered = s.viewer.progress()
	var gone <-chan struct{}
	if s.run != nil {
		gone = s.run.done
	}
	ping := time.NewTicker(pingPeriod)
	defer ping.Stop()
	pause := time.NewTimer(0)
	defer pause.Stop()
	var wake <-chan struct{} // nil for pushPause after a state
	for {
		var err error
		select {
		case <-s.ctx.Done():
			w.drain()
			return
		case m := <-s.replies:
			err = w.send(m)
		case <-pause.C:
			wake = s.viewer.wake
		case <-wake:
			wake = nil
			pause.Reset(pushPause)
			err = w.push()
		case <-gone:
			err = byeBroken
		case <-ping.C:
			err = s.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeWait))
		}
		if err != nil {
			w.fail(err)
		}
	}
}

// fail ends the connection: by name where the server knows why, else because
// the peer does not take what it is sent.
func (w *writer) fail(err error) {
	var bye *goodbye
	if !errors.As(err, &bye) {
		bye = byeGone
	}
	w.end(bye)
}

// push sends what has changed since the last state sent, and the
// acknowledgement of the commands carried out.
func (w *writer) push() error {
	// In this order: an acknowledgement is noted after its state, and errors
	// of earlier commands lie in the queue already.
	ack, answered := w.viewer.progress()
	if err := w.drain(); err != nil {
		return err
	}
	next := w.run.latest.Load()
	news := next != nil && next.Version != w.seq
	if !news && answered == w.answered {
		return nil
	}
	m := &message{}
	if answered != w.answered {
		w.ack, w.answered = ack, answered
	}
	if news {
		if w.seq == 0 {
			m.Run, m.Again = w.run.id, w.viewer.again
		}
		if err := w.enc.encode(m, next); err != nil {
			w.log.Error("encoding a state", "err", err)
			return byeBroken
		}
		w.seq = next.Version
	}
	m.Ack = w.ack
	return w.send(m)
}

// drain sends the replies that wait.
func (w *writer) drain() error {
	for {
		select {
		case m := <-w.replies:
			if err := w.send(m); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

func (w *writer) send(m *message) error {
	m.Seq = w.seq
	b, err := m.bytes()
	if err != nil {
		w.log.Error("encoding a message", "err", err)
		return byeBroken
	}
	w.conn.SetWriteDeadline(time.Now().Add(writeWait))
	return w.conn.WriteMessage(websocket.TextMessage, b)
}

// finish is deferred by whoever writes: a panic ends this connection and no
// other.
func (s *socket) finish() {
	if err := recover(); err != nil {
		s.log.Error("panic in a socket", "err", err, "stack", string(debug.Stack()))
		s.end(byeBroken)
	}
	s.sayGoodbye()
}

// sayGoodbye writes the close frame, unless the peer has gone.
func (s *socket) sayGoodbye() {
	var bye *goodbye
	if !errors.As(context.Cause(s.ctx), &bye) {
		bye = byeRestart // the server's own context has ended
	}
	if bye == byeGone {
		return
	}
	s.conn.WriteControl(
		websocket.CloseMessage, websocket.FormatCloseMessage(bye.code, bye.text), time.Now().Add(closeWait),
	)
}
