package site_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons/drill"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

// A cable is a file server whose connection breaks after it has sent a given number of bytes of the
// program's files, and stays broken until it is mended.
type cable struct {
	files http.Handler
	left  atomic.Int64
	cut   atomic.Bool // the connection has been broken
}

func (c *cable) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, ".gz") {
		w = &pulled{w, c}
	}
	c.files.ServeHTTP(w, r)
}

// A pulled is a response that is sent over a cable's connection.
type pulled struct {
	http.ResponseWriter
	*cable
}

func (p *pulled) Write(b []byte) (int, error) {
	if p.left.Add(-int64(len(b))) < 0 {
		p.cut.Store(true)
		panic(http.ErrAbortHandler)
	}
	return p.ResponseWriter.Write(b)
}

// mended is a number of bytes that is never reached. With this limit, a connection does not break.
const mended = 1 << 60

// TestDownloadInterruptedAnywhere: wherever the download is interrupted, the page can be read and
// shows how much has arrived. Once the connection is restored, retrying starts the program.
func TestDownloadInterruptedAnywhere(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	first := webtest.SiteWithLessons(t).First
	for tenth := range int64(10) {
		t.Run(fmt.Sprintf("%d of 10", tenth), func(t *testing.T) {
			host := &cable{}
			host.left.Store(first * tenth / 10)
			tab := browser.Open(t, browser.Laptop, serve(t, func(files http.Handler) http.Handler {
				host.files = files
				return host
			})+"learn/kv-cache/")
			tab.MayLose()
			tab.Wait("the message about missing files", `document.querySelector(".tab-line button")`)
			if say := tab.Text(".tab-line p"); !host.cut.Load() || !strings.Contains(say, "MB of") ||
				!strings.Contains(say, "can still read") {
				t.Errorf("the page says %q, want it to say how much has arrived and that the page can be read", say)
			}
			if tab.Text("main h1") == "" {
				t.Error("the lesson cannot be read")
			}
			host.left.Store(mended)
			tab.Click(".tab-line button")
			tab.Wait("the program", runs)
			tab.Wait("the end of the message", `!document.querySelector(".tab-line")`)
		})
	}
}

// checkSoftmax solves the first step of the softmax drill on its page and submits the answer.
func checkSoftmax(t *testing.T, tab *browser.Tab) {
	t.Helper()
	p, err := drill.New(terms.English, drill.Softmax, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	step, _, _ := strings.Cut(p.Order()[0], ".")
	for _, id := range p.Order() {
		if strings.HasPrefix(id, step+".") {
			field := fmt.Sprintf(`#drill [name="%s"]:not([type=hidden])`, id)
			tab.Eval(fmt.Sprintf(`document.querySelector('%s').value = %q`, field, p.Answer(id)))
		}
	}
	tab.Click("#drill-check")
}

// kept is true on the Practice page if the drill has been done.
const kept = `document.querySelector('.drills li:has(a[href$="practice/softmax/"]) .drills__been b')`

// TestTwoTabsShareTheProgram: two tabs that are open at the same time share one program, and work
// done in one of them appears in the other. The second tab is opened while the program is still
// loading, on a host that redirects index.html to its folder.
func TestTwoTabsShareTheProgram(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url := serve(t, nil)
	one := browser.Open(t, browser.Laptop, url+"practice/softmax/")
	two := one.Another(browser.Laptop, url+"practice/")
	one.Wait("the program", runs)
	two.Wait("the program", runs)
	checkSoftmax(t, one)
	one.Wait("the finished step", `document.querySelector(".dsteps .is-now.is-done")`)
	two.Reload()
	two.Wait("the other tab's work", kept)
}

// TestRunsWithoutStorage: in a window without storage, such as some private windows, the program
// runs, and a message says that nothing is saved.
// Promise: Without browser storage, a static site runs and says that nothing is kept.
func TestRunsWithoutStorage(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	const none = "Object.defineProperty(self, 'indexedDB', { get() { throw new Error('not here'); } });\n"
	tab := browser.Open(t, browser.Laptop, serve(t, webtest.SiteWithLessons(t).BeforeWorker(none))+"practice/softmax/")
	tab.Wait("the program", runs)
	tab.Wait("a message", `document.querySelector(".tab-line")
		?.innerText.includes("does not store anything for this site")`)
	checkSoftmax(t, tab)
	tab.Wait("the finished step", `document.querySelector(".dsteps .is-now.is-done")`)
	tab.Go(strings.TrimSuffix(tab.URL(), "practice/softmax/") + "progress/")
	tab.Wait("the same message on the progress page", runs+` &&
		document.querySelector("#yours")?.innerText.includes("This browser saves nothing for this site")`)
}

// TestFullStorageIsReported: if the browser has no space left, the page says so and continues. In
// this test, every attempt to store a record in the browser's database fails with that error.
func TestFullStorageIsReported(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	const full = `const put = IDBObjectStore.prototype.put;
IDBObjectStore.prototype.put = function (...what) {
  if (this.name === 'records') throw new DOMException('no more space', 'QuotaExceededError');
  return put.apply(this, what);
};
`
	tab := browser.Open(t, browser.Laptop, serve(t, webtest.SiteWithLessons(t).BeforeWorker(full))+"practice/softmax/")
	tab.Wait("the program", runs)
	checkSoftmax(t, tab)
	tab.Wait("a message", `document.body?.innerText.includes("This browser does not allow any more data")`)
	tab.Faults() // the refusal is in the browser's console
	tab.Go(strings.TrimSuffix(tab.URL(), "practice/softmax/") + "loop/")
	tab.Wait("a live page", runs+` && document.documentElement.dataset.conn === "live"`)
	browser.Mouse(tab).Fill("#prompt", "Once upon a time there was a")
	tab.Click(`#prompt-form button[type="submit"]`)
	tab.Wait("a run", `document.querySelector("#strip-row")?.innerText.includes("upon")`)
}

// TestWorkerSurvivesSleep: pressing a key while the program loads does not change the text in the
// address. When the machine sleeps, the browser ends the worker, and with it the program and the
// run. The page then restores the run at the same token and continues.
func TestWorkerSurvivesSleep(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	late := make(chan struct{})
	release := sync.OnceFunc(func() { close(late) })
	url := serve(t, func(files http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "/program/memory") {
				<-late
			}
			files.ServeHTTP(w, r)
		})
	})
	t.Cleanup(release) // before the file server closes, since it waits for its responses
	tab := browser.Open(t, browser.Laptop, url+"loop/?prompt=The+wizard+lived+in+a")
	tab.Wait("the download", `document.querySelector(".tab-line p")?.textContent.startsWith("Loading")`)
	tab.Keys("n")
	release()
	tab.Wait("a live page", runs+` && document.documentElement?.dataset.conn === "live"`)
	written := func(n int) {
		t.Helper()
		tab.Wait("tokens", fmt.Sprintf(`document.querySelectorAll("#strip-gen > *").length === %d`, n))
	}
	for i := range 3 {
		tab.Keys("n")
		written(i + 1)
	}
	text := tab.Text("#strip-gen")
	tab.StopWorkers()
	tab.Wait("the rebuilt run", `document.querySelector("#told")?.innerText.includes("rebuilt")`)
	if now := tab.Text("#strip-gen"); now != text {
		t.Errorf("after a sleep, the text is %q, want %q", now, text)
	}
	tab.Keys("n")
	written(4)
}
