package shell

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

// gateTo returns a gate in front of next, for a server at 127.0.0.1:8080.
func gateTo(next http.HandlerFunc) http.Handler {
	return Gate(LoopbackHosts("127.0.0.1:8080"), nil, "", slog.New(slog.NewTextHandler(io.Discard, nil)), next)
}

// through sends a request through a gate to a handler that accepts every request.
func through(method, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:8080"+path, nil)
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	gateTo(func(w http.ResponseWriter, _ *http.Request) { Text(w, http.StatusOK, "Here it is.") }).ServeHTTP(w, r)
	return w
}

// TestGateRefusesForeignPages sends requests that other sites' pages can make a browser send, to
// both pages and sockets.
// Promise: Requests and sockets from other sites' pages are refused.
func TestGateRefusesForeignPages(t *testing.T) {
	t.Parallel()
	const own, port = "127.0.0.1:8080", "8080"
	cases := []struct {
		name   string
		header []string
		page   int // status of /loop
		socket int // status of /ws
	}{
		{"no browser", nil, 200, 200},
		{"own page", []string{"Origin", "http://" + own, "Sec-Fetch-Site", "same-origin"}, 200, 200},
		{"other loopback name", []string{"Host", "localhost:" + port}, 200, 200},
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
			w := through("GET", "/loop", tc.header...)
			if w.Code != tc.page {
				t.Errorf("page: %d %s, want %d", w.Code, w.Body, tc.page)
			}
			checkHeaders(t, w.Result())
			body := w.Body.String()
			if i := slices.Index(tc.header, "Host"); tc.page == 421 && !strings.Contains(body, tc.header[i+1]) {
				t.Errorf("the refusal does not name the requested host: %s", body)
			}
			if w := through("GET", "/ws", tc.header...); w.Code != tc.socket {
				t.Errorf("socket: %d %s, want %d", w.Code, w.Body, tc.socket)
			}
		})
	}
}

func checkHeaders(t *testing.T, resp *http.Response) {
	t.Helper()
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' " +
			"data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; " +
			"frame-ancestors 'none'",
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

// TestCrossSitePost: a request from another site that could change something is refused, whether
// or not its address exists.
func TestCrossSitePost(t *testing.T) {
	t.Parallel()
	if w := through("POST", "/loop", "Sec-Fetch-Site", "cross-site"); w.Code != 403 {
		t.Errorf("status %d, want 403", w.Code)
	}
}

func TestPanicIsAnswered(t *testing.T) {
	t.Parallel()
	h := gateTo(func(http.ResponseWriter, *http.Request) { panic(errors.New("the secret cause")) })
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080/", nil))
	if w.Code != 500 || strings.Contains(w.Body.String(), "secret") || w.Body.Len() == 0 {
		t.Errorf("got %d %q; want 500 and a body without %q that is not empty", w.Code, w.Body, "secret")
	}
}

// TestOriginHasTheSchemeOfTheRequest: an attacker between a browser and a server with HTTPS can
// create an HTTP page under the server's name. Requests from that page are refused at all addresses
// of the server. Other hosts of the server can use plain HTTP. They refuse requests from https
// pages, unless a proxy reports that it received the request over HTTPS.
// Promise: A server with HTTPS refuses requests from HTTP pages.
func TestOriginHasTheSchemeOfTheRequest(t *testing.T) {
	t.Parallel()
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { Text(w, http.StatusOK, "Here it is.") })
	hosts := append(LoopbackHosts("127.0.0.1:8080"), "class.example")
	h := Gate(hosts, nil, "https://Class.example", slog.New(slog.DiscardHandler), ok)
	for _, c := range []struct {
		host, origin string
		ownTLS       bool
		proxied      string // X-Forwarded-Proto
		want         int
	}{
		{"class.example", "https://class.example", false, "", 200},
		{"class.example", "http://class.example", false, "", 403},
		{"CLASS.example", "HTTP://CLASS.example", false, "", 403},
		{"class.example", "http://127.0.0.1:8080", false, "", 403},
		{"127.0.0.1:8080", "http://class.example", false, "", 403},
		{"127.0.0.1:8080", "http://127.0.0.1:8080", false, "", 200},
		{"127.0.0.1:8080", "https://127.0.0.1:8080", false, "", 403},
		{"127.0.0.1:8080", "HTTPS://127.0.0.1:8080", false, "", 403},
		{"127.0.0.1:8080", "https://class.example", false, "", 403},
		{"127.0.0.1:8080", "https://127.0.0.1:8080", false, "http", 403},
		{"127.0.0.1:8080", "https://127.0.0.1:8080", false, "http, https", 403}, // the first value is from the browser
		{"127.0.0.1:8080", "https://127.0.0.1:8080", false, "https", 200},
		{"127.0.0.1:8080", "https://127.0.0.1:8080", false, "HTTPS , http", 200},
		{"127.0.0.1:8080", "https://evil.example", false, "https", 403},
		{"127.0.0.1:8080", "http://127.0.0.1:8080", true, "", 403},
		{"127.0.0.1:8080", "https://127.0.0.1:8080", true, "", 200},
	} {
		r := httptest.NewRequest(http.MethodGet, "/ws", nil)
		r.Host = c.host
		r.Header.Set("Origin", c.origin)
		if c.proxied != "" {
			r.Header.Set("X-Forwarded-Proto", c.proxied)
		}
		if c.ownTLS {
			r.TLS = &tls.ConnectionState{}
		}
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != c.want {
			t.Errorf("%+v: got %d, %s; want %d", c, w.Code, w.Body, c.want)
		}
	}
}

// TestStrictTransportHeader: over HTTPS, the server tells browsers to keep using HTTPS, unless the host
// is an IP address or localhost.
// Promise: Over HTTPS, the server tells browsers to use only HTTPS for its name.
func TestStrictTransportHeader(t *testing.T) {
	t.Parallel()
	ok := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for host, want := range map[string]string{
		"class.example": "max-age=604800", "class.example:8443": "max-age=604800",
		"192.168.0.7:8443": "", "[::1]:8443": "", "[::1]": "", "localhost:8443": "",
		"class.localhost": "", "LOCALHOST.": "",
	} {
		for scheme, want := range map[string]string{"https": want, "http": ""} {
			w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, scheme+"://"+host+"/", nil)
			r.Host = host
			Gate([]string{host}, nil, "", slog.New(slog.DiscardHandler), ok).ServeHTTP(w, r)
			if got := w.Header().Get("Strict-Transport-Security"); got != want {
				t.Errorf("%s://%s: %q, want %q", scheme, host, got, want)
			}
		}
	}
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "http://class.example/", nil)
	Gate([]string{"class.example"}, nil, "https://class.example", slog.New(slog.DiscardHandler), ok).ServeHTTP(w, r)
	if w.Header().Get("Strict-Transport-Security") == "" {
		t.Error("behind a proxy with HTTPS, the header is missing")
	}
}

// TestOEmbedLinkHasThePublicAddress: if the server has a public address, a page's oEmbed link
// begins with that address, and so does the page's address in that link.
func TestOEmbedLinkHasThePublicAddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ public, want string }{
		{"", "/embed/oembed?url=%2Floop%3Flog%3Dabc"},
		{
			"https://class.example",
			"https://class.example/embed/oembed?url=https%3A%2F%2Fclass.example%2Floop%3Flog%3Dabc",
		},
		{
			"http://class.example:8080/",
			"http://class.example:8080/embed/oembed?url=http%3A%2F%2Fclass.example%3A8080%2Floop%3Flog%3Dabc",
		},
	} {
		got := ""
		h := Embeds([]string{"https://school.example"}, c.public, http.HandlerFunc(
			func(_ http.ResponseWriter, r *http.Request) { got = offered(r.Context()) },
		))
		r := httptest.NewRequest(http.MethodGet, "http://10.0.0.7:8080/loop?log=abc", nil)
		h.ServeHTTP(httptest.NewRecorder(), r)
		if got != c.want {
			t.Errorf("with the public address %q, the link is %s, want %s", c.public, got, c.want)
		}
	}
}

// TestGateAsksForOneMoreHost: while the server has an additional host, that host is accepted in
// Host and in Origin.
func TestGateAsksForOneMoreHost(t *testing.T) {
	t.Parallel()
	more := ""
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { Text(w, http.StatusOK, "Here it is.") })
	h := Gate(LoopbackHosts("127.0.0.1:8080"), func() string { return more }, "", slog.New(slog.DiscardHandler), ok)
	for _, c := range []struct {
		more, host, origin string
		want               int
	}{
		{"", "192.168.0.7:8080", "", 421},
		{"", "", "", 421},
		{"", "127.0.0.1:8080", "http://", 403},
		{"192.168.0.7:8080", "192.168.0.7:8080", "http://192.168.0.7:8080", 200},
		{"192.168.0.7:8080", "127.0.0.1:8080", "http://192.168.0.7:8080", 200},
		{"192.168.0.7:8080", "192.168.0.8:8080", "", 421},
		{"192.168.0.7:8080", "192.168.0.7", "", 421},
		{"192.168.0.7:8080", "192.168.0.7:8080", "http://evil.example", 403},
		{"192.168.0.7:8080", "192.168.0.7:8080", "192.168.0.7:8080", 403},
		{"", "192.168.0.7:8080", "http://192.168.0.7:8080", 421},
	} {
		more = c.more
		r := httptest.NewRequest(http.MethodPost, "/loop", nil)
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != c.want {
			t.Errorf("%+v: got %d, %s; want %d", c, w.Code, w.Body, c.want)
		}
	}
}
