package shell

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
)

// contentPolicy lets a page load only what this server sends, and run nothing
// that is written into the page itself.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// securityHeaders go with every response, refusals included.
var securityHeaders = map[string]string{
	"Content-Security-Policy":      contentPolicy,
	"X-Content-Type-Options":       "nosniff",
	"Referrer-Policy":              "same-origin", // with no-referrer, forms of this site would carry the Origin "null"
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
}

// LoopbackHosts returns the Host values by which a browser on this machine
// reaches a server listening at addr ("127.0.0.1:8080", ":8080"): the three
// loopback names with its port, and without it where it is 80.
func LoopbackHosts(addr string) []string {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil
	}
	var hosts []string
	for _, name := range []string{"127.0.0.1", "localhost", "::1"} {
		hosts = append(hosts, net.JoinHostPort(name, port))
		if port == "80" {
			hosts = append(hosts, strings.TrimSuffix(net.JoinHostPort(name, port), ":80"))
		}
	}
	return hosts
}

// gate checks every request before any other handler. Another site's page can
// make a browser send requests here, by its own name or, with a DNS entry that
// points at this machine, under a foreign one; both carry that site's name in
// Origin or Host.
type gate struct {
	hosts   map[string]bool
	origins map[string]bool
	log     *slog.Logger
	next    http.Handler
}

// Gate passes on to next the requests whose Host is one of hosts and whose Origin
// is a page of one of them, and refuses all others with a sentence. It sets the
// security headers of every response and answers a panic of next with a 500.
func Gate(hosts []string, log *slog.Logger, next http.Handler) http.Handler {
	g := &gate{hosts: map[string]bool{}, origins: map[string]bool{}, log: log, next: next}
	for _, h := range hosts {
		h = strings.ToLower(h)
		g.hosts[h] = true
		g.origins["http://"+h] = true
		g.origins["https://"+h] = true // behind a proxy that speaks TLS
	}
	return g
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range securityHeaders {
		w.Header().Set(name, value)
	}
	defer g.recover(w, r)
	if status, why := g.refuse(r); status != 0 {
		g.log.Warn("request refused", "status", status, "host", r.Host, "origin", r.Header.Get("Origin"))
		Text(w, status, why)
		return
	}
	g.next.ServeHTTP(w, r)
}

// refuse returns a status and a sentence for a request that must not pass, or 0.
func (g *gate) refuse(r *http.Request) (status int, why string) {
	if !g.hosts[strings.ToLower(r.Host)] {
		return http.StatusMisdirectedRequest, fmt.Sprintf(
			"This server does not answer to the name %s. If it should, start it with -allow-host and that name.",
			quote(r.Host))
	}
	origins := r.Header.Values("Origin")
	for _, o := range origins {
		if !g.origins[strings.ToLower(o)] {
			return http.StatusForbidden, fmt.Sprintf(
				"This server does not accept requests from pages of %s. If it should, start it with -allow-host "+
					"and that page's host.", quote(o))
		}
	}
	// A browser says in Sec-Fetch-Site which site a request is from. Links from
	// other sites may open pages; nothing from there may open a socket or
	// change anything.
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" && (Changes(r) || r.URL.Path == "/ws") {
		return http.StatusForbidden, "This server does not accept this kind of request from another site's page."
	}
	return 0, ""
}

// recover logs a panic of a handler, and turns it into a 500 if the response has
// not begun.
func (g *gate) recover(w http.ResponseWriter, r *http.Request) {
	err := recover()
	if err == nil {
		return
	}
	if err == http.ErrAbortHandler {
		panic(err)
	}
	g.log.Error("panic", "path", r.URL.Path, "err", err, "stack", string(debug.Stack()))
	Text(
		w, http.StatusInternalServerError,
		"Something went wrong on the server. It has been logged; other pages are not affected.",
	)
}

// quote shows a value that came from outside, shortened.
func quote(s string) string {
	const most = 200
	if len(s) > most {
		s = s[:most] + "…"
	}
	return fmt.Sprintf("%q", s)
}

// OverTLS marks requests that reached a proxy in front of this server over HTTPS,
// so that cookies are marked Secure and links begin with https: those to the host
// of a public address that is https.
func OverTLS(public string, next http.Handler) http.Handler {
	u, err := url.Parse(public)
	if err != nil || u.Scheme != "https" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil && strings.EqualFold(r.Host, u.Host) {
			r.TLS = &tls.ConnectionState{}
		}
		next.ServeHTTP(w, r)
	})
}
