package loop

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/wire"
)

// TestCutAtEveryStage cuts the connection after a command has been sent and before its answer has
// been read, at each stage of two turns. The client then reconnects and sends the command again.
// Whether or not the command had arrived, it takes effect once: the client receives each stage once
// and in order.
// Promise: If a client reconnects and sends a command again, it takes effect once; no stage is lost or repeated.
func TestCutAtEveryStage(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{wire.ProtocolHTML, wire.ProtocolJSON} {
		t.Run(protocol, func(t *testing.T) {
			x := newSite(t, limits{})
			p := x.proxied(t)
			y := x.through(p)
			c := y.dial(protocol, "?page=one")
			c.do(`{"cmd":"start","prompt":"Once upon a time"}`)
			if _, page := y.get("/loop?run=" + c.run); page == "" {
				t.Fatal("the proxy does not serve the page")
			}
			for want := 2; want <= 14; want++ {
				run, before, n := c.run, c.where(), c.n
				at := func(n int) string { return fmt.Sprintf("%d %s", 1+(n-1)/7, infer.Kinds[(n-1)%7]) }
				c.send(`{"cmd":"step"}`)
				if want%2 == 0 { // this command has arrived; the others might not have
					x.runOf(run).comes(t, func(st *session.State) bool {
						return fmt.Sprintf("%d %s", st.Cursor.Step, st.Cursor.Stage) == at(want)
					})
				}
				p.Break()
				c = y.dial(protocol, "?page=one&run="+url.QueryEscape(run)+"&had=1")
				if c.run != run || c.told != nil || !c.last.Again {
					t.Fatalf("reconnected to run %s (%+v), want %s", c.run, c.told, run)
				}
				if now := c.where(); now != before && now != at(want) || now == before && c.last.Ack > n {
					t.Fatalf("reconnected at %s with command %d of %d done, want %s", now, c.last.Ack, n+1, before)
				}
				c.n = n // the page resends the same command next
				c.do(`{"cmd":"step"}`)
				if c.where() != at(want) {
					t.Fatalf("the client is at %s, want %s", c.where(), at(want))
				}
				for i, raw := range c.stages[min(1, len(c.stages)):] {
					if h, want := headOf(t, raw), (head{1 + i/7, infer.Kinds[i%7].String()}); h != want {
						t.Fatalf("stage %d is %+v, want %+v", i+1, h, want)
					}
				}
				sameAsFresh(t, y, protocol, c)
			}
		})
	}
}

// TestPlayThroughCuts plays to the end while the connection is cut repeatedly, and checks that
// the last client has the whole run.
func TestPlayThroughCuts(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{wire.ProtocolHTML, wire.ProtocolJSON} {
		t.Run(protocol, func(t *testing.T) {
			x := newSite(t, limits{})
			p := x.proxied(t)
			y := x.through(p)
			c := y.dial(protocol, "")
			run := c.run
			c.do(`{"cmd":"preset","preset":"greedy"}`)
			c.do(`{"cmd":"stop","max_tokens":60}`)
			c.do(`{"cmd":"start","prompt":"There was a little old woman who"}`)
			c.do(`{"cmd":"finish"}`)
			playing := func() bool { return c.last.Playing || c.last.Data != nil && c.last.Data.Playing }
			for cuts := 0; playing(); cuts++ {
				if cuts < 8 {
					p.Break()
					c = y.dial(protocol, "?run="+run+"&had=1")
					if c.run != run {
						t.Fatalf("reconnected to run %s, want %s", c.run, run)
					}
					continue
				}
				c.read()
			}
			if n := len(c.state(x).Steps); n != 60 {
				t.Fatalf("%d tokens, want 60", n)
			}
			sameAsFresh(t, y, protocol, c)
		})
	}
}
