package web_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web"
	"github.com/tokenbytoken/viz/web/pseudo"
	"github.com/tokenbytoken/viz/web/store"
	"github.com/tokenbytoken/viz/web/webtest"
	"github.com/tokenbytoken/viz/web/wire"
)

// TestPagesAreInTheLanguageOfTheRequest requests a page from one server in two languages, as two
// browsers with different preferences would.
func TestPagesAreInTheLanguageOfTheRequest(t *testing.T) {
	t.Parallel()
	languages := []*terms.Language{terms.English, pseudo.Language(t)}
	base := webtest.Serve(t, webtest.Options{Change: func(c *web.Config) { c.Languages = languages }})
	for _, c := range []struct{ accept, want string }{
		{"", `<html lang="en" dir="ltr">`},
		{"en-GB", `<html lang="en" dir="ltr">`},
		{"is;q=0.9, en;q=0.5", `<html lang="en" dir="ltr">`},
		{"ar-XB, en;q=0.5", `<html lang="ar-XB" dir="rtl">`},
		{";;,q=", `<html lang="en" dir="ltr">`},
	} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", base+"/loop", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept-Language", c.accept)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		vary := resp.Header.Values("Vary")
		if !strings.Contains(string(page), c.want) || !slices.Contains(vary, "Accept-Language") {
			t.Errorf("Accept-Language %q: got Vary %q and a page that begins with %.80q, want Accept-Language and %s",
				c.accept, vary, page, c.want)
		}
	}
}

// TestServerMessagesAreInTheCatalog: the server's own messages are in the request's language,
// including those that pages show while data cannot be saved.
func TestServerMessagesAreInTheCatalog(t *testing.T) {
	t.Parallel()
	protocols := []string{wire.ProtocolHTML, wire.ProtocolJSON}
	for _, away := range []error{nil, store.ErrAway} {
		base := webtest.Serve(t, webtest.Options{Change: func(c *web.Config) {
			c.Languages = []*terms.Language{pseudo.Language(t)}
			c.Away = func() error { return away }
		}})
		for _, path := range []string{"/healthz", "/livez", "/readyz", "/nowhere", "/ws"} {
			req, err := http.NewRequestWithContext(t.Context(), "GET", base+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			page, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			if left, err := pseudo.NewData(protocols).OfPage(string(page)); err != nil || len(left) > 0 {
				t.Errorf("%s: the words %q, %v are in no catalog, want none", path, left, err)
			}
		}
	}
}
