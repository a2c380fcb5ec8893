package practice_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

// TestCardsByKeyboard: cards can be turned and graded with keys. A card graded as good is due again
// after its interval has passed on the test's clock.
func TestCardsByKeyboard(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	clock := &webtest.Clock{}
	url, cards := webtest.Serve(t, webtest.Options{Clock: clock}), webtest.Course(t).Cards
	tab := browser.Open(t, browser.Laptop, url+"/cards")
	all := len(cards)
	counts := func(due, fresh, later int) {
		t.Helper()
		tab.Wait(fmt.Sprintf("%d due, %d new, %d later", due, fresh, later), fmt.Sprintf(
			`[...document.querySelectorAll(".counts dd")].map((e) => e.innerText).join() === "%d,%d,%d"`, due,
			fresh, later))
	}
	counts(0, all, 0)
	tab.Keys("3") // must be ignored before the card is turned
	if browser.Value[bool](tab, `document.querySelector("form[aria-busy]") !== null || `+
		`document.querySelector(".deck__said").innerText !== ""`) {
		t.Error("a card was graded before it was turned")
	}
	counts(0, all, 0)
	tab.Keys(" ")
	tab.Wait("the back", `document.querySelector("[data-turn]").open`)
	tab.Keys("3")
	counts(0, all-1, 1)
	tab.WaitText(".deck__said", "Saved: good. This card comes back in 10 min.")
	tab.Keys(" 4")
	counts(0, all-2, 2)
	clock.Ahead(tab, 10*time.Minute)
	tab.Reload()
	counts(1, all-2, 1)
	if got := tab.Attr("#deck", "data-card"); got != cards[0].ID {
		t.Errorf("the due card is %s, want %s", got, cards[0].ID)
	}
	tab.Keys(" 3")
	counts(0, all-2, 2)
	clock.Ahead(tab, 60*24*time.Hour)
	tab.Reload()
	counts(2, all-2, 0)
}

// TestCardByHash: the address in a search result, which has the card's id as its fragment, opens
// that card.
func TestCardByHash(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, course := serve(t)
	want := course.Cards[4].ID
	tab := browser.Open(t, browser.Laptop, url+"/cards#"+want)
	tab.Wait("that card", fmt.Sprintf(`document.querySelector("#deck")?.dataset.card === %q`, want))
}

// TestCardsByTouch: a card can be turned and graded by touch.
func TestCardsByTouch(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	tab := browser.Open(t, browser.Phone, url+"/cards")
	hands := browser.Touch(tab)
	hands.Press(".fcard__turn summary")
	hands.Press(`.grade[value="easy"]`)
	tab.Wait("the saved review", `document.querySelector(".deck__said").innerText.startsWith("Saved: easy")`)
}

// TestCardsOnPaper: the printout of separate cards has one card per page, and the printout for
// folding has several.
func TestCardsOnPaper(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, course := serve(t)
	for _, dark := range []bool{false, true} {
		screen := browser.Laptop
		screen.Dark = dark
		tab := browser.Open(t, screen, url+"/cards/print")
		pdf := tab.PDF()
		if n := browser.Pages(pdf); n != len(course.Cards) {
			t.Errorf("dark %v: got %d pages, want %d, one for each card", dark, n, len(course.Cards))
		}
		tab.Keep(fmt.Sprintf("cards-dark-%v.pdf", dark), pdf)
	}
	if wide := browser.Value[[]string](
		browser.Open(t, browser.Laptop, url+"/cards/print"),
		`[...document.querySelectorAll(".pcard")].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.id)`,
	); len(wide) > 0 {
		t.Errorf("cards wider than their page: got %v, want 0 elements", wide)
	}
	tab := browser.Open(t, browser.Laptop, url+"/cards/fold")
	pdf := tab.PDF()
	tab.Keep("cards-fold.pdf", pdf)
	// A strip is at least 44 mm high and a page has 277 mm, so a page has at most 6 strips.
	if n := browser.Pages(pdf); n < (len(course.Cards)+5)/6 || n > len(course.Cards)/2 {
		t.Errorf(
			"to fold: got %d pages for %d cards; want at least %d and at most %d", n, len(course.Cards),
			(len(course.Cards)+5)/6, len(course.Cards)/2,
		)
	}
}

// TestPredictByKeyboard: a digit selects a candidate, Enter reveals the answer, and N continues.
func TestPredictByKeyboard(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	tab := browser.Open(t, browser.Laptop, url+"/predict?start=story")
	for n := 1; n <= 2; n++ {
		tab.WaitText(".guess__title small", fmt.Sprintf("token %d", n))
		browser.Keyboard(tab).Slide("#sure", 70)
		tab.Keys("2")
		tab.Wait("the second", `document.querySelector("#pick-2").checked`)
		tab.Keys(browser.Enter)
		tab.Wait("the revealed token", `document.activeElement?.id === "reveal"`)
		tab.FullShot(fmt.Sprintf("reveal-%d.png", n))
		tab.Wait("a saved guess", fmt.Sprintf(`document.querySelector(".cal__say").innerText.includes("%d guess")`, n))
		tab.Keys("n")
	}
}

// TestRevealAccessible: axe-core reports no problems on the page that reveals the next token.
func TestRevealAccessible(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	tab := browser.Open(t, browser.Laptop, url+"/predict?start=story&n=2")
	hands := browser.Mouse(tab)
	hands.Press("#pick-1")
	hands.Press(".guess__act button")
	tab.Wait("the revealed token", `document.querySelector("#reveal")`)
	tab.Audit("the reveal")
	tab.FullShot("reveal.png")
}
