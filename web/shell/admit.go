package shell

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
)

// visitKey is the context key of a [visit].
type visitKey struct{}

// A visit records the sender of a request, and the cookie to set if the sender is new.
type visit struct {
	caller admission.Caller
	fresh  *http.Cookie
}

// Admit passes requests on to next unless their caller sends too many. A refusal contains the
// reason and the time after which the caller can retry. Requests for static files and health checks
// are not counted, because handling them costs less than refusing them.
func (l Learners) Admit(limiter *admission.Limiter, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if free(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		caller, fresh := l.Caller(r)
		paced := limiter.Requests
		// First visits are counted separately, so that a flood of them does not use up the budget
		// of other learners at the same address.
		if caller.Fresh {
			paced = limiter.NewLearners
		}
		wait := paced.Allow(caller)
		if wait > 0 {
			if limiter.Persists(caller) {
				w.Header().Set("Connection", "close")
			}
			seconds := strconv.Itoa(int(wait/time.Second) + 1)
			w.Header().Set("Retry-After", seconds)
			say := "shell.crowded"
			if !Changes(r) {
				w.Header().Set("Refresh", seconds) // makes a browser reload the page
				say = "shell.crowded.reload"
			}
			Text(w, http.StatusTooManyRequests, terms.In(r.Context()).T(say))
			return
		}
		if fresh != nil && !caller.Fresh { // set the new cookie before any handler deletes the old one
			Exchange(w, r, l.set(r, fresh.Value))
			fresh = nil
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), visitKey{}, visit{caller, fresh})))
	})
}

func free(path string) bool {
	return shared(path) || path == "/healthz" || path == "/livez" || path == "/readyz"
}
