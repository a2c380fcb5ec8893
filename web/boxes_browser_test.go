package web_test

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/webtest"
)

// A mainPage is a page whose layout is measured, with its expected properties.
type mainPage struct {
	path string
	view shell.View // the view of the Loop
	goes string     // selects the page's main control; "" if it can be below the window
	dock bool       // the main control is in view even if the window is short
	fill bool       // in a wide window, the page is as tall as the window
}

// mainPages returns the main pages, with a run that has generated 8 of 64 tokens.
func mainPages(t *testing.T) []mainPage {
	run := session.New(testmodel.Target(t), session.DefaultLimits())
	commands := []session.Command{session.Start{Prompt: "Once upon a time"}}
	for range 8 {
		commands = append(commands, session.StepToken{})
	}
	for _, c := range commands {
		if _, err := run.Apply(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	writing := "/loop?log=" + session.LinkOf(run.State())
	return []mainPage{
		{path: "/loop", view: shell.Story, goes: "#prompt-form .btn--main", fill: true},
		{path: writing, view: shell.Story, goes: "#transport .btn--main", dock: true, fill: true},
		{path: "/loop", view: shell.Numbers, goes: "#prompt-form .btn--main", fill: true},
		{path: writing, view: shell.Numbers, goes: "#transport .btn--main", dock: true, fill: true},
		{path: "/?seed=3&n=6", goes: "main .btn--main"},
		{path: "/first?scene=write", goes: "main .btn--main"},
		{path: "/learn", goes: "main a"},
		{path: "/practice", goes: "main a"},
		{path: "/labs", goes: "main a"},
		{path: "/why", goes: "main button"},
		{path: "/join", goes: "main button"},
		{path: "/learn/tokens"},
		{path: "/practice/softmax"},
		{path: "/labs/cache"},
		{path: "/labs/bill"},
		{path: "/score"},
		{path: "/api"},
		{path: "/teach"},
		{path: "/teach/study"},
	}
}

// boxScreens are phone, tablet and laptop screens, with mouse or touch input, and a laptop's window
// at 200% and 400% zoom.
var boxScreens = []browser.Screen{
	{Width: 320, Height: 640, Touch: true},
	{Width: 360, Height: 740, Touch: true},
	browser.Phone,
	{Width: 844, Height: 390, Touch: true},
	{Width: 1180, Height: 820, Touch: true},
	{Width: 1366, Height: 657, Touch: true},
	{Width: 1440, Height: 900, Touch: true},
	browser.Chromebook, browser.Laptop, browser.Desktop,
	{Width: 683, Height: 328},
	{Width: 341, Height: 164},
}

// boxes returns the width and height of the page and the edges of the first visible control.
const boxes = `((e) => {
	const page = document.documentElement, b = e?.getBoundingClientRect();
	return [page.scrollWidth, page.scrollHeight, ...(e ? [b.left, b.top, b.right, b.bottom] : [])].map(Math.round);
})([...document.querySelectorAll(%q)].find((e) => e.checkVisibility()))`

// stuck returns how many pixels of the window's height are covered by elements that stay in view
// while the page scrolls.
const stuck = `[...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() &&
	getComputedStyle(e).position === "sticky").map((e) => e.getBoundingClientRect())
	.reduce((all, b) => all + Math.max(0, Math.min(b.bottom, innerHeight) - Math.max(b.top, 0)), 0)`

// TestMainPagesFitTheirScreens: no main page scrolls sideways; the main control is in view without
// scrolling; in a wide window, the Loop is exactly as tall as the window. At 1366 × 657, 1440 × 900
// and 1920 × 1080, the cost curve of Numbers is in view. In the shortest window, at least half of
// the height is left for the scrolling content.
func TestMainPagesFitTheirScreens(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url := webtest.Serve(t, webtest.Options{})
	tab := browser.Open(t, browser.Laptop, url+"/loop")
	for _, page := range mainPages(t) {
		if page.view != "" {
			tab.Go(url + "/loop")
			tab.Click(fmt.Sprintf(`[data-view-form] [value=%q]`, page.view))
			pressed := fmt.Sprintf(`document.querySelector('.view [value=%q]')?.ariaPressed === "true"`, page.view)
			tab.Wait("the view", pressed)
		}
		for _, s := range boxScreens {
			tab.Screen(s)
			tab.Go(url + page.path)
			tab.Until(`document.fonts.status === "loaded"`)
			name := fmt.Sprintf("%.12s %s at %d × %d, touch %v", page.path, page.view, s.Width, s.Height, s.Touch)
			got := browser.Value[[]int](tab, fmt.Sprintf(boxes, cmp.Or(page.goes, "none")))
			if got[0] > s.Width {
				t.Errorf("%s is %d px wide, want at most %d", name, got[0], s.Width)
			}
			if wide := s.Width > 1120; page.fill && wide && got[1] > s.Height {
				t.Errorf("%s is %d px tall, want at most %d", name, got[1], s.Height)
			}
			if got := browser.Value[float64](tab, stuck); s.Height < 200 && got > float64(s.Height)/2 {
				t.Errorf("%s: %g px are covered while scrolling, want at most half the window", name, got)
			}
			if low := s.Height < 600; page.goes == "" || low && !page.dock {
				continue
			}
			if e := got[2:]; len(e) == 0 || e[0] < 0 || e[1] < 0 || e[2] > s.Width || e[3] > s.Height {
				t.Errorf("%s: %s is at %v (left, top, right, bottom), want it in view", name, page.goes, e)
			}
			if page.dock && page.view == shell.Numbers && s.Width >= 1366 && !s.Touch {
				const edges = `["#cost-chart svg", ".console"]
					.map((s) => document.querySelector(s).getBoundingClientRect())
					.flatMap((b) => [b.top, b.bottom]).map(Math.round)`
				if e := browser.Value[[]int](tab, edges); e[1] > e[2] {
					t.Errorf("%s: the cost curve ends at %d, want it above the console at %d", name, e[1], e[2])
				}
			}
			tab.Shot(fmt.Sprintf("box-%.5s-%s-%v-%dx%d-%v.png", page.path[1:], page.view, page.dock, s.Width,
				s.Height, s.Touch))
		}
	}
}
