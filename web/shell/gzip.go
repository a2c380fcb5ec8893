//go:build !js

package shell

import (
	"net/http"

	"github.com/klauspost/compress/gzhttp"
)

// Compressed answers with gzip if the client accepts it and it pays: pages,
// styles and scripts shrink to a quarter, which a phone on a slow network
// feels. What fits into one packet is sent as it is. Sockets are not compressed
// (a small frame could inflate past the limit on messages), nor are the API's answers,
// whose tokens are sent one by one, nor fonts and pictures, which are already.
func Compressed(next http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.EnableZstd(false), gzhttp.ContentTypeFilter(shrinks))
	if err != nil {
		panic("shell: the settings of gzhttp: " + err.Error())
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

// acceptsGzip reports whether the client of a response accepts gzip: only then
// does gzhttp pass its own writer on.
func acceptsGzip(w http.ResponseWriter) bool {
	switch w.(type) {
	case *gzhttp.GzipResponseWriter, gzhttp.GzipResponseWriterWithCloseNotify:
		return true
	}
	return false
}
