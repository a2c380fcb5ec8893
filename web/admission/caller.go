// Package admission shares a server's limited resources among its callers, so that
// one client cannot lock out everyone else.
//
// A caller is identified by a learner id and an address. The id is in a signed cookie, but anyone
// can collect many such cookies. The address is a network that a whole school can share. Limits
// therefore apply to both. Newcomers count against the limits of their address. Learners with an
// older cookie do not, and part of every resource is reserved for them.
//
//   - A [Pool] limits the resources that callers hold concurrently, such as sockets and runs. When
//     it is full, the caller that holds the most places loses the least recently used one.
//   - A [Meter] limits how often callers do something, such as sending requests or messages.
//   - A [Queue] runs one task at a time. Learners take turns, and short tasks go first.
//
// [Limits] defines the sizes of all of these.
package admission

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// KnownAfter is how old a cookie must be for its learner to count as known. It is longer than the
// rush at the start of a lesson.
const KnownAfter = 10 * time.Minute

// Caller identifies the sender of a request.
type Caller struct {
	Learner string       // the learner's id
	Address netip.Prefix // see [Network]
	Since   time.Time    // when the cookie was issued; zero if that was long ago
	Fresh   bool         // the request had no cookie: a first visit, or a client that does not store cookies
	Phone   bool         // the request arrived on the listener for a class's phones
}

// Known reports whether the caller's cookie is at least [KnownAfter] old.
func (c Caller) Known(now time.Time) bool { return now.Sub(c.Since) >= KnownAfter }

// local lists the addresses of this machine.
var local = []netip.Prefix{
	Network(netip.AddrFrom4([4]byte{127, 0, 0, 1})), Network(netip.IPv6Loopback()),
}

// Local reports whether the request came from this machine, either from its owner or through a
// proxy that is not in [Proxies]. Per-address limits would affect everyone behind such a proxy, so
// local callers count as known.
func (c Caller) Local() bool { return slices.Contains(local, c.Address) }

// Network returns the network that limits treat as one address: an IPv4 address, or the /64 of an
// IPv6 address, because one host can use all addresses in its /64.
func Network(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits) // fails only for the zero address, and then returns the zero network
	return p
}

// Proxies lists the networks whose X-Forwarded-For header is trusted.
type Proxies []netip.Prefix

// Address returns the address that a request came from: the peer's address or, if the peer is a
// trusted proxy, the last address in X-Forwarded-For that is not a trusted proxy.
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
			break // the addresses before this one cannot be trusted
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
