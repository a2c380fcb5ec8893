package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/time/rate"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/wire"
)

// feedFunc is a feed that is one function.
type feedFunc func(ctx context.Context, in <-chan wire.Command, send func(wire.Message) error) error

func (f feedFunc) Serve(ctx context.Context, in <-chan wire.Command, send func(wire.Message) error) error {
	return f(ctx, in, send)
}

// echo answers every command with its own fields.
func echo(_ context.Context, in <-chan wire.Command, send func(wire.Message) error) error {
	for c := range in {
		if err := send(wire.Message{Ack: c.N, Data: c, Done: true}); err != nil {
			return err
		}
	}
	return nil
}

// withFeed is a site with one feed, called "test".
func withFeed(t *testing.T, limits Limits, f feedFunc) *site {
	t.Helper()
	x := newSite(t, limits)
	x.feeds["test"] = func(context.Context, string, url.Values) (wire.Part, error) { return f, nil }
	return x
}

// fromFeed is a feed's message as a client reads it.
type fromFeed struct {
	Seq    uint64          `json:"seq"`
	Ack    uint64          `json:"ack"`
	Panels []wire.Panel    `json:"panels"`
	Data   json.RawMessage `json:"data"`
	Done   bool            `json:"done"`
	Error  *terms.Refusal  `json:"error"`
}

// feedLine is a client of a feed.
type feedLine struct {
	t    *testing.T
	conn *websocket.Conn
}

// dialFeed connects as a page does.
func (x *site) dialFeed(t *testing.T, query string, protocols ...string) (*feedLine, *http.Response) {
	t.Helper()
	if protocols == nil {
		protocols = []string{ProtocolHTML}
	}
	d := websocket.Dialer{Subprotocols: protocols, HandshakeTimeout: browser.Patience}
	conn, answer, err := d.Dial("ws"+strings.TrimPrefix(x.http.URL, "http")+"/ws?"+query, nil)
	if err != nil {
		if answer == nil {
			t.Fatal(err)
		}
		return nil, answer
	}
	t.Cleanup(func() { conn.Close() })
	return &feedLine{t, conn}, answer
}

func (l *feedLine) say(text string) {
	l.t.Helper()
	if err := l.conn.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		l.t.Fatal(err)
	}
}

// receive returns the next message, which must arrive.
func (l *feedLine) receive() fromFeed {
	l.t.Helper()
	m, code := l.next()
	if code != 0 {
		l.t.Fatalf("the connection ended with %d", code)
	}
	return m
}

// next returns the next message, or the code by which the connection ended.
func (l *feedLine) next() (m fromFeed, code int) {
	l.t.Helper()
	l.conn.SetReadDeadline(time.Now().Add(browser.Patience))
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

// TestFeedAnswers: commands reach the feed with their fields, answers the
// client with their numbers, and what is not a command is refused without it.
func TestFeedAnswers(t *testing.T) {
	t.Parallel()
	l, _ := withFeed(t, Limits{}, echo).dialFeed(t, "feed=test")
	l.say(`{"cmd":"set","n":7,"values":{"t":"0.5"}}`)
	m := l.receive()
	var c wire.Command
	if err := json.Unmarshal(m.Data, &c); err != nil {
		t.Fatal(err)
	}
	if m.Ack != 7 || !m.Done || m.Seq != 1 || c.Name != "set" || string(c.Fields) != `{"values":{"t":"0.5"}}` {
		t.Errorf("%+v with %+v", m, c)
	}
	for message, code := range map[string]terms.Code{
		`{"cmd":"ping","n":8}`: "", `[]`: "format", `{"n":1}`: "range", `{"cmd":"set","n":-1}`: "range",
		`{"cmd":"set","values":"\ud800"}`: "format",
	} {
		l.say(message)
		m := l.receive()
		if got := m.Error; (got == nil) != (code == "") || got != nil && got.Code != code {
			t.Errorf("%s: %+v, want code %q", message, got, code)
		}
	}
}

// TestFeedRefusals: a feed that is not there, one that will not be opened, one
// that fails or panics, and a client of the wrong protocol.
func TestFeedRefusals(t *testing.T) {
	t.Parallel()
	x := newSite(t, Limits{})
	if _, answer := x.dialFeed(t, "feed=none"); answer.StatusCode != http.StatusNotFound {
		t.Errorf("a feed that is not there: %s", answer.Status)
	}
	x.feeds["shut"] = func(context.Context, string, url.Values) (wire.Part, error) {
		return nil, &terms.Refusal{Code: terms.CodeUnknown, Message: "There is no such part."}
	}
	x.feeds["full"] = func(context.Context, string, url.Values) (wire.Part, error) {
		return nil, &terms.Refusal{Code: terms.CodeFull, Message: "No room."}
	}
	x.feeds["fails"] = func(context.Context, string, url.Values) (wire.Part, error) {
		return feedFunc(func(context.Context, <-chan wire.Command, func(wire.Message) error) error {
			return errors.New("broken")
		}), nil
	}
	x.feeds["panics"] = func(context.Context, string, url.Values) (wire.Part, error) {
		return feedFunc(
			func(context.Context, <-chan wire.Command, func(wire.Message) error) error { panic("broken") },
		), nil
	}
	x.feeds["ends"] = func(context.Context, string, url.Values) (wire.Part, error) {
		return feedFunc(func(_ context.Context, _ <-chan wire.Command, send func(wire.Message) error) error {
			return send(wire.Message{Done: true})
		}), nil
	}
	for name, want := range map[string]struct {
		messages, code int
	}{
		"shut": {1, websocket.ClosePolicyViolation}, "full": {1, websocket.CloseTryAgainLater},
		"fails": {0, websocket.CloseInternalServerErr}, "panics": {0, websocket.CloseInternalServerErr},
		"ends": {1, websocket.CloseNormalClosure},
	} {
		l, _ := x.dialFeed(t, "feed="+name)
		messages, code := 0, 0
		for code == 0 {
			if _, code = l.next(); code == 0 {
				messages++
			}
		}
		if messages != want.messages || code != want.code {
			t.Errorf("%s: %d messages and code %d, want %+v", name, messages, code, want)
		}
	}
	l, _ := x.dialFeed(t, "feed=ends", ProtocolJSON)
	if _, code := l.next(); code != websocket.CloseProtocolError {
		t.Errorf("the other protocol: code %d", code)
	}
}

// TestSlowReaderMissesOnlyWhatIsOld: a feed that sends far more than a client
// reads is not held up, and the client gets the newest panel, every row that was
// added, and the end.
func TestSlowReaderMissesOnlyWhatIsOld(t *testing.T) {
	t.Parallel()
	const states, rows = 2000, 40
	all := make(chan struct{})
	big := strings.Repeat("x", 10_000)
	x := withFeed(t, Limits{}, func(ctx context.Context, in <-chan wire.Command, send func(wire.Message) error) error {
		<-in
		for i := range states {
			m := wire.Message{Panels: []wire.Panel{{ID: "a", Op: wire.Morph, HTML: fmt.Sprint(i, big)}}}
			if i%(states/rows) == 0 {
				m.Panels = append(m.Panels, wire.Panel{ID: "rows", Op: wire.Append, HTML: "row"})
			}
			if err := send(m); err != nil {
				return err
			}
		}
		if err := send(wire.Message{Ack: 1, Done: true}); err != nil {
			return err
		}
		close(all)
		<-ctx.Done()
		return ctx.Err()
	})
	l, _ := x.dialFeed(t, "feed=test")
	l.say(`{"cmd":"go","n":1}`)
	<-all // nothing has been read yet
	newest, added, panels := "", 0, 0
	for done := false; !done; {
		m := l.receive()
		done = m.Done
		for _, p := range m.Panels {
			if p.Op == wire.Append {
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
		t.Errorf("%d rows, want %d", added, rows)
	}
	if panels > states/2 {
		t.Errorf("%d of %d states were sent to a client that did not read", panels, states)
	}
}

// TestFeedLimits: the rate of commands, the size of a message and the number of
// connections are those of every socket.
func TestFeedLimits(t *testing.T) {
	t.Parallel()
	x := withFeed(
		t, Limits{CommandsPerSecond: rate.Every(time.Hour), CommandBurst: 2, Sockets: 1, MessageBytes: 200}, echo,
	)
	l, _ := x.dialFeed(t, "feed=test")
	for n, code := range []terms.Code{"", "", terms.CodeBusy} {
		l.say(fmt.Sprintf(`{"cmd":"set","n":%d}`, n+1))
		if m := l.receive(); m.Ack != uint64(n+1) || (m.Error == nil) != (code == "") ||
			m.Error != nil && m.Error.Code != code {
			t.Errorf("command %d: %+v, want code %q", n+1, m, code)
		}
	}
	if _, answer := x.dialFeed(t, "feed=test"); answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one connection too many: %s", answer.Status)
	}
	l.say(`{"cmd":"` + strings.Repeat("x", 300) + `"}`)
	if _, code := l.next(); code != websocket.CloseMessageTooBig {
		t.Errorf("a message too large: code %d", code)
	}
}

// TestFeedEndsWithTheServer: a feed at work is stopped, the client receives 1012, and
// nothing is left running (the suite looks for goroutines).
func TestFeedEndsWithTheServer(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	x := withFeed(t, Limits{}, func(ctx context.Context, in <-chan wire.Command, send func(wire.Message) error) error {
		<-in
		if err := send(wire.Message{Ack: 1}); err != nil {
			return err
		}
		<-ctx.Done()
		ended <- ctx.Err()
		return ctx.Err()
	})
	l, _ := x.dialFeed(t, "feed=test")
	l.say(`{"cmd":"go","n":1}`)
	l.receive()
	go x.stop()
	if _, code := l.next(); code != websocket.CloseServiceRestart {
		t.Errorf("code %d", code)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the feed ended with %v", err)
	}
}
