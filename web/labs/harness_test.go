package labs

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/admission"
)

// A site serves the labs to one learner.
type site struct {
	t       *testing.T
	pages   *Pages
	handler http.Handler
}

func newSite(t *testing.T) *site {
	t.Helper()
	p := New(Deps{
		Target: testmodel.Target(t), Draft: testmodel.Slots(t, testmodel.Draft(t)),
		Caller: func(*http.Request) (admission.Caller, *http.Cookie) {
			return admission.Caller{Learner: "someone"}, nil
		},
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	p.every = time.Millisecond // so that tests that cancel runs measure little
	mux := http.NewServeMux()
	p.Mount(mux)
	return &site{t, p, mux}
}

func (s *site) do(method, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w
}

// get returns a page and checks its status.
func (s *site) get(path string, status int) *goquery.Document {
	s.t.Helper()
	w := s.do(http.MethodGet, path)
	if w.Code != status {
		s.t.Fatalf("%s: status %d, want %d:\n%s", path, w.Code, status, w.Body)
	}
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") ||
		w.Header().Get("Cache-Control") != "no-store" {
		s.t.Errorf("%s: got header %v, want HTML with Cache-Control: no-store", path, w.Header())
	}
	d, err := goquery.NewDocumentFromReader(w.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

// text returns an element's text with its white space collapsed.
func text(sel *goquery.Selection) string { return strings.Join(strings.Fields(sel.Text()), " ") }
