package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/pseudo"
)

// inPseudo returns a request whose pages are in the pseudo-language.
func inPseudo(t *testing.T, method, target, body string) *http.Request {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r.WithContext(terms.With(r.Context(), pseudo.Language(t)))
}

// findWords reports the words of a response that are in no catalog.
func findWords(t *testing.T, name, page string, data ...string) {
	t.Helper()
	if !strings.Contains(page, "⟦") {
		t.Errorf("%s: got %q, want a text of the catalogs", name, page)
	}
	left, err := pseudo.NewData(data).OfPage(page)
	if err != nil || len(left) > 0 {
		t.Errorf("%s: the words %q, %v are in no catalog, want none", name, left, err)
	}
}

// empty is a page without content.
func empty(l *terms.Language) templ.Component {
	return Page(Of{
		Title: TitleOf(l.T("shell.missing")), Skip: l.T("shell.skip"), Keys: KeysWith(Key{"Space", "shell.key.list"}),
		End: ViewSwitch(Story, "/"),
	})
}

// TestFrameIsInTheCatalog: the frame of a page contains only words from the catalogs, both on this
// site and within another site's page.
func TestFrameIsInTheCatalog(t *testing.T) {
	t.Parallel()
	server := NewBase(nil, slog.New(slog.DiscardHandler), nil)
	for _, target := range []string{"/loop", "/embed/loop"} {
		r := Framed(inPseudo(t, "GET", target, ""))
		r = r.WithContext(Warn(r.Context(), func(l *terms.Language) string { return l.T("shell.failed") }))
		w := httptest.NewRecorder()
		server.HTML(w, r, http.StatusOK, empty(terms.In(r.Context())))
		findWords(t, target, w.Body.String())
		if warns := strings.Contains(w.Body.String(), "warned"); warns == Embedded(r.Context()) {
			t.Errorf("%s: got a warning %v, want %v", target, warns, !warns)
		}
	}
}

// refusing returns a handler that produces every kind of refusal.
func refusing() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", Elsewhere(mux))
	MountFiles(mux)
	server := NewBase(
		func(*http.Request) (string, *http.Cookie) { return "someone", nil }, slog.New(slog.DiscardHandler), Refusal,
	)
	server.Route(mux, Unknown{NoForms: "shell.noforms", Head: "shell.missing.below", Say: "shell.missing.say"}, Routes{
		"GET /x/busy": server.Busy,
		"GET /x/broken": func(w http.ResponseWriter, r *http.Request) {
			server.HTML(w, r, http.StatusOK, templ.ComponentFunc(
				func(context.Context, io.Writer) error { return errors.New("broken") },
			))
		},
		"GET /x/panic": func(http.ResponseWriter, *http.Request) { panic("a fault") },
		"POST /x/form": func(w http.ResponseWriter, r *http.Request) { server.Form(w, r) },
		"POST /x/{name}": func(w http.ResponseWriter, r *http.Request) {
			err := error(terms.Refuse(terms.CodeBusy, "shell.busy.again"))
			if r.PathValue("name") == "range" {
				_, wrong := terms.MustKnob("top_k").Parse("-1")
				err = fmt.Errorf("a setting: %w", wrong)
			}
			Text(w, http.StatusConflict, Sentence(terms.In(r.Context()), err))
		},
	})
	hosts := []string{"example.com", "secure.example"}
	return Gate(hosts, nil, "https://secure.example", slog.New(slog.DiscardHandler), mux)
}

// TestRefusalsAreInTheCatalog: every refusal is in the request's language.
func TestRefusalsAreInTheCatalog(t *testing.T) {
	t.Parallel()
	handler := refusing()
	for _, c := range []struct {
		method, target, body, header, value string
		status                              int
	}{
		{"GET", "/nowhere", "", "", "", 404},
		{"GET", "/static/none.js", "", "", "", 404},
		{"GET", "/x/", "", "", "", 404},
		{"DELETE", "/x/y", "", "", "", 405},
		{"DELETE", "/static/a.js", "", "", "", 405},
		{"GET", "/x/busy", "", "", "", 503},
		{"GET", "/x/broken", "", "", "", 500},
		{"GET", "/x/panic", "", "", "", 500},
		{"POST", "/x/y", "", "", "", 409},
		{"POST", "/x/range", "", "", "", 409},
		{"POST", "/x/form", "a=%zz", "", "", 400},
		{"POST", "/x/form", "a=" + strings.Repeat("x", formBytes), "", "", 413},
		{"GET", "http://other.example/", "", "", "", 421},
		{"GET", "/", "", "Origin", "null", 403},
		{"GET", "/", "", "Origin", "http://other.example", 403},
		{"GET", "/v1/models", "", "Origin", "http://other.example", 403},
		{"GET", "/", "", "Origin", "https://example.com", 403},
		{"GET", "/", "", "Origin", "http://secure.example", 403},
		{"POST", "/x/y", "", "Sec-Fetch-Site", "cross-site", 403},
	} {
		r := inPseudo(t, c.method, c.target, c.body)
		if c.header != "" {
			r.Header.Set(c.header, c.value)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%s %s: got %d, want %d", c.method, c.target, w.Code, c.status)
		}
		findWords(t, c.target+" "+c.value, w.Body.String(),
			`"other.example"`, `"http://other.example"`, `"https://example.com"`, `"http://secure.example"`, `"null"`,
			"GET", "HEAD", "POST", "DELETE")
	}
}

// TestAdmissionIsInTheCatalog: a request over the limit is refused in the request's language.
func TestAdmissionIsInTheCatalog(t *testing.T) {
	t.Parallel()
	one := admission.Pace{PerAddress: admission.Rate{PerSecond: 0.1, Burst: 1}}
	limiter := admission.New(admission.Limits{NewLearners: one}, nil)
	handler := NewLearners(nil, nil).Admit(limiter, http.NotFoundHandler())
	handler.ServeHTTP(httptest.NewRecorder(), inPseudo(t, "GET", "/", ""))
	for _, method := range []string{"GET", "POST"} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, inPseudo(t, method, "/", ""))
		findWords(t, method, w.Body.String())
	}
}

// TestScriptsGetAllVariantsOfTheirTexts: a page contains all plural variants of its script's texts,
// but no texts that the script does not use.
func TestScriptsGetAllVariantsOfTheirTexts(t *testing.T) {
	t.Parallel()
	english, err := terms.Texts("en")
	if err != nil {
		t.Fatal(err)
	}
	l, err := terms.ReadLanguage("pl", strings.Replace(
		english, "\njs.cuts.more = ", "\njs.cuts.more.few = a\njs.cuts.more.unused = b\njs.cuts.more.other = ", 1))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	if err := json.Unmarshal([]byte(ScriptTexts(l, "/static/js/widget.js")), &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]bool{
		"js.cuts": true, "js.cuts.more.few": true, "js.cuts.more.other": true, "js.cuts.more.unused": false,
	} {
		if _, has := got[key]; has != want {
			t.Errorf("%s: among the texts: %v, want %v", key, has, want)
		}
	}
}
