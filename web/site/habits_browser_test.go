package site_test

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

// allKept is a script that checks whether the worker has stored all of the site's files. It looks
// for the draft model, which is stored last.
const allKept = `(caches.keys().then(async (names) => {
	const cache = await caches.open(names[0]);
	window.kept = (await cache.keys()).filter(({ url }) => url.includes("/models/draft")).length;
}), window.kept > 0)`

// TestHosts: however a static host handles addresses, types and compressed files, a lesson at an
// address without a slash has its styles, the program runs, and a drill can be done. When the host
// is down, the pages still open and the program still runs. A wrong address shows a page with links
// back. Before the program runs, this page is 404.html, if the host sends it; afterward, it is the
// program's page.
// Promise: A static site works however its host treats addresses, file types and compression.
func TestHosts(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	for name, as := range hosts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host, url := serveAs(t, webtest.SiteWithLessons(t).Files, as)
			tab := browser.Open(t, browser.Laptop, "about:blank")
			if as.shows404 {
				visitMissing(tab, url)
			}
			tab.Go(url + "learn/kv-cache")
			tab.Wait("the program", runs)
			if name == "GitHub Pages" { // the program's page is the same on all hosts
				visitMissing(tab, url)
				tab.Go(url + "learn/kv-cache")
				tab.Wait("the program", runs)
			}
			tab.Wait("the styles", `document.styleSheets.length > 1 &&
				[...document.styleSheets].every((sheet) => sheet.cssRules.length > 0)`)
			tab.Click(`.top a[href$="practice/"]`)
			tab.Wait("the drills", runs+` && document.querySelector(".drills")`)
			tab.Click(`.drills h3 a[href$="practice/softmax/"]`)
			tab.Wait("the drill", runs+` && document.querySelector("#drill")`)
			checkSoftmax(t, tab)
			tab.Wait("the finished step", `document.querySelector(".dsteps .is-now.is-done")`)
			tab.Wait("all files", allKept)
			host.down.Store(true)
			tab.StopWorkers()
			for _, page := range []string{"", "learn/stopping", "glossary/"} {
				tab.Go(url + page)
				tab.Wait("the page "+page+" without the host", runs+` && location.pathname.endsWith("/") &&
					document.querySelector("main h1")?.textContent`)
			}
		})
	}
}

// visitMissing goes to an address that has no page and is deeper than any page of the site.
func visitMissing(tab *browser.Tab, url string) {
	tab.Go(url + "no/such/page/in/this/site/")
	tab.Wait("the page for wrong addresses, with its styles, links and program", runs+` &&
		document.querySelector("main h1")?.textContent === "There is no page at this address." &&
		document.styleSheets.length > 1 && [...document.styleSheets].every((sheet) => sheet.cssRules.length > 0) &&
		document.querySelector('.nav a[href$="learn/"]').href === "`+url+`learn/" &&
		document.querySelector(".skip").href === location.href + "#main"`)
	for _, fault := range tab.Faults() { // Chromium reports the missing page, and in most folders the missing 404.js
		if !strings.Contains(fault, "404") {
			tab.Fail("at a wrong address, the browser reports %q, want only missing files", fault)
		}
	}
}
