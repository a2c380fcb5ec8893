package why_test

import (
	"fmt"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

// TestBrowserSwitchesParts: pressing a part changes the page in place, the address contains the
// change, and the browser's Back button undoes it.
func TestBrowserSwitchesParts(t *testing.T) {
	t.Parallel()
	site := webtest.Serve(t, webtest.Options{})
	browser.Ways(t, func(t *testing.T, screen browser.Screen, hands func(*browser.Tab) browser.Hands) {
		tab := browser.Open(t, screen, site+"/why")
		use := hands(tab)
		use.Press(`[aria-label="block 6, feed-forward: +13.40"]`)
		pressed := func(n int) string {
			return fmt.Sprintf(`document.querySelectorAll('.part[aria-pressed="true"]').length === %d`, n)
		}
		tab.Until(`location.search.includes("off=L6.ffn") && ` + pressed(1))
		use.Press(`[aria-label^="block 1, head 1:"]`)
		tab.Until(`location.search.includes("L1.H1") && ` + pressed(2))
		tab.Eval(`history.back()`)
		tab.Until(`document.readyState === "complete" && ` + pressed(1))
	})
}

// TestBrowserOnAPhone: on a phone, the sum and the parts do not need sideways scrolling, and the
// lens is initially scrolled to its end, where the answer is.
func TestBrowserOnAPhone(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	site := webtest.Serve(t, webtest.Options{})
	tab := browser.Open(t, browser.Phone, site+"/why")
	tab.Until(`(() => {
		const fits = (e) => e && e.clientWidth > 0 && e.scrollWidth <= e.clientWidth;
		const lens = document.querySelector("#why-map .map__scroll");
		return document.querySelector(".fall--narrow").getBoundingClientRect().right <= innerWidth &&
			fits(document.querySelector('[aria-label="The parts"]')) && lens.scrollWidth > lens.clientWidth &&
			lens.scrollLeft + lens.clientWidth >= lens.scrollWidth - 1;
	})()`)
}

// TestPageIsAccessible: axe-core reports no problems, whether all parts are on or some are off.
func TestPageIsAccessible(t *testing.T) {
	t.Parallel()
	site := webtest.Serve(t, webtest.Options{})
	tab := browser.Open(t, browser.Laptop, site+"/why")
	tab.Audit("whole")
	if !fixture.LongTier() {
		tab.Go(site + "/score")
		tab.Audit("score")
		return
	}
	tab.Go(site + at(
		"prompt", "The capital of France is", "off", "L6.H1,L6.ffn,pos:2", "over", "London", "cell", "6.4",
	))
	tab.Audit("off, a place open, a lead")
	tab.Go(site + at("prompt", "The capital of France is", "with", "The capital of Italy is", "heads", "1"))
	tab.Audit("more")
}
