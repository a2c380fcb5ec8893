package web

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/wire"
)

// linePanels is how many pieces of a page may wait to be sent together: more
// than any page has, so that only rows which are added one by one come so far.
const linePanels = 256

// Why a feed's connection ends, besides the reasons of every socket.
var (
	byeDone = &goodbye{websocket.CloseNormalClosure, "there is nothing more to tell"}
	byeFeed = &goodbye{websocket.ClosePolicyViolation, "there is no such part of the page"}
)

// line is the connection of one [wire.Part]. The feed has a goroutine of its
// own; what it sends waits here, joined, until the writer comes by.
type line struct {
	*socket
	name string
	in   chan wire.Command
	wake chan struct{} // of capacity 1: something waits
	room chan struct{} // of capacity 1: what waited has been taken

	mu     sync.Mutex
	queue  []wire.Message
	newest uint64 // number of the last snapshot that came

	// Of the writer alone: the number of messages sent, or, where the feed
	// sends snapshots, that of the newest of them.
	seq       uint64
	snapshots bool
	pace      time.Duration // until the next sending
}

// feed makes the socket that of a feed, which begins at once. The function
// returned ends it and waits until it has.
func (s *socket) feed(name string, open wire.Open, learner string, r *http.Request) (leave func()) {
	l := &line{
		socket: s, name: name, in: make(chan wire.Command, wire.Waiting),
		wake: make(chan struct{}, 1), room: make(chan struct{}, 1),
	}
	s.receive, s.send = l.receive, l.write
	s.bound()
	f, err := open(s.ctx, learner, r.URL.Query())
	if err != nil {
		e := terms.RefusalOf(err)
		l.put(wire.Message{Error: e})
		switch e.Code {
		case terms.CodeFull, terms.CodeBusy:
			s.end(byeFull)
		default:
			s.end(byeFeed)
		}
		return func() {}
	}
	var serving sync.WaitGroup
	serving.Go(func() { l.serve(f) })
	return func() {
		close(l.in) // no more messages
		serving.Wait()
	}
}

// bound limits what the kernel holds for a slow reader.
func (s *socket) bound() {
	conn := s.conn.NetConn()
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(feedBuffer) // a system that will not has its own
	}
}

// serve runs the feed to its end, and with it the connection's.
func (l *line) serve(f wire.Part) {
	bye := byeDone
	defer func() {
		if err := recover(); err != nil {
			l.log.Error("panic in a feed", "feed", l.name, "err", err, "stack", string(debug.Stack()))
			bye = byeBroken
		}
		l.end(bye)
	}()
	if err := f.Serve(l.ctx, l.in, l.put); err != nil && l.ctx.Err() == nil {
		l.log.Error("a feed failed", "feed", l.name, "err", err)
		bye = byeBroken
	}
}

// receive handles one message of the client. While a feed has too many commands
// waiting it waits itself, and with it the client.
func (l *line) receive(data []byte) {
	c, bad := readCommand(data)
	switch {
	case !l.limiter.Allow():
		l.put(wire.Message{Ack: c.N, Error: &terms.Refusal{
			Code:    terms.CodeBusy,
			Message: "Too many commands at once, so this one was skipped. Wait a moment and send it again.",
		}})
	case bad != nil:
		l.put(wire.Message{Ack: c.N, Error: terms.RefusalOf(bad)})
	case c.Name == "ping":
		l.put(wire.Message{Ack: c.N})
	default:
		select {
		case l.in <- c:
		case <-l.ctx.Done():
		}
	}
}

// readCommand reads a client's message, which must be valid UTF-8: cmd, n and
// whatever fields the command has. n is set even with an error, where it could
// be read.
func readCommand(data []byte) (wire.Command, error) {
	var c wire.Command
	f, bad := readHead(data, &c.N, &c.Name)
	if bad != nil {
		return c, bad
	}
	rest, err := json.Marshal(f.Rest())
	if err != nil {
		return c, fmt.Errorf("reading a command: %w", err) // it has just been read
	}
	c.Fields = rest
	return c, nil
}

// put hands a message to the writer. What waits there already is joined with
// it, errors aside, which are told one by one, and a snapshot takes the place
// of the one that waits; where too much waits, put waits for the writer. One
// that is not newer than the last tells nothing.
func (l *line) put(m wire.Message) error {
	for {
		l.mu.Lock()
		if m.Encoded != nil {
			if m.Encoded.Seq() <= l.newest {
				l.mu.Unlock()
				return nil
			}
			l.queue = slices.DeleteFunc(l.queue, func(w wire.Message) bool { return w.Encoded != nil })
		}
		last := len(l.queue) - 1
		joins := last >= 0 && joinable(m) && joinable(l.queue[last])
		if m.Encoded != nil && len(l.queue) < replyQueue {
			l.newest = m.Encoded.Seq()
		}
		switch {
		case joins && len(l.queue[last].Panels)+len(m.Panels) <= linePanels:
			l.queue[last] = l.queue[last].Join(m)
		case len(l.queue) < replyQueue:
			l.queue = append(l.queue, m)
		default:
			l.mu.Unlock()
			select {
			case <-l.room:
				continue
			case <-l.ctx.Done():
				return l.ctx.Err()
			}
		}
		l.mu.Unlock()
		notify(l.wake)
		return nil
	}
}

// joinable reports whether a message may be joined with another.
func joinable(m wire.Message) bool { return m.Error == nil && m.Encoded == nil }

// notify tells a channel of capacity 1, unless it has been told already.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// take empties the queue.
func (l *line) take() []wire.Message {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := slices.Clone(l.queue)
	l.queue = l.queue[:0]
	notify(l.room)
	return list
}

// write sends whatever there is to say until the connection ends, and then the
// close frame. Between two sendings lies pushPause, or after a snapshot the
// crowd's pace, in which more may join.
func (l *line) write() {
	defer l.finish()
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
		case <-wake:
			wake, l.pace = nil, pushPause
			err = l.sendAll()
			pause.Reset(l.pace)
		case <-ping.C:
			err = l.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeWait))
		}
		if err != nil {
			(&writer{socket: l.socket}).fail(err)
		}
	}
}

func (l *line) sendAll() error {
	for _, m := range l.take() {
		l.conn.SetWriteDeadline(time.Now().Add(writeWait))
		send := l.sendOwn
		if m.Encoded != nil {
			send = l.sendShared
		}
		if err := send(m); err != nil {
			return err
		}
	}
	return nil
}

// sendOwn sends what is meant for this connection alone.
func (l *line) sendOwn(m wire.Message) error {
	if !l.snapshots {
		l.seq++
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // the frame is never part of a page
	if err := enc.Encode(struct {
		Seq uint64 `json:"seq"`
		wire.Message
	}{l.seq, m}); err != nil {
		l.log.Error("encoding a feed's message", "feed", l.name, "err", err)
		return byeBroken
	}
	return l.conn.WriteMessage(websocket.TextMessage, bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// sendShared sends what has been written out for many connections, header and
// all: here it costs one call of the system.
func (l *line) sendShared(m wire.Message) error {
	l.seq, l.snapshots = m.Encoded.Seq(), true
	l.pace = max(pushPause, time.Duration(l.crowd())*time.Second/snapshotsPerSecond)
	frame, err := m.Encoded.Frame(prepare)
	if err != nil {
		l.log.Error("preparing a feed's message", "feed", l.name, "err", err)
		return byeBroken
	}
	return l.conn.WritePreparedMessage(frame.(*websocket.PreparedMessage))
}

// prepare makes of a message the frame that every connection gets.
func prepare(b []byte) (any, error) {
	return websocket.NewPreparedMessage(websocket.TextMessage, b)
}
