package first_test

import (
	"fmt"
	neturl "net/url"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

// atScene returns a JavaScript expression that is true while the page shows the given scene.
func atScene(scene string) string {
	return `document.readyState === "complete" && document.querySelector(".fr--` + scene + `") !== null`
}

// TestBrowserFirstRun goes from the home page to the card, and leaves and resumes the first run on
// the way.
func TestBrowserFirstRun(t *testing.T) {
	t.Parallel()
	url := webtest.Serve(t, webtest.Options{})
	browser.Ways(t, func(t *testing.T, screen browser.Screen, hands func(*browser.Tab) browser.Hands) {
		tab := browser.Open(t, screen, url+"/")
		use := hands(tab)
		use.Fill("#begin", begins)
		use.Press(".ask .btn")
		for _, scene := range []string{"read", "guess", "shares", "bolder"} {
			tab.Until(atScene(scene))
			button := main
			if scene == "guess" || scene == "bolder" {
				button = pick
			}
			use.Press(button)
		}
		tab.Until(`document.querySelector("#temperature")`)
		use.Slide("#temperature", 0.4)
		// The bars follow the slider without a button press.
		tab.Until(`document.querySelector("h1").textContent === "Move it and see."`)
		tab.Until(`!document.querySelector(".fr__knob .btn").checkVisibility()`)
		use.Press(main)
		tab.Until(atScene("drop"))
		use.Press(main)
		tab.Until(`document.querySelector(".laid__drop")`)
		tab.Go(url + "/")
		use.Press(".door__back a")
		tab.Until(`document.querySelector(".fr--drop .laid__drop")`)
		use.Press(main)
		tab.Until(atScene("joined"))
		use.Press(main)
		tab.Until(atScene("end"))
		use.Press(main)
		tab.Until(`document.querySelector(".keep")`)
		tab.Audit("the card")
		tab.Go(url + "/")
		if got := tab.Attr("main form", "action"); got != "/loop" {
			t.Errorf("after the card, the field leads to %q, want %q", got, "/loop")
		}
	})
}

// TestFirstRunBeforeItsScripts: on a slow connection, before any script has loaded, the
// home page can be read and used, each button of the first run works, and a phone shows the
// sentence below the map.
// Promise: On a slow connection the home page and the first run work before any script has loaded.
func TestFirstRunBeforeItsScripts(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url := webtest.Serve(t, webtest.Options{})
	tab := browser.Open(t, browser.Phone, url+"/first")
	tab.NoScripts()
	tab.Go(url + "/")
	use := browser.Touch(tab)
	use.Fill("#begin", begins)
	use.Press(".ask .btn")
	for _, scene := range []string{"read", "guess", "shares", "bolder"} {
		tab.Until(atScene(scene))
		button := main
		if scene == "guess" || scene == "bolder" {
			button = pick
		}
		use.Press(button)
	}
	tab.Until(`document.querySelector("#temperature")`)
	use.Slide("#temperature", 0.4)
	use.Press(".fr__knob .btn")
	tab.Until(atScene("bolder") + ` && document.querySelector("h1").textContent === "Move it and see."`)
	use.Press(main)
	tab.Until(atScene("drop") + ` && !document.querySelector(".laid__drop")`)
	use.Press(main)
	tab.Until(`document.querySelector(".laid__drop")`)
	use.Press(main)
	tab.Until(atScene("joined"))
	use.Press(main)
	tab.Until(atScene("end"))
	tab.Until(`document.querySelector(".fr__under").checkVisibility()`)
	use.Press(main)
	tab.Until(`document.querySelector(".keep")`)
}

// TestFirstRunShowsPendingAnswer: while a response is pending, the button shows that it has been
// pressed, and pressing it again does nothing.
func TestFirstRunShowsPendingAnswer(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	s := newSite(t)
	tab := browser.Open(t, browser.Laptop, s.url+"/first?prompt=Once+upon+a+time")
	tab.Until(atScene("read"))
	tab.Eval(`window.asked = 0;
		const get = fetch;
		window.fetch = async (...how) => {
			asked++;
			await new Promise((done) => { window.answer = done; });
			return get(...how);
		};`)
	tab.Click(main)
	tab.Until(`asked === 1 && document.querySelector(".is-sent") !== null`)
	tab.Eval(`document.querySelector(".is-sent").click()`)
	tab.Eval(`answer()`)
	tab.Until(atScene("guess") + ` && !document.querySelector(".is-sent")`)
	if n := browser.Value[int](tab, `asked`); n != 1 {
		t.Errorf("%d requests were sent, want 1", n)
	}
}

// TestFirstRunMotion: elements at the end of a scene move to their positions in the next scene.
// Pressing a key ends an animation immediately and leaves no trace of it. Until the marker has
// fallen, neither the heading nor the title names the winner. If VIZ_SHOTS is set, the test takes
// five screenshots of each animation.
func TestFirstRunMotion(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	s := newSite(t)
	tab := browser.Open(t, browser.Screen{Width: 1366, Height: 657, Motion: true}, s.url+"/first")
	tab.Eval(`window.moving = () => document.getAnimations().filter(a => a.id.startsWith("carry"))`)
	tab.Type("#begin", begins)
	tab.Keys(browser.Enter)
	tab.Until(atScene("read"))
	tab.Eval(`
		window.moving = () => document.getAnimations().filter(a => a.id.startsWith("carry"));
		const animate = Element.prototype.animate;
		Element.prototype.animate = function (...how) {
			const one = animate.apply(this, how);
			one.pause();
			return one;
		};
		window.at = (share) => {
			const end = Math.max(...moving().map(a => a.effect.getComputedTiming().endTime));
			for (const a of moving()) {
				a.currentTime = Math.min(share * end, a.effect.getComputedTiming().endTime - 1);
			}
		};
		window.go = () => { for (const a of moving()) a.play(); }`)
	step := func(scene, button, shown string) {
		t.Helper()
		tab.Click(button)
		tab.Until(atScene(scene) + ` && document.querySelector("` + shown + `")`)
		tab.Until(`moving().length > 0`)
		for frame := range 5 {
			tab.Eval(fmt.Sprintf(`at(%g)`, float64(frame)/4))
			tab.Shot(fmt.Sprintf("first-%s-%d.png", strings.Trim(scene+shown, "."), frame))
		}
		tab.Eval(`at(.5)`)
		if shown == ".laid__drop" {
			tab.Until(`getComputedStyle(document.querySelector("h1")).opacity === "0" && ` +
				`!document.title.includes("It is")`)
			tab.Until(`!document.querySelector(".fr__under").checkVisibility({ visibilityProperty: true })`)
			if !browser.Value[bool](tab, `document.querySelector(".is-falling") !== null`) {
				t.Error("the winner's piece stands out before the marker has fallen")
			}
		}
		tab.Eval(`go()`)
		tab.Keys("x") // not a command key
		tab.Until(`moving().length === 0 && !document.querySelector(".carried, .is-falling")`)
	}
	tab.Click(main)
	tab.Until(atScene("guess"))
	step("shares", pick, ".bar")
	tab.Click(main)
	tab.Until(atScene("bolder"))
	tab.Click(pick)
	tab.Until(`document.querySelector("#temperature")`)
	tab.Eval(`for (const a of moving()) a.finish()`)
	step("drop", main, ".is-open")
	step("drop", main, ".laid__drop")
	tab.Until(`document.title.includes("It is")`)
	step("joined", main, ".w")
}

// TestBrowserEnterContinues: pressing Enter is enough to continue, except where the page needs
// other input.
func TestBrowserEnterContinues(t *testing.T) {
	fixture.Long(t)
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
	tab.Until(atScene("bolder"))
	tab.Until(`document.activeElement.matches("h1")`)
	tab.Keys("\t" + browser.Enter)
	enter("bolder")
	enter("drop")
	tab.Until(`document.querySelector(".laid__drop")`)
	enter("drop")
	tab.Until(atScene("joined"))
}

// places is a JavaScript expression for the positions of the heading and the main button.
const places = `["h1", "main .btn--main"].map((s) => document.querySelector(s)?.getBoundingClientRect())
	.map((b, i) => b ? [b.left, b.top, ...(i ? [b.right, b.bottom] : [])].map(Math.round).join() : "")`

// isCut is a JavaScript expression that is true if the end of the text is out of view or one of its
// lines is cut off.
const isCut = `(() => {
	const box = document.querySelector(".fr__text > div")?.getBoundingClientRect();
	const lines = [...document.querySelectorAll(".fr__text .prose > span")].flatMap((e) => [...e.getClientRects()]);
	return lines.some((l) => l.top < box.top - 2 && l.bottom > box.top + 2 || l.bottom > box.bottom + 2);
})()`

// steady checks that the end of the text is in view. On screens where this is possible, it also
// checks that the heading and the main button of a scene are at the same positions as in earlier
// scenes.
func steady(tab *browser.Tab, seen map[string]string, scene string) {
	for _, s := range []browser.Screen{browser.Chromebook, browser.Laptop} {
		tab.Screen(s)
		for i, got := range browser.Value[[]string](tab, places) {
			key := fmt.Sprintf("%s at %d px", []string{"heading", "main button"}[i], s.Width)
			if want := seen[key]; got != "" && want != "" && got != want {
				tab.Fail("%s: the %s is at %s, want %s as in the scenes before", scene, key, got, want)
			} else if got != "" {
				seen[key] = got
			}
		}
		if browser.Value[bool](tab, isCut) {
			tab.Fail("%s: the end of the text is not in view, or a line is cut, at %d px", scene, s.Width)
		}
	}
}

// TestScenesAreAccessible: axe-core reports no problems in any scene, the heading and the main
// button do not move from one scene to the next, and the last lines of the text are fully visible.
func TestScenesAreAccessible(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	s := site{t: t, url: webtest.Server(t, webtest.Options{})}.another() // used to get the scenes' addresses
	url := s.url
	if webtest.IsInTab(t) {
		url = webtest.ServeTab(t, "")
	}
	tab := browser.Open(t, browser.Laptop, url+"/first")
	seen := map[string]string{}
	audit := func(scene string) {
		t.Helper()
		steady(tab, seen, scene)
		tab.Audit(scene)
	}
	audit("write")
	for _, scene := range []string{"read", "guess", "shares", "bolder", "drop", "joined", "end"} {
		p := s.to(scene)
		tab.Go(url + p.at.RequestURI())
		audit(scene)
		switch scene {
		case "shares": // hover a share, and its bar on the map
			tab.Eval(`document.querySelector(".shares li").dispatchEvent(new PointerEvent("pointerover",
				{ bubbles: true }))`)
			tab.Until(`[...document.querySelectorAll(".is-lit")].map((e) => e.localName).sort().join() === "li,span"`)
		case "drop":
			tab.Go(url + p.press(main).at.RequestURI())
			audit(scene + ", fallen")
		case "bolder":
			tab.Go(url + p.press(pick).at.RequestURI())
			audit("the knob")
		case "end":
			tab.Go(url + p.press(main).at.RequestURI())
			tab.Audit("the card")
		}
	}
	tab.Go(url + "/first?" + neturl.Values{"prompt": {strings.Repeat("And then he went home again. ", 9)}}.Encode())
	tab.Until(atScene("read"))
	audit("a long text")
}
