package shell

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/static"
)

// A site is a test server with compression that serves static files, a long page and a short page.
type site struct {
	t   *testing.T
	url string
}

func newSite(t *testing.T) site {
	t.Helper()
	mux := http.NewServeMux()
	MountFiles(mux)
	mux.HandleFunc("GET /long", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, strings.Repeat("<p>A page.</p>", 1000))
	})
	mux.HandleFunc("GET /short", func(w http.ResponseWriter, _ *http.Request) { Text(w, http.StatusOK, "Short.") })
	h := httptest.NewServer(Compressed(mux))
	t.Cleanup(h.Close)
	return site{t, h.URL}
}

// raw sends a request with the given headers, which are pairs of names and values, and returns the
// undecoded body.
func (x site) raw(method, path string, header ...string) (*http.Response, []byte) {
	x.t.Helper()
	req, err := http.NewRequest(method, x.url+path, nil)
	if err != nil {
		x.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1]) // set explicitly, so that the client does not decode the body
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		x.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	return res, body
}

func unzip(t *testing.T, packed []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// TestGzipCompressesText: for a client that accepts gzip, text is compressed exactly once, and
// decompressing it yields the original. All other responses are unchanged.
func TestGzipCompressesText(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	const all = "br, zstd, gzip;q=1.0"
	for _, tc := range []struct {
		name, path, accept string
		zipped             bool
	}{
		{"style", "/static/css/loop.css", all, true},
		{"bundle that is kept compressed", static.Bundle("css/tokens.css", "css/base.css"), all, true},
		{"bundle for a client without gzip", static.Bundle("css/tokens.css", "css/base.css"), "br", false},
		{"bundle for a client that refuses gzip", static.Bundle("css/tokens.css", "css/base.css"), "gzip;q=0", false},
		{"page", "/long", all, true},
		{"page for a client that refuses gzip", "/long", "gzip;q=0.0", false},
		{"page for a client that asks for plain bytes", "/long", "identity", false},
		{"what fits into one packet", "/short", all, false},
		{"font", "/static/fonts/inter-latin-wght-normal.woff2", all, false},
		{"font by an older address", "/static/fonts/inter-latin-wght-normal.woff2?v=1", all, false},
	} {
		_, plain := x.raw(http.MethodGet, tc.path, "Accept-Encoding", "identity")
		res, body := x.raw(http.MethodGet, tc.path, "Accept-Encoding", tc.accept)
		if got := res.Header.Get("Content-Encoding") == "gzip"; got != tc.zipped {
			t.Errorf("%s: compressed %v, want %v", tc.name, got, tc.zipped)
			continue
		}
		if tc.zipped && len(body) > len(plain)/2 {
			t.Errorf("%s: got %d bytes of %d, want at most half", tc.name, len(body), len(plain))
		}
		if tc.zipped {
			body = unzip(t, body)
		}
		if len(plain) == 0 || !bytes.Equal(body, plain) {
			t.Errorf("%s: got %d bytes after decompression, want %d", tc.name, len(body), len(plain))
		}
		if got := res.Header.Values("Vary"); len(got) != 1 || got[0] != "Accept-Encoding" {
			t.Errorf("%s: Vary is %q, want Accept-Encoding", tc.name, got)
		}
	}
}

// TestGzipAndCaches: a file that a client has cached in one encoding is not resent in another
// encoding. If a client requests a range of a file, it gets that range of the uncompressed bytes.
func TestGzipAndCaches(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	bundle := static.Bundle("css/tokens.css", "css/base.css")
	for _, path := range []string{"/static/css/loop.css", bundle} {
		zipped, _ := x.raw(http.MethodGet, path, "Accept-Encoding", "gzip")
		plain, whole := x.raw(http.MethodGet, path, "Accept-Encoding", "identity")
		for _, known := range []*http.Response{zipped, plain} {
			for _, accept := range []string{"gzip", "identity"} {
				again, body := x.raw(
					http.MethodGet, path, "Accept-Encoding", accept, "If-None-Match", known.Header.Get("ETag"),
				)
				if again.StatusCode != http.StatusNotModified || len(body) > 0 {
					t.Errorf(
						"%s is cached: %d and %d bytes for %s; want %d, 0", path, again.StatusCode, len(body), accept,
						http.StatusNotModified,
					)
				}
			}
		}
		head, _ := x.raw(http.MethodHead, path, "Accept-Encoding", "gzip")
		if got := head.Header.Get("Content-Length"); head.StatusCode != 200 || got != strconv.Itoa(len(whole)) {
			t.Errorf("HEAD %s: %d, %s bytes, want %d", path, head.StatusCode, got, len(whole))
		}
		part, body := x.raw(http.MethodGet, path, "Accept-Encoding", "gzip", "Range", "bytes=10-2009")
		if part.StatusCode != http.StatusPartialContent || part.Header.Get("Content-Encoding") != "" ||
			!bytes.Equal(body, whole[10:2010]) {
			t.Errorf(
				"a part of %s: got %d as %q, want 206 with these bytes, uncompressed", path, part.StatusCode,
				part.Header.Get("Content-Encoding"),
			)
		}
	}
}

// TestGzipFlushes: data that a handler flushes arrives before the handler ends.
func TestGzipFlushes(t *testing.T) {
	t.Parallel()
	read := make(chan struct{})
	h := httptest.NewServer(Compressed(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		io.WriteString(w, "first")
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		<-read
		io.WriteString(w, strings.Repeat(" later", 1000))
	})))
	defer h.Close()
	res, err := http.Get(h.URL) // requests gzip and decompresses the response
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	first := make([]byte, len("first"))
	_, err = io.ReadFull(res.Body, first)
	close(read)
	if err != nil || string(first) != "first" || !res.Uncompressed {
		t.Fatalf("read %q (%v), compressed: %v; want %q, <nil>, true", first, err, res.Uncompressed, "first")
	}
	if rest, err := io.ReadAll(res.Body); err != nil || len(rest) != 6000 {
		t.Errorf("then %d bytes (%v), want 6000", len(rest), err)
	}
}

// TestGzipPreconditionFailed: a request for a version that the server does not have is refused,
// whether or not the client accepts gzip.
func TestGzipPreconditionFailed(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	styles := static.Bundle("css/tokens.css", "css/base.css") // the server stores it compressed
	for _, accept := range []string{"identity", "gzip"} {
		res, body := x.raw(http.MethodGet, styles, "Accept-Encoding", accept, "If-Match", `"x"`)
		if res.StatusCode != http.StatusPreconditionFailed {
			t.Errorf(
				"%s: status %d, want %d, %d bytes", accept, res.StatusCode, http.StatusPreconditionFailed, len(body),
			)
		}
	}
}
