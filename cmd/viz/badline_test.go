package main

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// badLine forwards TCP connections to a server and simulates network faults.
type badLine struct {
	addr string

	mu       sync.Mutex
	to       string
	listener net.Listener      // nil while the network is down
	conns    map[net.Conn]bool // both ends of each connection
	now      *trouble          // the current disturbance, or nil
	joined   int               // number of connections so far
	wg       sync.WaitGroup
}

func newBadLine(t *testing.T, to string) *badLine {
	t.Helper()
	l := &badLine{addr: "127.0.0.1:0", to: to, conns: map[net.Conn]bool{}}
	if err := l.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.become(nil)
		l.stop()
		l.wg.Wait()
	})
	return l
}

// start accepts connections at the same address as before.
func (l *badLine) start() error {
	listener, err := net.Listen("tcp", l.addr)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.addr, l.listener = listener.Addr().String(), listener
	l.wg.Go(func() {
		for {
			phone, err := listener.Accept()
			if err != nil {
				return
			}
			l.wg.Go(func() { l.join(phone, listener) })
		}
	})
	return nil
}

// stop ends all connections and refuses new ones.
func (l *badLine) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listener != nil {
		l.listener.Close()
		l.listener = nil
	}
	l.cut(false)
}

// down reports whether the network is down.
func (l *badLine) down() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.listener == nil
}

// cut ends all connections; a reset loses the data in flight.
func (l *badLine) cut(reset bool) {
	for c := range l.conns {
		if reset {
			_ = c.(*net.TCPConn).SetLinger(0) // fails only on a closed connection
		}
		c.Close()
	}
	clear(l.conns)
}

// become replaces the network's current disturbance with t, or just ends it if t is nil. After a
// silent disturbance, all connections are cut: TCP delivers the bytes after a gap only once the gap
// is filled, so a connection that has lost bytes must not continue.
func (l *badLine) become(t *trouble) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now != nil {
		close(l.now.over)
		if l.now.silent {
			l.cut(false)
		}
	}
	l.now = t
	if t == nil {
		return
	}
	t.over = make(chan struct{})
	if t.cut > 0 {
		l.wg.Go(func() {
			if t.lasts(t.cut) {
				l.mu.Lock()
				defer l.mu.Unlock()
				l.cut(t.reset)
			}
		})
	}
}

// lead forwards new connections to the given address.
func (l *badLine) lead(to string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to = to
}

// join connects a phone's connection to the server.
func (l *badLine) join(phone net.Conn, by net.Listener) {
	defer phone.Close()
	l.mu.Lock()
	to := l.to
	l.mu.Unlock()
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	l.mu.Lock()
	if l.listener != by { // the listener was closed in the meantime
		l.mu.Unlock()
		return
	}
	l.conns[phone], l.conns[server] = true, true
	l.joined++
	l.mu.Unlock()
	l.wg.Go(func() { l.pass(server, phone, true) })
	l.pass(phone, server, false)
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, phone)
	delete(l.conns, server)
}

// pass copies bytes in one direction until the connection ends.
func (l *badLine) pass(to, from net.Conn, up bool) {
	defer from.Close()
	defer to.Close()
	var under *trouble // the disturbance of the last bytes, nil for none
	through := 0       // number of bytes that have passed since the disturbance began
	for b := make([]byte, 32<<10); ; {
		n, err := from.Read(b)
		l.mu.Lock()
		t := l.now
		l.mu.Unlock()
		if t != nil && t.up != up {
			t = nil
		}
		if t != under {
			under, through = t, 0
		}
		if lost := t.carry(to, b[:n], through); err != nil || lost != nil {
			return
		}
		through += n
	}
}

// trouble is one way in which a network disturbs traffic in one direction. It ends when over is
// closed.
type trouble struct {
	up           bool
	late, jitter time.Duration // delay of all data
	slice        int           // number of bytes to send at a time, 0 for all
	pause        time.Duration // after each slice
	limit        int           // bytes that a connection delivers before it is cut, 0 for no limit
	silent       bool          // whether all data is dropped
	cut          time.Duration // time after which all connections end, 0 for never
	reset        bool          // whether connections end with a reset
	over         chan struct{}
}

var errLimit = errors.New("cut off")

// carry forwards b from a connection that has already forwarded the given number of bytes.
func (t *trouble) carry(to io.Writer, b []byte, through int) error {
	if t == nil {
		_, err := to.Write(b)
		return err
	}
	if t.silent {
		return nil
	}
	if t.limit > 0 && through+len(b) > t.limit {
		_, err := to.Write(b[:max(0, t.limit-through)])
		return errors.Join(err, errLimit)
	}
	if t.late+t.jitter > 0 {
		t.lasts(max(0, t.late-t.jitter) + rand.N(2*t.jitter+1))
	}
	for troubled := t.slice > 0; len(b) > 0; {
		n := len(b)
		if troubled {
			n = min(n, t.slice)
		}
		if _, err := to.Write(b[:n]); err != nil {
			return err
		}
		b = b[n:]
		troubled = troubled && t.lasts(t.pause)
	}
	return nil
}

// lasts waits for the given time, and reports whether the disturbance lasted that long.
func (t *trouble) lasts(wait time.Duration) bool {
	select {
	case <-time.After(wait):
		return true
	case <-t.over:
		return false
	}
}

// TestBadLineDeliversAPrefix: with every kind of disturbance, the bytes that arrive are a prefix of
// the bytes that were sent.
func TestBadLineDeliversAPrefix(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for i, trouble := range troubles {
		server, in := net.Pipe()
		out, phone := net.Pipe()
		l := &badLine{conns: map[net.Conn]bool{in: true, out: true}}
		l.wg.Go(func() { l.pass(out, in, false) })
		arrived := make(chan string)
		go func() {
			b, _ := io.ReadAll(phone)
			arrived <- string(b)
		}()
		bad := trouble(rng)
		bad.cut = 0 // the disturbance ends before the cut
		l.become(&bad)
		parts := []string{"in trouble, ", "still in trouble, ", "and out of it"}
		for n, part := range parts {
			if n == len(parts)-1 {
				l.become(nil) // once the network reads the second part, it has delivered the first
			}
			_, _ = io.WriteString(server, part) // fails if the connection has been cut
		}
		server.Close()
		if got := <-arrived; !strings.HasPrefix(strings.Join(parts, ""), got) {
			t.Errorf("trouble %d: got %q, want a prefix of the text that was sent", i, got)
		}
		l.wg.Wait()
	}
}
