package api

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/web/shell"
)

// Front wraps the server's gate. The gate, and other handlers that do not know the API, refuse
// requests with plain-text messages, which Front converts to the API's format. Requests from pages
// of allowed origins pass the gate, although it still checks their host name; requests from pages
// of other sites are refused.
func (s *Server) Front(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !shell.OfAPI(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		shaped := &shaped{ResponseWriter: w}
		defer shaped.end()
		if origin := r.Header.Get("Origin"); slices.Contains(s.Access.Origins, strings.ToLower(origin)) {
			r = r.Clone(r.Context())
			allow(w.Header(), origin)
			r.Header.Del("Origin")
			r.Header.Del("Sec-Fetch-Site")
			if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
				w.WriteHeader(http.StatusNoContent)
				return
			}
		}
		next.ServeHTTP(shaped, r)
	})
}

// allow sets the headers that allow a page of the given origin to read the response. Cookies are
// not allowed.
func allow(h http.Header, origin string) {
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Allow-Methods", "GET, POST")
	// API clients send additional headers that identify them.
	h.Set("Access-Control-Allow-Headers", "*, Authorization")
	h.Set("Access-Control-Expose-Headers", "Retry-After")
	h.Set("Access-Control-Max-Age", "600")
}

// shaped is a response writer that converts plain-text refusals to the API's errors.
type shaped struct {
	http.ResponseWriter
	status int // status of a refusal
	says   bytes.Buffer
}

// WriteHeader implements [http.ResponseWriter].
func (w *shaped) WriteHeader(status int) {
	if status >= http.StatusBadRequest && strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		w.status = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *shaped) Write(b []byte) (int, error) {
	if w.status != 0 {
		return w.says.Write(b)
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap gives an [http.ResponseController] access to the underlying writer.
func (w *shaped) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// end sends a refusal, if there is one.
func (w *shaped) end() {
	if w.status != 0 {
		ofStatus(w.status, strings.TrimSpace(w.says.String())).send(w.ResponseWriter)
	}
}
