package site_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// TestSiteInAPage: testdata/embed/index.html, a page of another origin with its own strict policy,
// shows a site's Loop and drill at their full height and loads the program for them. The host does
// not allow other origins to read the script, so the script must not be a module. If a host does
// allow it, as public static hosts do, a module also works.
func TestSiteInAPage(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	host := &sender{gz: map[string]bool{}}
	url := serve(t, func(files http.Handler) http.Handler {
		host.files = files
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Origin") != "" { // browsers send no Origin for a classic script
				w.Header().Set("Access-Control-Allow-Origin", "*")
			}
			host.ServeHTTP(w, r)
		})
	})
	example := string(read(t, "../../testdata/embed/index.html"))
	// In a Content-Security-Policy, a URL with a path matches the addresses below that path only if
	// the URL ends with a slash.
	example = strings.ReplaceAll(strings.ReplaceAll(example, "https://viz.example/", url), "https://viz.example", url)
	school := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, example)
		case "/module":
			fmt.Fprint(w, strings.Replace(example, "<script ", `<script type="module" `, 1))
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	t.Cleanup(school.Close)
	tab := browser.Open(t, browser.Laptop, school.URL+"/module")
	const usual = 420 // the height of a frame until its page sends its own
	for _, page := range []string{"/module", "/"} {
		tab.Go(school.URL + page)
		for _, element := range []string{"viz-loop", "viz-widget"} {
			// The frame is loaded when it comes near the visible part of the page.
			tab.Eval(fmt.Sprintf(`document.querySelector(%q).scrollIntoView()`, element))
			height := fmt.Sprintf(`Number(document.querySelector("%s iframe")?.height ?? 0)`, element)
			tab.Wait("the height of "+element+" on "+page, fmt.Sprintf("%s > 80 && %[1]s !== %d", height, usual))
		}
	}
	browser.Eventually(t, func() bool { // the frames' worker has requested the program
		host.mu.Lock()
		defer host.mu.Unlock()
		for name := range host.gz {
			if strings.Contains(name, "viz-") && strings.HasSuffix(name, ".wasm") {
				return true
			}
		}
		return false
	})
	tab.FullShot("site-embed-example.png")
}

// TestSitesLoopInAFrame: a site's Loop below embed/, which is opened here without another page
// around it, generates a token, and a drill accepts an answer. Neither of them stores the reader's
// data in the browser, as a cookie or as a record. In a frame without an origin, or if the browser
// refuses the worker, the page explains that it cannot run there and offers a link to the page
// outside the frame.
func TestSitesLoopInAFrame(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	host := &frameHost{}
	url := serve(t, func(files http.Handler) http.Handler { host.files = files; return host })
	host.visit(t, url)
	tab := browser.Open(t, browser.Phone, url+"embed/loop/?prompt=Once+upon+a+time+there+was+a&view=numbers")
	tab.Wait("the program", runs)
	tab.Wait("a connection", `document.documentElement?.dataset.conn === "live"`)
	tab.Keys("n")
	tab.Wait("a token", `document.querySelectorAll("[id$=-gen] > *").length === 1`)
	tab.Go(url + "embed/practice/softmax/?seed=7&level=1")
	tab.Wait("the drill", runs+` && document.querySelector("#drill input:not([type=hidden])")`)
	field := `#drill input:not([type=hidden])`
	tab.Type(field, "54.598")
	tab.Keys(browser.Enter)
	tab.Wait("the verdict", `document.querySelector("#drill [data-state]")`)
	tab.Await(`return new Promise((resolve, reject) => {
		const opening = indexedDB.open("viz ` + under + `");
		opening.onerror = () => reject(opening.error);
		opening.onsuccess = () => {
			const all = opening.result.transaction(["records", "values"]);
			const records = all.objectStore("records").count();
			const cookies = all.objectStore("values").get("cookies");
			all.oncomplete = () => {
				window.kept = records.result + localStorage.length + sessionStorage.length
					+ document.cookie.length + (cookies.result ?? "").length;
				resolve();
			};
		};
	})`)
	if n := browser.Value[int](tab, `window.kept`); n != 0 {
		t.Errorf("%d items are stored in the browser, want 0", n)
	}
}

// A frameHost is a file server whose pages cannot run the program, because of their frame or
// because the browser refuses the worker.
type frameHost struct {
	files http.Handler
	deaf  atomic.Bool // browsers refuse the worker
}

func (h *frameHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == under+"around":
		fmt.Fprint(w, `<!doctype html><iframe src="embed/loop/?prompt=Once+upon&amp;view=numbers"></iframe>`)
		return
	case r.URL.Path == under+"worker.js" && h.deaf.Load():
		w.WriteHeader(http.StatusForbidden)
		return
	case r.URL.Query().Has("sandboxed"): // as in a frame with this sandbox
		w.Header().Set("Content-Security-Policy", "sandbox allow-scripts allow-forms")
	}
	h.files.ServeHTTP(w, r)
}

// visit opens a site's Loop without an origin and then without a worker, and checks the messages.
func (h *frameHost) visit(t *testing.T, url string) {
	t.Helper()
	tab := browser.Open(t, browser.Phone, url+"embed/loop/?sandboxed")
	tab.Wait("a styled page with the message", `document.querySelector(".alone")?.checkVisibility() &&
		[...document.styleSheets].length > 1 && [...document.styleSheets].every((sheet) => sheet.href)`)
	if to := browser.Value[string](tab, `document.querySelector(".alone a").href`); to != url+"loop/" {
		t.Errorf("the link in a frame without an origin leads to %s, want %s", to, url+"loop/")
	}
	tab.Shot("site-embed-sandboxed.png")
	tab.Eval(`location.href = "about:blank"`) // so that nothing more is loaded
	tab.Wait("an empty page", `location.href === "about:blank"`)
	tab.Faults() // blocked styles, scripts and fonts
	h.deaf.Store(true)
	defer h.deaf.Store(false)
	tab = browser.Open(t, browser.Phone, url+"around")
	const within = `document.querySelector("iframe").contentDocument`
	tab.Wait("the message above the page", within+`?.querySelector(".alone")?.checkVisibility() &&
		`+within+`.querySelector("main").checkVisibility() && !`+within+`.querySelector(".tab-line")`)
	if to := browser.Value[string](tab, within+`.querySelector(".alone a").href`); to != url+"loop/?prompt=Once+upon" {
		t.Errorf("the link in a frame without a worker leads to %s, want %s", to, url+"loop/?prompt=Once+upon")
	}
	tab.Shot("site-embed-no-worker.png")
	tab.Faults() // the worker that did not start
}
