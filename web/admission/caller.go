// Package admission decides who may hold how much of what the server has only so
// much of, and who may do how often what costs it something, so that one client
// cannot take the server from everybody else.
//
// It knows callers by two things. A learner is a signed cookie, which anybody can
// have many of; an address is a network, which a whole school may share. So limits
// are set for both, newcomers count against their address, and learners whose
// cookie is older than a rush do not: part of everything is reserved for them.
//
//   - A [Pool] bounds things that are held: sockets, runs. When it is full, whoever
//     holds the most of it loses what was not used for the longest time.
//   - A [Meter] bounds things that are done: requests, first visits, messages.
//   - A [Queue] orders work that is done one piece at a time: by learner, the
//     shortest first.
//
// [Limits] is the one table of their sizes.
package admission

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// KnownAfter is how old a learner's cookie is before the learner is known: longer
// than a rush at the start of a lesson, or than an attacker likes to wait.
const KnownAfter = 10 * time.Minute

// Caller is who asks for something.
type Caller struct {
	Learner string       // their id
	Address netip.Prefix // their network: see [Network]
	Since   time.Time    // when the learner got their cookie; zero for long ago
	Fresh   bool         // the request had no cookie: a first visit, or a client that keeps none
}

// Known reports whether the caller had their cookie before the present rush.
func (c Caller) Known(now time.Time) bool { return now.Sub(c.Since) >= KnownAfter }

// local are the addresses of this machine.
var local = []netip.Prefix{
	Network(netip.AddrFrom4([4]byte{127, 0, 0, 1})), Network(netip.IPv6Loopback()),
}

// Local reports whether the request came from this machine: from its owner, or
// through a proxy that the server has not been told of. Neither is one of many
// behind an address, so both are treated as known.
func (c Caller) Local() bool { return slices.Contains(local, c.Address) }

// Network returns what limits count as one address: an IPv4 address, and of an IPv6
// address its /64, since one host can use all addresses of that.
func Network(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits) // fails only for the zero address, which is a network of its own
	return p
}

// Proxies are the networks whose word about a request's origin is believed.
type Proxies []netip.Prefix

// Address returns the address that a request came from: that of the peer, or, as
// long as that is a proxy, the last one of X-Forwarded-For that is not.
func (list Proxies) Address(r *http.Request) netip.Addr {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	peer, _ := netip.ParseAddr(host)
	peer = peer.Unmap()
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && list.contain(peer); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break // what precedes it is anybody's word
		}
		peer = hop.Unmap()
	}
	return peer
}

func (list Proxies) contain(a netip.Addr) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}
