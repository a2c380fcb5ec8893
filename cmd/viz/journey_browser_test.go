package main

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// TestJourneyByKeyboard goes from the home page through a lesson and the first drill to the Loop
// page and generates a token there, all by keyboard: every element is reached with Tab from the
// previous focus, and the focus is never hidden. The long tier does the same on a narrow screen.
// Promise: By keyboard alone you get from the home page through a lesson and a drill to a token in the Loop.
func TestJourneyByKeyboard(t *testing.T) {
	t.Parallel()
	screens := map[string]browser.Screen{"laptop": browser.Laptop}
	if fixture.LongTier() {
		screens["phone"] = browser.Screen{Width: browser.Phone.Width, Height: browser.Phone.Height}
	}
	for name, screen := range screens {
		t.Run(name, func(t *testing.T) {
			s := start(t, "-addr", "127.0.0.1:0", "-no-open")
			tab := browser.Open(t, screen, s.url+"/")
			hands := browser.Keyboard(tab)
			follow := func(link, path string) {
				t.Helper()
				hands.Press(link)
				tab.Wait("the page "+path, `document.readyState === "complete" && location.pathname === "`+path+`"`)
			}

			// place opens one of the program's sections, which are in a menu on phones.
			place := func(path string) {
				t.Helper()
				link := `.top a[href="` + path + `"]`
				if browser.Value[bool](tab, `document.querySelector(".top__menu").checkVisibility()`) {
					hands.Press(".top__menu > summary")
					link = `.top__menu a[href="` + path + `"]`
				}
				follow(link, path)
			}

			follow(`.ways a[href="/learn"]`, "/learn")
			follow(`main a[href="/learn/logits-and-softmax"]`, "/learn/logits-and-softmax")
			if h := tab.Text("main h1"); !strings.Contains(h, "all at once") {
				t.Errorf("the lesson has the heading %q, want it to contain %q", h, "all at once")
			}

			follow(`main a[href="/practice/shift"]`, "/practice/shift")
			place("/practice")
			follow(`main a[href^="/practice/softmax"]`, "/practice/softmax")
			tab.Wait("a drill", `document.querySelector('#drill [name="softmax.exp.0"]')`)
			// Enter e⁴ and e³ for the first two logits, and a wrong value for the third.
			for _, a := range []struct{ cell, typed, state string }{
				{"0", "54.598", "right"}, {"1", "20.086", "right"}, {"2", "9", "wrong"},
			} {
				field := `#drill [name="softmax.exp.` + a.cell + `"]`
				hands.Fill(field, a.typed)
				tab.Keys(browser.Enter)
				tab.Wait("the verdict "+a.state, `document.querySelector('`+field+`').dataset.state === "`+a.state+`"`)
			}

			place("/loop")
			hands.Press(`.view [value="numbers"]`)
			tab.Wait("a live page in Numbers", `document.body?.dataset.view === "numbers" && `+
				`document.querySelector("[data-live]")?.textContent.includes("live")`)
			hands.Fill("#prompt", storyPrompt)
			hands.Press(`#prompt-form button[type="submit"]`)
			for stage := 1; stage <= 6; stage++ {
				waitStage(tab, stage)
				tab.Keys(browser.ArrowRight)
			}
			waitStage(tab, 7)
			tab.Wait("a token in the text", `document.querySelectorAll("#strip-gen > *").length === 1`)
		})
	}
}
