package wire

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/metrics"
)

// connection is one connection of one [Part]. The handler's goroutine reads, a second one writes,
// and a third runs the part. Messages from the part are queued and merged here until the writer
// sends them.
type connection struct {
	conn    transport
	name    string // of the part
	ordered bool   // see [Kind]
	log     *slog.Logger
	limiter *rate.Limiter         // limits the commands
	excess  *rate.Limiter         // limits the refusals of commands above that limit
	crowd   func(part string) int // returns the number of connections to a kind of part

	caller   admission.Caller
	messages *admission.Meter // of the caller and their address
	place    *admission.Permit
	pushes   *metrics.Histogram  // see [Server.Pushes]
	html     func(string) string // see [Config.HTML]
	leave    func()              // called once, at the end

	ctx context.Context // has the language of the request; its cause is a *closeReason
	end context.CancelCauseFunc

	in   chan Command
	wake chan struct{} // signals that something is queued; has capacity 1
	room chan struct{} // signals that the queue has been emptied; has capacity 1

	mu      sync.Mutex
	queue   []Message
	queued  time.Time     // when the oldest message in queue was queued
	newest  uint64        // number of the last snapshot queued
	idle    bool          // the writer would send immediately
	nowIdle chan struct{} // closed when idle becomes true

	// Used only by the writer.
	seq      uint64        // of the last message
	numbered bool          // seq is from a state or snapshot; otherwise it counts messages
	pace     time.Duration // pause before the next send
}

// open opens the part and runs the connection until it ends.
func (c *connection) open(open Open, v Visit) {
	var part Part
	err := fault.Do(c.log, "opening the part "+c.name, func() (err error) {
		part, err = open(c.ctx, v)
		return err
	})
	var broken *fault.Fault
	if errors.As(err, &broken) {
		c.end(reasonBroken)
		c.run()
		return
	}
	if err != nil {
		why := terms.RefusalOf(err)
		if cause := errors.Unwrap(why); cause != nil && c.ctx.Err() == nil {
			c.log.Error("failed to open a part", "part", c.name, "err", cause)
		}
		_ = c.Send(Message{Error: why, Alone: true})
		c.end(reasonFor(why))
		c.run()
		return
	}
	var serving sync.WaitGroup
	serving.Go(func() { c.serve(part) })
	c.run()
	close(c.in) // there are no more commands
	serving.Wait()
}

// reasonFor returns the close reason for a part that could not be opened.
func reasonFor(why *terms.Refusal) *closeReason {
	if why.Code == terms.CodeFull || why.Code == terms.CodeBusy {
		return reasonFull
	}
	return reasonRefused
}

// serve runs the part until it returns, and then ends the connection.
func (c *connection) serve(p Part) {
	reason := reasonDone
	err := fault.Do(c.log, "the part "+c.name, func() error { return p.Serve(c.ctx, c.in, c) })
	if err != nil && c.ctx.Err() == nil {
		c.log.Error("a part failed", "part", c.name, "err", err)
		reason = reasonBroken
	}
	c.end(reason)
}

// run reads and writes until the connection has ended.
func (c *connection) run() {
	written, unread := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(written)
		c.write()
		// If the peer does not answer the close frame, stop waiting.
		late := time.NewTimer(closeWait)
		defer late.Stop()
		select {
		case <-unread:
		case <-late.C:
			c.conn.abort()
		}
	}()
	for c.ctx.Err() == nil {
		data, err := c.conn.read()
		if err != nil {
			c.end(err)
			break
		}
		if fault.Do(c.log, "receiving for the part "+c.name, func() error { c.receive(data); return nil }) != nil {
			c.end(reasonBroken)
		}
	}
	close(unread)
	<-written
	c.conn.finish()
}

// receive handles one message from the client. While the part's command queue is full, receive
// blocks, and the client has to wait, too.
func (c *connection) receive(data []byte) {
	allowed := c.limiter.Allow()
	if !allowed && !c.excess.Allow() {
		c.end(reasonFlood)
		return
	}
	if !c.mayReceive() {
		return
	}
	cmd, bad := ReadCommand(data)
	if allowed && cmd.Name != "ping" {
		c.place.Use()
	}
	switch {
	case !allowed:
		c.refuse(cmd.N, terms.Refuse(terms.CodeBusy, "run.busy"))
	case bad != nil:
		c.refuse(cmd.N, terms.RefusalOf(bad))
	case cmd.Name == "ping" && !c.ordered:
		if _, err := cmd.Read(nil); err != nil {
			c.refuse(cmd.N, terms.RefusalOf(err))
			return
		}
		_ = c.Send(Message{Ack: cmd.N})
	default:
		select {
		case c.in <- cmd:
		case <-c.ctx.Done():
		}
	}
}

// refuse answers command n with a refusal. The part does not get the command.
func (c *connection) refuse(n uint64, why *terms.Refusal) {
	_ = c.Send(Message{Ack: n, Error: why, Alone: c.ordered})
}

// Send implements [Conn]. It merges the message with the queued messages. A snapshot replaces a
// queued snapshot, and is dropped if it is not newer than the last one.
func (c *connection) Send(m Message) error {
	for {
		c.mu.Lock()
		if m.Encoded != nil {
			if m.Encoded.Seq() <= c.newest {
				c.mu.Unlock()
				return nil
			}
			c.queue = slices.DeleteFunc(c.queue, func(w Message) bool { return w.Encoded != nil })
		}
		if len(c.queue) == 0 {
			c.queued = time.Now()
		}
		last := len(c.queue) - 1
		joins := last >= 0 && m.joinable() && c.queue[last].joinable()
		if m.Encoded != nil && len(c.queue) < queueMost {
			c.newest = m.Encoded.Seq()
		}
		switch {
		case joins && len(c.queue[last].Panels)+len(m.Panels) <= panelsMost:
			c.queue[last] = c.queue[last].Join(m)
		case len(c.queue) < queueMost:
			c.queue = append(c.queue, m)
		default:
			c.mu.Unlock()
			select {
			case <-c.room:
				continue
			case <-c.ctx.Done():
				return c.ctx.Err()
			}
		}
		c.mu.Unlock()
		notify(c.wake)
		return nil
	}
}

// Ready implements [Conn].
func (c *connection) Ready() error {
	for {
		c.mu.Lock()
		free, nowIdle := c.idle && len(c.queue) == 0, c.nowIdle
		c.mu.Unlock()
		if free {
			return nil
		}
		select {
		case <-nowIdle:
		case <-c.ctx.Done():
			return c.ctx.Err()
		}
	}
}
