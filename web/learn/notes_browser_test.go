package learn_test

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// TestTermNoteOpensInPlace: a term's note opens in place, contains the glossary's text, and closes
// with Escape. The reader stays in the lesson.
// Promise: A term is explained where you read it, without leaving the lesson.
func TestTermNoteOpensInPlace(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, course := serve(t)
	const term = `[popovertarget="note-autoregressive"]`
	const note = `document.getElementById("note-autoregressive")`
	browser.EveryWay(t, func(t *testing.T, screen browser.Screen, hands func(*browser.Tab) browser.Hands) {
		tab := browser.Open(t, screen, url+"/learn/the-loop")
		tab.Wait("a closed note", "!"+note+`.matches(":popover-open")`)
		hands(tab).Press(term)
		tab.Wait("the note", note+`.matches(":popover-open")`)
		if got := tab.Text("#note-autoregressive"); !strings.Contains(got, "Reading your own output") {
			t.Errorf("the note is %q, want it to contain %q", got, "Reading your own output")
		}
		tab.Keys(browser.Escape)
		tab.Wait("the note closed", "!"+note+`.matches(":popover-open")`)
		if got := tab.URL(); !strings.HasSuffix(got, "/learn/the-loop") {
			t.Errorf("the reader is at %s, want it to end with %q", got, "/learn/the-loop")
		}
	})
	if course.Term("autoregressive") == nil {
		t.Error("the glossary has no such term")
	}
}

// TestNumbersFoldedAndRemembered: the sections with numbers are folded at first. Once a reader has
// unfolded them, they are still unfolded when the reader returns.
func TestNumbersFoldedAndRemembered(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	tab := browser.Open(t, browser.Laptop, url+"/learn/logits-and-softmax")
	const open = `document.querySelectorAll(".nums[open]").length`
	tab.Wait("all folds to be closed", open+" === 0")
	tab.Click("#softmax .nums > summary")
	tab.Wait("the numbers", `document.querySelector("#softmax .nums").open`)
	tab.Wait("the open fold to be stored", `Object.keys(sessionStorage).some((key) => key.startsWith("folds:"))`)
	tab.Reload()
	tab.Wait("the numbers again", `document.querySelector("#softmax .nums").open && `+open+` === 1`)
	tab.Go(url + "/learn/temperature")
	tab.Wait("closed folds in another lesson", open+" === 0 && document.querySelectorAll('.nums').length > 0")
}

// TestLessonOnPaper: on paper, a lesson has no navigation and no buttons, all sections with numbers
// are unfolded, and no question is split between pages. The lesson is black on white, whichever
// theme the screen has.
func TestLessonOnPaper(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	tab := browser.Open(t, browser.Laptop, url+"/learn/temperature")
	tab.Paper()
	for _, gone := range []string{".top", ".unit", ".read__end", ".check__act", ".widget .btn"} {
		tab.Wait(gone+" gone", `[...document.querySelectorAll("`+gone+`")].every(e => !e.checkVisibility())`)
	}
	tab.Wait("the folded numbers",
		`[...document.querySelectorAll(".nums .prose")].every(e => e.checkVisibility() && `+
			`e.getBoundingClientRect().height > 0)`)
	tab.Wait("whole questions",
		`[...document.querySelectorAll(".check")].every(e => getComputedStyle(e).breakInside === "avoid")`)
	tab.Eval(`document.documentElement.dataset.theme = "dark"`)
	tab.Wait("black text, though the screen is dark",
		`getComputedStyle(document.querySelector("h1")).color === "rgb(0, 0, 0)"`)
	tab.Keep("lesson-temperature.pdf", tab.PDF())
}
