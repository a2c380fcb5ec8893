package classroom

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/tokenbytoken/viz/web/shell"
)

// Access describes how browsers on other machines reach this server.
type Access struct {
	// URL is the address to give to a class, such as "https://class.example", if the
	// operator has set one. If it is "", the address of the current request is used.
	URL string
	// Local means that the server listens only on this machine's loopback address, so that
	// no other device can reach the server.
	Local bool
	// Command is the command that opens the server to the classroom's network over plain
	// HTTP. Secure is the command that does so with a certificate.
	Command, Secure string
	// Clear means that others on the network can read the traffic.
	Clear bool
}

// reach describes, for pages, how a class reaches the server.
type reach struct {
	Access
	Base  string // "http://192.168.0.7:8080"
	Shown string // Base without its scheme, for reading aloud
	Let   *letIn // nil if there is no button
}

// reach describes how a class reaches the server, given the current request.
func (a Access) reach(r *http.Request) reach {
	v := reach{Access: a, Base: strings.TrimSuffix(a.URL, "/")}
	if v.Base == "" {
		v.Base = shell.AddressOf(r).String()
	}
	v.Shown = strings.TrimPrefix(strings.TrimPrefix(v.Base, "https://"), "http://")
	if u, err := url.Parse(v.Base); err == nil && !loopback(u.Hostname()) {
		v.Clear = v.Clear || u.Scheme == "http"
	}
	return v
}

// loopback reports whether a host name refers to this machine.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
