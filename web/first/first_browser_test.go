package first_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

// atScene is true at a scene.
func atScene(scene string) string {
	return `document.readyState === "complete" && document.querySelector(".fr--` + scene + `") !== null`
}

// TestBrowserFirstRun goes from the home page to the card, and leaves and goes on in the
// middle.
func TestBrowserFirstRun(t *testing.T) {
	t.Parallel()
	url := webtest.Serve(t, webtest.Options{})
	browser.Ways(t, func(t *testing.T, screen browser.Screen, hands func(*browser.Tab) browser.Hands) {
		tab := browser.Open(t, screen, url+"/")
		use := hands(tab)
		use.Fill("#begin", begins)
		use.Press(".ask .btn")
		for _, scene := range []string{"read", "guess", "shares", "drop"} {
			tab.Until(atScene(scene))
			button := main
			if scene == "guess" {
				button = pick
			}
			use.Press(button)
		}
		tab.Until(`document.querySelector(".laid__drop")`)
		tab.Go(url + "/")
		use.Press(".door__back a")
		tab.Until(`document.querySelector(".fr--drop .laid__drop")`)
		use.Press(main)
		tab.Until(atScene("joined"))
		use.Press(main)
		tab.Until(atScene("bolder"))
		use.Press(pick)
		tab.Until(`document.querySelector("#temperature")`)
		use.Slide("#temperature", 0.4)
		use.Press(".fr__knob .btn")
		// The attribute is the page's that is sent back; what was slid is only the property.
		tab.Until(`Math.abs(document.querySelector("#temperature")?.getAttribute("value") - 0.4) < 0.31`)
		use.Press(main)
		tab.Until(atScene("again"))
		use.Press(main)
		tab.Until(`document.querySelector(".fr--again .laid__drop")`)
		use.Press(main)
		tab.Until(atScene("end"))
		use.Press(main)
		tab.Until(`document.querySelector(".keep")`)
		tab.Go(url + "/")
		if got := tab.Attr("main form", "action"); got != "/loop" {
			t.Errorf("after the card the field leads to %q", got)
		}
	})
}

// TestBrowserEnterGoesOn: Enter alone leads on wherever the page asks for nothing else.
func TestBrowserEnterGoesOn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tab := browser.Open(t, browser.Laptop, s.url+"/first?prompt=Once+upon+a+time")
	enter := func(scene string) {
		t.Helper()
		tab.Until(atScene(scene))
		tab.Until(`document.activeElement.matches("main .btn--main")`)
		tab.Keys(browser.Enter)
	}
	enter("read")
	tab.Until(atScene("guess"))
	tab.Until(`document.activeElement.matches("h1")`)
	tab.Keys("\t" + browser.Enter)
	enter("shares")
	enter("drop")
	tab.Until(`document.querySelector(".laid__drop")`)
	enter("drop")
	tab.Until(atScene("joined"))
}

// TestScenesAreAccessible: axe-core finds nothing in any scene.
func TestScenesAreAccessible(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tab := browser.Open(t, browser.Laptop, s.url+"/first")
	tab.Audit("write")
	for n, scene := range []string{"read", "guess", "shares", "drop", "joined", "bolder", "again", "end"} {
		p := s.to(scene)
		tab.Go(s.url + p.at.RequestURI())
		tab.AuditState(scene, n)
		switch scene {
		case "drop", "again":
			tab.Go(s.url + p.press(main).at.RequestURI())
			tab.AuditState(scene+", fallen", n)
		case "bolder":
			tab.Go(s.url + p.press(pick).at.RequestURI())
			tab.AuditState("the knob", n)
		case "end":
			tab.Go(s.url + p.press(main).at.RequestURI())
			tab.Audit("the card")
		}
	}
}
