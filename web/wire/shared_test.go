package wire

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// snapshot returns a shared message with one panel.
func snapshot(t *testing.T, seq uint64, html string) Message {
	t.Helper()
	e, err := Encode(seq, time.Now(), Message{Panels: []Panel{{ID: "a", Op: Morph, HTML: html}}})
	if err != nil {
		t.Fatal(err)
	}
	return Message{Encoded: e}
}

// TestOldSnapshotsAreDropped: of the snapshots that are queued for a connection, only the newest is
// sent. A snapshot that is not newer than the last one is never sent. All of the connection's own
// messages are sent, in order. All messages contain the number of the last snapshot.
func TestOldSnapshotsAreDropped(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	x := withPart(t, Limits{}, func(_ context.Context, in <-chan Command, send func(Message) error) error {
		if err := send(snapshot(t, 5, "first")); err != nil {
			return err
		}
		<-in // the client has the first snapshot, so the writer is in its pause now
		for i := range 4 {
			if err := send(snapshot(t, uint64(6+i), fmt.Sprint(6+i))); err != nil {
				return err
			}
			if err := send(Message{Ack: uint64(i + 1)}); err != nil {
				return err
			}
		}
		if err := send(snapshot(t, 9, "again")); err != nil {
			return err
		}
		if err := send(snapshot(t, 8, "late")); err != nil {
			return err
		}
		<-release
		return nil
	})
	defer close(release)
	l, _ := x.dial(t, "feed=test")
	if m := l.receive(); m.Seq != 5 || m.Panels[0].HTML != "first" {
		t.Fatalf("the first message is %+v, want Seq = 5, Panels[0].HTML = %q", m, "first")
	}
	l.say(`{"cmd":"go","n":1}`)
	acks, last := uint64(0), uint64(5)
	for acks < 4 || last < 9 {
		m := l.receive()
		if m.Seq < last {
			t.Errorf("got message %+v after snapshot %d, want increasing numbers", m, last)
		}
		if m.Ack > 0 {
			if m.Ack <= acks || len(m.Panels) > 0 {
				t.Errorf("answer %+v after answer %d; want Ack more than %d, len(Panels) = 0", m, acks, acks)
			}
			acks = m.Ack
			continue
		}
		if m.Seq == last || m.Panels[0].HTML != fmt.Sprint(m.Seq) {
			t.Errorf("snapshot %+v after %d; want Seq other than %d, Panels[0].HTML = \"%d\"", m, last, last, m.Seq)
		}
		last = m.Seq
	}
}

// TestSnapshotsAreShared: every connection gets the same encoding, byte for byte.
func TestSnapshotsAreShared(t *testing.T) {
	t.Parallel()
	shared := snapshot(t, 3, "<p>the same</p>")
	x := withPart(t, Limits{}, func(ctx context.Context, _ <-chan Command, send func(Message) error) error {
		if err := send(shared); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	})
	for range 3 {
		l, _ := x.dial(t, "feed=test")
		l.conn.SetReadDeadline(time.Now().Add(patience))
		_, data, err := l.conn.ReadMessage()
		if err != nil || string(data) != string(shared.Encoded.Bytes()) {
			t.Errorf("got %s, %v, want %s", data, err, shared.Encoded.Bytes())
		}
	}
}
