package main

import (
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/web"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/progress"
)

// example is the text of an example file.
type example string

func readExample(t *testing.T, name string) example {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("examples", name))
	if err != nil {
		t.Fatal(err)
	}
	return example(text)
}

// find returns the text that a pattern's group matches in the only line that matches the pattern.
func (e example) find(t *testing.T, pattern string) string {
	t.Helper()
	all := regexp.MustCompile("(?m)^[ \t]*"+pattern).FindAllStringSubmatch(string(e), -1)
	if len(all) != 1 {
		t.Fatalf("%s matches %d times, want once", pattern, len(all))
	}
	return all[0][1]
}

// atLeast checks that a size such as 64k, or a time such as 120s, is at least what the
// program needs.
func (e example) atLeast(t *testing.T, pattern string, least int64) {
	t.Helper()
	text := e.find(t, pattern)
	unit := map[byte]int64{'k': 1 << 10, 'm': 1 << 20, 's': int64(time.Second)}[text[len(text)-1]]
	if unit == 0 {
		text, unit = text+" ", 1
	}
	if n, err := strconv.ParseInt(text[:len(text)-1], 10, 64); err != nil || n*unit < least {
		t.Errorf("%s is %s, %v; want at least %d", pattern, text, err, least)
	}
}

// fits checks that the limits in an nginx site's configuration are high enough.
func (e example) fits(t *testing.T) {
	t.Helper()
	e.atLeast(t, `large_client_header_buffers \d+ (\w+);`, web.HeaderBytes)
	e.atLeast(t, `proxy_buffer_size (\w+);`, web.HeaderBytes)
	e.atLeast(t, `client_max_body_size (\w+);`, progress.MaxImport+1<<20)
	e.atLeast(t, `proxy_read_timeout (\w+);`, int64(time.Minute)) // longer than the time between two pings
}

// TestExampleUnitUsesExistingFlags: the unit starts a server with flags that exist. Both proxies
// forward requests to the server's address, with its public host name and from an address that it
// trusts, and their limits allow everything that the program accepts.
// Promise: The example systemd unit and proxy configurations fit this version of the program.
func TestExampleUnitUsesExistingFlags(t *testing.T) {
	unit, caddy, nginx := readExample(t, "viz.service"), readExample(t, "Caddyfile"), readExample(t, "nginx.conf")
	command := strings.Fields(unit.find(t, `ExecStart=/usr/local/bin/viz serve (.*)`))
	o := serveOptions{}
	if err := o.flags().parse(command, func(string) string { return "" }, nil); err != nil {
		t.Fatalf("%q: %v", command, err)
	}
	if o.data != "${STATE_DIRECTORY}" || unit.find(t, `StateDirectory=(.*)`) != "viz" || !o.noOpen {
		t.Errorf("the data folder is %s, want ${STATE_DIRECTORY} of the state directory viz, and -no-open", o.data)
	}
	if to := caddy.find(t, `reverse_proxy (\S+)`); to != o.addr {
		t.Errorf("Caddy forwards to %s, want the server's address, %s", to, o.addr)
	}
	if to := nginx.find(t, `proxy_pass http://(\S+);`); to != o.addr {
		t.Errorf("nginx forwards to %s, want the server's address, %s", to, o.addr)
	}
	for _, name := range []string{caddy.find(t, `(\S+) \{$`), nginx.find(t, `server_name (\S+);`)} {
		if o.public == nil || o.public.String() != "https://"+name {
			t.Errorf(
				"a proxy serves %s, and the public address is %s; want non-nil, %s", name, o.public, "https://"+name,
			)
		}
	}
	for _, proxy := range []string{"127.0.0.1", "::1"} {
		trusted := false
		for _, p := range o.proxies {
			trusted = trusted || p.Contains(netip.MustParseAddr(proxy))
		}
		if !trusted {
			t.Errorf("the proxy %s is not trusted", proxy)
		}
	}
	nginx.fits(t)
	unit.atLeast(t, `LimitNOFILE=(\w+)`, int64(2*admission.DefaultLimits().Sockets.Most))
	unit.atLeast(t, `TimeoutStopSec=(\w+)`, int64((web.ShutdownTime+time.Second)/time.Second))
}
