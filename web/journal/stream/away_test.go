package stream

import (
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/journal/stream/streamtest"
)

// current holds the NATS server that is currently running.
type current struct{ atomic.Pointer[server.Server] }

func (c *current) InProcessConn() (net.Conn, error) {
	if s := c.Load(); s != nil {
		return s.InProcessConn()
	}
	return nil, errors.New("no server is running")
}

// TestWritesFailWhileNATSIsAway: while NATS is down, every operation reports that, and
// nothing is confirmed. Once NATS is back, operations work again, and all confirmed data is
// there.
func TestWritesFailWhileNATSIsAway(t *testing.T) {
	dir := t.TempDir()
	var c current
	nc, err := Connect("", nats.InProcessServer(&c), nats.ReconnectWait(time.Millisecond))
	must(t, err)
	t.Cleanup(nc.Close)
	j := open(t, nc, Config{Patience: 100 * time.Millisecond})
	if _, err := j.Append(ctx, one("0")); !errors.Is(err, journal.ErrAway) {
		t.Fatalf("before a server is running: got error %v, want %v", err, journal.ErrAway)
	}
	s := streamtest.Node(t, dir)
	c.Store(s)
	persist(t, func() error { _, err := j.Append(ctx, one("1")); return err })
	gone := nc.StatusChanged(nats.RECONNECTING)
	c.Store(nil)
	streamtest.Stop(s)
	<-gone
	_, err1 := j.Append(ctx, one("2"))
	_, _, err2 := j.Find(ctx, ada, journal.Key{Type: "vote", ID: "1"})
	_, err3 := j.Owners(ctx, journal.Learner)
	_, err4 := j.Snapshot(ctx, ada)
	for i, err := range []error{
		err1, err2, err3, err4, j.Drop(ctx, ada), j.Scrub(ctx, ada), j.Sweep(ctx), j.Compact(ctx, ada, nil),
		j.KeepSnapshot(ctx, ada, journal.Snapshot{Version: "1", Seq: 1}), j.SetAside(ctx, ada, morning),
	} {
		if !errors.Is(err, journal.ErrAway) {
			t.Errorf("operation %d while NATS is down: got error %v, want %v", i, err, journal.ErrAway)
		}
	}
	c.Store(streamtest.Node(t, dir))
	persist(t, func() error { _, err := j.Append(ctx, one("3")); return err })
	wantIDs(t, open(t, nc, Config{Prefix: j.cfg.Prefix}), ada, "1", "3")
}

func one(id string) journal.Batch { return batch(record("vote", id, "{}")) }

func batch(records ...journal.Record) journal.Batch {
	return journal.Batch{Owner: ada, At: morning, Records: records}
}

// persist calls f until it succeeds because NATS is back.
func persist(t *testing.T, f func() error) {
	t.Helper()
	deadline := time.Now().Add(patient)
	for {
		err := f()
		if err == nil {
			return
		}
		if !errors.Is(err, journal.ErrAway) || time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// TestSubjectNameRoundTrip: every name, even one with arbitrary bytes, is encoded as a unique token
// of a subject, and the token decodes to the name.
func TestSubjectNameRoundTrip(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range []string{
		"ada", "Ada", "", "a.b", "a b", "*", ">", "=61", "=", "é", "\x00\xff", "K7Q4MX", "a-b_c",
	} {
		part := encodeName(name)
		back, err := decodeName(part)
		if back != name || err != nil || seen[part] {
			t.Errorf("%q is encoded as %q, which decodes to %q, %v; want it unique and unchanged",
				name, part, back, err)
		}
		seen[part] = true
		for _, c := range part {
			if c <= ' ' || c > '~' || c == '.' || c == '*' || c == '>' {
				t.Errorf("%q is not a valid token of a subject", part)
			}
		}
	}
}

// TestForeignMessagesAreHandled: a message from a newer version is refused, and a message
// from another program is ignored.
func TestForeignMessagesAreHandled(t *testing.T) {
	nc := dial(t, streamtest.Node(t, t.TempDir()))
	j := open(t, nc, Config{InMemory: true})
	put(t, j, ada, record("vote", "1", "{}"))
	m := j.newMirror(ada)
	send := func(about string) {
		t.Helper()
		msg := &nats.Msg{Subject: m.log, Header: nats.Header{}, Data: []byte("whatever")}
		if about != "" {
			msg.Header.Set(aboutHeader, about)
		}
		_, err := j.sendOne(ctx, m.stream, msg)
		must(t, err)
	}
	send("")
	send("{")
	put(t, j, ada, record("vote", "2", "{}"))
	wantIDs(t, open(t, nc, j.cfg), ada, "1", "2")
	send(`{"v":2,"part":1,"of":1}`)
	if _, err := j.Append(ctx, one("3")); err == nil || errors.Is(err, journal.ErrAway) {
		t.Errorf(
			"after a message from a newer version: got error %v, want an error that is not %v", err, journal.ErrAway,
		)
	}
}
