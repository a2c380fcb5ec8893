package web

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/wire"
)

// registry returns a registry without a server, for one learner "a".
func registry(t *testing.T, limits Limits) *runs {
	t.Helper()
	rs := newRuns(
		testmodel.Target(t), limits.orDefaults(), slog.New(slog.NewTextHandler(io.Discard, nil)),
		shell.NewLearners([]byte("a test's")).MAC,
	)
	t.Cleanup(func() {
		if err := rs.close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return rs
}

func join(t *testing.T, rs *runs, learner, id string) (*run, *viewer) {
	t.Helper()
	v := newViewer("")
	r, _, err := rs.join(learner, id, v)
	if err != nil {
		t.Fatal(err)
	}
	return r, v
}

func must(t *testing.T, r *run, c session.Command) *session.State {
	t.Helper()
	st, err := r.do(context.Background(), c, nil, 0)
	if err != nil {
		t.Fatalf("%+v: %v", c, err)
	}
	return st
}

// TestBudget: beyond the memory budget the run that was used least recently
// goes first, a watched one last, and each comes back bit for bit.
func TestBudget(t *testing.T) {
	t.Parallel()
	probe := registry(t, Limits{})
	r, _ := join(t, probe, "a", "")
	must(t, r, session.Start{Prompt: "Once upon a time"})
	must(t, r, session.StepToken{})
	one := r.bytes.Load()

	rs := registry(t, Limits{MemoryBytes: 2*one + one/2}) // room for two
	type kept struct {
		*run
		viewer *viewer
		state  *session.State
	}
	var list []kept
	for i := range 3 {
		r, v := join(t, rs, "a", "")
		must(t, r, session.Start{Prompt: "Once upon a time"})
		list = append(list, kept{r, v, must(t, r, session.StepToken{})})
		if i == 1 {
			rs.leave(r, v) // the second is not watched, so it goes first
		}
	}
	evicted := func(r *run) bool { return r.latest.Load() == nil }
	// Evictions are asked for and happen a moment later.
	eventually(t, func() bool { return evicted(list[1].run) })
	if evicted(list[0].run) || evicted(list[2].run) {
		t.Fatalf("evicted: first %v, third %v, want only the second", evicted(list[0].run), evicted(list[2].run))
	}
	if got := rs.total.Load(); got > rs.limits.MemoryBytes {
		t.Errorf("%d bytes held, budget %d", got, rs.limits.MemoryBytes)
	}
	back, err := list[1].current(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	a, b := list[1].state.Steps[0], back.Steps[0]
	if !slices.Equal(a.Logits, b.Logits) || a.Chosen != b.Chosen || back.Cursor != list[1].state.Cursor {
		t.Error("the run came back different")
	}
	eventually(t, func() bool { return evicted(list[0].run) }) // bringing one back evicts the next
}

// TestEvictedWhileWatched: a viewer of an evicted run goes on as if nothing
// had been.
func TestEvictedWhileWatched(t *testing.T) {
	t.Parallel()
	x := newSite(t, Limits{})
	for _, protocol := range []string{wire.ProtocolHTML, wire.ProtocolJSON} {
		c := x.dial(protocol, "")
		c.do(`{"cmd":"start","prompt":"Once upon a time"}`)
		c.do(`{"cmd":"token"}`)
		r := x.runOf(c.run)
		r.evict <- struct{}{}
		eventually(t, func() bool { return r.latest.Load() == nil })
		c.do(`{"cmd":"token"}`)
		if c.where() != "2 cache" {
			t.Errorf("%s: at %s, want 2 cache", protocol, c.where())
		}
		sameAsFresh(t, x, protocol, c)
	}
}

// TestRunLimits: a learner's 3rd run drops the oldest that nobody watches;
// where all are watched, it is refused.
func TestRunLimits(t *testing.T) {
	t.Parallel()
	rs := registry(t, Limits{RunsPerLearner: 2, Runs: 3})
	first, v := join(t, rs, "a", "")
	must(t, first, session.Start{Prompt: "Hello"})
	rs.leave(first, v)
	join(t, rs, "a", "")
	join(t, rs, "a", "")
	if rs.find("a", first.id) != nil {
		t.Error("the run left was not dropped for the third")
	}
	if _, _, err := rs.join("a", "", newViewer("")); err == nil || err.Code != terms.CodeFull {
		t.Errorf("a third watched run: %v", err)
	}
	join(t, rs, "b", "")
	if _, _, err := rs.join("c", "", newViewer("")); err == nil || err.Code != terms.CodeFull {
		t.Errorf("a fourth run of three: %v", err)
	}
}

// TestEmptyRunGoesWithItsViewer: pages that are opened and closed again leave
// nothing behind.
func TestEmptyRunGoesWithItsViewer(t *testing.T) {
	t.Parallel()
	rs := registry(t, Limits{})
	r, v := join(t, rs, "a", "")
	rs.leave(r, v)
	<-r.done
	if rs.find("a", r.id) != nil {
		t.Error("it is still there")
	}
}

// TestExpiry lets six hours pass.
func TestExpiry(t *testing.T) {
	m := testmodel.Target(t)
	synctest.Test(t, func(t *testing.T) {
		rs := newRuns(m, DefaultLimits, slog.New(slog.NewTextHandler(io.Discard, nil)), shell.NewLearners(nil).MAC)
		watched, _ := join(t, rs, "a", "")
		left, v := join(t, rs, "a", "")
		must(t, left, session.Start{Prompt: "Hello"})
		rs.leave(left, v)
		fixture.Pass(5*time.Hour + 50*time.Minute)
		if rs.find("a", left.id) == nil { // which counts as use
			t.Error("expired before six hours")
		}
		fixture.Pass(6*time.Hour + 7*time.Minute) // six hours, and the sweep every six minutes
		if rs.find("a", left.id) != nil {
			t.Error("not expired after six hours")
		}
		if rs.find("a", watched.id) == nil {
			t.Error("a watched run expired")
		}
		if err := rs.close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// TestPlayingPace counts the stages of eleven seconds at 1.2 s each: at 1.2,
// 2.4, ... 10.8 s, nine of them.
func TestPlayingPace(t *testing.T) {
	m := testmodel.Target(t)
	synctest.Test(t, func(t *testing.T) {
		rs := newRuns(m, DefaultLimits, slog.New(slog.NewTextHandler(io.Discard, nil)), shell.NewLearners(nil).MAC)
		r, _ := join(t, rs, "a", "")
		must(t, r, session.Start{Prompt: "Hello"})
		must(t, r, session.Play{})
		fixture.Pass(11 * time.Second)
		// The start is the first stage, so these are the 2nd to the 10th: the
		// 3rd of the second turn.
		if got := r.latest.Load().Cursor; got != (session.Cursor{Step: 2, Stage: 3}) {
			t.Errorf("at %+v, want step 2, stage 3", got)
		}
		must(t, r, session.Pause{})
		before := r.latest.Load()
		fixture.Pass(time.Minute)
		if r.latest.Load() != before {
			t.Error("it went on after the pause")
		}
		if err := rs.close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// TestPanicEndsOneRun: a run that panics ends alone; who watches it is told.
func TestPanicEndsOneRun(t *testing.T) {
	t.Parallel()
	x := newSite(t, Limits{})
	c, other := x.dial(wire.ProtocolJSON, ""), x.dial(wire.ProtocolJSON, "")
	r := x.runOf(c.run)
	r.grown = func(*run) bool { panic("as if the engine had a fault") } // called by the run's goroutine
	if _, err := r.do(context.Background(), session.Start{Prompt: "Hello"}, nil, 0); err == nil {
		t.Error("the command was carried out")
	}
	if code, _ := c.closed(); code != websocket.CloseInternalServerErr {
		t.Errorf("closed with %d, want 1011", code)
	}
	other.do(`{"cmd":"start","prompt":"Hello"}`)
	if x.runs.find(r.learner, r.id) != nil {
		t.Error("the broken run is still there")
	}
}

// TestSlowReader: one viewer that does not read neither stops the run nor a
// second viewer, and when it reads again it misses states, not tokens.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	x := newSite(t, Limits{})
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
		t.Errorf("the slow viewer has %d tokens, the quick one %d", len(slow.tokens), len(quick.tokens))
	}
	sameAsFresh(t, x, wire.ProtocolHTML, slow)
	sameAsFresh(t, x, wire.ProtocolHTML, quick)
	if slow.got > int(final)/2 {
		t.Errorf("%d messages to the slow viewer for %d versions: it was sent what it could not take", slow.got, final)
	}
	t.Logf("%d versions; %d messages to the quick viewer, %d to the slow one", final, quick.got, slow.got)
}

// TestCoalescing: a viewer that never looks is woken once, however much happens.
func TestCoalescing(t *testing.T) {
	t.Parallel()
	rs := registry(t, Limits{})
	r, v := join(t, rs, "a", "")
	must(t, r, session.Start{Prompt: "Hello"})
	for range 20 {
		must(t, r, session.StepStage{})
	}
	if len(v.wake) != 1 {
		t.Errorf("%d wake-ups wait, want 1", len(v.wake))
	}
}

// TestShutdown: sockets are closed with 1012, runs end, and nobody enters any
// more. That nothing is left running is checked by TestMain.
func TestShutdown(t *testing.T) {
	t.Parallel()
	x := newSite(t, Limits{})
	c := x.dial(wire.ProtocolHTML, "")
	c.do(`{"cmd":"start","prompt":"Once upon a time"}`)
	c.do(`{"cmd":"speed","speed":"max"}`)
	c.do(`{"cmd":"play"}`)
	down := make(chan error)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), browser.Patience)
		defer cancel()
		down <- x.Shutdown(ctx)
	}()
	if code, _ := c.closed(); code != websocket.CloseServiceRestart {
		t.Errorf("closed with %d, want 1012", code)
	}
	if err := <-down; err != nil {
		t.Error(err)
	}
	if resp, _ := x.get("/readyz"); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("/readyz: %d", resp.StatusCode)
	}
	d := websocket.Dialer{Subprotocols: []string{wire.ProtocolHTML}}
	if _, resp, err := d.Dial(x.url(""), nil); err == nil || resp == nil ||
		resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a socket after the shutdown: %v %v", resp, err)
	}
}

// TestReconnect: a connection that breaks without a word leaves the run as it
// is, and the next one shows it whole.
func TestReconnect(t *testing.T) {
	t.Parallel()
	x := newSite(t, Limits{})
	c := x.dial(wire.ProtocolJSON, "")
	c.do(`{"cmd":"start","prompt":"Once upon a time"}`)
	c.do(`{"cmd":"token"}`)
	c.do(`{"cmd":"step"}`)
	c.conn.NetConn().Close()
	again := x.dial(wire.ProtocolJSON, "?had=1&run="+c.run)
	if again.told != nil || again.run != c.run || again.where() != "2 forward" || again.last.Seq != c.last.Seq {
		t.Errorf("back at %s of %s, told %+v; was at %s of %s", again.where(), again.run, again.told, c.where(), c.run)
	}
}
