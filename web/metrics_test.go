package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/web"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/load"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/webtest"
	"github.com/tokenbytoken/viz/web/wire"
)

// measured runs a server with /metrics on its own listener.
func measured(t *testing.T, o webtest.Options) (server, metrics string) {
	t.Helper()
	h := httptest.NewUnstartedServer(nil)
	o.Started = func(s *web.Server) {
		h.Config.Handler = s.Metrics(shell.LoopbackHosts(h.Listener.Addr().String()))
	}
	server = webtest.Serve(t, o)
	h.Start()
	t.Cleanup(h.Close)
	return server, h.URL
}

func scrape(t *testing.T, url string) (scraped, string) {
	t.Helper()
	resp, body := roundTrip(t, "GET", url+"/metrics")
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != 200 ||
		got != "text/plain; version=0.0.4; charset=utf-8" {
		t.Fatalf("got %s, of type %q; want 200 and the text format's type", resp.Status, got)
	}
	return parseMetrics(t, body), body
}

// until scrapes the metrics repeatedly until is returns true for the samples.
func until(t *testing.T, url, what string, is func(scraped) bool) (s scraped) {
	t.Helper()
	body := ""
	defer func() {
		if !is(s) {
			t.Logf("%s: not found in\n%s", what, body)
		}
	}()
	browser.Eventually(t, func() bool {
		s, body = scrape(t, url)
		return is(s)
	})
	return s
}

// TestMetricsCountActivity causes each kind of activity and checks that its metric changes.
// Promise: Metrics contain no prompts, names or room codes.
func TestMetricsCountActivity(t *testing.T) {
	t.Parallel()
	limits := admission.DefaultLimits()
	limits.Requests = admission.Pace{PerLearner: admission.Rate{PerSecond: 1e-6, Burst: 20}}
	server, at := measured(t, webtest.Options{Admission: &limits})
	first, _ := scrape(t, at)
	for _, key := range []string{
		"viz_sockets", `viz_runs{state="playing"}`, "viz_rooms", `viz_tokens_total{model="target"}`,
		`viz_http_responses_total{code="2xx"}`, "viz_wrong_codes_total",
	} {
		if v, there := first.values[key]; !there || v != 0 {
			t.Errorf("%s is %v before anything has happened, %v; want 0, true", key, v, there)
		}
	}

	conn := playing(t, server)
	s := until(t, at, "a run playing on a socket", func(s scraped) bool {
		return s.values["viz_sockets"] == 1 && s.values[`viz_tokens_total{model="target"}`] > 10 &&
			s.values["viz_push_seconds_count"] > 2 && s.values["viz_cache_bytes"] > 0
	})
	s.grew(t, first)
	if s.values[`viz_http_responses_total{code="1xx"}`] != 1 || s.values[`viz_passes_total{model="target"}`] < 4 {
		t.Errorf("got the values %v; want one 1xx response and at least 4 passes", s.values)
	}
	conn.Close()
	second := until(t, at, "no socket", func(s scraped) bool { return s.values["viz_sockets"] == 0 })
	second.grew(t, s)

	instructor, err := load.NewInstructor(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	s, _ = scrape(t, at)
	s.grew(t, second)
	if s.values["viz_rooms"] != 1 || s.values["viz_commit_seconds_count"] == second.values["viz_commit_seconds_count"] {
		t.Errorf("after a room was created: %v", s.values)
	}
	joined(t, server, instructor.Code)
	until(t, at, "a member", func(s scraped) bool {
		return s.values["viz_members"] == 1 && s.values["viz_members_here"] == 1
	})

	visit, _ := roundTrip(t, "GET", server+"/learn")
	for range 30 { // all from one learner, whose limit is 20
		roundTrip(t, "GET", server+"/learn", "Cookie", visit.Header.Get("Set-Cookie"))
	}
	last, body := scrape(t, at)
	last.grew(t, s)
	refused := last.values[`viz_refusals_total{reason="requests"}`]
	if got := last.values[`viz_http_responses_total{code="4xx"}`]; refused != 10 || got != 10 {
		t.Errorf("after 30 requests, 10 too many: got %v refusals and %v responses with 4xx; want 10, 10", refused, got)
	}
	// The metrics contain no prompts, names or room codes.
	for _, private := range []string{"Once upon", "Load", "Ada", instructor.Code} {
		if strings.Contains(body, private) {
			t.Errorf("the metrics contain %q, want nothing private", private)
		}
	}
}

// playing opens a socket to the Loop and plays a run on it.
func playing(t *testing.T, server string) *websocket.Conn {
	t.Helper()
	d := websocket.Dialer{Subprotocols: []string{wire.ProtocolHTML}}
	conn, _, err := d.Dial("ws"+strings.TrimPrefix(server, "http")+"/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		`{"cmd":"start","n":1,"prompt":"Once upon a time"}`, `{"cmd":"speed","n":2,"speed":"max"}`,
		`{"cmd":"play","n":3}`,
	} {
		if err := conn.WriteMessage(websocket.TextMessage, []byte(command)); err != nil {
			t.Fatal(err)
		}
	}
	go func() { // until the socket is closed
		for {
			if _, _, err := conn.ReadMessage(); err != nil {
				return
			}
		}
	}()
	return conn
}

// joined joins a room as a phone until the test ends.
func joined(t *testing.T, server, code string) {
	t.Helper()
	p := &load.Phone{URL: server, Code: code}
	if err := p.Dial(t.Context()); err != nil {
		t.Fatal(err)
	}
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		_ = p.Follow(func(load.Frame) error { return nil })
	}()
	t.Cleanup(func() {
		p.HangUp()
		<-followed
	})
}

// TestMetricsHaveTheirOwnListener: /metrics is not served with the pages. The metrics listener
// serves only /metrics, only for GET, and only under its own host name.
func TestMetricsHaveTheirOwnListener(t *testing.T) {
	t.Parallel()
	server, at := measured(t, webtest.Options{})
	for _, tc := range []struct {
		method, url, host string
		status            int
	}{
		{"GET", server + "/metrics", "", 404},
		{"GET", at + "/metrics", "", 200},
		{"HEAD", at + "/metrics", "", 405},
		{"POST", at + "/metrics", "", 405},
		{"GET", at + "/", "", 404},
		{"GET", at + "/loop", "", 404},
		{"GET", at + "/ws", "", 404},
		{"GET", at + "/metrics", "evil.example", 421},
	} {
		r, err := http.NewRequestWithContext(context.Background(), tc.method, tc.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = tc.host
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != tc.status {
			t.Errorf("%s %s as %q: %s, want %d", tc.method, tc.url, tc.host, resp.Status, tc.status)
		}
	}
}
