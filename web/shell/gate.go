package shell

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/terms"
)

// contentPolicy allows a page to load only files from this server, and no inline scripts. Only
// the pages of a static site have a manifest.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; " +
	"frame-ancestors 'none'"

// securityHeaders are sent with every response, including refusals.
var securityHeaders = map[string]string{
	"Content-Security-Policy":      contentPolicy,
	"X-Content-Type-Options":       "nosniff",
	"Referrer-Policy":              "same-origin", // with no-referrer, this site's forms would carry the Origin "null"
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
}

// strictTransport makes a browser use only HTTPS for a host, on all its ports, for a week, which is
// the usual time between two lessons of a class. If HTTPS is turned off, browsers that have visited
// the site cannot reach the host over HTTP for up to a week.
const strictTransport = "max-age=604800"

// LoopbackHosts returns the Host values that a browser on this machine sends to a server that
// listens at addr ("127.0.0.1:8080", ":8080"). These are the three loopback names with the port. If
// the port is 80, the names without the port are included.
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

// AddressOf returns the address at which a request that passed [Gate] reached the server, without
// a path, such as "https://viz.example".
func AddressOf(r *http.Request) *url.URL {
	if r.TLS != nil {
		return &url.URL{Scheme: "https", Host: r.Host}
	}
	return &url.URL{Scheme: "http", Host: r.Host}
}

// A gate checks every request before any other handler. Another site's page can make a browser send
// requests to this server in two ways: across sites or, with a DNS entry that points at this
// machine, under the other site's name. In both cases, Origin or Host contains the name of that
// site.
type gate struct {
	hosts  map[string]bool
	more   func() string // returns a temporary additional host, or ""; can be nil
	secure string        // the host of a public https address, or ""
	log    *slog.Logger
	next   http.Handler
}

// Gate passes a request on to next if its Host is one of hosts and its Origin, if it has one, is a
// page of one of them. It refuses all other requests with an error message. It sets the security
// headers of every response, and sends status 500 if next panics. more, if not nil, returns an
// additional host that the server currently has, or "" if there is none.
//
// public is the server's public address, if there is one. If it is an https address, requests to
// its host have reached a proxy in front of this server over HTTPS. Gate sets r.TLS for them and
// refuses requests from HTTP pages of that host, because an attacker may have created those pages.
// An https Origin is accepted only if the request or a proxy shows that HTTPS was used.
func Gate(
	hosts []string, more func() string, public string, log *slog.Logger, next http.Handler,
) http.Handler {
	g := &gate{hosts: map[string]bool{}, more: more, log: log, next: next}
	if u, err := url.Parse(public); err == nil && u.Scheme == "https" {
		g.secure = strings.ToLower(u.Host)
	}
	for _, h := range hosts {
		g.hosts[strings.ToLower(h)] = true
	}
	return g
}

// knows reports whether a host, in lower case, is one of the server's hosts.
func (g *gate) knows(host string) bool {
	return g.hosts[host] || g.more != nil && host != "" && host == strings.ToLower(g.more())
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range securityHeaders {
		w.Header().Set(name, value)
	}
	if r.TLS == nil && g.secure != "" && strings.EqualFold(r.Host, g.secure) {
		r.TLS = &tls.ConnectionState{} // the request reached a proxy over HTTPS
	}
	defer g.recover(w, r)
	if status, why := g.refuse(r); status != 0 {
		g.log.Warn("request refused", "status", status, "host", r.Host, "origin", r.Header.Get("Origin"))
		Text(w, status, why)
		return
	}
	if r.TLS != nil && named(r.Host) {
		w.Header().Set("Strict-Transport-Security", strictTransport)
	}
	g.next.ServeHTTP(w, r)
}

// OfAPI reports whether a path belongs to the API for clients of other programs. The API's
// addresses accept requests from pages of the origins in -api-origin, and its refusals are in the
// API's own format.
func OfAPI(path string) bool {
	return strings.HasPrefix(path, "/v1/") || path == "/tokenize" || path == "/detokenize"
}

// refuse returns the status and the message for refusing a request. If the request may pass, the
// status is 0.
func (g *gate) refuse(r *http.Request) (status int, why string) {
	l := terms.In(r.Context())
	if !g.knows(strings.ToLower(r.Host)) {
		return http.StatusMisdirectedRequest, l.T("shell.gate.host", "host", quote(r.Host))
	}
	origins := r.Header.Values("Origin")
	for _, o := range origins {
		o = strings.ToLower(o)
		host, clear := strings.CutPrefix(o, "http://")
		if !clear {
			host, _ = strings.CutPrefix(o, "https://") // see overHTTPS
		}
		own := host != o && g.knows(host)
		if clear && own && (r.TLS != nil || host == g.secure) {
			return http.StatusForbidden, l.T("shell.gate.clear", "origin", quote(o))
		}
		if !own {
			why := "shell.gate.origin.host"
			switch {
			case !strings.HasPrefix(o, "http://") && !strings.HasPrefix(o, "https://"): // a file, a sandbox
				why = "shell.gate.origin"
			case OfAPI(r.URL.Path): // pages of its origins need only the API
				why = "shell.gate.origin.api"
			}
			return http.StatusForbidden, l.T(why, "origin", quote(o))
		}
		if !clear && !overHTTPS(r) {
			return http.StatusForbidden, l.T("shell.gate.proxy", "origin", quote(o))
		}
	}
	// Sec-Fetch-Site tells whether a request comes from this site or from another one. Links on
	// other sites can open pages, but no request from another site can open a socket or change
	// anything.
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" && (Changes(r) || r.URL.Path == "/ws") {
		return http.StatusForbidden, l.T("shell.gate.site")
	}
	return 0, ""
}

// overHTTPS reports whether a browser sent a request over HTTPS to this server or to a proxy in
// front of it. Other sites' pages cannot make a browser send X-Forwarded-Proto.
func overHTTPS(r *http.Request) bool {
	proto, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",")
	return r.TLS != nil || strings.EqualFold(strings.TrimSpace(proto), "https")
}

// recover logs a handler's panic and, if the response has not begun, sends status 500.
func (g *gate) recover(w http.ResponseWriter, r *http.Request) {
	err := recover()
	if err == nil {
		return
	}
	if err == http.ErrAbortHandler {
		panic(err)
	}
	fault.Log(g.log, "a request", fault.Of(err), "path", r.URL.Path)
	Text(w, http.StatusInternalServerError, terms.In(r.Context()).T("shell.failed"))
}

// quote quotes a value from a request and shortens it if it is long.
func quote(s string) string {
	const most = 200
	if len(s) > most {
		s = s[:most] + "…"
	}
	return fmt.Sprintf("%q", s)
}

// named reports whether a host is a name rather than an address. Browsers remember
// [strictTransport] only for names. localhost is excluded, because all programs on the machine
// share that name, on all ports.
func named(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	_, err := netip.ParseAddr(name)
	return err != nil && name != "localhost" && !strings.HasSuffix(name, ".localhost")
}
