package first_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web"
	"github.com/tokenbytoken/viz/web/pseudo"
	"github.com/tokenbytoken/viz/web/webtest"
)

// tokenWithSpace matches a token that begins with a space.
var tokenWithSpace = regexp.MustCompile(`·(\pL+)`)

// findWords reports the words on a page that are neither in a catalog nor part of a token.
func (p page) findWords() {
	p.s.t.Helper()
	p.Find(".vis text, .map__toks").Remove() // tokens and their positions
	data := []string{testmodel.Target(p.s.t).Name(), "SVG", "PNG", `"nothing"`, `"shares"`, `"guess"`}
	for _, found := range tokenWithSpace.FindAllStringSubmatch(p.html, -1) {
		data = append(data, found[1])
	}
	p.Find("[data-token]").Each(func(_ int, e *goquery.Selection) {
		data = append(data, strings.Trim(e.AttrOr("data-token", ""), "· "))
	})
	p.Find(".pick:not(.pick--else), .starters a, .keep .tk").Each(func(_ int, e *goquery.Selection) {
		data = append(data, strings.Trim(e.Text(), "· "))
	})
	html, err := goquery.OuterHtml(p.Selection)
	if err != nil {
		p.s.t.Fatal(err)
	}
	if left, err := pseudo.NewData(data).OfPage(html); err != nil || len(left) > 0 {
		p.s.t.Errorf("%s: the words %q, %v are in no catalog, want none", p.at, left, err)
	}
}

// TestFirstRunIsInTheCatalog: every scene (with every guess about the knob), the card and the
// refusal messages are in the language of the request.
func TestFirstRunIsInTheCatalog(t *testing.T) {
	t.Parallel()
	s := site{t: t, url: webtest.Serve(t, webtest.Options{
		Change: func(c *web.Config) { c.Languages = []*terms.Language{pseudo.Language(t)} },
	})}.another()
	s.open("/first?scene=write").findWords()
	s.open("/first?prompt=a").findWords()
	s.open("/first?" + url.Values{"prompt": {strings.Repeat("a", 4097)}}.Encode()).findWords()
	for _, scene := range []string{"read", "guess", "shares", "bolder", "drop", "joined", "end"} {
		s.to(scene).findWords()
	}
	s.to("guess").press(".pick--else").findWords()
	for _, turn := range []string{"grow", "shrink", "same"} {
		turned := s.to("bolder").press(`.pick[value="` + turn + `"]`)
		turned.findWords()
		turned.press(".fr__knob button").findWords()
	}
	drawn := s.to("drop").press(main)
	drawn.findWords()
	drawn.press("main .fr__do form:nth-child(2) button").findWords()
	s.to("end").press(main).findWords()
	read := s.to("read").link()
	middle, _ := linkAt(t, 1, begins, oneStage)
	for _, path := range []string{
		"/first/x", "/first/card", "/first/card?" + url.Values{"log": {middle}}.Encode(), at("nothing", read),
		at("shares", read), at("guess", middle) + "&guess=1",
	} {
		s.open(path).findWords()
	}
	s.post("/first/next", url.Values{"scene": {"read"}, "log": {read}, "do": {"again"}}).findWords()
}
