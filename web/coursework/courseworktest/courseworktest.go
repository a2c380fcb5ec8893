// Package courseworktest contains helpers shared by the tests of web/learn and web/practice. They
// serve pages to one learner without a network and answer questions in a browser. Only tests import
// it.
package courseworktest

import (
	"context"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/languages"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/coursework"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/store"
)

var course = sync.OnceValues(lessons.Load)

// Course returns the course, which is loaded only once.
func Course(t testing.TB) *lessons.Course {
	t.Helper()
	c, err := course()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Translated returns the course with a translation into the language with the given tag. In the
// translation, all titles, headings, choices and captions of experiments are in parentheses.
func Translated(t testing.TB, tag string) *lessons.Course {
	t.Helper()
	english, err := languages.Course(languages.English)
	if err != nil {
		t.Fatal(err)
	}
	translation := fstest.MapFS{}
	err = fs.WalkDir(english, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(english, path)
		translation[path] = &fstest.MapFile{Data: translated.ReplaceAll(text, []byte("$1($2)$3"))}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err := lessons.Read(map[string]fs.FS{languages.English: english, tag: translation})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// translated matches the texts that [Translated] puts in parentheses, with the characters around
// them.
var translated = regexp.MustCompile(`(?m)(^title: |^## |^- \[[ x]\] |^::: widget .*\n)([^{\n].*?)( \{#.*$|$)`)

// Learner is the sender of all requests of a [Site].
const Learner = "someone"

// Site serves pages to one learner. Create a package's pages with the site's Deps and mount them on
// its ServeMux.
type Site struct {
	T testing.TB
	*http.ServeMux
	Deps coursework.Deps
	// View is the view that the learner has selected; "" is the default for newcomers.
	View shell.View
}

// New returns a site without pages. now is the clock of the learner's progress.
func New(t testing.TB, now func() time.Time) *Site {
	t.Helper()
	db, err := store.Open("", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return &Site{T: t, ServeMux: http.NewServeMux(), Deps: coursework.Deps{
		Course: Course(t), Progress: progress.New(journal.For(db), db, Course(t), now),
		Learner: func(*http.Request) (string, *http.Cookie) { return Learner, nil },
		Log:     slog.New(slog.DiscardHandler),
	}}
}

// Do returns the response to a request.
func (s *Site) Do(r *http.Request) *httptest.ResponseRecorder {
	if s.View != "" {
		r.AddCookie(&http.Cookie{Name: shell.ViewCookie, Value: string(s.View)})
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// Get returns a page, which must exist.
func (s *Site) Get(path string) *goquery.Document {
	s.T.Helper()
	return s.Parse(path, s.Do(httptest.NewRequest(http.MethodGet, path, nil)), http.StatusOK)
}

// Post sends a form. If part is set, Post requests only a part of the page, as the script does.
func (s *Site) Post(path string, part bool, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if part {
		r.Header.Set("Viz-Fragment", "1")
	}
	return s.Do(r)
}

// Parse parses a response, which must be uncached HTML with the given status.
func (s *Site) Parse(path string, w *httptest.ResponseRecorder, status int) *goquery.Document {
	s.T.Helper()
	if w.Code != status {
		s.T.Fatalf("%s: status %d, want %d:\n%s", path, w.Code, status, w.Body)
	}
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") ||
		w.Header().Get("Cache-Control") != "no-store" {
		s.T.Errorf("%s: got header %v, want HTML with Cache-Control: no-store", path, w.Header())
	}
	d, err := goquery.NewDocumentFromReader(w.Body)
	if err != nil {
		s.T.Fatal(err)
	}
	return d
}

// Tally returns the learner's total progress.
func (s *Site) Tally() progress.Tally {
	s.T.Helper()
	m, err := s.Deps.Progress.Map(context.Background(), Learner)
	if err != nil {
		s.T.Fatal(err)
	}
	return m.All
}

// Text returns an element's text, with runs of white space replaced by single spaces.
func Text(sel *goquery.Selection) string { return strings.Join(strings.Fields(sel.Text()), " ") }
