package classroom

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/tokenbytoken/viz/web/shell"
)

// Access is how browsers on other machines get to this server.
type Access struct {
	// URL is the address to give to a class, "https://class.example", if
	// the operator has set it; "" takes the address by which
	// the browser that asks came.
	URL string
	// Local says that the server listens on this machine's own address only:
	// nobody in the room can reach it.
	Local bool
	// Command opens the server to the classroom's network in the clear, Secure
	// with a certificate.
	Command, Secure string
	// Clear says that what travels can be read by others on the network.
	Clear bool
}

// reach is what a page says about how a class gets here.
type reach struct {
	Access
	Base  string // "http://192.168.0.7:8080"
	Shown string // Base without its scheme, as one reads it aloud
	Let   *letIn // nil where there is no button
}

// reach fills in what is known from the request only.
func (a Access) reach(r *http.Request) reach {
	v := reach{Access: a, Base: strings.TrimSuffix(a.URL, "/")}
	if v.Base == "" {
		v.Base = shell.Base(r).String()
	}
	v.Shown = strings.TrimPrefix(strings.TrimPrefix(v.Base, "https://"), "http://")
	if u, err := url.Parse(v.Base); err == nil && !loopback(u.Hostname()) {
		v.Clear = v.Clear || u.Scheme == "http"
	}
	return v
}

// loopback tells whether a name is this machine's own.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
