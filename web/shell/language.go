//go:build !js

package shell

import (
	"net/http"

	"golang.org/x/text/language"

	"github.com/tokenbytoken/viz/infer/terms"
)

// InLanguage passes on each request with the language, of the given ones, that its browser prefers
// (RFC 9110, section 12.5.4). [terms.In] returns it. Without a match, it is the first one; list is
// [terms.Languages] if it is empty.
func InLanguage(list []*terms.Language, next http.Handler) http.Handler {
	if len(list) == 0 {
		list = terms.Languages()
	}
	tags := make([]language.Tag, len(list))
	for i, l := range list {
		tags[i] = language.Make(l.Tag)
	}
	matcher := language.NewMatcher(tags)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(list) > 1 && !shared(r.URL.Path) {
			w.Header().Add("Vary", "Accept-Language")
		}
		wanted, _, err := language.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
		if err != nil {
			wanted = nil // a broken header asks for nothing
		}
		_, i, confidence := matcher.Match(wanted...)
		if confidence <= language.Low {
			i = 0 // a language that is only read by some of the same people
		}
		next.ServeHTTP(w, r.WithContext(terms.With(r.Context(), list[i])))
	})
}
