package shell

import (
	"net/http"

	"github.com/tokenbytoken/viz/infer/terms"
)

// InLanguage passes on all requests with the first language, since a site has only one.
func InLanguage(list []*terms.Language, next http.Handler) http.Handler {
	if len(list) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(terms.With(r.Context(), list[0])))
	})
}
