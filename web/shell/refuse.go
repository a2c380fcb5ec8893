package shell

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Text sends a status and one sentence as plain text, for responses without a page.
func Text(w http.ResponseWriter, status int, sentence string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	fmt.Fprintln(w, sentence)
}

// NotFound sends the page for an address that does not belong to any package.
func NotFound(w http.ResponseWriter, r *http.Request) {
	var text bytes.Buffer
	if err := missing().Render(r.Context(), &text); err != nil {
		Text(w, http.StatusNotFound, terms.In(r.Context()).T("shell.missing.head"))
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNotFound)
	text.WriteTo(w) // the client may have disconnected
}

// Elsewhere handles requests for which mux has no other handler. It responds with the methods that
// the address supports or, if there are none, with [NotFound].
func Elsewhere(mux *http.ServeMux) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		allowed := Allowed(mux, r)
		if len(allowed) == 0 {
			NotFound(w, r)
			return
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		l := terms.In(r.Context())
		Text(w, http.StatusMethodNotAllowed, l.T("shell.methods", "methods", l.List(allowed)))
	}
}

// ReadOnly lists the methods whose requests change nothing.
var ReadOnly = []string{http.MethodGet, http.MethodHead}

// Changes reports whether a request can change something.
func Changes(r *http.Request) bool { return !slices.Contains(ReadOnly, r.Method) }

// Allowed returns the methods for which there is a handler at the address of a request. Patterns
// without a method are ignored, because they belong to handlers that refuse requests.
func Allowed(mux *http.ServeMux, r *http.Request) []string {
	var list []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		_, pattern := mux.Handler(&http.Request{Method: method, Host: r.Host, URL: r.URL})
		if strings.Contains(pattern, " ") {
			list = append(list, method)
		}
	}
	return list
}
