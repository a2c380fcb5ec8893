package tab

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// frame is a page as the server sends it.
const frame = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A &amp; B</title></head>` +
	`<body>%s</body></html>`

// TestPageRequestsReachTheServer: the server receives a page's request under the server's own
// address, with the earlier cookies, and the addresses in the response are converted to the site's.
func TestPageRequestsReachTheServer(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /learn/{slug}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.Header.Get("Viz-Fragment") != "" {
			fmt.Fprint(w, `<a href="/loop">`+r.PathValue("slug")+`</a>`)
			return
		}
		fmt.Fprintf(w, frame, `<a href="/loop">`+r.FormValue("q")+`</a>`)
	})
	mux.HandleFunc("POST /view", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		http.SetCookie(w, &http.Cookie{Name: "view", Value: string(body)})
		http.Redirect(w, r, "/loop?run=1", http.StatusSeeOther)
	})
	mux.HandleFunc("GET /view", func(w http.ResponseWriter, r *http.Request) {
		c, err := r.Cookie("view")
		fmt.Fprint(w, r.Host, c, err)
	})
	mux.HandleFunc("POST /forget", func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "view", MaxAge: -1})
	})
	kept := ""
	d := &Door{Handler: mux, Host: "here:80", Path: "/some/", Keep: func(c []byte) { kept = string(c) }}
	ask := func(method, url, body string, header map[string]string) Answer {
		t.Helper()
		a, err := d.Answer(t.Context(), Ask{method, url, header, []byte(body)})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}

	page := string(ask("GET", "learn/kv-cache/?q=why", "", nil).Body)
	for _, want := range []string{
		`<a href="../../loop/">why</a>`, `data-root="../../" data-running`, `content="` + Policy + `"`,
		`href="../../manifest.webmanifest"`, `src="../../static/bundle/tab.js?v=`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s:\n%s", want, page)
		}
	}
	part := string(ask("GET", "learn/x/", "", map[string]string{"Viz-Fragment": "1"}).Body)
	if part != `<a href="/some/loop/">x</a>` {
		t.Errorf("the part of a page is %s, want %s", part, `<a href="/some/loop/">x</a>`)
	}
	if a := ask("POST", "view/", "story", nil); a.Status != 303 || a.Header.Get("Location") != "/some/loop/?run=1" ||
		a.Header.Get("Set-Cookie") != "" {
		t.Errorf("a form gets the response %d %v, want 303 to a relative address, without a cookie", a.Status, a.Header)
	}
	if got := string(ask("GET", "view", "", nil).Body); got != "here:80view=story <nil>" {
		t.Errorf("the next request came with %s, want %s", got, "here:80view=story <nil>")
	}
	again := &Door{Handler: mux, Host: "here:80", Path: "/some/"}
	again.Bring([]byte(kept))
	a, err := again.Answer(t.Context(), Ask{Method: "GET", URL: "view/"})
	if err != nil || string(a.Body) != "here:80view=story <nil>" {
		t.Errorf("with the earlier cookies: got %q, %v; want %q, <nil>", a.Body, err, "here:80view=story <nil>")
	}
	ask("POST", "forget", "", nil)
	if kept != "{}" {
		t.Errorf("after a cookie was deleted, the kept cookies are %s, want %s", kept, "{}")
	}
}

// TestFirstRequestCreatesTheVisitor: the first request, for a page or for a live part, creates the
// visitor to whom all later requests belong.
func TestFirstRequestCreatesTheVisitor(t *testing.T) {
	t.Parallel()
	kept, met := "", 0
	d := &Door{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c, err := r.Cookie("who")
			fmt.Fprint(w, c, err)
		}),
		Host: "here:80", Path: "/some/", Keep: func(c []byte) { kept = string(c) },
		Greet: func(r *http.Request) *http.Cookie {
			if len(r.CookiesNamed("who")) > 0 || r.URL.Path == "/embed/loop" {
				return nil
			}
			met++
			return &http.Cookie{Name: "who", Value: fmt.Sprint("visitor", met)}
		},
	}
	if _, err := d.Request(t.Context(), Ask{Method: "GET", URL: "embed/loop/"}); err != nil || kept != "" {
		t.Fatalf("an anonymous visitor has the cookies %q, %v", kept, err)
	}
	for range 2 {
		r, err := d.Request(t.Context(), Ask{Method: "GET", URL: "ws?run=1"})
		if err != nil {
			t.Fatal(err)
		}
		if c := r.CookiesNamed("who"); len(c) != 1 || c[0].Value != "visitor1" {
			t.Errorf("a live part's request has the cookies %v, want 1 element, [0].Value = %q", c, "visitor1")
		}
	}
	a, err := d.Answer(t.Context(), Ask{Method: "GET", URL: "learn/"})
	if err != nil || string(a.Body) != "who=visitor1 <nil>" || kept != `{"who":"visitor1"}` {
		t.Errorf(
			"the page got %s, %v; kept cookies %s; want %s, <nil>, %s", a.Body, err, kept, "who=visitor1 <nil>",
			`{"who":"visitor1"}`,
		)
	}
}

// TestPublicAddressInPreviews: a site with a public address uses it in link previews.
func TestPublicAddressInPreviews(t *testing.T) {
	t.Parallel()
	page, err := Site{Public: "https://example.org/a/"}.Page(fmt.Sprintf(frame, ""), "/learn", "../", false)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<link rel="canonical" href="https://example.org/a/learn/">`, `property="og:title" content="A &amp; B"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s:\n%s", want, page)
		}
	}
	if _, err := (Site{}).Page("<p>no frame", "/", "./", false); err == nil {
		t.Error("a page without a frame is accepted")
	}
}

// TestLearnerCookieIsNotAPreference: the learner's id alone does not change what pages show.
func TestLearnerCookieIsNotAPreference(t *testing.T) {
	t.Parallel()
	for cookies, want := range map[string]bool{
		``: false, `{"viz-learner-0aZ9":"x.y"}`: false, `{"viz-learner-0aZ9":"x.y","view":"numbers"}`: true,
	} {
		d := Door{}
		if d.Bring([]byte(cookies)); d.Told() != want {
			t.Errorf("cookies %s: got Told() = %v, want %v", cookies, d.Told(), want)
		}
	}
}
