package pages

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/a-h/templ"
)

func base(fresh *http.Cookie) Base {
	return New(
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

func TestForm(t *testing.T) {
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
			t.Errorf("%s: %v, %d %q", c.name, ok, w.Code, w.Body)
		}
	}
}

func TestRefuse(t *testing.T) {
	const mark = "<h1>No.</h1>"
	w, r := httptest.NewRecorder(), posted("")
	base(nil).Refuse(w, r, 409, "No.", "Not <now>.")
	if w.Code != 409 || !strings.HasPrefix(w.Body.String(), mark) {
		t.Errorf("a page: %d %q", w.Code, w.Body)
	}
	w = httptest.NewRecorder()
	r.Header.Set("Viz-Fragment", "1")
	base(nil).Refuse(w, r, 409, "No.", "Not <now>.")
	if got := w.Body.String(); got != `<p class="field-error" role="alert">No. Not &lt;now&gt;.</p>` {
		t.Errorf("a fragment: %q", got)
	}
}

func TestElsewhere(t *testing.T) {
	for method, want := range map[string]int{"GET": 404, "HEAD": 404, "POST": 405, "DELETE": 405} {
		w := httptest.NewRecorder()
		base(nil).Elsewhere("not accept forms", "Nothing here.", "Go back.")(
			w, httptest.NewRequest(method, "/x?"+url.Values{}.Encode(), nil),
		)
		if w.Code != want || (want == 405) != (w.Header().Get("Allow") == "GET, HEAD") {
			t.Errorf("%s: %d, Allow %q", method, w.Code, w.Header().Get("Allow"))
		}
	}
}

func TestWhoAndHTML(t *testing.T) {
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/x", nil)
	b := base(&http.Cookie{Name: "c", Value: "v"})
	if id := b.Who(w, r); id != "someone" || !strings.HasPrefix(w.Header().Get("Set-Cookie"), "c=v") {
		t.Errorf("%q, cookie %q", id, w.Header().Get("Set-Cookie"))
	}
	broken := templ.ComponentFunc(func(context.Context, io.Writer) error { return errors.New("broken") })
	b.HTML(w, r, 200, broken)
	if w.Code != 500 || !strings.Contains(w.Body.String(), "has been logged") {
		t.Errorf("a page that cannot be made: %d %q", w.Code, w.Body)
	}
}
