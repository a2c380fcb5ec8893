package web_test

import (
	"fmt"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

// printed maps the pages that people print to selectors that their printouts must match.
var printed = map[string]string{
	"/learn/kv-cache":    ".check",
	"/learn":             "h1",
	"/quiz":              ".check",
	"/practice/five":     ".sheet .ans",
	"/practice/softmax":  ".sheet .ans",
	"/practice/kv-bytes": ".sheet .ans",
	"/practice/stops":    ".sheet",
	"/assigned?do=practice%2Ffive&do=learn%2Ftokens": ".tasks--do a",
	"/then-and-now":              "h1",
	"/progress":                  ".cl",
	"/cards":                     ".fcard",
	"/cards/fold":                ".pcard",
	"/reference":                 ".onesheet",
	"/glossary":                  "h1",
	"/score?text=A+xylophone+is": ".surp__tk",
	"/practice/five/sheet":       ".wbox",
	"/teach/study":               ".consent",
}

// sheets maps pages for a class to the number of A4 pages that they print on.
var sheets = map[string]int{
	"/teach/plan/kv-cache":                                  1, // the plan with the most text
	"/teach/plan/temperature":                               1,
	"/teach/study":                                          2, // the guide, and the consent text
	"/teach/study/sheet?n=3":                                3,
	"/practice/attention/sheet":                             1,
	"/quiz/sheet?lesson=kv-cache":                           1,
	"/quiz/sheet?lesson=the-loop":                           1, // the lesson with the most lines to write on
	"/practice/five/sheet?solution=1":                       2,
	"/practice/softmax/sheet?level=3&seed=5&solution=1":     2, // the drill with the most boxes
	"/practice/speculation/sheet?level=3&seed=5&solution=1": 2,
	"/practice/multiply-adds/sheet?solution=1":              2, // the drill with the longest units
	"/practice/kv-bytes/sheet?level=3&seed=7&solution=1":    2,
}

// between is the space between the margins of an A4 page in CSS pixels, of which 96 are an inch:
// (210 − 2·12) mm · 96/25.4 = 703 wide, (297 − 2·10) mm · 96/25.4 = 1047 high.
var between = browser.Screen{Width: 703, Height: 1047}

// cutOff returns the steps whose tables are wider than the page or column that they print on.
const cutOff = `[...document.querySelectorAll(".handout, .wstep, .pstep")]
	.filter((e) => e.scrollWidth > e.clientWidth + 1)
	.map((e) => e.textContent.trim().slice(0, 30) + ": " + e.scrollWidth + " > " + e.clientWidth)`

// unlabeled returns the tables of expected answers whose headers are not printed, and the lists of points
// without a label.
const unlabeled = `[...document.querySelectorAll(".psay")]
	.filter((e) => !(e.tHead ?? e.previousElementSibling).checkVisibility())
	.map((e) => e.textContent.trim().slice(0, 30))`

// pressable selects the visible elements that are useless on paper because they can only be
// pressed. It does not select terms with a note, since they are words in a sentence, or the fronts
// of cards, which are summaries of details elements.
const pressable = `[...document.querySelectorAll(
	'button:not(.term), .btn, select, input[type=submit], input[type=file], .goon, .levels, .dsteps, .top, .unit, .pn')]
	.filter(e => e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length > 0)
	.map(e => e.className + ": " + e.textContent.trim().slice(0, 30))`

// faint returns the text that would be illegible on white paper because its contrast is below 3:1.
// Backgrounds are not printed.
const faint = `[...document.querySelectorAll("body *")].filter((e) => {
	if (e.closest("svg, [hidden], .sr") || !e.checkVisibility({ visibilityProperty: true })) return false;
	if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) return false;
	const [r, g, b, alpha] = getComputedStyle(e).color.match(/[\d.]+/g).map(Number);
	const [red, green, blue] = [r, g, b].map((x) => (x <= 10 ? x / 3294.6 : ((x / 255 + .055) / 1.055) ** 2.4));
	return alpha !== 0 && 1.05 / (.2126 * red + .7152 * green + .0722 * blue + .05) < 3;
}).map((e) => e.className + ": " + e.textContent.trim().slice(0, 30))`

// marked lists pairs of elements that must look different. The first of each pair is marked, for
// example as selected or current.
var marked = map[string][][2]string{
	"/loop": {{`.view [aria-pressed="true"]`, `.view [aria-pressed="false"]`}},
	"/score?text=The+capital+of+France+is+Paris.+Xylophone": {
		{`.surp__tk:is(.s3, .s4) b`, `.surp__tk:is(.s0, .s1) b`},
	},
	"/practice/softmax": {{`.levels [aria-current]`, `.levels :not([aria-current])`}},
}

// looks returns an element's appearance without the colors that a contrast theme replaces.
const looks = `((e) => ((s) => [s.backgroundColor, s.color, s.outlineStyle, s.outlineWidth, s.borderBottomWidth,
	s.borderBottomStyle, s.fontWeight, s.textDecorationLine].join(" "))(getComputedStyle(e)))(
	document.querySelector(%q))`

// TestPagesOnPaperAndInForcedColors: printed pages show their text, their questions and the tables
// to fill in, black on white, without buttons, menus or bars, and no question is split between two
// pages. Text is dark, since backgrounds are not printed. If the browser forces colors, selected
// elements still differ from the others, and sliders have the browser's own look. A plan prints on
// one page with its labels, and a worksheet on one, or two with its solution; no table is cut off.
// Promise: Lessons, questions and drills print black on white; no question is split between two pages.
func TestPagesOnPaperAndInForcedColors(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url := webtest.Serve(t, webtest.Options{})
	tab := browser.Open(t, browser.Screen{Width: 1366, Height: 657, Dark: true}, url)
	for path, holds := range printed {
		tab.Go(url + path)
		tab.Paper()
		if !browser.Value[bool](tab, `!!document.querySelector("`+holds+`")?.checkVisibility()`) {
			t.Errorf("%s: %s is not printed", path, holds)
		}
		if got := browser.Value[[]string](tab, pressable); len(got) > 0 {
			t.Errorf("%s prints %q, want none of these elements", path, got)
		}
		if got := browser.Value[int](tab, `[...document.querySelectorAll(".check, .quiz__list > li, .sheet")]
			.filter(e => e.checkVisibility() && getComputedStyle(e).breakInside !== "avoid").length`); got > 0 {
			t.Errorf("%s: %d questions can be split between two pages, want 0", path, got)
		}
		tab.Wait("black text on "+path, `getComputedStyle(document.querySelector("h1")).color === "rgb(0, 0, 0)"`)
		if got := browser.Value[[]string](tab, faint); len(got) > 0 {
			t.Errorf("%s prints %q on white, want dark text", path, got)
		}
	}
	for path, want := range sheets {
		tab.Screen(between)
		tab.Go(url + path)
		tab.Paper()
		if got := browser.Value[[]string](tab, cutOff); len(got) > 0 {
			t.Errorf("%s cuts off %q in print, want no step wider than its column", path, got)
		}
		if got := browser.Value[[]string](tab, unlabeled); len(got) > 0 {
			t.Errorf("%s does not print the labels of %q", path, got)
		}
		if got := browser.Pages(tab.PDF()); got != want {
			t.Errorf("%s prints on %d pages, want %d", path, got, want)
		}
	}
	tab.Screen(browser.Screen{Width: 1366, Height: 657, Forced: true})
	for path, pairs := range marked {
		tab.Go(url + path)
		for _, pair := range pairs {
			one := browser.Value[string](tab, fmt.Sprintf(looks, pair[0]))
			if other := browser.Value[string](tab, fmt.Sprintf(looks, pair[1])); one == other {
				t.Errorf("%s in forced colors: %s and %s both look like %q", path, pair[0], pair[1], one)
			}
		}
	}
	tab.Go(url + "/learn/temperature")
	const slider = `getComputedStyle(document.querySelector("input[type=range]")).appearance`
	if got := browser.Value[string](tab, slider); got != "auto" {
		t.Errorf("a slider in forced colors has the appearance %q, want %q", got, "auto")
	}
}
