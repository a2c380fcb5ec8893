package why_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/infer/why"
	"github.com/tokenbytoken/viz/web"
	"github.com/tokenbytoken/viz/web/pseudo"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/session/sessiontest"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/webtest"
)

// TestEveryWordIsInTheCatalog requests every state of both pages in the pseudo-language, which
// marks every word from a catalog. A word without a mark is hard-coded.
func TestEveryWordIsInTheCatalog(t *testing.T) {
	t.Parallel()
	languages := []*terms.Language{terms.English, pseudo.Language(t)}
	site := webtest.Serve(t, webtest.Options{Change: func(c *web.Config) { c.Languages = languages }})
	const paris = "The capital of France is"
	states := map[string]int{
		"/why": 200,
		at("off", "L1.ffn,L3.H1,pos:4", "cell", "3.2"):                                        200,
		at("off", "L2,L6.H1", "mean", "1", "token", "Paris", "over", "London", "cell", "6.5"): 200,
		at("prompt", "The France", "token", "Paris", "with", "The Italy", "heads", "1"):       200,
		at("prompt", "The France", "token", "Paris", "with", "The France"):                    200,
		at("with", "The capital"): 200,
		at("prompt", paris+strings.Repeat(" the capital of France is", 2), "cell", "0.1"): 200,
		at("prompt", strings.Repeat("x y ", 200)):                                         400,
		at("off", "L7"):    400,
		at("off", "x"):     400,
		at("off", "L1.H9"): 400,
		at("off", "pos:x"): 400,
		at("off", "pos:9"): 400,
		at("off", strings.Repeat("L1,", why.MaxOff)): 400,
		at("token", "two tokens"):                    400,
		at("over", "#9999"):                          400,
		at("cell", "9.9"):                            400,
		"/why/none":                                  404,
		"/score?text=a":                              200,
		"/score?text=The&u=0.5&rules2=top_k%3D1":     200,
		"/score?text=The&t=x":                        400,
	}
	if fixture.LongTier() {
		run := session.New(testmodel.Target(t), session.DefaultLimits())
		sessiontest.Do(t, run, session.Start{Prompt: "The capital of"})
		states[at("log", session.LinkOf(sessiontest.Do(t, run, session.StepToken{})))] = 200
		states["/score"] = 200
		states["/score?text=The+dog+ran&other=The+dog+ran+far+away&rules2=top_k%3D3"] = 200
	}
	for address, status := range states {
		page, got := inPseudo(t, site+address)
		for page.Find("[data-again]").Length() > 0 { // until the heads are measured
			page, got = inPseudo(t, site+address)
		}
		if got != status {
			t.Errorf("%s: status %d, want %d", address, got, status)
		}
		for _, left := range unmarked(t, page) {
			t.Errorf("%s: in no catalog: %s", address, left)
		}
	}
}

// inPseudo requests a page in the pseudo-language.
func inPseudo(t *testing.T, address string) (*goquery.Document, int) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept-Language", pseudo.Tag)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	d, err := goquery.NewDocumentFromReader(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return d, resp.StatusCode
}

// unmarked returns the words of a page that are neither marked nor data. It ignores elements that
// contain only tokens.
func unmarked(t *testing.T, d *goquery.Document) []string {
	t.Helper()
	d.Find("template, .tk, .surp__tk b, .score__table td, .map__table td b, .map__table thead b").Remove()
	page, err := d.Html()
	if err != nil {
		t.Fatal(err)
	}
	data := []string{
		"The", "·capital", "·of", "·France", "·is", "·Paris", "·London", "·the", `"pos:x"`, `"two tokens"`,
		shell.Name,
	}
	list, err := pseudo.NewData(data).OfPage(page)
	if err != nil {
		t.Fatal(err)
	}
	return list
}
