package why_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

// TestBrowserByKeys: every kind of control works by keyboard alone, and the arrow keys move within
// the map, which is a single tab stop.
// Promise: Everything on the Why page works by keyboard alone.
func TestBrowserByKeys(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	site := webtest.Serve(t, webtest.Options{})
	tab := browser.Open(t, browser.Laptop, site+at("prompt", "The capital of France is"))
	stop := `#why-map tbody [tabindex="0"]`
	tab.Until(fmt.Sprintf(`document.querySelectorAll(%q).length === 1`, stop))
	keys := browser.Keyboard(tab)
	for _, press := range []struct{ selector, then string }{
		{`[aria-label^="block 6, head 1:"]`, `location.search.includes("L6.H1")`},
		{`.why__mean [value="1"]`, `location.search.includes("mean=1")`},
		{`#why-map thead [aria-label^="·of."]`, `decodeURIComponent(location.search).includes("pos:3")`},
	} {
		keys.Press(press.selector)
		tab.Until(press.then)
	}
	keys.Point(stop) // the last cell of the top row
	tab.Keys(kb.ArrowDown + kb.ArrowDown + kb.ArrowDown + kb.ArrowLeft + kb.ArrowLeft + kb.ArrowLeft)
	tab.Until(`document.activeElement.value === "3.2"`)
	tab.Keys(kb.Enter)
	tab.Until(`document.querySelector(".why__cell h3")?.textContent.startsWith("After block 3, at position 2")`)
	tab.Keys(kb.Home + kb.Enter) // moves to the row's name and presses it
	tab.Until(`document.querySelectorAll('.parts tbody .is-off').length === 8`)
}

// TestBrowserFormsByKeys: the forms for the lead over another token, a token of the strip, the
// second text, and the measurement of heads work by keyboard alone. When the page changes, the
// answers to earlier questions stay, and so do the focus and text that is being typed.
func TestBrowserFormsByKeys(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	site := webtest.Serve(t, webtest.Options{})
	tab := browser.Open(t, browser.Laptop, site+at("prompt", "The capital of France is"))
	tab.Until(`document.querySelectorAll('#why-map tbody [tabindex="0"]').length === 1`)
	keys := browser.Keyboard(tab)
	keys.Fill("#token", "Paris")
	keys.Fill("#over", "London")
	tab.Keys(kb.Enter)
	tab.Until(`document.querySelector(".why__head").textContent.includes("The lead of")`)
	keys.Point(`[aria-label^="block 6, head 1:"]`)
	tab.Until(`document.querySelector("#why-told").textContent.startsWith("Block 6, head 1 looks at ·France")`)
	keys.Press(".surp__tk:nth-of-type(4)") // France
	tab.Until(`document.querySelector(".why__cell h3")?.textContent.includes("at position 3, ·of")`)
	keys.Fill("#with", "The capital of Italy is")
	tab.Keys(kb.Enter)
	tab.Until(`document.querySelector('[aria-label="How far the answer moves"]')`)
	if got := browser.Value[string](tab, `document.activeElement.id`); got != "with" {
		t.Errorf("once the page has changed, the focus is on %q, want the field with", got)
	}
	keys.Press(`button[name="heads"]`)
	keys.Fill("#prompt", "A text half") // typed while the page is being requested again
	tab.Until(`document.querySelector(".page-why main").textContent.includes("Measured on 6 rows")`)
	if got := browser.Value[string](tab, `document.activeElement.id + ": " + document.activeElement.value`); got !=
		"prompt: A text half" {
		t.Errorf("after the search, the focus is on %q, want it on the unfinished text", got)
	}
	tab.Until(`["token=Paris", "over=London", "cell=6.3", "heads=1"].every((f) => location.search.includes(f))`)
}

// TestBrowserFromTheLoop: the Loop's link opens this page at the same point of the run, with the
// zoomed part switched off. This page links back to the Loop.
func TestBrowserFromTheLoop(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	site := webtest.Serve(t, webtest.Options{})
	tab := browser.Open(t, browser.Laptop, site+"/loop?prompt=Once+upon+a+time")
	tab.Until(`document.querySelector("[data-why]") && document.body.dataset.link`)
	tab.Eval(`document.querySelector("[data-why]").closest("details").open = true`)
	tab.Eval(`document.querySelector("[data-why]").dispatchEvent(new Event("pointerover", {bubbles: true}))`)
	tab.Until(`document.querySelector("[data-why]").href.match(/\/why\/?\?log=/)`)
	tab.Go(site + tab.Attr("[data-why]", "href"))
	tab.Until(`document.querySelector(".why__text")?.textContent.includes("time")`)
	tab.Go(site + tab.Attr(".why__back a", "href"))
	tab.Until(`document.querySelector(".map__key--row") && document.body.dataset.link`)
	// A press before the page is connected has no effect, so the test repeats it until the page
	// changes.
	tab.Until(`(() => {
		const now = Date.now(), page = document.body.dataset;
		if (!(now - page.pressed < 500)) {
			page.pressed = now;
			[...document.querySelectorAll(".map__key--row")].at(-1).click();
		}
		return document.querySelector("#map-zoom [data-why]") !== null;
	})()`)
	tab.Eval(`document.querySelector("#map-zoom [data-why]").focus()`)
	tab.Until(`document.querySelector("#map-zoom [data-why]").href.match(/\/why\/?\?log=.*off=L1$/)`)
	tab.Go(site + tab.Attr("#map-zoom [data-why]", "href"))
	tab.Until(`document.querySelectorAll('.parts tbody [aria-pressed="true"]').length === 7`)
}
