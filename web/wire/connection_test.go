package wire

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/admission"
)

// pipe is a [transport] whose peer is the test. The test passes messages to the connection, and
// decides when to read the messages that the connection sends.
type pipe struct {
	in  chan string
	out chan string   // unbuffered: a writer waits until the test reads
	cut chan struct{} // closed when the peer is gone
}

func newPipe() *pipe {
	return &pipe{in: make(chan string), out: make(chan string), cut: make(chan struct{})}
}

func (p *pipe) read() ([]byte, error) {
	if m, ok := <-p.in; ok {
		return []byte(m), nil
	}
	close(p.cut)
	return nil, reasonGone
}

func (p *pipe) write(b []byte) error {
	select {
	case p.out <- string(b):
		return nil
	case <-p.cut:
		return io.ErrClosedPipe
	}
}
func (p *pipe) writeShared(e *Encoded) error { return p.write(e.Bytes()) }
func (p *pipe) ping() error                  { return nil }
func (p *pipe) sendClose(int, string)        {}
func (p *pipe) finish()                      {}
func (p *pipe) abort()                       {}

// over serves a part over a pipe until p.in is closed. ended is closed when the connection has
// ended.
func over(p *pipe, kind Kind, part Part) (ended chan struct{}) {
	return overLimiter(p, admission.New(admission.Limits{}, nil), kind, part)
}

func overLimiter(p *pipe, limiter *admission.Limiter, kind Kind, part Part) (ended chan struct{}) {
	s := NewServer(Config{Limiter: limiter, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	s.cfg.Limits.CommandsPerSecond = rate.Inf
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		c, _ := s.enter(admission.Caller{})
		defer c.leave()
		c.become(p, "test", kind)
		c.open(func(context.Context, Visit) (Part, error) { return part, nil }, Visit{})
	}()
	return ended
}

func readMessage(t *testing.T, text string) (m received) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return m
}

// connPart is a part implemented by a single function.
type connPart func(ctx context.Context, in <-chan Command, out Conn) error

func (f connPart) Serve(ctx context.Context, in <-chan Command, out Conn) error {
	return f(ctx, in, out)
}

// TestReadyWaitsForAFreeConnection: a part that waits for Ready skips the states that a slow reader
// would miss, and then sends the newest state.
func TestReadyWaitsForAFreeConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var newest atomic.Uint64
		newest.Store(1)
		var made []uint64
		p := newPipe()
		ended := over(p, Kind{}, connPart(func(_ context.Context, _ <-chan Command, out Conn) error {
			for out.Ready() == nil {
				made = append(made, newest.Load())
				if err := out.Send(Message{Seq: newest.Load(), Alone: true}); err != nil {
					return err
				}
			}
			return nil
		}))
		for n := range 9 {
			newest.Store(uint64(n + 1))
			fixture.Pass(time.Second)
			if n%3 == 2 { // a slow reader, which reads one state out of three
				<-p.out
			}
		}
		close(p.in)
		<-ended
		if want := []uint64{1, 4, 7}; !slices.Equal(made, want) {
			t.Errorf("the part built the states %v, want %v", made, want)
		}
	})
}

// TestPingsAreAnswered: a ping is answered while a command is still running or, if the part is
// ordered, after the command.
func TestPingsAreAnswered(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p, done := newPipe(), make(chan struct{})
			think := func(_ context.Context, in <-chan Command, out Conn) error {
				for c := range in {
					if c.Name == "think" {
						<-done
					}
					if err := out.Send(Message{Ack: c.N, Alone: true}); err != nil {
						return err
					}
				}
				return nil
			}
			ended := over(p, Kind{Ordered: ordered}, connPart(think))
			p.in <- `{"cmd":"think","n":1}`
			p.in <- `{"cmd":"ping","n":2}`
			var acks []uint64
			if !ordered { // the answer arrives while the command is still running
				acks = append(acks, readMessage(t, <-p.out).Ack)
			}
			close(done)
			for len(acks) < 2 {
				acks = append(acks, readMessage(t, <-p.out).Ack)
			}
			close(p.in)
			<-ended
			if slices.IsSorted(acks) != ordered {
				t.Errorf("ordered %v: answered in the order %v, want increasing numbers only if ordered", ordered, acks)
			}
		})
	}
}

// TestStateNumbersAreCarried: if a part numbers its states, all other messages repeat the number of
// the last state. If not, the messages themselves are numbered.
func TestStateNumbersAreCarried(t *testing.T) {
	for _, row := range []struct {
		sent []Message
		seqs []uint64
	}{
		{[]Message{{Data: 1}, {Data: 2}}, []uint64{1, 2}},
		{
			[]Message{{Ack: 1, Alone: true}, {Seq: 5, Alone: true}, {Ack: 2, Alone: true}, {Seq: 9, Alone: true}},
			[]uint64{0, 5, 5, 9},
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newPipe()
			ended := over(p, Kind{}, connPart(func(_ context.Context, in <-chan Command, out Conn) error {
				for _, m := range row.sent {
					if out.Ready() != nil || out.Send(m) != nil {
						break
					}
				}
				<-in
				return nil
			}))
			for i, want := range row.seqs {
				if m := readMessage(t, <-p.out); m.Seq != want {
					t.Errorf("message %d of %+v has number %d, want %d", i+1, row.sent, m.Seq, want)
				}
			}
			close(p.in)
			<-ended
		})
	}
}

// TestMessageEncoding: the additional fields for programs are part of the message's own JSON
// object, and HTML is not escaped.
func TestMessageEncoding(t *testing.T) {
	for want, m := range map[string]Message{
		`{"seq":1,"ack":0}`: {Seq: 1},
		`{"seq":1,"ack":0,"panels":[{"id":"a","op":"morph","html":"<b>&</b>"}]}`: {
			Seq: 1, Panels: []Panel{morph("a", "<b>&</b>")},
		},
		`{"seq":1,"ack":2,"pieces":[]}`: {Seq: 1, Ack: 2, Fields: struct {
			Pieces []int `json:"pieces"`
		}{[]int{}}},
		`{"seq":2,"ack":2}`: {Seq: 2, Ack: 2, Fields: struct{}{}},
	} {
		if got, err := m.Bytes(); err != nil || string(got) != want {
			t.Errorf("got %s, %v; want %s, <nil>", got, err, want)
		}
	}
}

// TestSlowReaderGetsNewestSnapshot: a slow reader receives the snapshot that is already being sent
// and then the newest one, no matter how many there were in between.
func TestSlowReaderGetsNewestSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, all := newPipe(), make(chan struct{})
		ended := over(p, Kind{}, connPart(func(_ context.Context, in <-chan Command, out Conn) error {
			for n := range uint64(9) {
				if err := out.Send(snapshot(t, n+1, "")); err != nil {
					return err
				}
				fixture.Pass(time.Second) // the previous snapshot is being sent
			}
			close(all)
			<-in
			return nil
		}))
		<-all
		var shown []uint64
		for range 2 {
			shown = append(shown, readMessage(t, <-p.out).Seq)
		}
		fixture.Pass(time.Minute)
		select {
		case m := <-p.out:
			t.Errorf("after the newest snapshot: got %s, want nothing", m)
		default:
		}
		close(p.in)
		<-ended
		if want := []uint64{1, 9}; !slices.Equal(shown, want) {
			t.Errorf("got the snapshots %v, want %v", shown, want)
		}
	})
}

// TestStalledReaderIsDisconnected: if a client is connected but has stopped reading, it is
// disconnected, no matter what kind of message is being sent.
func TestStalledReaderIsDisconnected(t *testing.T) {
	for name, m := range map[string]func() Message{
		"its own":  func() Message { return Message{Data: 1} },
		"a shared": func() Message { return snapshot(t, 1, "") },
	} {
		synctest.Test(t, func(t *testing.T) {
			mine, its := net.Pipe()
			s := NewServer(Config{
				Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Caller: nobody, Refuse: plainly,
			})
			began, ended := make(chan struct{}), make(chan error)
			s.cfg.Parts = map[string]Kind{"": {Open: func(context.Context, Visit) (Part, error) {
				return connPart(func(ctx context.Context, _ <-chan Command, out Conn) error {
					close(began)
					err := out.Send(m())
					<-ctx.Done()
					ended <- err
					return nil
				}), nil
			}}}
			h := &http.Server{Handler: s}
			go h.Serve(&oneConn{conn: its})
			d := websocket.Dialer{
				Subprotocols: []string{ProtocolHTML}, NetDial: func(_, _ string) (net.Conn, error) { return mine, nil },
			}
			conn, _, err := d.Dial("ws://server/", nil)
			if err != nil {
				t.Fatal(err)
			}
			<-began
			select {
			case err := <-ended:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(2 * writeWait):
				t.Errorf("a %s message waited %v for a reader, want the reader to be disconnected", name, 2*writeWait)
				conn.Close()
				<-ended
			}
			conn.Close()
			if err := errors.Join(s.Shutdown(t.Context()), h.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

// oneConn is a listener that accepts one connection.
type oneConn struct {
	conn net.Conn
	done bool
}

func (l *oneConn) Accept() (net.Conn, error) {
	if l.done {
		return nil, net.ErrClosed
	}
	l.done = true
	return l.conn, nil
}
func (l *oneConn) Close() error   { return nil }
func (l *oneConn) Addr() net.Addr { return l.conn.LocalAddr() }
