package shell

import (
	"context"
	"net/http"
)

type phoneKey struct{}

// Phones marks the requests that arrive through the listener for a class's phones; see
// [github.com/tokenbytoken/viz/web/admission.Caller].
func Phones(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), phoneKey{}, true)))
	})
}

func fromPhone(ctx context.Context) bool { return ctx.Value(phoneKey{}) != nil }
