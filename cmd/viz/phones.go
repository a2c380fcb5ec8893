package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/classroom"
	"github.com/tokenbytoken/viz/web/shell"
)

// phonesLinger is how long phones can still read the pages after their class has ended.
const phonesLinger = 10 * time.Minute

// phones manages the listener through which a class's phones reach a running server.
type phones struct {
	*classroom.Phones              // nil if this server must not have such a listener
	handler           http.Handler // set before the server answers requests
	secure            *tls.Config
	words             *terms.Language
	out               io.Writer // the terminal
	log               *slog.Logger
	patience          time.Duration // how long connections may stay open after the listener closes
	wg                sync.WaitGroup
}

// phones returns the listener through which phones reach a server that listens at main. Only a
// server that other machines cannot reach, and that no flag makes available to them, can have such
// a listener.
func (o *serveOptions) phones(
	w *terms.Language, a address, main net.Addr, secure *tls.Config, out io.Writer, log *slog.Logger,
) *phones {
	p := &phones{words: w, secure: secure, out: out, log: log, patience: requestsEnd}
	if a.loopback() && o.public == nil && len(o.proxies) == 0 && len(o.hosts) == 0 && o.cluster.url == "" {
		p.Phones = classroom.NewPhones(classroom.PhonesConfig{
			Main: main, Hosts: phoneHosts, Serve: p.serve, TLS: secure != nil, Linger: phonesLinger,
			Listen: func(address string) (net.Listener, error) { return net.Listen("tcp", address) },
		})
	}
	return p
}

// serve implements the Serve function of [classroom.PhonesConfig]. It serves the usual pages with
// the usual limits, as if the server had been started for the network.
func (p *phones) serve(l net.Listener, at *url.URL) (stop func()) {
	server := newHTTP(shell.Phones(p.handler), p.log)
	guests := &guests{Listener: l, open: map[*guest]struct{}{}, none: make(chan struct{})}
	p.wg.Go(func() {
		var err error
		if server.TLSConfig = p.secure.Clone(); p.secure != nil {
			err = server.ServeTLS(guests, "", "")
		} else {
			err = server.Serve(guests)
		}
		if !errors.Is(err, net.ErrClosed) && !errors.Is(err, http.ErrServerClosed) {
			p.log.Error("the listener for phones failed", "error", err)
			p.Close()
		}
	})
	said := make(chan struct{}) // if the terminal's output is paused, only the goroutines that print are blocked
	p.wg.Go(func() {
		defer close(said)
		fmt.Fprintln(p.out, p.words.T("cmd.serve.phones", "url", at))
		if p.secure == nil {
			fmt.Fprint(p.out, clearWarning(p.words))
		}
	})
	return func() {
		l.Close()
		p.wg.Go(func() { guests.leave(server, p.patience) })
		p.wg.Go(func() {
			<-said
			fmt.Fprintln(p.out, p.words.T("cmd.serve.phones.end", "url", at))
		})
	}
}

// guests is a listener that tracks its connections, since an HTTP server does not track connections
// that become WebSockets.
type guests struct {
	net.Listener
	mu     sync.Mutex
	open   map[*guest]struct{}
	closed bool
	none   chan struct{} // closed once the listener is closed and no connection is left
}

// guest is a connection accepted by guests.
type guest struct {
	net.Conn
	of *guests
}

// Accept implements [net.Listener].
func (g *guests) Accept() (net.Conn, error) {
	conn, err := g.Listener.Accept()
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		conn.Close()
		return nil, net.ErrClosed
	}
	c := &guest{conn, g}
	g.open[c] = struct{}{}
	return c, nil
}

// Close implements [net.Conn].
func (c *guest) Close() error {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	delete(c.of.open, c)
	c.of.check()
	return c.Conn.Close()
}

// check closes g.none once the listener is closed and no connection is left. The caller must hold
// g.mu.
func (g *guests) check() {
	if !g.closed || len(g.open) > 0 {
		return
	}
	select {
	case <-g.none:
	default:
		close(g.none)
	}
}

// leave ends all connections of a closed listener. It first gives them time to end on their own, as
// WebSockets do when the whole server stops.
func (g *guests) leave(server *http.Server, patience time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	g.mu.Lock()
	g.closed = true
	g.check()
	g.mu.Unlock()
	if server.Shutdown(ctx) != nil {
		server.Close()
	}
	select {
	case <-g.none:
		return
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range g.open {
		c.Conn.Close()
	}
}

// phoneHosts returns the addresses of this machine in private networks, IPv4 first. Tests
// replace it.
var phoneHosts = func() (list []classroom.PhoneHost) {
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil
	}
	for _, i := range interfaces {
		addrs, err := i.Addrs()
		if err != nil || i.Flags&net.FlagUp == 0 {
			continue
		}
		for _, addr := range addrs {
			if n, ok := addr.(*net.IPNet); ok && n.IP.IsPrivate() {
				list = append(list, classroom.PhoneHost{IP: n.IP.String(), Interface: i.Name})
			}
		}
	}
	colons := func(h classroom.PhoneHost) int { return strings.Count(h.IP, ":") }
	slices.SortStableFunc(list, func(a, b classroom.PhoneHost) int { return cmp.Compare(colons(a), colons(b)) })
	return list
}
