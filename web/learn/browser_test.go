package learn_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/coursework/courseworktest"
)

// checks returns the questions of a lesson in order.
func checks(l *lessons.Lesson) []*lessons.Question {
	var list []*lessons.Question
	for _, s := range l.Sections {
		for _, b := range s.Blocks {
			if c, ok := b.(lessons.Check); ok {
				list = append(list, c.Question)
			}
		}
	}
	return list
}

// TestLessonByEveryHand completes a whole lesson, from the list of lessons to the next lesson, by
// mouse, by keyboard alone and by touch. It first answers every question wrongly. At the end, every
// section must be marked as read.
// Promise: A whole lesson can be done by mouse, by keyboard alone and by touch.
func TestLessonByEveryHand(t *testing.T) {
	t.Parallel()
	url, course := serve(t)
	l := course.Lesson("the-loop")
	browser.Ways(t, func(t *testing.T, screen browser.Screen, with func(*browser.Tab) browser.Hands) {
		tab := browser.Open(t, screen, url+"/learn")
		hands := with(tab)
		hands.Press(`.course h3 a[href="/learn/the-loop"]`)
		tab.WaitText("h1", l.Title)
		readThrough(tab, hands)
		for _, q := range checks(l) {
			courseworktest.Answer(tab, hands, q)
		}
		tab.Wait(
			"every section ticked",
			fmt.Sprintf(`document.querySelectorAll("[data-unit].is-read").length === %d`, len(l.Sections)),
		)
		hands.Press(".pn a:last-child")
		tab.WaitText("h1", course.Lessons[slices.Index(course.Lessons, l)+1].Title)
		tab.Go(url + "/learn")
		if got := tab.Text(`.cl:has([href='/learn/the-loop']) .cl__seen`); got != "read" {
			t.Errorf("the map shows %q, want %q", got, "read")
		}
	})
}

// readThrough scrolls through a page with the mouse wheel (which a script simulates), the Page Down
// key or a finger.
func readThrough(tab *browser.Tab, hands browser.Hands) {
	const end = `scrollY + innerHeight > document.documentElement.scrollHeight - 2`
	for !browser.Value[bool](tab, end) {
		at := browser.Value[float64](tab, "scrollY")
		switch hands.Name() {
		case "keyboard":
			tab.Keys(browser.PageDown)
		case "touch":
			tab.Swipe(400)
			at += 300 // a slow page moves in steps; two swipes at once could take an end past the window
		default:
			tab.Eval(`scrollBy(0, innerHeight / 2)`)
		}
		tab.Wait("the text to move up", fmt.Sprintf(`scrollY > %v || %s`, at, end))
		tab.Wait("a tick for each end in view", `[...document.querySelectorAll("[data-section-end]")].every((e) => {
			const box = e.getBoundingClientRect(), unit = CSS.escape(e.closest("[data-section]").id);
			return box.top < 0 || box.bottom > innerHeight ||
				document.querySelector('[data-unit="' + unit + '"]').classList.contains("is-read");
		})`)
	}
}

// TestReadingIsNoticed: a section counts as read when its end has stayed in view, not before, and not
// when the end only passes by.
func TestReadingIsNoticed(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, course := serve(t)
	l := course.Lesson("the-loop")
	tab := browser.Open(t, browser.Laptop, url+l.Href())
	tab.Wait("the script", `document.querySelector("[data-unit].is-here")`)
	if n := browser.Value[int](tab, `document.querySelectorAll("[data-unit].is-read").length`); n != 0 {
		t.Errorf("%d sections count as read before anything was scrolled, want 0", n)
	}
	// The page's timers for ends in view run when the test calls them.
	tab.Eval(`window.due = new Map();
		const [set, clear] = [window.setTimeout, window.clearTimeout];
		window.setTimeout = (f, ms, ...with_) => {
			if (f.name !== "seen" || ms < 1000) return set(f, ms, ...with_);
			due.set(-1 - due.size, () => f(...with_));
			return -due.size;
		};
		window.clearTimeout = (id) => due.delete(id) || clear(id);`)
	end := fmt.Sprintf(`document.querySelector('[id="%s"] [data-section-end]')`, l.Sections[0].ID)
	tab.Eval(end + `.scrollIntoView({block: "center"})`)
	tab.Wait("the end to come into view", `due.size === 1`)
	tab.Eval(`scrollTo(0, 0)`)
	tab.Wait("the end to pass by", `due.size === 0`)
	tab.Eval(end + `.scrollIntoView({block: "center"})`)
	tab.Wait("the end to come into view again", `due.size === 1`)
	if n := browser.Value[int](tab, `document.querySelectorAll("[data-unit].is-read").length`); n != 0 {
		t.Errorf("%d sections count as read after an end has passed by, want 0", n)
	}
	tab.Eval(`for (const run of due.values()) run()`)
	tab.Wait("a tick", `document.querySelectorAll("[data-unit].is-read").length === 1`)
	tab.Go(url + "/progress")
	if got := tab.Text(".tally dd"); !strings.HasPrefix(got, "1 of ") {
		t.Errorf("the progress is %q, want it to begin with %q", got, "1 of ")
	}
}

// TestReadingIsReportedAgain: if a section could not be reported to the server, it is reported
// together with the next section.
func TestReadingIsReportedAgain(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, course := serve(t)
	l := course.Lesson("the-loop")
	tab := browser.Open(t, browser.Laptop, url+l.Href())
	tab.Wait("the script", `document.querySelector("[data-unit].is-here")`)
	tab.Eval(`const whole = window.fetch;
		window.failed = 0;
		window.fetch = (...request) => {
			window.fetch = whole;
			return Promise.reject(new TypeError("no network")).finally(() => { window.failed++; });
		}`)
	for i, s := range l.Sections[:2] {
		end := fmt.Sprintf(`document.querySelector('[id="%s"] [data-section-end]')`, s.ID)
		tab.Eval(end + `.scrollIntoView({block: "center"})`)
		if i == 0 {
			tab.Wait("a failed report", `window.failed === 1`)
			tab.Eval(`scrollTo(0, 0)`)
		}
	}
	for _, s := range l.Sections[:2] {
		tab.Wait("a tick", fmt.Sprintf(`document.querySelector('[data-unit="%s"].is-read')`, s.ID))
	}
}

// TestReferencePrintsOnOneSheet: the reference prints on exactly one page.
// Promise: The reference prints on one page.
func TestReferencePrintsOnOneSheet(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	for _, dark := range []bool{false, true} {
		screen := browser.Laptop
		screen.Dark = dark
		tab := browser.Open(t, screen, url+"/reference")
		pdf := tab.PDF()
		if n := browser.Pages(pdf); n != 1 {
			t.Errorf("dark %v: got %d pages, want 1", dark, n)
		}
		tab.Keep(fmt.Sprintf("reference-dark-%v.pdf", dark), pdf)
	}
	tab := browser.Open(t, browser.Laptop, url+"/learn/the-loop")
	if n := browser.Pages(tab.PDF()); n < 2 {
		t.Errorf("counted %d pages for a whole lesson, so the count is wrong", n)
	}
}

// TestSearchFromAnyPage: the key "/" opens the search from every page with shortcuts, and results
// appear as the user types.
func TestSearchFromAnyPage(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	tab := browser.Open(t, browser.Laptop, url+"/loop")
	tab.Wait("a live page", `document.querySelector("[data-live]").textContent.includes("live")`)
	for _, path := range []string{"/loop", "/", "/learn/temperature", "/progress"} {
		tab.Go(url + path)
		tab.Wait("the script", `document.querySelector("[data-theme-toggle]").hasAttribute("aria-pressed")`)
		tab.Keys("/")
		tab.Wait("the search", `location.pathname === "/search" && document.activeElement?.id === "q"`)
	}
	tab.Keys("nucleus")
	// The page searches while the user types, so that it may briefly show the results for "nuc".
	// The address shows which query the results are for.
	tab.Wait(
		"the results of the whole word",
		`location.search === "?q=nucleus" && document.querySelector("#results mark")?.textContent.toLowerCase() `+
			`=== "nucleus"`,
	)
	tab.Reload()
	if n := len(tab.Texts("#results li")); n == 0 {
		t.Error("the address does not lead to the results")
	}
	tab.Set("#q", "zzzz")
	tab.Wait(
		"nothing found",
		`document.querySelector(".results__say").textContent.startsWith("Nothing found for “zzzz”")`,
	)
	tab.Go(url + "/learn")
	tab.Keys("?")
	tab.Click("[data-letter-keys]")
	tab.Keys(browser.Escape)
	tab.Keys("/")
	if got := tab.URL(); !strings.HasSuffix(got, "/learn") {
		t.Errorf("with the shortcuts switched off, / leads to %s, want it to end with %q", got, "/learn")
	}
}

// forwardTo returns a proxy that forwards requests to a server.
func forwardTo(t *testing.T, server string) *httputil.ReverseProxy {
	t.Helper()
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		if r.In.Header.Get("Origin") != "" {
			r.Out.Header.Set("Origin", server) // the request has the proxy's own origin
		}
	}}
}

// TestSearchTypedBeforeTheScript: on a slow connection, the field appears before the script that
// handles it. Text typed in the meantime is still searched for.
func TestSearchTypedBeforeTheScript(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	server, _ := serve(t)
	forward := forwardTo(t, server)
	typed := make(chan struct{})
	line := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/static/bundle/shell+learn") {
			<-typed
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(line.Close)
	t.Cleanup(sync.OnceFunc(func() { close(typed) }))
	tab := browser.Open(t, browser.Laptop, line.URL+"/loop")
	tab.Eval(`location.href = "/search"`)
	tab.Wait("the field", `document.activeElement?.id === "q"`)
	tab.Keys("nucleus")
	if n := len(tab.Texts("#results li")); n > 0 {
		t.Fatal("the script was not held back")
	}
	typed <- struct{}{}
	tab.Wait("results", `document.querySelector("#results mark")?.textContent.toLowerCase() === "nucleus"`)
}

// TestPhoneMenu: on a phone, the navigation is in a menu. The menu can be opened and closed, and
// its links can be followed, by touch and by keyboard.
func TestPhoneMenu(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	tab := browser.Open(t, browser.Phone, url+"/learn")
	hands := browser.Touch(tab)
	hands.Press(".top__menu > summary")
	tab.Wait("the menu", `document.querySelector(".top__menu").open`)
	hands.Press(".cl__meta")
	tab.Wait("the menu closed", `!document.querySelector(".top__menu").open`)
	hands.Press(".top__menu > summary")
	tab.Keys(browser.Escape)
	tab.Wait("the menu closed", `!document.querySelector(".top__menu").open`)
	hands.Press(".top__menu > summary")
	hands.Press(".menu__theme button")
	tab.Wait("the dark theme", `document.documentElement.dataset.theme === "dark"`)
	hands.Press(`.top__menu a[href="/search"]`)
	tab.WaitText("h1", "Search")
}
