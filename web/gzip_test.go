package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"regexp"
	"testing"
)

// TestGzipOfWhatIsNotSent: a request for a version that the server does not have is
// refused, whether or not it takes gzip.
func TestGzipOfWhatIsNotSent(t *testing.T) {
	t.Parallel()
	x := newSite(t, Limits{})
	_, page := x.get("/loop")
	styles := regexp.MustCompile(`/static/bundle/[^"?]+\.css`).FindString(page) // which the server keeps compressed
	for _, accept := range []string{"identity", "gzip"} {
		req, err := http.NewRequest(http.MethodGet, x.http.URL+styles, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept-Encoding", accept)
		req.Header.Set("If-Match", `"x"`)
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if closed := res.Body.Close(); res.StatusCode != http.StatusPreconditionFailed || err != nil || closed != nil {
			t.Errorf("%s: status %d, %d bytes, %v", accept, res.StatusCode, len(body), err)
		}
	}
}

// TestGzip: text is compressed for who takes it, and comes out the same.
func TestGzip(t *testing.T) {
	t.Parallel()
	x := newSite(t, Limits{})
	get := func(path, accept string) (*http.Response, []byte) {
		t.Helper()
		req, err := http.NewRequest(http.MethodGet, x.http.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept-Encoding", accept) // set by hand: the client leaves the body as it is
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res, body
	}
	_, plain := get("/static/css/loop.css", "identity")
	res, packed := get("/static/css/loop.css", "br, gzip;q=1.0")
	if res.Header.Get("Content-Encoding") != "gzip" || res.Header.Get("Vary") != "Accept-Encoding" ||
		len(packed) > len(plain)/2 {
		t.Fatalf("%d bytes of %d, header %v", len(packed), len(plain), res.Header)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("unpacked to %d bytes (%v), want the %d of the file", len(got), err, len(plain))
	}
	for path, accept := range map[string]string{
		"/static/css/loop.css":                            "gzip;q=0",
		"/static/fonts/inter-latin-wght-normal.woff2":     "gzip",
		"/static/fonts/inter-latin-wght-normal.woff2?v=1": "gzip",
	} {
		if res, _ := get(path, accept); res.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s for %q came as %s", path, accept, res.Header.Get("Content-Encoding"))
		}
	}
}
