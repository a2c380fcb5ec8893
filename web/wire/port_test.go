package wire

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/pseudo"
)

// paged is a page at the other end of a [Port].
type paged struct {
	in   chan []byte
	out  chan string
	code chan int
	over chan struct{} // closed when ServePort has returned
}

// dialPort connects a page over a port.
func dialPort(t *testing.T, s *Server, query string, protocol string) *paged {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, "http://here/ws?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Sec-WebSocket-Protocol", protocol)
	p := &paged{make(chan []byte), make(chan string, 100), make(chan int, 1), make(chan struct{})}
	go func() {
		defer close(p.over)
		s.ServePort(r, Port{
			In: p.in, Send: func(m []byte) error { p.out <- string(m); return nil },
			Close: func(code int, _ string) { p.code <- code },
		})
	}()
	return p
}

// TestErrorsAreInTheLanguageOfTheRequest: a part knows the language of the request that opened its
// connection. Its errors, and the reason why it ends, are sent in that language.
func TestErrorsAreInTheLanguageOfTheRequest(t *testing.T) {
	l := pseudo.Language(t)
	why := terms.RefuseField("seed", "x", "a number")
	x := withPart(t, Limits{}, func(ctx context.Context, _ <-chan Command, send func(Message) error) error {
		return send(Message{Error: why, Data: terms.In(ctx).Tag})
	})
	r, err := http.NewRequestWithContext(terms.With(t.Context(), l), http.MethodGet, "http://here/ws?feed=test", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Sec-WebSocket-Protocol", ProtocolHTML)
	out, closed := make(chan []byte, 1), make(chan string, 1)
	x.ServePort(r, Port{
		In: make(chan []byte), Send: func(m []byte) error { out <- m; return nil },
		Close: func(_ int, reason string) { closed <- reason },
	})
	got := readMessage(t, string(<-out))
	if got.Error == nil || got.Error.Message != why.In(l) || string(got.Data) != `"`+pseudo.Tag+`"` {
		t.Errorf("got error %v and language %s; want %q and %q", got.Error, got.Data, why.In(l), pseudo.Tag)
	}
	if reason := <-closed; reason != reasonDone.in(l) || reason == reasonDone.Error() {
		t.Errorf("got the close reason %q, want %q", reason, reasonDone.in(l))
	}
	if why.Message != why.In(terms.English) {
		t.Errorf("the part's own refusal is now %q", why.Message)
	}
}

// TestCloseReasonsFitInAFrame: if a language's text is too long for a close frame, which could then
// not be sent, the text is cut between two characters.
func TestCloseReasonsFitInAFrame(t *testing.T) {
	texts, err := terms.Texts("en")
	if err != nil {
		t.Fatal(err)
	}
	l, err := terms.ReadLanguage("x", strings.Replace(
		texts, "wire.done = ", "wire.done = "+strings.Repeat("ü", 70), 1))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := reasonDone.in(l), strings.Repeat("ü", 61); got != want {
		t.Errorf("got %d bytes, %q; want %d", len(got), got, len(want))
	}
}

// TestMessagePortBehavesLikeASocket: over a message port, a part behaves as it does over a
// WebSocket. Commands are answered, addresses in HTML are rewritten, and the limits and close codes
// are the same. If one end closes, so does the other.
func TestMessagePortBehavesLikeASocket(t *testing.T) {
	x := withPart(t, Limits{}, echo)
	x.cfg.HTML = func(html string) string { return strings.ReplaceAll(html, "/", "/some/") }
	x.cfg.Parts["panel"] = Kind{Open: func(context.Context, Visit) (Part, error) {
		return partFunc(func(ctx context.Context, _ <-chan Command, send func(Message) error) error {
			_ = send(Message{Panels: []Panel{morph("a", "/loop")}})
			<-ctx.Done()
			return nil
		}), nil
	}}

	p := dialPort(t, x.Server, "feed=test", ProtocolHTML)
	p.in <- []byte(`{"cmd":"say","n":7}`)
	if got := readMessage(t, <-p.out); got.Ack != 7 {
		t.Errorf("the answer to command 7 is %+v, want Ack = 7", got)
	}
	close(p.in) // the page is gone
	<-p.over

	p = dialPort(t, x.Server, "feed=panel", ProtocolHTML)
	if got := <-p.out; !strings.Contains(got, `"html":"/some/loop"`) {
		t.Errorf("the panel is %s, want it to contain %q", got, `"html":"/some/loop"`)
	}
	p.in <- []byte(strings.Repeat("x", int(DefaultLimits.MessageBytes)+1))
	if code := <-p.code; code != websocket.CloseMessageTooBig {
		t.Errorf("after a message that is too long: code %d, want %d", code, websocket.CloseMessageTooBig)
	}
	<-p.over

	for _, c := range []struct {
		query, protocol string
		code            int
	}{
		{"feed=none", ProtocolHTML, websocket.ClosePolicyViolation},
		{"feed=test", "other", websocket.CloseProtocolError},
	} {
		p = dialPort(t, x.Server, c.query, c.protocol)
		if code := <-p.code; code != c.code {
			t.Errorf("%s, %s ends with %d, want %d", c.query, c.protocol, code, c.code)
		}
		<-p.over
	}

	p = dialPort(t, x.Server, "feed=panel", ProtocolHTML)
	<-p.out
	x.stop()
	if code := <-p.code; code != websocket.CloseServiceRestart {
		t.Errorf("after the end of the program: code %d, want %d", code, websocket.CloseServiceRestart)
	}
	<-p.over
}
