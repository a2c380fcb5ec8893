package first_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"go.uber.org/goleak"

	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/webtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(browser.Suite{M: m}) }

// begins is the prompt of most tests.
const begins = "In the old house lived a"

// site is a server as seen by one browser, with its cookies.
type site struct {
	t   testing.TB
	url string
	*http.Client
}

func newSite(t testing.TB) site { return newSiteWith(t, nil) }

func newSiteWith(t testing.TB, limits *admission.Limits) site {
	t.Helper()
	s := site{t: t, url: webtest.Serve(t, webtest.Options{Admission: limits})}
	return s.another()
}

// another returns the site as seen by a browser without cookies.
func (s site) another() site {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.Client = &http.Client{Jar: jar}
	return s
}

// page is the response to a request, after any redirects.
type page struct {
	*goquery.Document
	s      site
	status int
	html   string
	at     *url.URL
}

func (s site) page(resp *http.Response, err error) page {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	d, err := goquery.NewDocumentFromReader(strings.NewReader(string(body)))
	if err != nil {
		s.t.Fatal(err)
	}
	return page{d, s, resp.StatusCode, string(body), resp.Request.URL}
}

func (s site) open(path string) page { s.t.Helper(); return s.page(s.Get(s.url + path)) }

func (s site) post(path string, form url.Values) page {
	s.t.Helper()
	return s.page(s.PostForm(s.url+path, form))
}

// press submits the form that a button belongs to, as a browser does.
func (p page) press(selector string) page {
	p.s.t.Helper()
	button := p.Find(selector).First()
	form := button.Closest("form")
	if form.Length() == 0 {
		p.s.t.Fatalf("at %s no form has %s", p.at.Query().Get("scene"), selector)
	}
	values := url.Values{}
	form.Find("input[name]").Each(func(_ int, in *goquery.Selection) {
		values.Add(in.AttrOr("name", ""), in.AttrOr("value", ""))
	})
	if name := button.AttrOr("name", ""); name != "" {
		values.Add(name, button.AttrOr("value", ""))
	}
	return p.s.post(form.AttrOr("action", ""), values)
}

func (p page) scene() string { return p.at.Query().Get("scene") }
func (p page) link() string  { return p.at.Query().Get("log") }

// mustBe fails the test unless the page shows the given scene.
func (p page) mustBe(scene string) page {
	p.s.t.Helper()
	if p.status != http.StatusOK || p.at.Path != "/first" || p.scene() != scene {
		p.s.t.Fatalf("got status %d at %s, want the scene %q: %s", p.status, p.at.Path, scene, p.Find("h1").Text())
	}
	return p
}

// says fails the test unless a part of the page contains a text.
func (p page) says(selector, want string) {
	p.s.t.Helper()
	if got := p.Find(selector).Text(); !strings.Contains(got, want) {
		p.s.t.Errorf("the scene %s says %q, want %q", p.scene(), got, want)
	}
}

const main, pick = "main .btn--main", "main .pick"

// to goes to a scene by pressing the main buttons, and makes the first guess that is offered.
func (s site) to(scene string) page {
	s.t.Helper()
	p := s.open("/first?" + url.Values{"prompt": {begins}}.Encode()).mustBe("read")
	for range 20 {
		if p.scene() == scene {
			return p
		}
		button := main
		if p.Find(pick).Length() > 0 {
			button = pick
		}
		p = p.press(button)
	}
	s.t.Fatalf("the first run does not reach %q", scene)
	return p
}

// linkAt applies commands to a run with the given seed, and returns the run's link and state.
func linkAt(t testing.TB, seed int, prompt string, commands ...session.Command) (string, *session.State) {
	t.Helper()
	run := session.New(testmodel.Target(t), session.DefaultLimits())
	st := run.State()
	for _, c := range append([]session.Command{
		session.SetKnob("seed", float64(seed)), session.Start{Prompt: prompt},
	}, commands...) {
		var err error
		if st, err = run.Apply(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	return session.LinkOf(st), st
}

func at(scene, link string) string {
	return "/first?" + url.Values{"scene": {scene}, "log": {link}}.Encode()
}
