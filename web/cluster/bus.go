package cluster

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/web/class/remote"
	"github.com/tokenbytoken/viz/web/journal/stream"
)

// bus exchanges messages with other servers over plain NATS.
type bus struct {
	nc     *nats.Conn
	prefix string
	log    *slog.Logger
	inbox  string // prefix of the reply subjects
	ctx    context.Context
	stop   context.CancelFunc
	wg     sync.WaitGroup

	out chan outgoing // views to publish

	mu      sync.Mutex
	waiting map[string]*asked // requests without a reply, by the last token of their reply subject

	dropped, refused atomic.Uint64

	// hinder simulates network faults in tests. It is called before a request is sent and after the
	// reply has arrived. If it returns an error, the error replaces the result of the request. It
	// is guarded by mu.
	hinder func(answered bool) error
}

// outgoing is a message to publish.
type outgoing struct {
	subject string
	message []byte
}

// asked is a request that is waiting for its reply.
type asked struct {
	parts  assembly
	answer chan answered // has capacity 1
}

type answered struct {
	message []byte
	err     error
}

// Limits of the queues.
const (
	mostOutgoing = 256 // views to publish
	mostIncoming = 64  // unread parts of messages about one room
	mostAnswers  = 4096
	mostServed   = 1024
)

// serveFor is the maximum time for handling a request from another server. Servers do not wait
// longer for a reply.
const serveFor = 15 * time.Second

func newBus(nc *nats.Conn, prefix string, log *slog.Logger) (*bus, error) {
	b := &bus{
		nc: nc, prefix: prefix, log: log, inbox: nats.NewInbox(), out: make(chan outgoing, mostOutgoing),
		waiting: map[string]*asked{}, hinder: func(bool) error { return nil },
	}
	b.ctx, b.stop = context.WithCancel(context.Background())
	end, err := b.subscribe(b.inbox+".*", mostAnswers, b.answered)
	if err != nil {
		b.stop()
		return nil, err
	}
	b.wg.Go(func() {
		defer end()
		b.publish()
	})
	return b, nil
}

func (b *bus) close() {
	b.stop()
	b.wg.Wait()
}

func (b *bus) roomSubject(room string) string { return b.prefix + ".room." + stream.SubjectPart(room) }

func (b *bus) serverSubject(server string) string {
	return b.prefix + ".server." + stream.SubjectPart(server)
}

// subscribe calls f with each message, one at a time, until end is called; end waits until the last
// call has returned. At most the given number of messages (most) can wait for f; any further ones
// are dropped.
func (b *bus) subscribe(subject string, most int, f func(*nats.Msg)) (end func(), err error) {
	messages := make(chan *nats.Msg, most)
	s, err := b.nc.ChanSubscribe(subject, messages)
	if err != nil {
		return nil, err
	}
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case m := <-messages:
				_ = fault.Do(b.log, "a message from another server", func() error { f(m); return nil })
			case <-ended:
				return
			}
		}
	}()
	return sync.OnceFunc(func() {
		_ = s.Unsubscribe() // the subscription may already be closed
		close(ended)
		<-done
	}), nil
}

// Publish implements [remote.Bus].
func (b *bus) Publish(room string, message []byte) {
	select {
	case b.out <- outgoing{b.roomSubject(room), message}:
	default:
		b.dropped.Add(1)
	}
}

// publish publishes the queued views until the bus is closed.
func (b *bus) publish() {
	for {
		select {
		case o := <-b.out:
			if b.send(o.subject, "", o.message) != nil {
				b.dropped.Add(1) // followers that miss the view will request it
			}
		case <-b.ctx.Done():
			return
		}
	}
}

// Subscribe implements [remote.Bus].
func (b *bus) Subscribe(room string, f func([]byte)) (func(), error) {
	senders := map[string]*assembly{}
	return b.subscribe(b.roomSubject(room), mostIncoming, func(m *nats.Msg) {
		if whole, ok := b.gather(senders, m); ok {
			f(whole)
		}
	})
}

// Request implements [remote.Bus].
func (b *bus) Request(ctx context.Context, server string, request []byte) ([]byte, error) {
	if len(request) > remote.MaxRequest {
		return nil, errors.New("a request to another server exceeds the size limit")
	}
	token := nuid.Next()
	a := &asked{answer: make(chan answered, 1)}
	b.mu.Lock()
	b.waiting[token] = a
	hinder := b.hinder
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		delete(b.waiting, token)
		b.mu.Unlock()
	}()
	if err := hinder(false); err != nil {
		return nil, err
	}
	if err := b.nc.PublishRequest(b.serverSubject(server), b.inbox+"."+token, request); err != nil {
		return nil, errors.Join(remote.ErrNoServer, err) // the request was not sent
	}
	select {
	case x := <-a.answer:
		if err := hinder(true); err != nil {
			return nil, err
		}
		return x.message, x.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-b.ctx.Done():
		return nil, nats.ErrConnectionClosed
	}
}

// answered handles a part of a reply.
func (b *bus) answered(m *nats.Msg) {
	b.mu.Lock()
	a := b.waiting[m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]]
	b.mu.Unlock()
	if a == nil {
		return // nobody is waiting for the reply any longer
	}
	x := answered{}
	switch {
	case len(m.Data) == 0 && m.Header.Get("Status") == "503":
		x.err = remote.ErrNoServer
	default:
		whole, ok, err := a.parts.add(m)
		if err != nil {
			b.refused.Add(1)
			x.err = err
		} else if !ok {
			return
		}
		x.message = whole
	}
	select {
	case a.answer <- x:
	default:
	}
}

// Serve implements [remote.Bus].
func (b *bus) Serve(server string, f func(context.Context, []byte) []byte) (func(), error) {
	ctx, cancel := context.WithCancel(b.ctx)
	var serving sync.WaitGroup
	places := make(chan struct{}, mostServed)
	end, err := b.subscribe(b.serverSubject(server), mostServed, func(m *nats.Msg) {
		if m.Reply == "" || len(m.Data) > remote.MaxRequest {
			b.refused.Add(1)
			return
		}
		if len(m.Data) == 0 { // only checks whether this server is running
			_ = b.nc.Publish(m.Reply, nil)
			return
		}
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return
		}
		serving.Go(func() {
			defer func() { <-places }()
			b.serveOne(ctx, m, f)
		})
	})
	if err != nil {
		cancel()
		return nil, err
	}
	return func() {
		cancel()
		end()
		serving.Wait()
	}, nil
}

func (b *bus) serveOne(ctx context.Context, m *nats.Msg, f func(context.Context, []byte) []byte) {
	within, cancel := context.WithTimeout(ctx, serveFor)
	defer cancel()
	_ = fault.Do(b.log, "a request from another server", func() error {
		if b.send(m.Reply, m.Subject, f(within, m.Data)) != nil {
			b.dropped.Add(1) // the other server will retry
		}
		return nil
	})
}

// absent reports whether a server has no NATS subscription under its name. If NATS does not
// respond, it returns false.
func (b *bus) absent(ctx context.Context, server string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err := b.Request(ctx, server, nil)
	return err == remote.ErrNoServer // not errors.Is: joined with another error, it means that nothing was sent
}
