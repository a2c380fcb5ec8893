package labs

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/checkpoint"
)

func load(open func() (*checkpoint.Checkpoint, error)) func() (*infer.Model, error) {
	return sync.OnceValues(func() (*infer.Model, error) {
		c, err := open()
		if err != nil {
			return nil, err
		}
		return infer.Load(c)
	})
}

var target, draft = load(bundled.Target), load(bundled.Draft)

// site is the labs as one learner sees them.
type site struct {
	t       *testing.T
	pages   *Pages
	handler http.Handler
}

func newSite(t *testing.T) *site {
	t.Helper()
	big, err := target()
	if err != nil {
		t.Fatal(err)
	}
	small, err := draft()
	if err != nil {
		t.Fatal(err)
	}
	p := New(Deps{
		Target: big, Draft: small,
		Learner: func(*http.Request) (string, *http.Cookie) { return "somebody", nil },
		Log:     slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	return &site{t, p, p.Handler()}
}

func (s *site) do(method, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w
}

// get returns a page with a status.
func (s *site) get(path string, status int) *goquery.Document {
	s.t.Helper()
	w := s.do(http.MethodGet, path)
	if w.Code != status {
		s.t.Fatalf("%s: status %d, want %d:\n%s", path, w.Code, status, w.Body)
	}
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") || w.Header().Get("Cache-Control") != "no-store" {
		s.t.Errorf("%s: header %v", path, w.Header())
	}
	d, err := goquery.NewDocumentFromReader(w.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

// text is an element's text with its spaces made single.
func text(sel *goquery.Selection) string { return strings.Join(strings.Fields(sel.Text()), " ") }
