package cluster

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tokenbytoken/viz/web/class/remote"
	"github.com/tokenbytoken/viz/web/journal/stream/streamtest"
)

// long returns a message of n bytes, which needs several parts.
func long(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

// next waits for the next value and returns it.
func next[T any](t *testing.T, got <-chan T) (m T) {
	t.Helper()
	select {
	case m = <-got:
	case <-time.After(patience):
		t.Fatal("no message has arrived")
	}
	return m
}

// TestLongMessagesArriveWhole: messages up to the maximum size of a view arrive complete,
// although NATS accepts only a megabyte. Longer messages do not arrive at all.
func TestLongMessagesArriveWhole(t *testing.T) {
	t.Parallel()
	u := newUnion(t, streamtest.Node(t, t.TempDir()))
	a, _ := u.join()
	b, _ := u.join()
	got := make(chan []byte, 8)
	stop, err := b.bus.Subscribe("ROOM", func(m []byte) { got <- m })
	must(t, err)
	defer stop()
	must(t, b.nc.Flush())
	sizes := []int{0, 1, partBytes, partBytes + 1, 2 * partBytes, remote.MaxReply}
	for _, n := range sizes {
		a.bus.Publish("ROOM", long(n))
		if m := next(t, got); !bytes.Equal(m, long(n)) {
			t.Errorf("a message of %d bytes arrives as %d bytes, want all of it", n, len(m))
		}
	}
	a.bus.Publish("ROOM", long(remote.MaxReply+1))
	a.bus.Publish("ROOM", []byte("the next one"))
	if m := next(t, got); string(m) != "the next one" {
		t.Errorf("after a message that is too long, a message of %d bytes arrives", len(m))
	}

	answers := map[string][]byte{}
	for _, n := range sizes {
		answers[fmt.Sprint(n)] = long(n)
	}
	served, err := b.bus.Serve(b.Server(), func(_ context.Context, q []byte) []byte {
		if len(q) == remote.MaxRequest {
			return []byte("long")
		}
		return answers[string(q)]
	})
	must(t, err)
	defer served()
	must(t, b.nc.Flush())
	for q, want := range answers {
		m, err := a.bus.Request(t.Context(), b.Server(), []byte(q))
		if err != nil || !bytes.Equal(m, want) {
			t.Errorf("a reply of %s bytes arrives as %d bytes, %v; want no error, m = %q", q, len(m), err, want)
		}
	}
	if m, err := a.bus.Request(t.Context(), b.Server(), long(remote.MaxRequest)); err != nil || string(m) != "long" {
		t.Errorf(`the reply to the longest request is %.20q, %v; want "long", <nil>`, m, err)
	}
	if _, err := a.bus.Request(t.Context(), b.Server(), long(remote.MaxRequest+1)); err == nil {
		t.Error("a longer request was sent")
	}
	if _, err := a.bus.Request(t.Context(), "nobody", []byte("?")); err != remote.ErrNoServer {
		t.Errorf("a request to an unknown server: got %v, want %v", err, remote.ErrNoServer)
	}
}

// TestForeignMessagesAreDropped: malformed and oversized messages from other programs are
// dropped, and later messages arrive.
func TestForeignMessagesAreDropped(t *testing.T) {
	t.Parallel()
	u := newUnion(t, streamtest.Node(t, t.TempDir()))
	a, _ := u.join()
	b, _ := u.join()
	got := make(chan []byte, 64)
	stop, err := b.bus.Subscribe("ROOM", func(m []byte) { got <- m })
	must(t, err)
	defer stop()
	served, err := b.bus.Serve(b.Server(), func(_ context.Context, q []byte) []byte { return q })
	must(t, err)
	defer served()
	must(t, b.nc.Flush())
	bad := []string{
		"x", "x 1", "x 0 2 10", "x 3 2 10", "x 2 2 10", "x 1 1 10", "x 1 99999999 10", "x 1 2 -1",
		"x 1 2 99999999999", "x -1 -1 -1", "x 1 2 1", strings.Repeat("x", 1000), "x 1 17 18446744073709551616",
	}
	unreadable := uint64(len(bad))
	for _, subject := range []string{b.bus.roomSubject("ROOM"), b.bus.serverSubject(b.Server()), b.bus.inbox + ".1"} {
		for i := range 20 { // messages that are never complete
			bad = append(bad, fmt.Sprintf("open%d 1 16 4000000", i))
		}
		for _, text := range bad {
			m := &nats.Msg{Subject: subject, Header: nats.Header{partHeader: {text}}, Data: []byte("some bytes")}
			must(t, a.nc.PublishMsg(m))
		}
		must(t, a.nc.PublishMsg(&nats.Msg{Subject: subject, Data: long(900 << 10)}))
	}
	must(t, a.nc.Flush())
	a.bus.Publish("ROOM", []byte("afterwards"))
	for m := next(t, got); string(m) != "afterwards"; m = next(t, got) {
		if len(m) != 900<<10 {
			t.Errorf("%q arrives, want a message of 900<<10 bytes", m)
		}
	}
	if m, err := a.bus.Request(t.Context(), b.Server(), []byte("still?")); err != nil || string(m) != "still?" {
		t.Errorf("a request afterwards: got %q, %v; want %q, <nil>", m, err, "still?")
	}
	if n := b.Stats().Refused; n < 2*unreadable {
		t.Errorf("only %d of %d malformed messages were refused", n, 2*unreadable)
	}
}

// TestRoomNamesAreEncodedUniquely: every room has its own messages and its own lease,
// regardless of its name.
func TestRoomNamesAreEncodedUniquely(t *testing.T) {
	t.Parallel()
	u := newUnion(t, streamtest.Node(t, t.TempDir()))
	a, _ := u.join()
	b, _ := u.join()
	names := []string{"ROOM", "ROOM.x", "*", ">", "", "a b", "\r\nPUB x 1\r\n", "=2a", "room.*"}
	got := make(chan string, 64)
	for _, name := range names {
		stop, err := b.bus.Subscribe(name, func(m []byte) { got <- name + "|" + string(m) })
		must(t, err)
		defer stop()
	}
	must(t, b.nc.Flush())
	for _, name := range names {
		if l := take(t, a, name); !mine(l) {
			t.Errorf("the lease of %q belongs to another room", name)
		}
		a.bus.Publish(name, []byte(name))
		if m := next(t, got); m != name+"|"+name {
			t.Errorf("a message for %q arrives as %q, want %q", name, m, name+"|"+name)
		}
	}
	select {
	case m := <-got:
		t.Errorf("a message arrives twice: %q", m)
	default:
	}
}
