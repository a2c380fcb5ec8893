package site_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// A lateHost is a file server that withholds the draft model until the test allows it.
type lateHost struct {
	files http.Handler
	late  chan struct{}
}

func (h *lateHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.Contains(r.URL.Path, "/models/draft/") {
		<-h.late
	}
	h.files.ServeHTTP(w, r)
}

// TestVisitUnderAPath visits a site below a path of a plain file server. The visit leads from the
// home page to the Loop, where the model generates three tokens and the text is saved; to a lesson
// with its experiment; and to a drill, which is still marked as done after the worker has lost all
// its state. Everything runs in the browser, since the file server only serves files. The draft
// model arrives when the program is already generating text, and its guesses are shown from then
// on.
// Promise: A static site works under any path, with the model and your progress in the browser.
func TestVisitUnderAPath(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	host := &lateHost{late: make(chan struct{})}
	release := sync.OnceFunc(func() { close(host.late) })
	url := serve(t, func(files http.Handler) http.Handler {
		host.files = files
		return host
	})
	t.Cleanup(release) // before the file server closes, since it waits for its responses
	tab := browser.Open(t, browser.Laptop, url)
	hands := browser.Mouse(tab)
	arrive := func(path string) {
		t.Helper()
		tab.Wait("the page "+path, `document.readyState === "complete" && location.pathname === "`+under+path+`"`)
		tab.Wait("the program", runs)
	}
	follow := func(link, path string) {
		t.Helper()
		tab.Click(link)
		arrive(path)
	}
	arrive("")
	follow(`.top a[href$="loop/"]`, "loop/")
	follow(`.view [value="numbers"]`, "loop/")
	tab.Wait("a live page in Numbers", `document.body?.dataset.view === "numbers" && `+
		`document.querySelector("[data-live]")?.textContent.includes("live")`)
	tab.Wait("the styles of a page that is not a file", `document.styleSheets.length > 1 &&
		[...document.styleSheets].every((sheet) => sheet.cssRules.length > 0)`)
	hands.Fill("#prompt", "Once upon a time there was a")
	tab.Click(`#prompt-form button[type="submit"]`)
	tab.Wait("the first stage", `document.querySelector("#panel").innerText.includes("stage 1 of 7")`)
	for i := range 3 {
		tab.Keys("n")
		tab.Wait("a token", fmt.Sprintf(`document.querySelectorAll("#strip-gen > *").length === %d`, i+1))
	}
	downloads := tab.Downloads()
	tab.Click("#share > summary")
	tab.Click("#share [data-export=text]")
	const prompt = "Once upon a time there was a"
	if text := string(downloads.File("once-upon-a-time-there-was-a-seed-42.txt")); !strings.HasPrefix(text, prompt) {
		t.Errorf("the saved text is %q, want it to begin with %q", text, prompt)
	}
	saveMissing(t, tab)
	tab.Eval(`location.href = "` + under + `loop/?prompt=The+wizard+lived+in+a"`)
	tab.Wait("a text opened by a link", runs+` && location.search.includes("log=")`)
	tab.Wait("a live page", `document.documentElement?.dataset.conn === "live"`)
	tab.Keys("n")
	tab.Wait("its first token", `document.querySelectorAll("#strip-gen > *").length === 1`)

	release()
	tab.Eval(`location.href = "` + under + `learn/speculative-decoding/"`)
	arrive("learn/speculative-decoding/")
	tab.Wait("the draft's guesses", `document.querySelector(".w-tab--spec tbody tr")`)

	follow(`.top a[href$="learn/"]`, "learn/")
	follow(`main a[href$="learn/temperature/"]`, "learn/temperature/")
	tab.Eval(`location.href = "` + under + `quiz?lesson=other-languages"`) // only the program can serve this page
	arrive("quiz/")
	tab.Wait("an instructor's own question", `document.querySelector("#own-q-list")`)
	follow(`.top a[href$="practice/"]`, "practice/")
	follow(`.drills h3 a[href$="practice/softmax/"]`, "practice/softmax/")
	checkSoftmax(t, tab)
	tab.Wait("the finished step", `document.querySelector(".dsteps .is-now.is-done")`)

	follow(`.top a[href$="practice/"]`, "practice/")
	tab.Wait("the drill in the list of finished drills", kept)
	tab.Await(`return navigator.serviceWorker.getRegistration().then((r) => r.unregister())`)
	tab.Eval(`location.reload()`)
	tab.Wait("the finished drill with another worker", runs+" && "+kept)
}

// saveMissing makes the page try to save a file that the program does not have, and checks
// that the page reports the failure.
func saveMissing(t *testing.T, tab *browser.Tab) {
	t.Helper()
	tab.Eval(`(() => {
		const link = document.createElement("a");
		[link.href, link.download] = ["no-such-file", ""];
		document.body.append(link);
		link.click();
	})()`)
	tab.Wait("the reason why a file was not saved", `/^The file was not saved: .+[.]Try again$/.test(
		document.querySelector(".tab-line")?.textContent)`)
	browser.Eventually(t, func() (reported bool) {
		for _, fault := range tab.Faults() { // Chromium also reports the response
			if reported = strings.Contains(fault, "no-such-file"); !reported {
				t.Errorf("the browser reports %q, want only faults about no-such-file", fault)
			}
		}
		return reported
	})
}
