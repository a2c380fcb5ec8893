package learn

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/practice"
)

// others lists the pages outside Learn and Practice to which their pages link.
var others = func() map[string]bool {
	pages := map[string]bool{"/loop": true, "/labs": true, "/teach": true, "/why": true}
	for _, l := range lab.All() {
		pages["/labs/"+l.Info(terms.English).Name] = true
	}
	return pages
}()

// TestLinksResolve follows every link on every page of the course. Each must lead to an existing
// page and, if it names a part of the page, to an existing part.
func TestLinksResolve(t *testing.T) {
	t.Parallel()
	s := newReader(t)
	practice.New(practice.Deps{Deps: s.Site.Deps, Model: s.pages.Model}).Mount(s.ServeMux)
	pages := map[string]*goquery.Document{}
	open := func(path string) *goquery.Document {
		if d, ok := pages[path]; ok {
			return d
		}
		w := s.Do(httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != http.StatusOK {
			pages[path] = nil
			return nil
		}
		pages[path] = s.Parse(path, w, http.StatusOK)
		return pages[path]
	}
	paths := []string{"/", "/learn", "/reference", "/glossary", "/search?q=token", "/progress"}
	for _, l := range s.pages.Course.Lessons {
		paths = append(paths, l.Href())
	}
	links := 0
	for _, from := range paths {
		d := open(from)
		if d == nil {
			t.Fatalf("%s does not exist", from)
		}
		d.Find("a[href]").Each(func(_ int, a *goquery.Selection) {
			links++
			href := a.AttrOr("href", "")
			u, err := url.Parse(href)
			if err != nil || u.Host != "" && u.Scheme != "https" {
				t.Errorf("%s: link %q: got %v, want a link within the site or an https one", from, href, err)
				return
			}
			if u.Host != "" || others[u.Path] || strings.HasPrefix(u.Path, "/teach/plan/") {
				return
			}
			to := d
			if u.Path != "" && u.Path != "/progress/export" {
				ask := url.URL{Path: u.Path, RawQuery: u.RawQuery}
				if to = open(ask.String()); to == nil {
					t.Errorf("%s: link %q leads nowhere", from, href)
					return
				}
			}
			if u.Fragment != "" && to.Find(`[id="`+u.Fragment+`"]`).Length() != 1 {
				t.Errorf("%s: link %q: no element has this id", from, href)
			}
		})
	}
	if links < 100 {
		t.Errorf("got only %d links", links)
	}
}

// TestIdsOfExperimentsAreTheirOwn: two experiments of a kind on one page have different ids for their
// elements, since all ids begin with the experiment's.
func TestIdsOfExperimentsAreTheirOwn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, kind := range []lessons.WidgetKind{lessons.WidgetCounters, lessons.WidgetSure, lessons.WidgetCache} {
		spec := s.specOf(kind)
		s.alone(spec, nil).Find("figure#" + spec.ID + " [id]").Each(func(_ int, e *goquery.Selection) {
			if id := e.AttrOr("id", ""); !strings.HasPrefix(id, spec.ID) {
				t.Errorf("%s: an element has the id %q, want it to begin with the experiment's", spec.ID, id)
			}
		})
	}
}

// TestLessonPagesAreComplete: every lesson has all its parts, and ids are unique.
func TestLessonPagesAreComplete(t *testing.T) {
	t.Parallel()
	s := newReader(t)
	for i, l := range s.pages.Course.Lessons {
		d := s.Get(l.Href())
		if h := text(d.Find("h1")); h != l.Title {
			t.Errorf("%s: the title is %q, want %q", l.Slug, h, l.Title)
		}
		if n := d.Find(".sec").Length(); n != len(l.Sections) {
			t.Errorf("%s: got %d sections, want %d", l.Slug, n, len(l.Sections))
		}
		ids := map[string]bool{}
		d.Find("[id]").Each(func(_ int, e *goquery.Selection) {
			id := e.AttrOr("id", "")
			if ids[id] {
				t.Errorf("%s: the id %s occurs twice", l.Slug, id)
			}
			ids[id] = true
		})
		if n := d.Find(`.unit [aria-current="page"]`).Length(); n != 1 {
			t.Errorf("%s: %d lessons are marked as this one, want 1", l.Slug, n)
		}
		if i+1 < len(s.pages.Course.Lessons) {
			next := s.pages.Course.Lessons[i+1]
			if got := d.Find(".pn a").Last().AttrOr("href", ""); got != next.Href() {
				t.Errorf("%s: next is %s, want %s", l.Slug, got, next.Href())
			}
		}
		if d.Find("[style], [onclick]").Length() > 0 || d.Find("script:not([src])").Length() > 0 {
			t.Errorf("%s has an inline style or script, want none", l.Slug)
		}
		d.Find("p, li, h2").Each(func(_ int, e *goquery.Selection) {
			if strings.Contains(e.Text(), ":::") || strings.Contains(e.Text(), "{=") {
				t.Errorf("%s: got unprocessed markup in %q, want none", l.Slug, text(e))
			}
		})
	}
}

// TestVisitsTickSections: sections are checked off one by one as they are read, or all at once with
// the button. The map, and the link to the next section, change accordingly.
func TestVisitsTickSections(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first := s.pages.Course.Lessons[0]
	if len(first.Sections) < 2 {
		t.Fatalf("%s has %d sections, want at least 2", first.Slug, len(first.Sections))
	}
	if got := s.Get("/learn").Find(".goon").AttrOr("href", ""); got != first.Sections[0].Href() {
		t.Errorf("before anything is read, the next section is %s, want %s", got, first.Sections[0].Href())
	}
	w := s.Post("/learn/visit", true, url.Values{"section": {first.Sections[0].Key()}})
	if w.Code != http.StatusNoContent {
		t.Fatalf("status %d, want %d: %s", w.Code, http.StatusNoContent, w.Body)
	}
	d := s.Get(first.Href())
	if n := d.Find(".unit .is-read").Length(); n != 1 {
		t.Errorf("%d sections are checked off, want 1", n)
	}
	if got := s.Get("/").Find(".door__back a").AttrOr("href", ""); got != first.Sections[1].Href() {
		t.Errorf("the home page continues at %s, want %s", got, first.Sections[1].Href())
	}
	form := url.Values{"lesson": {first.Slug}}
	d.Find(`.read__end input[name="section"]`).Each(func(_ int, e *goquery.Selection) {
		form.Add("section", e.AttrOr("value", ""))
	})
	w = s.Post("/learn/visit", false, form)
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != first.Href()+"#end" {
		t.Errorf(
			"status %d, to %s; want %d, %s", w.Code, w.Header().Get("Location"), http.StatusSeeOther,
			first.Href()+"#end",
		)
	}
	if d = s.Get(first.Href()); d.Find(".unit .is-now.is-done").Length() != 1 || d.Find(".all-read").Length() != 1 {
		t.Error("a lesson read to its end is not marked as read")
	}
	if got := s.Tally().Seen; got != len(first.Sections) {
		t.Errorf("%d sections seen, want %d", got, len(first.Sections))
	}
	before := s.Tally()
	if w = s.Post("/learn/visit", true, url.Values{"section": {"nowhere#at-all"}}); w.Code != http.StatusBadRequest {
		t.Errorf("a missing section: status %d", w.Code)
	}
	if s.Tally() != before {
		t.Error("a refused visit was saved")
	}
}

// TestUnknownAddressesLeadOn: requests for unknown addresses, and forms sent to the address of a
// page, get an error page with links that lead on.
func TestUnknownAddressesLeadOn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, path := range []string{"/learn/none", "/learn/a/b", "/reference/x"} {
		d := s.Parse(path, s.Do(httptest.NewRequest(http.MethodGet, path, nil)), http.StatusNotFound)
		if d.Find("h1").Length() != 1 || d.Find(`main a[href="/learn"]`).Length() != 1 {
			t.Errorf("%s: the page has no links to continue", path)
		}
	}
	if w := s.Post("/learn/check/none", true, nil); w.Code != http.StatusNotFound {
		t.Errorf("a missing question: status %d", w.Code)
	}
	if w := s.Post("/reference", false, nil); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") == "" {
		t.Errorf("a form sent to a page: got status %d, want 405 with Allow", w.Code)
	}
	if w := s.Post(
		"/learn/visit", false, url.Values{"section": {strings.Repeat("x", 64<<10)}},
	); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a form larger than 64 KiB: status %d, want %d", w.Code, http.StatusRequestEntityTooLarge)
	}
}
