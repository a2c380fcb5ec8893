package learn_test

import (
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// TestLearnIsAccessible: axe-core reports no problems on the pages of Learn, and no page is wider
// than its window.
// Promise: axe-core finds nothing on the lessons (WCAG 2.2 AA).
func TestLearnIsAccessible(t *testing.T) {
	t.Parallel()
	url, course := serve(t)
	paths := []string{"/?seed=3&n=6", "/learn", "/reference", "/glossary", "/search?q=temperature"}
	if fixture.LongTier() {
		paths = append(paths, "/learn/none")
	}
	for _, l := range course.Lessons {
		if l.Slug == "temperature" || fixture.LongTier() && (l.Slug == "the-loop" || l.Slug == "speculative-decoding") {
			paths = append(paths, l.Href())
		}
	}
	tab := browser.Open(t, browser.Laptop, url)
	for _, path := range paths {
		tab.Go(url + path)
		tab.Audit(path)
	}
	tab.Faults() // expected: the status of the missing page
}

// TestAnswersAreAccessible: axe-core reports no problems on a question that is being answered.
func TestAnswersAreAccessible(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, course := serve(t)
	tab := browser.Open(t, browser.Laptop, url+course.Lesson("the-loop").Href())
	hands := browser.Mouse(tab)
	hands.Press(".check--choice .choice:nth-of-type(1) label")
	hands.Press(".check--choice button")
	tab.Wait("a verdict", `document.querySelector(".check--choice .choice__why")`)
	tab.Type(".check--recall textarea", "forward, logits")
	hands.Press(".check--recall button")
	tab.Wait("the answer", `document.querySelector(".check__answer")`)
	tab.Audit("answers")
	tab.FullShot("answers.png")
}

// TestLearnReflows: at 320 px, a laptop's window at 400% zoom, nothing scrolls sideways.
// Promise: At 320 px, a laptop at 400%, no lesson scrolls sideways.
func TestLearnReflows(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, course := serve(t)
	const width = 320
	tab := browser.Open(t, browser.Screen{Width: width, Height: 800, Touch: true}, url)
	paths := []string{"/?seed=3&n=6", "/learn", "/reference", "/glossary", "/search?q=temperature"}
	for _, l := range course.Lessons {
		paths = append(paths, l.Href())
	}
	for _, path := range paths {
		tab.Go(url + path)
		if wide := browser.Value[int](tab, `document.documentElement.scrollWidth`); wide > width {
			t.Errorf("%s: got %d px wide, want at most %d", path, wide, width)
		}
	}
}
