package shell

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer/fixture"
)

func base(fresh *http.Cookie) Base {
	return NewBase(
		func(*http.Request) (string, *http.Cookie) { return "someone", fresh },
		slog.New(slog.DiscardHandler),
		func(head, say string) templ.Component { return templ.Raw("<h1>" + head + "</h1>" + say) },
	)
}

func posted(body string) *http.Request {
	r := httptest.NewRequest("POST", "/x", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r
}

func TestFormLimits(t *testing.T) {
	const most = 64 << 10
	for _, c := range []struct {
		name, body string
		status     int
		says       string
	}{
		{"read", "a=1", 200, ""},
		{"as long as may be", "a=" + strings.Repeat("x", most-2), 200, ""},
		{"a byte longer", "a=" + strings.Repeat("x", most-1), 413, "limited to 64 KiB"},
		{"no form", "a=%zz", 400, "could not be read"},
	} {
		w, r := httptest.NewRecorder(), posted(c.body)
		if ok := base(nil).Form(w, r); ok != (c.status == 200) || w.Code != c.status ||
			!strings.Contains(w.Body.String(), c.says) {
			t.Errorf(
				"%s: got %v, %d, %q; want %v, %d, a body with %q", c.name, ok, w.Code, w.Body, c.status == 200,
				c.status, c.says,
			)
		}
	}
}

func TestRefuseWithPageOrFragment(t *testing.T) {
	const mark = "<h1>No.</h1>"
	w, r := httptest.NewRecorder(), posted("")
	base(nil).Refuse(w, r, 409, "No.", "Not <now>.")
	if w.Code != 409 || !strings.HasPrefix(w.Body.String(), mark) {
		t.Errorf("a page: got %d %q; want 409 and a body that begins with %q", w.Code, w.Body, mark)
	}
	w = httptest.NewRecorder()
	r.Header.Set("Viz-Fragment", "1")
	base(nil).Refuse(w, r, 409, "No.", "Not <now>.")
	if got := w.Body.String(); got != `<p class="field-error" role="alert">No. Not &lt;now&gt;.</p>` {
		t.Errorf("a fragment: got %q, want %q", got, `<p class="field-error" role="alert">No. Not &lt;now&gt;.</p>`)
	}
}

// TestRouteAnswersOnlyBelowIt: a package handles its own addresses and the addresses below them,
// and no others.
func TestRouteAnswersOnlyBelowIt(t *testing.T) {
	mux := http.NewServeMux()
	found := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }
	base(nil).Route(
		mux, Unknown{NoForms: "not accept forms", Head: "Nothing here.", Say: "Go back."},
		Routes{"GET /x": found, "GET /x/{name}": found, "POST /x/send": found}, Routes{"GET /{$}": found},
	)
	for _, c := range []struct {
		method, path string
		status       int
		says         string // the allowed methods of a 405 response, or text in a 404 response
	}{
		{"GET", "/x", 204, ""},
		{"HEAD", "/x/y", 204, ""},
		{"POST", "/x/send", 204, ""},
		{"GET", "/", 204, ""},
		{"POST", "/", 405, "GET, HEAD"},
		{"GET", "/x/", 404, "Nothing here."},
		{"HEAD", "/x/y/z", 404, ""},
		{"POST", "/x", 405, "GET, HEAD"},
		{"DELETE", "/x/send", 405, "GET, HEAD, POST"},
		{"DELETE", "/x/y/z", 405, "GET, HEAD"},
		{"GET", "/xy", 404, "404 page not found"}, // not the package's own page
		{"POST", "/y", 404, "404 page not found"},
	} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
		said := w.Body.String()
		if c.status == 405 {
			said = w.Header().Get("Allow")
		}
		if w.Code != c.status || !strings.Contains(said, c.says) {
			t.Errorf("%s %s: %d %q, want %d %q", c.method, c.path, w.Code, said, c.status, c.says)
		}
	}
}

func TestWhoSetsCookieAndHTMLReportsErrors(t *testing.T) {
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/x", nil)
	b := base(&http.Cookie{Name: "c", Value: "v"})
	if id := b.Who(w, r); id != "someone" || !strings.HasPrefix(w.Header().Get("Set-Cookie"), "c=v") {
		t.Errorf("got %q, cookie %q; want %q, a cookie with %q", id, w.Header().Get("Set-Cookie"), "someone", "c=v")
	}
	broken := templ.ComponentFunc(func(context.Context, io.Writer) error { return errors.New("broken") })
	b.HTML(w, r, 200, broken)
	if w.Code != 500 || !strings.Contains(w.Body.String(), "has been logged") {
		t.Errorf("a page that cannot be rendered: %d %q", w.Code, w.Body)
	}
}

// A slowly is a response writer that records the read deadlines that are set on it.
type slowly struct {
	*httptest.ResponseRecorder
	by []time.Time
}

func (w *slowly) SetReadDeadline(by time.Time) error { w.by = append(w.by, by); return nil }

// A stalling is a body that arrives in parts and then ends. Any end but [io.EOF] also cancels the
// request's context.
type stalling struct {
	parts  []string
	wait   time.Duration // between two parts
	cancel context.CancelFunc
	end    error
}

func (s *stalling) Close() error { return nil }

func (s *stalling) Read(p []byte) (int, error) {
	if len(s.parts) == 0 {
		if s.end != io.EOF {
			s.cancel()
		}
		return 0, s.end
	}
	fixture.Pass(s.wait)
	n := copy(p, s.parts[0])
	s.parts = s.parts[1:]
	return n, nil
}

// TestStalledFormIsRefused: if a form stops arriving, it is refused with an error page, and the
// connection is closed. Each part of a form may take ten seconds, and the whole form may take
// twenty.
func TestStalledFormIsRefused(t *testing.T) {
	for name, row := range map[string]struct {
		end    error
		status int
		says   string
	}{
		"stalled":  {os.ErrDeadlineExceeded, 408, "not received completely"},
		"cut":      {io.ErrUnexpectedEOF, 400, "could not be read"},
		"complete": {io.EOF, 200, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			w, r := &slowly{ResponseRecorder: httptest.NewRecorder()}, posted("").WithContext(ctx)
			r.Body = &stalling{parts: []string{"a=", "1", "2"}, wait: 6 * time.Second, cancel: cancel, end: row.end}
			began := time.Now()
			ok := NewBase(
				func(*http.Request) (string, *http.Cookie) { return "someone", nil }, slog.New(slog.DiscardHandler),
				func(head, say string) templ.Component {
					return templ.ComponentFunc(func(ctx context.Context, out io.Writer) error {
						if ctx.Err() != nil {
							return ctx.Err() // as a templ page does
						}
						_, err := io.WriteString(out, head)
						return err
					})
				},
			).Form(w, r)
			if ok != (row.status == 200) || w.Code != row.status || !strings.Contains(w.Body.String(), row.says) ||
				(w.Header().Get("Connection") == "close") != (row.status == 408) {
				t.Errorf("%s: got %v, %d, %q, %v; want %v, %d, %q", name, ok, w.Code, w.Body, w.Header(),
					row.status == 200, row.status, row.says)
			}
			var got []time.Duration
			for _, by := range w.by {
				got = append(got, by.Sub(began))
			}
			// The three parts arrive after 0, 6 and 12 s, and the end after 18 s. The whole form
			// may take 20 s.
			want := []time.Duration{10 * time.Second, 16 * time.Second, 20 * time.Second, 20 * time.Second}
			if row.end == io.EOF {
				if last := w.by[len(w.by)-1]; !last.IsZero() {
					t.Errorf("%s: the last deadline is %v, want none", name, last)
				}
				got = got[:len(got)-1]
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: got the deadlines %v, want %v", name, got, want)
			}
		})
	}
}
