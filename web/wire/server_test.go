package wire

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"
	"golang.org/x/time/rate"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// partFunc is a part implemented by a single function.
type partFunc func(ctx context.Context, in <-chan Command, send func(Message) error) error

func (f partFunc) Serve(ctx context.Context, in <-chan Command, out Conn) error {
	return f(ctx, in, out.Send)
}

// patience is how long a test waits for an expected event. Only a failing test waits that long.
const patience = 2 * time.Minute

// nobody returns the same caller for every request. plainly refuses a request with plain text.
func nobody(*http.Request) (admission.Caller, *http.Cookie) {
	return admission.Caller{Learner: "someone"}, nil
}
func plainly(w http.ResponseWriter, status int, say string) { http.Error(w, say, status) }

// site is a server of parts, with its address.
type site struct {
	*Server
	http *httptest.Server
	stop func() // ends the server; further calls have no effect
}

// newSite starts a server without parts.
func newSite(t *testing.T, limits Limits) *site {
	t.Helper()
	s := NewServer(Config{
		Parts: map[string]Kind{}, Limits: limits, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Caller: nobody, Refuse: plainly,
	})
	h := httptest.NewUnstartedServer(s)
	// The kernel's buffers are small, so that a slow reader is noticed immediately.
	h.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if err := c.(*net.TCPConn).SetWriteBuffer(32 << 10); err != nil {
			t.Error(err)
		}
		return ctx
	}
	h.Start()
	stop := sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		h.Close()
	})
	t.Cleanup(stop)
	return &site{s, h, stop}
}

// echo answers every command with the command's own fields.
func echo(_ context.Context, in <-chan Command, send func(Message) error) error {
	for c := range in {
		if err := send(Message{Ack: c.N, Data: c, Done: true}); err != nil {
			return err
		}
	}
	return nil
}

// withPart is a site with one part, called "test".
func withPart(t *testing.T, limits Limits, f partFunc) *site {
	t.Helper()
	x := newSite(t, limits)
	x.cfg.Parts["test"] = Kind{Open: func(context.Context, Visit) (Part, error) { return f, nil }}
	return x
}

// received is a part's message as a client decodes it.
type received struct {
	Seq    uint64          `json:"seq"`
	Ack    uint64          `json:"ack"`
	Panels []Panel         `json:"panels"`
	Data   json.RawMessage `json:"data"`
	Done   bool            `json:"done"`
	Error  *terms.Refusal  `json:"error"`
}

// client is a client of a part.
type client struct {
	t    *testing.T
	conn *websocket.Conn
}

// dial connects as a page does.
func (x *site) dial(t *testing.T, query string, protocols ...string) (*client, *http.Response) {
	t.Helper()
	if protocols == nil {
		protocols = []string{ProtocolHTML}
	}
	d := websocket.Dialer{Subprotocols: protocols, HandshakeTimeout: patience}
	conn, answer, err := d.Dial("ws"+strings.TrimPrefix(x.http.URL, "http")+"/?"+query, nil)
	if err != nil {
		if answer == nil {
			t.Fatal(err)
		}
		return nil, answer
	}
	t.Cleanup(func() { conn.Close() })
	return &client{t, conn}, answer
}

func (l *client) say(text string) {
	l.t.Helper()
	if err := l.conn.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		l.t.Fatal(err)
	}
}

// receive returns the next message, which must arrive.
func (l *client) receive() received {
	l.t.Helper()
	m, code := l.next()
	if code != 0 {
		l.t.Fatalf("the connection ended with %d, want 0", code)
	}
	return m
}

// next returns the next message, or the code with which the connection ended.
func (l *client) next() (m received, code int) {
	l.t.Helper()
	l.conn.SetReadDeadline(time.Now().Add(patience))
	_, data, err := l.conn.ReadMessage()
	var closed *websocket.CloseError
	switch {
	case errors.As(err, &closed):
		return m, closed.Code
	case err != nil:
		l.t.Fatal(err)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		l.t.Fatalf("%s: %v", data, err)
	}
	return m, 0
}

// TestPartReceivesCommands: commands reach the part with their fields, and answers reach the client
// with their numbers. Messages that are not commands are refused without reaching the part.
func TestPartReceivesCommands(t *testing.T) {
	t.Parallel()
	l, _ := withPart(t, Limits{}, echo).dial(t, "feed=test")
	l.say(`{"cmd":"set","n":7,"values":{"t":"0.5"}}`)
	m := l.receive()
	var c Command
	if err := json.Unmarshal(m.Data, &c); err != nil {
		t.Fatal(err)
	}
	if m.Ack != 7 || !m.Done || m.Seq != 1 || c.Name != "set" || string(c.Fields) != `{"values":{"t":"0.5"}}` {
		t.Errorf(
			"got %+v with %+v; want m.Ack = 7, m.Done = true, m.Seq = 1, c.Name = %q, string(c.Fields) = %q", m, c,
			"set", `{"values":{"t":"0.5"}}`,
		)
	}
	for message, code := range map[string]terms.Code{
		`{"cmd":"ping","n":8}`: "", `[]`: "format", `{"n":1}`: "range", `{"cmd":"set","n":-1}`: "range",
		`{"cmd":"set","values":"\ud800"}`: "format", `{"cmd":"set","n":1,"n":2}`: "format",
		`{"cmd":"set","values":{"t":"1","\u0074":"2"}}`: "format", `{"cmd":"ping","n":9,"at":1}`: "unknown",
		`{"cmd":"set","values":[{"t":"t"},{"t":"n"}],"t":""}`: "",
	} {
		l.say(message)
		m := l.receive()
		if got := m.Error; (got == nil) != (code == "") || got != nil && got.Code != code {
			t.Errorf("%s: %+v, want code %q", message, got, code)
		}
	}
}

// TestHandshakeWithABody: a handshake with a body is answered immediately, whether or not the body
// arrives.
func TestHandshakeWithABody(t *testing.T) {
	t.Parallel()
	x := withPart(t, Limits{}, echo)
	const handshake = "GET /?feed=test HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n" +
		"Sec-WebSocket-Protocol: " + ProtocolHTML + "\r\n"
	for name, body := range map[string]string{
		"sent":           "Content-Length: 5\r\n\r\nhello",
		"never sent":     "Content-Length: 5\r\n\r\n",
		"in chunks":      "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
		"without an end": "Transfer-Encoding: chunked\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", x.http.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(patience))
		if _, err := io.WriteString(conn, handshake+body); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if answer.StatusCode != http.StatusBadRequest || !answer.Close {
			t.Errorf(
				"a body %s: %s, closing %v; want answer.StatusCode = %d, answer.Close = true", name, answer.Status,
				answer.Close, http.StatusBadRequest,
			)
		}
		conn.Close()
	}
}

// TestPartFailuresAreReported: if the part is missing, refuses to open, fails or panics, or if the
// client offers the wrong protocol, the client gets the right status or close code.
func TestPartFailuresAreReported(t *testing.T) {
	t.Parallel()
	x := newSite(t, Limits{})
	if _, answer := x.dial(t, "feed=none"); answer.StatusCode != http.StatusNotFound {
		t.Errorf("a missing part: got %s, want 404", answer.Status)
	}
	x.cfg.Parts["shut"] = Kind{Open: func(context.Context, Visit) (Part, error) {
		return nil, &terms.Refusal{Code: terms.CodeUnknown, Message: "There is no such part."}
	}}
	x.cfg.Parts["full"] = Kind{Open: func(context.Context, Visit) (Part, error) {
		return nil, &terms.Refusal{Code: terms.CodeFull, Message: "No room."}
	}}
	x.cfg.Parts["fails"] = Kind{Open: func(context.Context, Visit) (Part, error) {
		return partFunc(func(context.Context, <-chan Command, func(Message) error) error {
			return errors.New("broken")
		}), nil
	}}
	x.cfg.Parts["panics"] = Kind{Open: func(context.Context, Visit) (Part, error) {
		return partFunc(
			func(context.Context, <-chan Command, func(Message) error) error { panic("broken") },
		), nil
	}}
	x.cfg.Parts["opening panics"] = Kind{Open: func(context.Context, Visit) (Part, error) { panic("broken") }}
	x.cfg.Parts["ends"] = Kind{Open: func(context.Context, Visit) (Part, error) {
		return partFunc(func(_ context.Context, _ <-chan Command, send func(Message) error) error {
			return send(Message{Done: true})
		}), nil
	}}
	for name, want := range map[string]struct {
		messages, code int
	}{
		"shut": {1, websocket.ClosePolicyViolation}, "full": {1, websocket.CloseTryAgainLater},
		"fails": {0, websocket.CloseInternalServerErr}, "panics": {0, websocket.CloseInternalServerErr},
		"opening+panics": {0, websocket.CloseInternalServerErr},
		"ends":           {1, websocket.CloseNormalClosure},
	} {
		l, _ := x.dial(t, "feed="+name)
		messages, code := 0, 0
		for code == 0 {
			if _, code = l.next(); code == 0 {
				messages++
			}
		}
		if messages != want.messages || code != want.code {
			t.Errorf("%s: got %d messages and code %d, want %+v", name, messages, code, want)
		}
	}
	l, _ := x.dial(t, "feed=ends", ProtocolJSON)
	if _, code := l.next(); code != websocket.CloseProtocolError {
		t.Errorf("the wrong protocol: got code %d, want %d", code, websocket.CloseProtocolError)
	}
}

// TestSlowReaderMissesOnlyOldMessages: a part that sends far more than a client reads is not
// delayed. The client gets the newest panel, every added row, and the last message.
func TestSlowReaderMissesOnlyOldMessages(t *testing.T) {
	t.Parallel()
	const states, rows = 2000, 40
	all := make(chan struct{})
	big := strings.Repeat("x", 10_000)
	x := withPart(t, Limits{}, func(ctx context.Context, in <-chan Command, send func(Message) error) error {
		<-in
		for i := range states {
			m := Message{Panels: []Panel{{ID: "a", Op: Morph, HTML: fmt.Sprint(i, big)}}}
			if i%(states/rows) == 0 {
				m.Panels = append(m.Panels, Panel{ID: "rows", Op: Append, HTML: "row"})
			}
			if err := send(m); err != nil {
				return err
			}
		}
		if err := send(Message{Ack: 1, Done: true}); err != nil {
			return err
		}
		close(all)
		<-ctx.Done()
		return ctx.Err()
	})
	l, _ := x.dial(t, "feed=test")
	l.say(`{"cmd":"go","n":1}`)
	<-all // the client has read nothing yet
	newest, added, panels := "", 0, 0
	for done := false; !done; {
		m := l.receive()
		done = m.Done
		for _, p := range m.Panels {
			if p.Op == Append {
				added++
				continue
			}
			panels++
			newest = p.HTML
		}
	}
	if want := fmt.Sprint(states-1, big); newest != want {
		t.Errorf("the newest panel begins %.12q, want %.12q", newest, want)
	}
	if added != rows {
		t.Errorf("got %d rows, want %d", added, rows)
	}
	if panels > states/2 {
		t.Errorf("%d of %d states were sent to a client that did not read", panels, states)
	}
}

// TestPartLimits: the limits on the rate of commands, the size of a message and the number
// of connections apply to parts.
func TestPartLimits(t *testing.T) {
	t.Parallel()
	x := withPart(
		t, Limits{CommandsPerSecond: rate.Every(time.Hour), CommandBurst: 2, MessageBytes: 200}, echo,
	)
	x.cfg.Limiter = admission.New(admission.Limits{Sockets: admission.Share{Most: 1}}, nil)
	l, _ := x.dial(t, "feed=test")
	for n, code := range []terms.Code{"", "", terms.CodeBusy} {
		l.say(fmt.Sprintf(`{"cmd":"set","n":%d}`, n+1))
		if m := l.receive(); m.Ack != uint64(n+1) || (m.Error == nil) != (code == "") ||
			m.Error != nil && m.Error.Code != code {
			t.Errorf("command %d: got %+v, want code %q", n+1, m, code)
		}
	}
	if _, answer := x.dial(t, "feed=test"); answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one connection too many: got %s, want 503", answer.Status)
	}
	l.say(`{"cmd":"` + strings.Repeat("x", 300) + `"}`)
	if _, code := l.next(); code != websocket.CloseMessageTooBig {
		t.Errorf("a message that is too large: got code %d, want %d", code, websocket.CloseMessageTooBig)
	}
}

// TestFloodingClientIsDisconnected: a client that keeps sending after too many refusals, or that
// floods the connection with pings, is disconnected. The close code tells the client not to
// reconnect.
func TestFloodingClientIsDisconnected(t *testing.T) {
	t.Parallel()
	x := withPart(t, Limits{
		CommandsPerSecond: rate.Every(time.Hour), CommandBurst: 1,
		RefusalsPerSecond: rate.Every(time.Hour), RefusalBurst: 2,
	}, echo)
	l, _ := x.dial(t, "feed=test")
	for n, refused := range []bool{false, true, true} {
		l.say(fmt.Sprintf(`{"cmd":"set","n":%d}`, n+1))
		if m := l.receive(); m.Ack != uint64(n+1) || (m.Error != nil) != refused {
			t.Errorf("command %d: got %+v, want it refused: %v", n+1, m, refused)
		}
	}
	l.say(`{"cmd":"set","n":4}`)
	if m, code := l.next(); code != websocket.ClosePolicyViolation {
		t.Errorf("the third refusal: got %+v, code %d, want code %d", m, code, websocket.ClosePolicyViolation)
	}

	l, _ = x.dial(t, "feed=test")
	for range 10 * controlFrameBurst {
		if l.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(patience)) != nil {
			break // disconnected
		}
	}
	if m, code := l.next(); code != websocket.ClosePolicyViolation {
		t.Errorf("a flood of pings: got %+v, code %d, want code %d", m, code, websocket.ClosePolicyViolation)
	}
}

// TestPartEndsWithTheServer: when the server stops, a running part is stopped, and the client
// receives 1012. The suite checks that no goroutine is left.
func TestPartEndsWithTheServer(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	x := withPart(t, Limits{}, func(ctx context.Context, in <-chan Command, send func(Message) error) error {
		<-in
		if err := send(Message{Ack: 1}); err != nil {
			return err
		}
		<-ctx.Done()
		ended <- ctx.Err()
		return ctx.Err()
	})
	l, _ := x.dial(t, "feed=test")
	l.say(`{"cmd":"go","n":1}`)
	l.receive()
	go x.stop()
	if _, code := l.next(); code != websocket.CloseServiceRestart {
		t.Errorf("got code %d, want %d", code, websocket.CloseServiceRestart)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the part ended with %v, want %v", err, context.Canceled)
	}
}
