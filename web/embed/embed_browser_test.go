package embed_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

func TestMain(m *testing.M) { browser.Main(m) }

// heightOf returns a JavaScript expression for the height of the frame inside an element. The page
// in the frame determines that height.
func heightOf(element string) string {
	return fmt.Sprintf(`Number(document.querySelector(%q)?.height ?? 0)`, element+" iframe")
}

// usual is the height of a frame until the page inside it reports its own height.
const usual = 420

// TestExamplePage: testdata/embed/index.html, a page of another origin with its own strict security
// policy, shows the Loop and a drill, each at its full height. The Loop can generate text in the
// frame. Messages from other pages, or in another format, do not change a frame's height.
// Promise: The Loop and drills can be part of your own page, in frames that fit their height.
func TestExamplePage(t *testing.T) {
	t.Parallel()
	example, err := os.ReadFile("../../testdata/embed/index.html")
	if err != nil {
		t.Fatal(err)
	}
	var server string
	school := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		fmt.Fprint(w, strings.ReplaceAll(string(example), "https://viz.example", server))
	}))
	t.Cleanup(school.Close)
	server = webtest.Serve(t, webtest.Options{Embeds: []string{school.URL}})
	tab := browser.Open(t, browser.Laptop, school.URL)
	for _, element := range []string{"viz-loop", "viz-widget"} {
		tab.Eval(fmt.Sprintf(`document.querySelector(%q).scrollIntoView()`, element)) // loads only near the viewport
		tab.Wait("the height of "+element, fmt.Sprintf("%s > 80 && %[1]s !== %d", heightOf(element), usual))
	}
	tab.FullShot("embed-example.png")
	// Messages that the test dispatches arrive immediately, so no message from the framed page can
	// arrive in between.
	tab.Eval(`
		const frame = document.querySelector('viz-loop iframe');
		const origin = new URL(frame.src).origin;
		const source = frame.contentWindow;
		const before = frame.height;
		for (const forged of [
			{ source: window, origin, data: { viz: 'size', height: 3000 } },
			{ source, origin: 'https://evil.example', data: { viz: 'size', height: 3000 } },
			{ source, origin, data: { viz: 'size', height: '3000' } },
			{ source, origin, data: { viz: 'size', height: Infinity } },
			{ source, origin, data: 'size' },
			{ source, origin, data: null },
		]) dispatchEvent(new MessageEvent('message', forged));
		window.forged = before + ' and then ' + frame.height;
		window.same = before === frame.height;
		dispatchEvent(new MessageEvent('message', { source, origin, data: { viz: 'size', height: 1e9 } }));
		window.most = frame.height;`)
	if !browser.Value[bool](tab, `window.same`) {
		t.Error("a forged message has set a height:", browser.Value[string](tab, `window.forged`))
	}
	if most := browser.Value[string](tab, `window.most`); most != "8000" {
		t.Errorf("a frame that claims an enormous height is %s high, want at most 8000", most)
	}
}

// sandboxed returns the address of a proxy in front of a server. Pages from the proxy behave as
// in a frame with sandbox="allow-scripts allow-forms".
func sandboxed(t *testing.T, server string) string {
	t.Helper()
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) },
		ModifyResponse: func(r *http.Response) error {
			r.Header.Add("Content-Security-Policy", "sandbox allow-scripts allow-forms")
			return nil
		},
	})
	t.Cleanup(proxy.Close)
	return proxy.URL
}

// TestLoopInAFrame: the Loop below /embed, opened directly rather than inside another page,
// generates text and has a link to the same state on the regular page. The embedded page stores
// nothing in the browser. In a frame without an origin, it explains that it cannot run there.
func TestLoopInAFrame(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	server := webtest.Serve(t, webtest.Options{Embeds: []string{"https://school.example"}})
	for _, view := range []string{"story", "numbers"} {
		tab := browser.Open(t, browser.Phone, server+"/embed/loop/?prompt=The+wizard+lived+in+a&view="+view)
		tab.Wait("a connection", `document.documentElement.dataset.conn === "live"`)
		tab.Keys("n")
		tab.Wait("a token", `document.querySelectorAll("[id$=-gen] > *").length === 1`)
		tab.Wait("the link", `document.querySelector("[data-whole]").getAttribute("href").startsWith("/loop?log=")`)
		const kept = `localStorage.length + sessionStorage.length + document.cookie.length`
		if n := browser.Value[int](tab, kept); n != 0 {
			t.Errorf("%d items are stored in the browser, want 0", n)
		}
		if at := tab.URL(); !strings.HasPrefix(at, server+"/embed/loop") {
			t.Errorf("the frame navigated to %s, want it to begin with %q", at, server+"/embed/loop")
		}
		tab.Audit("the Loop in a frame, " + view)
		tab.Shot("embed-loop-" + view + ".png")
		tab.Go(server + tab.Attr("[data-whole]", "href"))
		tab.Wait("the whole page", `document.querySelector("header.top")`)
		tab.Wait("the page's connection", `document.documentElement.dataset.conn === "live"`)
	}
	tab := browser.Open(t, browser.Phone, sandboxed(t, server)+"/embed/loop?prompt=The+wizard+lived+in+a")
	tab.Wait("a styled page that explains why it does not run", `document.querySelector(".alone")?.checkVisibility() &&
		document.styleSheets.length === 1 && document.querySelector("main").checkVisibility()`)
	if to := tab.Attr(".alone a", "href"); !strings.HasPrefix(to, "/loop?log=") {
		t.Errorf("the link out of a frame without an origin leads to %s, want the whole page with the same text", to)
	}
	tab.Eval(`location.href = "about:blank"`) // so that nothing more is loaded
	tab.Wait("an empty page", `location.href === "about:blank"`)
	tab.Faults() // expected: blocked scripts and fonts
	tab = browser.Open(t, browser.Phone, server+"/embed/practice/softmax?seed=7&level=1")
	tab.Wait("the drill", `document.querySelector("#drill input:not([type=hidden])")`)
	tab.Audit("a drill in a frame")
	tab.Shot("embed-drill.png")
	tab.Go(server + "/embed/learn/widget/cache-saves")
	tab.Audit("an experiment in a frame")
	tab.Shot("embed-widget.png")
	tab.Go(server + "/embed")
	tab.Audit("the page about embedding")
	tab.FullShot("embed-page.png")
}
