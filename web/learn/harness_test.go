package learn

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/store"
)

var loadCourse = sync.OnceValues(func() (*lessons.Course, error) { return lessons.Load(lessons.English) })

// site is the pages as one learner sees them.
type site struct {
	t       *testing.T
	pages   *Pages
	handler http.Handler
}

func newSite(t *testing.T) *site {
	t.Helper()
	return newSiteAt(t, time.Now)
}

// newSiteAt is newSite by another clock for what is kept.
func newSiteAt(t *testing.T, now func() time.Time) *site {
	t.Helper()
	course, err := loadCourse()
	if err != nil {
		t.Fatal(err)
	}
	model := testmodel.Target(t)
	db, err := store.Open("", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	p := New(Deps{
		Course: course, Progress: progress.New(journal.For(db), db, course, now), Model: model,
		Learner: func(*http.Request) (string, *http.Cookie) { return "someone", nil },
		Log:     slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	mux := http.NewServeMux()
	p.Mount(mux)
	return &site{t, p, mux}
}

func (s *site) do(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

// get returns a page, which must be there.
func (s *site) get(path string) *goquery.Document {
	s.t.Helper()
	return s.parse(path, s.do(httptest.NewRequest(http.MethodGet, path, nil)), http.StatusOK)
}

// post sends a form; part asks for a part of the page as the script does.
func (s *site) post(path string, part bool, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if part {
		r.Header.Set("Viz-Fragment", "1")
	}
	return s.do(r)
}

func (s *site) parse(path string, w *httptest.ResponseRecorder, status int) *goquery.Document {
	s.t.Helper()
	if w.Code != status {
		s.t.Fatalf("%s: status %d, want %d:\n%s", path, w.Code, status, w.Body)
	}
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") ||
		w.Header().Get("Cache-Control") != "no-store" {
		s.t.Errorf("%s: header %v", path, w.Header())
	}
	d, err := goquery.NewDocumentFromReader(w.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

// tally is all that the learner has done.
func (s *site) tally() progress.Tally {
	s.t.Helper()
	m, err := s.pages.Progress.Map(context.Background(), "someone")
	if err != nil {
		s.t.Fatal(err)
	}
	return m.All
}

// question returns the first question of a kind that a lesson asks.
func (s *site) question(kind string) *lessons.Question {
	s.t.Helper()
	for _, l := range s.pages.Course.Lessons {
		for _, sec := range l.Sections {
			for _, b := range sec.Blocks {
				if c, ok := b.(lessons.Check); ok && c.Question.Kind == kind {
					return c.Question
				}
			}
		}
	}
	s.t.Fatalf("no lesson asks a %s question", kind)
	return nil
}

// text is an element's text with its spaces made single.
func text(sel *goquery.Selection) string { return strings.Join(strings.Fields(sel.Text()), " ") }
