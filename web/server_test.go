package web_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/static"
	"github.com/tokenbytoken/viz/web"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/webtest"
	"github.com/tokenbytoken/viz/web/wire"
)

func TestMain(m *testing.M) {
	if orders := os.Getenv(hostileProcess); orders != "" {
		attackFromHere(orders)
		return
	}
	goleak.VerifyTestMain(browser.Suite{M: m})
}

// roundTrip sends a request without a body and does not follow redirects.
func roundTrip(t *testing.T, method, url string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(b)
}

// TestResponseHeaders requests every kind of address and checks one header of each response.
func TestResponseHeaders(t *testing.T) {
	t.Parallel()
	server := webtest.Serve(t, webtest.Options{})
	asset := static.Asset("js/loop.js")
	for _, tc := range []struct {
		method, path string
		status       int
		header, want string
	}{
		{"GET", "/", 200, "Content-Type", "text/html; charset=utf-8"},
		{"GET", "/learn", 200, "Cache-Control", "no-store"},
		{"GET", "/learn", 200, "Vary", "Accept-Encoding"},
		{"GET", "/learning", 404, "Content-Type", "text/html; charset=utf-8"},
		{"GET", "/loop", 200, "Content-Type", "text/html; charset=utf-8"},
		{"GET", "/loop", 200, "Cache-Control", "no-store"},
		{"GET", "/ws", 426, "Upgrade", "websocket"},
		{"GET", "/loop/", 404, "Content-Type", "text/html; charset=utf-8"},
		{"GET", "/healthz", 200, "Cache-Control", "no-store"},
		{"GET", "/readyz", 200, "Cache-Control", "no-store"},
		{"GET", asset, 200, "Content-Type", "text/javascript; charset=utf-8"},
		{"GET", asset, 200, "Cache-Control", "public, max-age=31536000, immutable"},
		{"GET", "/static/js/loop.js?v=old", 200, "Cache-Control", "no-cache"},
		{"GET", "/static/js/loop.js", 200, "Cache-Control", "no-cache"},
		{"GET", "/static/css/tokens.css", 200, "Content-Type", "text/css; charset=utf-8"},
		{"GET", "/static/fonts/inter-latin-wght-normal.woff2", 200, "Content-Type", "font/woff2"},
		{"GET", "/static/js/", 404, "Cache-Control", "no-store"},
	} {
		resp, body := roundTrip(t, tc.method, server+tc.path)
		if resp.StatusCode != tc.status {
			t.Errorf("%s %s: %d, want %d", tc.method, tc.path, resp.StatusCode, tc.status)
		}
		if got := resp.Header.Get(tc.header); got != tc.want {
			t.Errorf("%s %s: %s is %q, want %q", tc.method, tc.path, tc.header, got, tc.want)
		}
		plain := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain")
		if resp.StatusCode >= 400 && plain && !strings.HasSuffix(strings.TrimSpace(body), ".") {
			t.Errorf("%s %s: %q is not a sentence", tc.method, tc.path, body)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := resp.Header.Get(name); got != want {
				t.Errorf("%s %s: %s is %q, want %q", tc.method, tc.path, name, got, want)
			}
		}
	}
	resp, _ := roundTrip(t, "GET", server+"/static/js/loop.js")
	again, body := roundTrip(t, "GET", server+"/static/js/loop.js", "If-None-Match", resp.Header.Get("ETag"))
	if again.StatusCode != 304 || body != "" {
		t.Errorf("a cached file: got %d and %d bytes, want 304 and 0", again.StatusCode, len(body))
	}
	resp, _ = roundTrip(t, "GET", server+"/learn", "Accept-Encoding", "gzip")
	if resp.Header.Get("Content-Encoding") != "gzip" {
		t.Error("pages are not compressed")
	}
}

// TestSocketsAreBehindTheGate: a socket opens for the server's own pages and for programs, but
// not for other sites' pages.
func TestSocketsAreBehindTheGate(t *testing.T) {
	t.Parallel()
	server := webtest.Serve(t, webtest.Options{})
	for _, tc := range []struct {
		name   string
		header http.Header
		status int
	}{
		{"no browser", nil, 101},
		{"own page", http.Header{"Origin": {server}, "Sec-Fetch-Site": {"same-origin"}}, 101},
		{"foreign origin", http.Header{"Origin": {"http://evil.example"}}, 403},
		{"foreign host", http.Header{"Host": {"evil.example"}}, 421},
		{"another site's page", http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403},
	} {
		d := websocket.Dialer{Subprotocols: []string{wire.ProtocolJSON}}
		conn, resp, err := d.Dial("ws"+strings.TrimPrefix(server, "http")+"/ws", tc.header)
		if err == nil {
			conn.Close()
		}
		if resp == nil || resp.StatusCode != tc.status {
			t.Errorf("%s: %v %v, want %d", tc.name, resp, err, tc.status)
		}
	}
}

// TestShutdownClosesSocketsAndRuns: sockets are closed with code 1012, runs end, and new
// connections are refused. TestMain checks that nothing is left running.
// Promise: When the server stops, it closes its sockets with code 1012.
func TestShutdownClosesSocketsAndRuns(t *testing.T) {
	t.Parallel()
	h := httptest.NewUnstartedServer(nil)
	fixture.Spend(fixture.Servers, 1)
	s, err := web.New(web.Config{
		Model: testmodel.Target(t), AllowedHosts: shell.LoopbackHosts(h.Listener.Addr().String()),
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	h.Config.Handler = s.Handler()
	h.Start()
	defer h.Close()
	defer http.DefaultClient.CloseIdleConnections()
	if resp, _ := roundTrip(t, "GET", h.URL+"/"); resp.Header.Get("Location") != "/loop" { // without lessons
		t.Errorf("the home page leads to %q, want %q", resp.Header.Get("Location"), "/loop")
	}
	d := websocket.Dialer{Subprotocols: []string{wire.ProtocolHTML}}
	socket := "ws" + strings.TrimPrefix(h.URL, "http") + "/ws"
	conn, _, err := d.Dial(socket, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, command := range []string{
		`{"cmd":"start","n":1,"prompt":"Once upon a time"}`, `{"cmd":"speed","n":2,"speed":"max"}`,
		`{"cmd":"play","n":3}`,
	} {
		if err := conn.WriteMessage(websocket.TextMessage, []byte(command)); err != nil {
			t.Fatal(err)
		}
	}
	down := make(chan error)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), browser.Patience)
		defer cancel()
		down <- s.Shutdown(ctx)
	}()
	conn.SetReadDeadline(time.Now().Add(browser.Patience))
	for err == nil {
		_, _, err = conn.ReadMessage()
	}
	if !websocket.IsCloseError(err, websocket.CloseServiceRestart) {
		t.Errorf("the connection ended with %v, want 1012", err)
	}
	if err := <-down; err != nil {
		t.Error(err)
	}
	for path, want := range map[string]int{
		"/healthz": http.StatusOK, "/livez": http.StatusServiceUnavailable, "/readyz": http.StatusServiceUnavailable,
	} {
		if resp, _ := roundTrip(t, "GET", h.URL+path); resp.StatusCode != want {
			t.Errorf("%s: got %d, want %d", path, resp.StatusCode, want)
		}
	}
	if _, resp, err := d.Dial(socket, nil); err == nil || resp == nil ||
		resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf(
			"a socket after the shutdown: got %v %v; want an error, resp not nil, StatusCode = %d", resp, err,
			http.StatusServiceUnavailable,
		)
	}
}

// TestPredictOpensLoopLinks: a link to the Loop can also be opened in the game in which visitors
// guess the next token, on the same server.
func TestPredictOpensLoopLinks(t *testing.T) {
	t.Parallel()
	run := session.New(testmodel.Target(t), session.DefaultLimits())
	var st *session.State
	for _, c := range []session.Command{session.Start{Prompt: "Once upon a time"}, session.StepToken{}} {
		var err error
		if st, err = run.Apply(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	query := "?log=" + url.QueryEscape(session.LinkOf(st))
	server := webtest.Serve(t, webtest.Options{})
	for _, path := range []string{"/loop", "/predict"} {
		if resp, body := roundTrip(t, "GET", server+path+query); resp.StatusCode != 200 ||
			!strings.Contains(body, "Once") {
			t.Errorf("%s: got status %d without the link's text", path, resp.StatusCode)
		}
	}
}
