package site_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/static"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

// A cutHost is a file server whose network connection a test can cut.
type cutHost struct {
	files http.Handler
	down  atomic.Bool  // send nothing
	short atomic.Int32 // the number of responses with weights that are cut off halfway
}

func (h *cutHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.down.Load() {
		panic(http.ErrAbortHandler)
	}
	if strings.HasSuffix(r.URL.Path, ".bin.gz") && h.short.Add(-1) >= 0 {
		w = &half{ResponseWriter: w}
	}
	h.files.ServeHTTP(w, r)
}

// A half is a response that breaks the connection after a megabyte.
type half struct {
	http.ResponseWriter
	sent int
}

func (h *half) Write(b []byte) (int, error) {
	if h.sent += len(b); h.sent > 1_000_000 {
		panic(http.ErrAbortHandler)
	}
	return h.ResponseWriter.Write(b)
}

// TestBrokenDownloadCanBeRetried: after a broken download, the page can be read, and it shows how
// much has arrived and what is missing. Retrying starts the program.
// Promise: If a download breaks off, the page shows what is missing and can continue the download.
func TestBrokenDownloadCanBeRetried(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	host := &cutHost{}
	host.short.Store(1)
	url := serve(t, func(files http.Handler) http.Handler { host.files = files; return host })
	tab := browser.Open(t, browser.Laptop, url+"learn/kv-cache/")
	tab.MayLose()
	tab.Wait("the message about missing files", `document.querySelector(".tab-line button")`)
	say := tab.Text(".tab-line p")
	for _, want := range []string{"have arrived", ".bin.gz", "can still read"} {
		if !strings.Contains(say, want) {
			t.Errorf("the page does not say %s: %q", want, say)
		}
	}
	tab.Click(".tab-line button")
	tab.Wait("the program", runs)
	tab.Wait("the end of the message", `!document.querySelector(".tab-line")`)
}

// TestWrongFilesAreNotCached: some hosts send their home page instead of an error for missing
// files, for example while a new version of a site replaces the old one. Such a response is not
// cached as the file, and retrying starts the program.
func TestWrongFilesAreNotCached(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	all := webtest.SiteWithLessons(t).Files
	lacking := maps.Clone(all)
	maps.DeleteFunc(lacking, func(name string, _ *fstest.MapFile) bool {
		return strings.HasPrefix(name, "program/memory")
	})
	host, url := serveAs(t, lacking, onePage)
	tab := browser.Open(t, browser.Laptop, url+"learn/kv-cache/")
	tab.Wait("the message about a wrong file", `document.querySelector(".tab-line button")`)
	if say := tab.Text(".tab-line p"); !strings.Contains(say, "something else in its place") {
		t.Errorf("the page says %q, want it to contain %q", say, "something else in its place")
	}
	host.change(all)
	tab.Click(".tab-line button")
	tab.Wait("the program", runs)
}

// TestSiteWorksOffline: after the first visit, the site needs no network. The browser has stored
// all pages, even those that have not been visited, and the model continues to generate text.
// Promise: After the first visit, a static site works without a network.
func TestSiteWorksOffline(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	host := &cutHost{}
	url := serve(t, func(files http.Handler) http.Handler { host.files = files; return host })
	tab := browser.Open(t, browser.Laptop, url)
	tab.Wait("the program", runs)
	tab.Wait("all files", allKept)
	host.down.Store(true)
	tab.MayLose()
	tab.Await(`return navigator.serviceWorker.getRegistration().then((r) => r.update()).catch(() => {})`)
	tab.Go(url + "learn/stopping/")
	tab.Wait("the program", runs)
	if h := tab.Text("main h1"); h == "" {
		t.Error("offline, the lesson has no title")
	}
	tab.Go(url + "first/")
	tab.Wait("the program", runs)
	browser.Mouse(tab).Fill(`main form [name="prompt"]`, "The wizard lived in a")
	tab.Keys(browser.Enter)
	tab.Wait("the next scene", `location.search !== "" && !location.search.includes("scene=write")`)
}

// TestPagesWithoutServiceWorker: if a browser does not allow service workers, a message says so,
// and the page can be read. Files that only the program can generate are not saved, whatever the
// host sends in their place.
// Promise: Without service workers, the pages of a static site say so and can be read.
func TestPagesWithoutServiceWorker(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url := serve(t, func(files http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/static/bundle/tab.js") {
				script, err := static.Open("bundle/tab.js")
				if err != nil {
					panic(err)
				}
				w.Header().Set("Content-Type", "text/javascript")
				const none = "Object.defineProperty(navigator, 'serviceWorker', { value: undefined });\n"
				fmt.Fprintf(w, "%s%s", none, script.Data)
				return
			}
			files.ServeHTTP(w, r)
		})
	})
	tab := browser.Open(t, browser.Laptop, url+"learn/kv-cache/")
	tab.Wait("a message", `document.querySelector(".tab-line")?.innerText.includes("cannot run here")`)
	if tab.Text("main h1") == "" {
		t.Error("the lesson cannot be read")
	}
	tab.Go(url + "cards/")
	tab.Click(`a[href$="cards/export.txt"]`)
	tab.WaitText(".tab-line p", "The file was not saved: the program is not running on this page.")
}
