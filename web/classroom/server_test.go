package classroom_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/classroom"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/webtest"
)

func TestMain(m *testing.M) { browser.Main(m) }

// serve runs the whole server, with Numbers as the default view of its clients, and returns
// its URL.
func serve(t *testing.T) string {
	t.Helper()
	return serveWith(t, classroom.Access{})
}

// serveWith is like serve, with the given access.
func serveWith(t *testing.T, access classroom.Access) string {
	t.Helper()
	return webtest.Serve(t, webtest.Options{Access: access, View: shell.Numbers})
}

// serveStory is like serve, but its clients are newcomers, who see the Story.
func serveStory(t *testing.T) string {
	t.Helper()
	return webtest.Serve(t, webtest.Options{})
}

// person is a browser without scripts. It keeps cookies, requests pages and sends forms.
type person struct {
	t      *testing.T
	base   string
	client *http.Client
}

func newPerson(t *testing.T, base string) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &person{t, base, &http.Client{Jar: jar}}
}

// page is the response to a request after redirects.
type page struct {
	*goquery.Document
	status int
	path   string // path to which the redirects led
	query  string // query of that address
	text   string // the unparsed body
}

func (p *person) send(method, path string, form url.Values, header http.Header) page {
	p.t.Helper()
	r, err := http.NewRequest(method, p.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	for name, values := range header {
		r.Header[name] = values
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := p.client.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	d, err := goquery.NewDocumentFromReader(strings.NewReader(string(body)))
	if err != nil {
		p.t.Fatal(err)
	}
	return page{d, answer.StatusCode, answer.Request.URL.Path, answer.Request.URL.RawQuery, string(body)}
}

// get returns the page at a path. The page must exist.
func (p *person) get(path string) page {
	p.t.Helper()
	got := p.send(http.MethodGet, path, nil, nil)
	if got.status != http.StatusOK {
		p.t.Fatalf("GET %s: got %d, want %d: %s", path, got.status, http.StatusOK, words(got.Selection))
	}
	return got
}

func (p *person) post(path string, form url.Values) page {
	p.t.Helper()
	return p.send(http.MethodPost, path, form, nil)
}

// instructor creates a room and returns its instructor and its code.
func instructor(t *testing.T, base string, form url.Values) (p *person, code string) {
	t.Helper()
	p = newPerson(t, base)
	made := p.post("/teach", form)
	parts := strings.Split(made.path, "/")
	if made.status != http.StatusOK || len(parts) != 4 || parts[3] != "made" {
		t.Fatalf(
			"creating a room led to %s, %d: %s; want made.status = %d, len(parts) = 4, parts[3] = %q", made.path,
			made.status, words(made.Selection), http.StatusOK, "made",
		)
	}
	return p, parts[2]
}

// do executes a command as the instructor. The command must succeed.
func (p *person) do(code, cmd string, fields ...string) page {
	p.t.Helper()
	form := url.Values{"cmd": {cmd}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	got := p.post("/class/"+code+"/do", form)
	if got.status != http.StatusOK {
		p.t.Fatalf("%s: got %d, want %d: %s", cmd, got.status, http.StatusOK, words(got.Selection))
	}
	return got
}

// words returns an element's text with spaces collapsed.
func words(sel *goquery.Selection) string { return strings.Join(strings.Fields(sel.Text()), " ") }
