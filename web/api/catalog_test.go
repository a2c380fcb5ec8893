package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web"
	"github.com/tokenbytoken/viz/web/api"
	"github.com/tokenbytoken/viz/web/pseudo"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/webtest"
)

// TestEveryWordIsInTheCatalog requests every state of the page in the pseudo-language, which marks
// every word from a catalog. A word without a mark is hard-coded.
func TestEveryWordIsInTheCatalog(t *testing.T) {
	t.Parallel()
	languages := []*terms.Language{terms.English, pseudo.Language(t)}
	change := func(c *web.Config) { c.Languages = languages }
	v := visits(t, webtest.Serve(t, webtest.Options{Change: change}))
	defer v.looks()()
	for _, fields := range []string{
		`"prompt": "a wizard", "max_tokens": 3, "seed": -1, "user": "x"`,
		`"prompt": "a wizard", "max_tokens": 210, "temperature": 2, "logit_bias": {"0": -100}`,
	} {
		posted(t, v.server, fmt.Sprintf(`{"model": %q, %s}`, testmodel.Target(t).Name(), fields))
	}
	resp, err := http.Post(v.server+"/v1/completions", "application/json", strings.NewReader(`{"model": "none"}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	off := visits(t, webtest.Serve(t, webtest.Options{Change: change, API: &api.Access{}}))
	keys := visits(t, webtest.Serve(t, webtest.Options{
		Change: change, API: &api.Access{Keys: []string{"a-key-of-16-chars"}},
	}))
	for _, c := range []struct {
		of     *visitor
		path   string
		status int
	}{
		{v, "/api", 200},
		{v, "/api?" + sent().Encode(), 200},
		{v, "/api?" + sent("max_tokens", "99").Encode(), 400},
		{v, "/api?" + sent("temperature", "warm").Encode(), 400},
		{v, "/api/none", 404},
		{v, "/api/step?request=99", 404},
		{off, "/api", 200},
		{keys, "/api", 200},
	} {
		page, status := c.of.inPseudo(c.path)
		if status != c.status {
			t.Errorf("%s: status %d, want %d", c.path, status, c.status)
		}
		page.Find(".tk, template").Remove()
		text, err := page.Html()
		if err != nil {
			t.Fatal(err)
		}
		left, err := pseudo.NewData([]string{
			shell.Name, "curl", "Python", "JavaScript", "Go", "POST /v1/completions", `"warm"`, "a wizard",
			"The wizard lived in a",
		}).OfPage(text)
		if err != nil || len(left) > 0 {
			t.Errorf("%s: the words %q, %v are in no catalog, want none", c.path, left, err)
		}
	}
}

// inPseudo requests a page in the pseudo-language.
func (v *visitor) inPseudo(path string) (*goquery.Document, int) {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), http.MethodGet, v.server+path, http.NoBody)
	if err != nil {
		v.t.Fatal(err)
	}
	req.Header.Set("Accept-Language", pseudo.Tag)
	resp, err := v.Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	d, err := goquery.NewDocumentFromReader(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return d, resp.StatusCode
}
