//go:build !js

package shell

import (
	"net/http"

	"golang.org/x/text/language"

	"github.com/tokenbytoken/viz/infer/terms"
)

// InLanguage passes each request on to next with the language in list that the browser prefers (RFC
// 9110, section 12.5.4). If none matches, it uses the first language. [terms.In] returns that
// language. An empty list means [terms.Languages].
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
			wanted = nil // ignore a malformed header
		}
		_, i, confidence := matcher.Match(wanted...)
		if confidence <= language.Low {
			i = 0 // only some of the people who prefer that language can also read the other
		}
		next.ServeHTTP(w, r.WithContext(terms.With(r.Context(), list[i])))
	})
}
