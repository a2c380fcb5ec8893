package wire

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/tokenbytoken/viz/infer/terms"
)

// line is one connection of one [Part]. Its handler's goroutine reads, another
// writes, and the part has one of its own; what the part sends waits here, joined,
// until the writer comes by.
type line struct {
	conn    transport
	name    string // of the part
	ordered bool   // see [Kind]
	log     *slog.Logger
	limiter *rate.Limiter
	crowd   func() int // how many connections are open

	ctx context.Context // ends with the connection; its cause is a *goodbye
	end context.CancelCauseFunc

	in   chan Command
	wake chan struct{} // of capacity 1: something waits
	room chan struct{} // of capacity 1: what waited has been taken

	mu      sync.Mutex
	queue   []Message
	newest  uint64        // number of the last snapshot that came
	resting bool          // the writer would send at once
	rested  chan struct{} // closed when resting becomes true

	// Of the writer alone.
	seq      uint64        // of the last message
	numbered bool          // it is a state's or a snapshot's; else messages are counted
	pace     time.Duration // until the next sending
}

// open opens the part and runs the connection to its end.
func (l *line) open(open Open, v Visit) {
	part, err := open(l.ctx, v)
	if err != nil {
		why := terms.RefusalOf(err)
		if cause := errors.Unwrap(why); cause != nil && l.ctx.Err() == nil {
			l.log.Error("a part could not be opened", "part", l.name, "err", cause)
		}
		_ = l.Send(Message{Error: why, Alone: true})
		l.end(byeOf(why))
		l.run()
		return
	}
	var serving sync.WaitGroup
	serving.Go(func() { l.serve(part) })
	l.run()
	close(l.in) // no more commands
	serving.Wait()
}

// byeOf is how a connection ends whose part could not be opened.
func byeOf(why *terms.Refusal) *goodbye {
	if why.Code == terms.CodeFull || why.Code == terms.CodeBusy {
		return byeFull
	}
	return byeRefused
}

// serve runs the part to its end, and with it the connection's.
func (l *line) serve(p Part) {
	bye := byeDone
	defer func() {
		if err := recover(); err != nil {
			l.log.Error("panic in a part", "part", l.name, "err", err, "stack", string(debug.Stack()))
			bye = byeBroken
		}
		l.end(bye)
	}()
	if err := p.Serve(l.ctx, l.in, l); err != nil && l.ctx.Err() == nil {
		l.log.Error("a part failed", "part", l.name, "err", err)
		bye = byeBroken
	}
}

// run reads and writes until the connection has ended.
func (l *line) run() {
	written, unread := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(written)
		l.write()
		// A peer that does not answer the close frame is not waited for.
		late := time.NewTimer(closeWait)
		defer late.Stop()
		select {
		case <-unread:
		case <-late.C:
			l.conn.abort()
		}
	}()
	for l.ctx.Err() == nil {
		data, err := l.conn.read()
		if err != nil {
			l.end(err)
			break
		}
		l.receive(data)
	}
	close(unread)
	<-written
	l.conn.finish()
}

// receive handles one message of the client. While a part has too many commands
// waiting it waits itself, and with it the client.
func (l *line) receive(data []byte) {
	c, bad := ReadCommand(data)
	switch {
	case !l.limiter.Allow():
		l.refuse(c.N, &terms.Refusal{
			Code:    terms.CodeBusy,
			Message: "Too many commands at once, so this one was skipped. Wait a moment and send it again.",
		})
	case bad != nil:
		l.refuse(c.N, terms.RefusalOf(bad))
	case c.Name == "ping" && !l.ordered:
		_ = l.Send(Message{Ack: c.N})
	default:
		select {
		case l.in <- c:
		case <-l.ctx.Done():
		}
	}
}

// refuse answers command n without the part.
func (l *line) refuse(n uint64, why *terms.Refusal) {
	_ = l.Send(Message{Ack: n, Error: why, Alone: l.ordered})
}

// Send implements [Line]. What waits already is joined with the message, and a
// snapshot takes the place of the one that waits. One that is not newer than the
// last tells nothing.
func (l *line) Send(m Message) error {
	for {
		l.mu.Lock()
		if m.Encoded != nil {
			if m.Encoded.Seq() <= l.newest {
				l.mu.Unlock()
				return nil
			}
			l.queue = slices.DeleteFunc(l.queue, func(w Message) bool { return w.Encoded != nil })
		}
		last := len(l.queue) - 1
		joins := last >= 0 && m.joinable() && l.queue[last].joinable()
		if m.Encoded != nil && len(l.queue) < queueMost {
			l.newest = m.Encoded.Seq()
		}
		switch {
		case joins && len(l.queue[last].Panels)+len(m.Panels) <= panelsMost:
			l.queue[last] = l.queue[last].Join(m)
		case len(l.queue) < queueMost:
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

// Ready implements [Line].
func (l *line) Ready() error {
	for {
		l.mu.Lock()
		free, rested := l.resting && len(l.queue) == 0, l.rested
		l.mu.Unlock()
		if free {
			return nil
		}
		select {
		case <-rested:
		case <-l.ctx.Done():
			return l.ctx.Err()
		}
	}
}
