package web

import (
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/static"
	"github.com/tokenbytoken/viz/web/wire"
)

func TestLoopbackHosts(t *testing.T) {
	t.Parallel()
	want := []string{"127.0.0.1:8080", "localhost:8080", "[::1]:8080"}
	if got := LoopbackHosts("0.0.0.0:8080"); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	want = []string{"127.0.0.1:80", "127.0.0.1", "localhost:80", "localhost", "[::1]:80", "[::1]"}
	if got := LoopbackHosts(":80"); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestGate sends requests as other sites' pages would make a browser send
// them, to pages, files and sockets alike.
func TestGate(t *testing.T) {
	t.Parallel()
	x := newSite(t, Limits{})
	own := strings.TrimPrefix(x.http.URL, "http://")
	_, port, _ := strings.Cut(own, ":")
	cases := []struct {
		name   string
		header []string
		page   int // status of /loop
		socket int // status of /ws, 101 where it opens
	}{
		{"no browser", nil, 200, 101},
		{"own page", []string{"Origin", "http://" + own, "Sec-Fetch-Site", "same-origin"}, 200, 101},
		{"other loopback name", []string{"Host", "localhost:" + port}, 200, 101},
		{"link on another site", []string{"Sec-Fetch-Site", "cross-site"}, 200, 403},
		{"foreign origin", []string{"Origin", "http://evil.example"}, 403, 403},
		{"null origin", []string{"Origin", "null"}, 403, 403},
		{"other port of this machine", []string{"Origin", "http://127.0.0.1:1"}, 403, 403},
		{"own name in a longer one", []string{"Origin", "http://" + own + ".evil.example"}, 403, 403},
		{"foreign host", []string{"Host", "evil.example"}, 421, 421},
		{"rebinding", []string{"Host", "evil.example:" + port, "Origin", "http://evil.example:" + port}, 421, 421},
		{"host without port", []string{"Host", "127.0.0.1"}, 421, 421},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			resp, body := x.get("/loop", tc.header...)
			if resp.StatusCode != tc.page {
				t.Errorf("page: %d %s, want %d", resp.StatusCode, body, tc.page)
			}
			checkHeaders(t, resp)
			if i := slices.Index(tc.header, "Host"); tc.page == 421 && !strings.Contains(body, tc.header[i+1]) {
				t.Errorf("the refusal does not name the host asked for: %s", body)
			}
			h := http.Header{}
			for i := 0; i < len(tc.header); i += 2 {
				h.Set(tc.header[i], tc.header[i+1])
			}
			d := websocket.Dialer{Subprotocols: []string{wire.ProtocolJSON}}
			conn, resp, err := d.Dial(x.url(""), h)
			if err == nil {
				conn.Close()
			}
			if resp == nil || resp.StatusCode != tc.socket {
				t.Errorf("socket: %v %v, want %d", resp, err, tc.socket)
			}
		})
	}
}

func checkHeaders(t *testing.T, resp *http.Response) {
	t.Helper()
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' " +
			"data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
		"X-Content-Type-Options":       "nosniff",
		"Referrer-Policy":              "same-origin",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
	} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestCrossSitePost: nothing that could change something passes from another
// site, whether there is an address for it or not.
func TestCrossSitePost(t *testing.T) {
	t.Parallel()
	x := newSite(t, Limits{})
	req, _ := http.NewRequest(http.MethodPost, x.http.URL+"/loop", strings.NewReader("prompt=x"))
	if resp, _ := x.do(req, "Sec-Fetch-Site", "cross-site"); resp.StatusCode != 403 {
		t.Errorf("status %d, want 403", resp.StatusCode)
	}
}

func TestPanicIsAnswered(t *testing.T) {
	t.Parallel()
	g := newGate([]string{"example.com"}, slog.New(slog.NewTextHandler(io.Discard, nil)),
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(errors.New("the secret cause")) }))
	w := httptest.NewRecorder()
	g.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://example.com/", nil))
	if w.Code != 500 || strings.Contains(w.Body.String(), "secret") || w.Body.Len() == 0 {
		t.Errorf("answer %d %q", w.Code, w.Body)
	}
}

// TestRoutes asks for every address, and for some that do not exist.
func TestRoutes(t *testing.T) {
	t.Parallel()
	x := newSite(t, Limits{})
	asset := static.Asset("js/loop.js")
	cases := []struct {
		method, path string
		status       int
		header, want string // one header to check
	}{
		{"GET", "/", 200, "Content-Type", "text/html; charset=utf-8"},
		{"GET", "/learn", 200, "Cache-Control", "no-store"},
		{"GET", "/learning", 404, "Content-Type", "text/plain; charset=utf-8"},
		{"GET", "/loop", 200, "Content-Type", "text/html; charset=utf-8"},
		{"GET", "/loop", 200, "Cache-Control", "no-store"},
		{"HEAD", "/loop", 200, "", ""},
		{"POST", "/loop", 405, "Allow", "GET, HEAD"},
		{"DELETE", "/ws", 405, "", ""},
		{"GET", "/ws", 426, "Upgrade", "websocket"},
		{"GET", "/loop/", 404, "Content-Type", "text/plain; charset=utf-8"},
		{"GET", "/nothing", 404, "", ""},
		{"GET", "/healthz", 200, "", ""},
		{"GET", "/readyz", 200, "", ""},
		{"GET", asset, 200, "Content-Type", "text/javascript; charset=utf-8"},
		{"GET", asset, 200, "Cache-Control", "public, max-age=31536000, immutable"},
		{"GET", "/static/js/loop.js?v=old", 200, "Cache-Control", "no-cache"},
		{"GET", "/static/js/loop.js", 200, "Cache-Control", "no-cache"},
		{"GET", "/static/css/tokens.css", 200, "Content-Type", "text/css; charset=utf-8"},
		{"GET", "/static/fonts/inter-latin-wght-normal.woff2", 200, "Content-Type", "font/woff2"},
		{"GET", "/static/", 404, "", ""},
		{"GET", "/static/js", 404, "", ""},
		{"GET", "/static/js/", 404, "", ""},
		{"GET", "/static/../go.mod", 307, "Location", "/go.mod"},
		{"GET", "/static/%2e%2e/static.go", 404, "", ""},
	}
	for _, tc := range cases {
		req, err := http.NewRequest(tc.method, x.http.URL+tc.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, body := x.do(req)
		if resp.StatusCode != tc.status {
			t.Errorf("%s %s: %d, want %d", tc.method, tc.path, resp.StatusCode, tc.status)
		}
		if got := resp.Header.Get(tc.header); tc.header != "" && got != tc.want {
			t.Errorf("%s %s: %s is %q, want %q", tc.method, tc.path, tc.header, got, tc.want)
		}
		if resp.StatusCode >= 400 && !strings.HasSuffix(strings.TrimSpace(body), ".") {
			t.Errorf("%s %s: %q is not a sentence", tc.method, tc.path, body)
		}
		checkHeaders(t, resp)
	}
	resp, _ := x.get("/static/js/loop.js")
	if again, body := x.get("/static/js/loop.js", "If-None-Match", resp.Header.Get("ETag")); again.StatusCode != 304 ||
		body != "" {
		t.Errorf("a file that is known already: %d and %d bytes, want 304", again.StatusCode, len(body))
	}
}

// TestCookieOverTLS: what arrived encrypted never travels in the clear.
func TestCookieOverTLS(t *testing.T) {
	for _, encrypted := range []bool{false, true} {
		r := httptest.NewRequest("GET", "/", nil)
		if encrypted {
			r.TLS = &tls.ConnectionState{}
		}
		if _, c := (learners{secret: []byte("a test's")}).of(r); c.Secure != encrypted {
			t.Errorf("encrypted %v: %s", encrypted, c)
		}
	}
}

// TestLearners: the cookie is signed, kept, and decides whose run it is.
func TestLearners(t *testing.T) {
	t.Parallel()
	x := newSite(t, Limits{})
	resp, _ := x.get("/loop")
	cookies := resp.Cookies()
	if len(cookies) != 1 {
		t.Fatalf("%d cookies, want 1", len(cookies))
	}
	c := cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" {
		t.Errorf("cookie %s", c)
	}
	if resp, _ := x.get("/loop"); len(resp.Cookies()) != 0 {
		t.Error("a known learner got another cookie")
	}
	id, mac, _ := strings.Cut(c.Value, ".")
	for _, forged := range []string{id, id + ".", "x" + c.Value, id + "." + mac[1:] + "A", "", "."} {
		if resp, _ := x.stranger().get("/loop", "Cookie", c.Name+"="+forged); len(resp.Cookies()) != 1 {
			t.Errorf("the forged cookie %q was taken", forged)
		}
	}

	run := x.dial(wire.ProtocolHTML, "")
	run.do(`{"cmd":"start","prompt":"Once upon a time"}`)
	if resp, body := x.get("/loop?run=" + run.run); resp.StatusCode != 200 ||
		!strings.Contains(body, `data-run="`+run.run+`"`) {
		t.Errorf("own run: %d", resp.StatusCode)
	}
	for name, y := range map[string]*site{"another browser": x.stranger(), "unknown": x} {
		id := run.run
		if name == "unknown" {
			id = newID()
		}
		resp, body := y.get("/loop?run=" + id)
		if resp.StatusCode != 404 || !strings.Contains(body, "does not have this run") ||
			strings.Contains(body, "Once upon a time</") {
			t.Errorf("%s: %d, or the page tells too much or too little", name, resp.StatusCode)
		}
		c := y.dial(wire.ProtocolJSON, "?had=1&run="+id)
		if c.run == id || c.told == nil || c.told.Code != terms.CodeExpired || c.where() != "0 none" {
			t.Errorf("%s: socket joined %s at %s with error %+v", name, c.run, c.where(), c.told)
		}
		c.do(`{"cmd":"start","prompt":"Mine"}`)
	}
	if st := x.runOf(run.run).latest.Load(); st.Prompt != "Once upon a time" {
		t.Errorf("the run is at %q now", st.Prompt)
	}
}
