package classroom

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/room"
	"github.com/tokenbytoken/viz/web/shell"
)

// PhonesConfig configures a server that can let phones in while it runs.
type PhonesConfig struct {
	// Main is the address of the server's main listener, which can be reached only from the
	// server's own machine.
	Main net.Addr
	// Hosts returns the machine's current addresses in private networks.
	Hosts func() []PhoneHost
	// Listen listens on a TCP address, like [net.Listen]. It is a field so that the browser
	// build does not link [net.Listen].
	Listen func(address string) (net.Listener, error)
	// Serve serves a listener under the address that phones use, until stop is called.
	// Calling stop closes the listener and returns without waiting for connections to end.
	Serve func(l net.Listener, address *url.URL) (stop func())
	// TLS means that Serve uses HTTPS.
	TLS bool
	// Linger is how long phones can still open pages after their class has ended.
	Linger time.Duration
}

// PhoneHost is an address of the machine in a private network.
type PhoneHost struct {
	IP        string // "192.168.0.7"
	Interface string // "wlan0"
}

// Phones is a second listener, through which phones can reach a server that otherwise only
// serves its own machine. It opens when an instructor requests it, and closes when the last
// room that needs it has ended or when an instructor closes it. A nil *Phones cannot be
// opened.
type Phones struct {
	cfg PhonesConfig
	wg  sync.WaitGroup // of the goroutines that watch rooms

	mu      sync.Mutex
	stop    func()                        // closes the listener; nil while it is closed
	address *url.URL                      // address of the listener
	rooms   map[string]context.CancelFunc // rooms that need it, by code
	ended   bool
}

// NewPhones returns a closed listener. [Phones.End] closes it permanently.
func NewPhones(cfg PhonesConfig) *Phones {
	return &Phones{cfg: cfg, rooms: map[string]context.CancelFunc{}}
}

// at returns the address of the listener, or nil if it is closed.
func (p *Phones) at() *url.URL {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop == nil {
		return nil
	}
	return p.address
}

// Host returns the Host header under which phones reach the listener, or "" if it is
// closed.
func (p *Phones) Host() string {
	if u := p.at(); u != nil {
		return u.Host
	}
	return ""
}

// codePhones is the code of refusals to let phones in.
const codePhones terms.Code = "phones"

// open opens the listener for a room at one of the machine's addresses. If the listener is
// already open, it keeps its address, and stays open for this room too.
func (p *Phones) open(hub *room.Hub, room class.Room, host string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return terms.Refuse(codePhones, "classroom.letin.refused.ending")
	}
	if p.stop == nil {
		if !p.has(host) {
			return terms.Refuse(codePhones, "classroom.letin.refused.address")
		}
		if err := p.listen(host); err != nil {
			return terms.Refuse(codePhones, "classroom.letin.refused.listen", "address", host, "reason", reason(err))
		}
	}
	p.hold(hub, room)
	return nil
}

// has reports whether the machine currently has an address.
func (p *Phones) has(host string) bool {
	return slices.ContainsFunc(p.cfg.Hosts(), func(h PhoneHost) bool { return h.IP == host })
}

// reason returns the operating system's reason for refusing to open a listener.
func reason(err error) string {
	if op := (*net.OpError)(nil); errors.As(err, &op) {
		err = op.Err
	}
	return err.Error()
}

// listen opens the listener at a host, on the same port as the main listener if that port is
// free.
func (p *Phones) listen(host string) error {
	_, port, err := net.SplitHostPort(p.cfg.Main.String())
	if err != nil {
		return err
	}
	var l net.Listener
	for _, port := range []string{port, "0"} {
		if l, err = p.cfg.Listen(net.JoinHostPort(host, port)); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	p.address = p.url(l.Addr())
	p.stop = p.cfg.Serve(l, p.address)
	return nil
}

// url returns the URL of a listener in the form that browsers send, which omits a default
// port.
func (p *Phones) url(listener net.Addr) *url.URL {
	scheme, usual := "http", ":80"
	if p.cfg.TLS {
		scheme, usual = "https", ":443"
	}
	return &url.URL{Scheme: scheme, Host: strings.TrimSuffix(listener.String(), usual)}
}

// join keeps the listener open for another room. It does nothing if the listener is closed.
func (p *Phones) join(hub *room.Hub, room class.Room) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop != nil {
		p.hold(hub, room)
	}
}

// hold keeps the listener open for a room. The caller holds the lock.
func (p *Phones) hold(hub *room.Hub, room class.Room) {
	if p.rooms[room.Code()] != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.rooms[room.Code()] = cancel
	notify := func() { hub.Broker().Publish(room.Code(), class.Note{Seq: room.View().Seq}) }
	p.wg.Go(func() {
		defer cancel()
		notify() // the room's walls then show the address
		p.watch(ctx, hub, room)
		p.leave(ctx, room.Code())
		notify()
	})
}

// watch returns when a room no longer needs the listener, because the room was deleted or
// its class ended at least [PhonesConfig.Linger] ago.
func (p *Phones) watch(ctx context.Context, hub *room.Hub, room class.Room) {
	notes, stop := hub.Broker().Subscribe(room.Code())
	defer stop()
	var over <-chan time.Time
	for {
		switch v := room.View(); {
		case v.Gone:
			return
		case !v.Ended:
			over = nil
		case over == nil:
			over = time.After(p.cfg.Linger)
		}
		select {
		case <-over:
			return
		case <-notes:
		case <-room.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

// leave closes the listener if the given room was the last one that needed it. ctx is the context
// in which that room was watched.
func (p *Phones) leave(ctx context.Context, code string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ctx.Err() != nil { // the listener was closed, and may have been reopened
		return
	}
	delete(p.rooms, code)
	if len(p.rooms) == 0 {
		p.close()
	}
}

// close closes the listener. The caller holds the lock.
func (p *Phones) close() {
	for code, cancel := range p.rooms {
		cancel()
		delete(p.rooms, code)
	}
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
}

// Close closes the listener. It can be opened again.
func (p *Phones) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.close()
}

// End closes the listener permanently.
func (p *Phones) End() {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.ended = true
	p.close()
	p.mu.Unlock()
	p.wg.Wait()
}

// mayAsk reports whether a request comes from a browser on this machine through the main listener
// and, according to its headers, not through a proxy.
func (p *Phones) mayAsk(r *http.Request) bool {
	if p == nil {
		return false
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok || local.String() != p.cfg.Main.String() {
		return false
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback() && loopback(shell.AddressOf(r).Hostname()) &&
		!forwarded(r.Header)
}

// byProxies matches the headers that proxies add to forwarded requests.
var byProxies = regexp.MustCompile(`(?i)^(via|forwarded|cdn-loop|.*-ip|.*client-?ip|` +
	`(x-forwarded|x-original|x-envoy|x-amzn|x-appengine|cf|fly|tailscale|proxy)-.*)$`)

func forwarded(h http.Header) bool {
	for name := range h {
		if byProxies.MatchString(name) {
			return true
		}
	}
	return false
}

// sameOrigin reports whether a request comes from a page with exactly the same origin as the
// request. The gate is less strict: it accepts pages under any of the server's names.
func sameOrigin(r *http.Request) bool {
	origin, site := r.Header.Values("Origin"), r.Header.Values("Sec-Fetch-Site")
	return len(origin) == 1 && strings.EqualFold(origin[0], shell.AddressOf(r).String()) &&
		(len(site) == 0 || len(site) == 1 && site[0] == "same-origin")
}
