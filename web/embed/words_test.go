package embed_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/embed"
	"github.com/tokenbytoken/viz/web/pseudo"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/webtest"
)

// TestEmbedPageIsInTheCatalog: the words on the page, and in the responses to oEmbed requests, come
// from the catalogs.
func TestEmbedPageIsInTheCatalog(t *testing.T) {
	t.Parallel()
	var names []string // of lessons
	for _, l := range webtest.Course(t).Lessons {
		names = append(names, l.Title)
		for _, s := range l.Sections {
			names = append(names, s.Title)
		}
	}
	data := pseudo.NewData(names)
	ctx := terms.With(t.Context(), pseudo.Language(t))
	for _, origins := range [][]string{nil, {school, "http://b.example:81"}, {shell.Anywhere}} {
		mux := http.NewServeMux()
		embed.New(embed.Deps{
			Course: webtest.Course(t), Origins: origins,
			Caller: func(*http.Request) (admission.Caller, *http.Cookie) { return admission.Caller{}, nil },
		}).Mount(mux)
		for _, path := range []string{
			"/embed", "/embed/none", "/embed/oembed?format=xml", "/embed/oembed?url=/progress",
			"/embed/oembed?maxwidth=1&url=/loop",
		} {
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, httptest.NewRequest("GET", path, nil).WithContext(ctx))
			d, err := goquery.NewDocumentFromReader(w.Body)
			if err != nil {
				t.Fatal(err)
			}
			d.Find(`a[href^="/embed/practice/"]`).Remove() // drill names
			page, err := goquery.OuterHtml(d.Selection)
			if err != nil {
				t.Fatal(err)
			}
			if left, err := data.OfPage(page); err != nil || len(left) > 0 {
				t.Errorf("origins %q, %s: the words %q, %v are in no catalog, want none", origins, path, left, err)
			}
		}
	}
}
