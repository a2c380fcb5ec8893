//go:build !js

package shell

import (
	"net/http"

	"github.com/klauspost/compress/gzhttp"
)

// Compressed compresses responses with gzip if the client accepts gzip and compression is
// worthwhile. Pages, styles and scripts shrink to a quarter of their size, which is noticeable on a
// phone with a slow network. It does not compress responses that fit into one packet; messages over
// sockets (a small frame could expand beyond the limit on messages); the API's responses, whose
// tokens are sent one by one; and fonts and pictures, which are already compressed.
func Compressed(next http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.EnableZstd(false), gzhttp.ContentTypeFilter(shrinks))
	if err != nil {
		panic("shell: invalid settings for gzhttp: " + err.Error())
	}
	zipped := wrap(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/ws" || OfAPI(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		zipped.ServeHTTP(w, r)
	})
}

// acceptsGzip reports whether the client that gets a response accepts gzip. gzhttp replaces w with
// its own writer only for such clients.
func acceptsGzip(w http.ResponseWriter) bool {
	switch w.(type) {
	case *gzhttp.GzipResponseWriter, gzhttp.GzipResponseWriterWithCloseNotify:
		return true
	}
	return false
}
