package loop

import (
	"context"
	"net"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/wire"
)

// TestEvictedRunContinuesForViewer: a viewer of an evicted run does not notice the
// eviction.
func TestEvictedRunContinuesForViewer(t *testing.T) {
	t.Parallel()
	x := newSite(t, tight)
	for _, protocol := range []string{wire.ProtocolHTML, wire.ProtocolJSON} {
		c := x.dial(protocol, "")
		c.do(`{"cmd":"start","prompt":"Once upon a time"}`)
		c.do(`{"cmd":"token"}`)
		x.evict(x.runOf(c.run))
		c.do(`{"cmd":"token"}`)
		if c.where() != "2 cache" {
			t.Errorf("%s: the client is at %s, want 2 cache", protocol, c.where())
		}
		sameAsFresh(t, x, protocol, c)
	}
}

// TestSlowReaderDoesNotStopOthers: a viewer that does not read does not stop the run or a second
// viewer. When the first viewer resumes reading, it has missed states but no tokens.
// Promise: A client that reads slowly misses states but no tokens, and stops nobody else.
func TestSlowReaderDoesNotStopOthers(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	quick := x.dial(wire.ProtocolHTML, "")
	quick.do(`{"cmd":"stop","max_tokens":300}`)
	quick.do(`{"cmd":"set","temperature":0}`)
	quick.do(`{"cmd":"start","prompt":"Once upon a time there was a"}`)
	d := websocket.Dialer{
		Subprotocols: []string{wire.ProtocolHTML}, Jar: x.jar,
		NetDial: func(network, addr string) (net.Conn, error) {
			conn, err := net.Dial(network, addr)
			if err == nil {
				err = conn.(*net.TCPConn).SetReadBuffer(32 << 10)
			}
			return conn, err
		},
	}
	conn, _, err := d.Dial(x.url("?run="+quick.run), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	slow := &client{t: t, conn: conn, html: map[string]string{}}

	quick.do(`{"cmd":"speed","speed":"max"}`)
	quick.do(`{"cmd":"play"}`)
	for quick.last.Data.Playing {
		quick.read()
	}
	final := quick.last.Seq
	for slow.last.Seq < final {
		slow.read()
	}
	if len(slow.tokens) != len(quick.tokens) || len(slow.tokens) == 0 {
		t.Errorf(
			"the slow viewer has %d tokens, the quick one %d; want %d, not 0", len(slow.tokens), len(quick.tokens),
			len(quick.tokens),
		)
	}
	sameAsFresh(t, x, wire.ProtocolHTML, slow)
	sameAsFresh(t, x, wire.ProtocolHTML, quick)
	if len(slow.got) > int(final)/2 {
		t.Errorf("the slow viewer got %d messages for %d versions, want at most half as many", len(slow.got), final)
	}
	t.Logf("%d versions; %d messages to the quick viewer, %d to the slow one", final, len(quick.got), len(slow.got))
}

// TestReconnectShowsTheWholeRun: if a connection breaks without notice, the run does not change,
// and the next connection shows the whole run.
func TestReconnectShowsTheWholeRun(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	c := x.dial(wire.ProtocolJSON, "")
	c.do(`{"cmd":"start","prompt":"Once upon a time"}`)
	c.do(`{"cmd":"token"}`)
	c.do(`{"cmd":"step"}`)
	c.conn.NetConn().Close()
	again := x.dial(wire.ProtocolJSON, "?had=1&run="+c.run)
	if again.told != nil || again.run != c.run || again.where() != "2 forward" || again.last.Seq != c.last.Seq {
		t.Errorf("after reconnecting: at %s of %s, error %+v; want %s of %s", again.where(), again.run, again.told,
			c.where(), c.run)
	}
}

// TestEndedRunClosesItsConnections: when a run ends while a client is connected to it, the
// client is asked to reconnect.
func TestEndedRunClosesItsConnections(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	c := x.dial(wire.ProtocolJSON, "")
	c.do(`{"cmd":"start","prompt":"Hello"}`)
	ctx, cancel := context.WithTimeout(context.Background(), browser.Patience)
	defer cancel()
	if err := x.Runs.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if code, _ := c.closed(); code != websocket.CloseInternalServerErr {
		t.Errorf("closed with %d, want 1011", code)
	}
}
