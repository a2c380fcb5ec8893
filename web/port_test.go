package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/store"
	"github.com/tokenbytoken/viz/web/webtest"
	"github.com/tokenbytoken/viz/web/wire"
)

// TestVisitorOfMessagePort: if a visitor who got a cookie from Greet opens a live part, the next
// connection finds the same run. A page in another site's frame remains anonymous, even if it sends
// the cookie.
func TestVisitorOfMessagePort(t *testing.T) {
	t.Parallel()
	s := withoutClasses(t, func(*web.Config) {})
	request := func(query string, cookies ...*http.Cookie) *http.Request {
		r := httptest.NewRequest(http.MethodGet, "http://site.example/ws?"+query, nil)
		r.Header.Set("Sec-WebSocket-Protocol", wire.ProtocolJSON)
		for _, c := range cookies {
			r.AddCookie(c)
		}
		return r
	}
	who := s.Greet(request(""))
	if who == nil || s.Greet(request("", who)) != nil {
		t.Fatalf("a new visitor gets the cookie %v; want one, and none for a request that has it", who)
	}
	if got := s.Greet(request("embed=1")); got != nil {
		t.Errorf("a page in a frame gets %v, want nil", got)
	}
	if got := s.Greet(httptest.NewRequest(http.MethodGet, "/static/css/base.css", nil)); got != nil {
		t.Errorf("a request for a file gets %v, want nil", got)
	}
	run := firstRun(t, s, request("", who))
	if again := firstRun(t, s, request("run="+run, who)); again != run {
		t.Errorf("the next connection joins the run %s, want %s", again, run)
	}
	if other := firstRun(t, s, request("embed=1&run="+run, who)); other == run {
		t.Error("a page in a frame joins a visitor's run")
	}
}

// firstRun opens a live part of the Loop over a port, starts a text, and returns the run.
func firstRun(t *testing.T, s *web.Server, r *http.Request) string {
	t.Helper()
	in, out, ended := make(chan []byte, 1), make(chan []byte, 64), make(chan struct{})
	go func() {
		defer close(ended)
		s.ServePort(r, wire.Port{
			In:    in,
			Send:  func(message []byte) error { out <- message; return nil },
			Close: func(int, string) {},
		})
	}()
	in <- []byte(`{"cmd":"start","n":1,"prompt":"Once"}`)
	run := ""
	for {
		var m struct {
			Run   string
			Ack   int
			Error any
		}
		if err := json.Unmarshal(<-out, &m); err != nil || m.Error != nil && m.Ack == 1 {
			t.Fatalf("got error %v, message %+v; want a state without an error", err, m)
		}
		if m.Run != "" {
			run = m.Run
		}
		if m.Ack == 1 {
			break
		}
	}
	close(in)
	<-ended
	return run
}

// withoutClasses returns a server like a static site's: with a course, but without classes. change
// can modify the server's configuration.
func withoutClasses(t *testing.T, change func(*web.Config)) *web.Server {
	t.Helper()
	db, err := store.Open("", nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg := web.Config{
		Model: testmodel.Target(t), Course: webtest.Course(t), AllowedHosts: []string{"site.example"},
		Progress:     progress.New(journal.For(db), db, webtest.Course(t), time.Now),
		EmbedOrigins: []string{shell.Anywhere}, Logger: slog.New(slog.DiscardHandler),
	}
	change(&cfg)
	s, err := web.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), browser.Patience)
		defer cancel()
		if err := errors.Join(s.Shutdown(ctx), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
}
