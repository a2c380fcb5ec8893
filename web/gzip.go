package web

import (
	"compress/gzip"
	"net/http"
	"strings"
	"sync"
)

// compressed answers with gzip where the client takes it and it pays: pages,
// styles and scripts shrink to a quarter, which a phone on a slow network
// feels. Sockets are not compressed (a small frame could inflate past the
// limit on messages), nor are fonts and pictures, which are already.
func compressed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/ws" || r.Method == http.MethodHead || r.Header.Get("Range") != "" || !takesGzip(r) {
			next.ServeHTTP(w, r)
			return
		}
		c := &compressor{ResponseWriter: w}
		defer c.close()
		next.ServeHTTP(c, r)
	})
}

// takesGzip reports whether a request accepts gzip. "gzip;q=0" is the one
// form of refusing it that is in use.
func takesGzip(r *http.Request) bool {
	for _, part := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		name, q, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			return strings.TrimSpace(q) != "q=0"
		}
	}
	return false
}

// compressor decides at the header whether the body is worth it.
type compressor struct {
	http.ResponseWriter
	decided bool
	z       *gzip.Writer // nil where the body goes out as it is
}

var gzips = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

func (c *compressor) WriteHeader(status int) {
	if !c.decided {
		c.decided = true
		h := c.Header()
		h.Add("Vary", "Accept-Encoding")
		if worth(h.Get("Content-Type")) && h.Get("Content-Encoding") == "" &&
			status != http.StatusNoContent && status != http.StatusNotModified {
			h.Set("Content-Encoding", "gzip")
			h.Del("Content-Length")
			if tag := h.Get("ETag"); strings.HasPrefix(tag, `"`) {
				h.Set("ETag", "W/"+tag) // the same content in other bytes
			}
			c.z = gzips.Get().(*gzip.Writer)
			c.z.Reset(c.ResponseWriter)
		}
	}
	c.ResponseWriter.WriteHeader(status)
}

func (c *compressor) Write(b []byte) (int, error) {
	if !c.decided {
		c.WriteHeader(http.StatusOK)
	}
	if c.z != nil {
		return c.z.Write(b)
	}
	return c.ResponseWriter.Write(b)
}

// Unwrap lets [http.ResponseController] reach the connection.
func (c *compressor) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// close ends the body. An error means that the client has gone.
func (c *compressor) close() {
	if c.z != nil {
		_ = c.z.Close()
		gzips.Put(c.z)
	}
}

// worth reports whether a type of content gets smaller.
func worth(kind string) bool {
	kind, _, _ = strings.Cut(kind, ";")
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "json") || strings.HasSuffix(kind, "jsonl") ||
		kind == "image/svg+xml"
}
