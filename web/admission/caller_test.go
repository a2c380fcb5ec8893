package admission

import (
	"net/http"
	"net/netip"
	"testing"
)

func TestNetworkOfAddress(t *testing.T) {
	for addr, want := range map[string]string{
		"192.0.2.7": "192.0.2.7/32", "::ffff:192.0.2.7": "192.0.2.7/32",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "fe80::1%eth0": "fe80::/64",
	} {
		if got := Network(netip.MustParseAddr(addr)).String(); got != want {
			t.Errorf("%s: got network %s, want %s", addr, got, want)
		}
	}
	if got := Network(netip.Addr{}); got != (netip.Prefix{}) {
		t.Errorf("no address: got %v, want %v", got, netip.Prefix{})
	}
}

// TestAddressBehindProxies: X-Forwarded-For is used only if it comes from a trusted proxy,
// and only the part that trusted proxies have added is used.
// Promise: X-Forwarded-For counts only if it comes from a trusted proxy.
func TestAddressBehindProxies(t *testing.T) {
	trusted := Proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	for _, row := range []struct {
		peer      string
		forwarded []string
		want      string
	}{
		{"192.0.2.7:99", nil, "192.0.2.7"},
		{"192.0.2.7:99", []string{"198.51.100.1"}, "192.0.2.7"}, // not from a proxy
		{"10.0.0.1:99", []string{"198.51.100.1"}, "198.51.100.1"},
		{"[::ffff:10.0.0.1]:99", []string{"198.51.100.1"}, "198.51.100.1"},
		{"[::1]:99", []string{"203.0.113.9, 198.51.100.1, 10.0.0.2"}, "198.51.100.1"},
		{"[::1]:99", []string{"203.0.113.9", "198.51.100.1"}, "198.51.100.1"},
		{"[::1]:99", []string{"203.0.113.9, nonsense"}, "::1"},
		{"[::1]:99", nil, "::1"},
		{"[::1]:99", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
	} {
		r := &http.Request{RemoteAddr: row.peer, Header: http.Header{"X-Forwarded-For": row.forwarded}}
		if got := trusted.Address(r).String(); got != row.want {
			t.Errorf("%s with %q: got %s, want %s", row.peer, row.forwarded, got, row.want)
		}
	}
}
