package site_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

// A compressor is a file server that itself compresses the program, as most static hosts do. A test
// can take it down.
type compressor struct {
	files  http.Handler
	zipped func(name string) []byte // returns a file of the site, compressed
	down   atomic.Bool
	mu     sync.Mutex
	asked  []string // requests for the program: "GET viz-….wasm" without the name's hash
}

func (c *compressor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, under)
	if !strings.HasPrefix(name, "program/viz-") {
		c.files.ServeHTTP(w, r)
		return
	}
	c.mu.Lock()
	_, ending, _ := strings.Cut(name, ".")
	c.asked = append(c.asked, r.Method+" "+ending)
	c.mu.Unlock()
	if c.down.Load() {
		panic(http.ErrAbortHandler)
	}
	if ending != "wasm" {
		c.files.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/wasm")
	w.Header().Set("Content-Encoding", "gzip")
	if r.Method != http.MethodHead {
		_, _ = w.Write(c.zipped(name)) // the browser may have disconnected
	}
}

// requests returns the requests for the program that have arrived since the last call.
func (c *compressor) requests() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := strings.Join(c.asked, ", ")
	c.asked = nil
	return all
}

// aboutProgram returns a script that runs act. In act, cache is the worker's cache, and keptAs is
// the address at which the program is stored in it.
func aboutProgram(act string) string {
	return `return (async () => {
		const cache = await caches.open((await caches.keys())[0]);
		const at = (await cache.keys()).find(({ url }) => url.includes("/program/viz-"));
		const keptAs = at?.url ?? window.keptAs;
		window.keptAs = keptAs;
		` + act + `
	})()`
}

// TestProgramFromCompressingHost: if a host compresses files itself, the program is downloaded
// once, in the form whose machine code browsers cache, and is started from the HTTP cache later. If
// the HTTP cache or the worker's own cache is lost, the program still starts without the host.
func TestProgramFromCompressingHost(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	files := webtest.SiteWithLessons(t).Files
	host := &compressor{zipped: func(name string) []byte { return files[name+".gz"].Data }}
	url := serve(t, func(h http.Handler) http.Handler { host.files = h; return host })
	tab := browser.OpenOnDisk(t, browser.Laptop, url+"learn/kv-cache/")
	tab.Wait("the program", runs)
	if got := host.requests(); got != "HEAD wasm, GET wasm" {
		t.Errorf("a first visit requests %s, want %s", got, "HEAD wasm, GET wasm")
	}
	host.down.Store(true)
	again := func(what string) {
		t.Helper()
		tab.StopWorkers()
		tab.Go(url + "learn/kv-cache/")
		tab.Wait("the program "+what, runs)
	}

	tab.Await(aboutProgram(`await cache.put(keptAs, new Response("no program"));`))
	again("from the network's cache")
	if got := host.requests(); got != "" {
		t.Errorf("a later visit requests %s, want nothing", got)
	}
	tab.Await(aboutProgram(`await cache.delete(keptAs);`))
	again("without the worker's own")
	tab.Await(aboutProgram(`if ((await (await cache.match(keptAs)).blob()).size < 1e7) throw new Error("not kept");`))
	tab.ForgetCache()
	again("from the worker's own")
}
