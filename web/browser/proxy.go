package browser

import (
	"io"
	"net"
	"sync"
	"testing"
)

// A Proxy forwards TCP connections to a server until a test freezes or cuts them.
type Proxy struct {
	net.Listener
	to     string
	frozen sync.RWMutex // held for writing while the network is frozen

	mu    sync.Mutex
	conns map[net.Conn]bool
	down  bool // new connections are refused
	wg    sync.WaitGroup
}

// NewProxy starts a proxy that stops at the end of the test. [Proxy.To] sets its target.
func NewProxy(t testing.TB) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Listener: l, conns: map[net.Conn]bool{}}
	p.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.wg.Go(func() { p.pass(c) })
		}
	})
	t.Cleanup(func() { l.Close(); p.Cut(); p.wg.Wait() })
	return p
}

// To sets the address of the server that the proxy forwards to.
func (p *Proxy) To(addr string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.to = addr
}

// URL returns the proxy's address for browsers.
func (p *Proxy) URL() string { return "http://" + p.Addr().String() }

func (p *Proxy) pass(c net.Conn) {
	defer c.Close()
	p.mu.Lock()
	to := p.to
	p.mu.Unlock()
	s, err := net.Dial("tcp", to)
	if err != nil || !p.keep(c, s) {
		return
	}
	defer s.Close()
	p.wg.Go(func() { io.Copy(freezing{p, s}, c); s.Close(); c.Close() })
	io.Copy(freezing{p, c}, s)
}

// keep records connections so that they can be cut later. If the network is down, keep closes them
// and returns false.
func (p *Proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		p.conns[c] = true
		if p.down {
			c.Close()
		}
	}
	return !p.down
}

// Freeze stops all bytes in both directions, without closing connections, until thaw is called.
func (p *Proxy) Freeze() (thaw func()) {
	p.frozen.Lock()
	return p.frozen.Unlock
}

// freezing is a connection to which nothing is written while the network is frozen.
type freezing struct {
	p *Proxy
	net.Conn
}

func (c freezing) Write(b []byte) (int, error) {
	c.p.frozen.RLock()
	defer c.p.frozen.RUnlock()
	return c.Conn.Write(b)
}

// Break closes every connection. New connections are accepted right away.
func (p *Proxy) Break() { p.cut(false) }

// Cut closes every connection and refuses new ones until [Proxy.Mend].
func (p *Proxy) Cut() { p.cut(true) }

func (p *Proxy) cut(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
	for c := range p.conns {
		c.Close()
		delete(p.conns, c)
	}
}

// Mend allows connections again.
func (p *Proxy) Mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = false
}

// Lose cuts the network while the bytes sent by the function send are in transit, so that they are
// lost.
func (p *Proxy) Lose(send func()) {
	thaw := p.Freeze()
	send()
	p.Cut()
	thaw()
}
