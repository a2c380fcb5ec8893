package web_test

import (
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

// printed are pages that people put on paper, each with what must be on it.
var printed = map[string]string{
	"/learn/kv-cache":    ".check",
	"/learn":             "h1",
	"/quiz":              ".check",
	"/practice/five":     ".sheet .ans",
	"/practice/softmax":  ".sheet .ans",
	"/practice/kv-bytes": ".sheet .ans",
	"/practice/stops":    ".sheet",
	"/assigned?do=practice%2Ffive&do=learn%2Ftokens": ".tasks--do a",
	"/then-and-now": "h1",
	"/progress":     ".cl",
	"/cards":        ".fcard",
	"/cards/fold":   ".pcard",
	"/reference":    ".onesheet",
	"/glossary":     "h1",
}

// pressable are the things that are shown and can only be pressed. Terms with a note are
// words of their sentence, and a card's front is the summary of its fold.
const pressable = `[...document.querySelectorAll(
	'button:not(.term), .btn, select, input[type=submit], input[type=file], .goon, .levels, .dsteps, .top, .unit, .pn')]
	.filter(e => e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length > 0)
	.map(e => e.className + ": " + e.textContent.trim().slice(0, 30))`

// TestPrintedPagesHaveNoControls: pages print their text, questions and tables to fill in, black
// on white, and no button, menu or bar; a question is never cut by the end of a page.
func TestPrintedPagesHaveNoControls(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url := webtest.Serve(t, webtest.Options{})
	tab := browser.Open(t, browser.Screen{Width: 1366, Height: 657, Dark: true}, url)
	for path, holds := range printed {
		tab.Go(url + path)
		tab.Paper()
		if !browser.Value[bool](tab, `!!document.querySelector("`+holds+`")?.checkVisibility()`) {
			t.Errorf("%s: nothing of %s is printed", path, holds)
		}
		if got := browser.Value[[]string](tab, pressable); len(got) > 0 {
			t.Errorf("%s prints %q, want 0 elements", path, got)
		}
		if got := browser.Value[int](tab, `[...document.querySelectorAll(".check, .quiz__list > li, .sheet")]
			.filter(e => getComputedStyle(e).breakInside !== "avoid").length`); got > 0 {
			t.Errorf("%s: %d questions may be cut by the end of a page, want 0", path, got)
		}
		tab.Wait("black text on "+path, `getComputedStyle(document.querySelector("h1")).color === "rgb(0, 0, 0)"`)
	}
}
