package loop

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/web/session"
)

// TestLessonStartsOpenAtTheirStage: every run that a lesson links to opens with its prompt, at the
// step and the stage that the lesson describes.
func TestLessonStartsOpenAtTheirStage(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	host := strings.TrimPrefix(x.http.URL, "http://")
	get := func(path string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = host
		w := httptest.NewRecorder()
		(*x.handler.Load()).ServeHTTP(w, r)
		return w
	}
	if len(x.Course.Starts) == 0 {
		t.Fatal("no lesson links to a run")
	}
	for _, start := range x.Course.Starts {
		w := get("/loop?start=" + url.QueryEscape(start.Key))
		to, err := url.Parse(w.Header().Get("Location"))
		if w.Code != http.StatusSeeOther || err != nil || to.Path != "/loop" {
			t.Errorf(
				"%s: status %d, to %q; want w.Code = %d, no error, to.Path = %q", start.Key, w.Code,
				w.Header().Get("Location"), http.StatusSeeOther, "/loop",
			)
			continue
		}
		link, err := session.ParseLink(x.Model, to.Query().Get("log"))
		if err != nil {
			t.Errorf("%s: %v", start.Key, err)
			continue
		}
		stage, ok := infer.ParseKind(start.Stage)
		if !ok {
			stage = infer.KindForward
		}
		want := session.Cursor{Step: max(start.Step, 1), Stage: stage}
		if link.Cursor != want || link.Log.Prompt != start.Prompt || link.Log.Settings.Seed != start.Settings.Seed {
			t.Errorf("%s: opens at %v with %q, want %v with %q", start.Key, link.Cursor, link.Log.Prompt, want,
				start.Prompt)
		}
		if page := get(to.String()); page.Code != http.StatusOK {
			t.Errorf("%s: its page has status %d, want %d", start.Key, page.Code, http.StatusOK)
		}
	}
	if w := get("/loop?start=none"); w.Code != http.StatusNotFound || !strings.Contains(
		w.Body.String(), "There is no such run.",
	) {
		t.Errorf("a run that does not exist: status %d", w.Code)
	}
}

// TestPromptFromTheAddress: the home page's form starts a run with the text typed into it,
// including spaces at its ends. A text that cannot start a run stays in the field.
func TestPromptFromTheAddress(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	get := func(prompt string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "/loop?"+url.Values{"prompt": {prompt}}.Encode(), nil)
		r.Host = strings.TrimPrefix(x.http.URL, "http://")
		w := httptest.NewRecorder()
		(*x.handler.Load()).ServeHTTP(w, r)
		return w
	}
	for _, prompt := range []string{"My dog ate ", "1 < 2 & \"so\" on", session.OpeningOf(session.Question, 0).Text} {
		w := get(prompt)
		to, err := url.Parse(w.Header().Get("Location"))
		if w.Code != http.StatusSeeOther || err != nil || to.Path != "/loop" {
			t.Fatalf(
				"%q: status %d, to %q; want w.Code = %d, no error, to.Path = %q", prompt, w.Code,
				w.Header().Get("Location"), http.StatusSeeOther, "/loop",
			)
		}
		link, err := session.ParseLink(x.Model, to.Query().Get("log"))
		if want := (session.Cursor{Step: 1, Stage: infer.KindForward}); err != nil || link.Log.Prompt != prompt ||
			link.Cursor != want {
			t.Errorf("%q opens %+v, %v; want no error, Log.Prompt = %q, Cursor = %+v", prompt, link, err, prompt, want)
		}
	}
	long := strings.Repeat("my dog ate ", 1000) // 11 kB: longer than a prompt may be
	w := get(long)
	if body := w.Body.String(); w.Code != http.StatusBadRequest || !strings.Contains(body, long) ||
		!strings.Contains(body, "The model cannot begin with this text.") {
		t.Errorf(
			"a text that is too long: status %d, want w.Code = %d, body with %q and %q", w.Code, http.StatusBadRequest,
			long, "The model cannot begin with this text.",
		)
	}
}
