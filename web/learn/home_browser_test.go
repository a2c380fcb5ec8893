package learn_test

import (
	"fmt"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
)

const atStage = `Number(document.querySelector("#turn").dataset.stage)`

// TestHomePlaysTheLoop: the home page's loop steps through the stages automatically, can be paused,
// and continues with the next token.
func TestHomePlaysTheLoop(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	moving := browser.Laptop
	moving.Motion = true
	tab := browser.Open(t, moving, url+"/?seed=3&n=1")
	hands := browser.Mouse(tab)
	tab.Wait("the run", `document.querySelector("[data-play]").textContent.includes("Pause")`)
	tab.Wait("the second stage", atStage+" === 2")
	hands.Press("[data-play]")
	tab.Wait("the pause", `document.querySelector("[data-play]").textContent.includes("Play")`)
	before := browser.Value[int](tab, atStage)
	tab.Eval(`window.waited = 0; setTimeout(() => { window.waited = 1 }, 3000)`) // longer than any stage
	tab.Wait("three seconds", `window.waited`)
	if now := browser.Value[int](tab, atStage); now != before {
		t.Errorf("paused at stage %d, now at %d, want the same", before, now)
	}
	hands.Press("[data-next]")
	tab.Wait("the next token", `document.querySelector("#turn").dataset.n === "2" && `+atStage+` === 5`)
	if n := browser.Value[int](
		tab, `[...document.querySelectorAll(".turn .tok--gen")].filter(e => e.checkVisibility()).length`,
	); n != 1 {
		t.Errorf("at the second draw, there are %d tokens, want 1", n)
	}
	hands.Press("#live-h") // move the focus away from the link, which would handle the space bar itself
	tab.Keys(" ")
	tab.Wait("the loop to play", `document.querySelector("[data-play]").textContent.includes("Pause")`)
	tab.Wait("the third token", `document.querySelector("#turn").dataset.n === "3"`)
	hands.Press(".turn__open")
	tab.Wait("the run in the loop", `document.querySelectorAll("#strip-gen > *").length === 3`)
}

// TestHomeWithReducedMotion: visitors who prefer reduced motion get a still picture, which they can
// step through or play. The page below it does not move, however long the text is. On a short
// laptop screen, the last button and half of the space for the highest bar are in view.
func TestHomeWithReducedMotion(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	tab := browser.Open(t, browser.Phone, url+"/?seed=3&n=1")
	hands := browser.Touch(tab)
	tab.Wait("the script", `!document.querySelector("[data-play]").hidden`)
	if n := browser.Value[int](tab, atStage); n != 5 || tab.Text("[data-play]") != "Play" {
		t.Errorf("got stage %d and the button %q; want 5, %q", n, tab.Text("[data-play]"), "Play")
	}
	hands.Press("[data-next]")
	tab.Wait("the next token", `document.querySelector("#turn").dataset.n === "2"`)
	hands.Press("[data-play]")
	tab.Wait("stage 6", atStage+" === 6")

	const box = `[document.documentElement.scrollHeight,
		Math.round(document.querySelector(".turn__act").getBoundingClientRect().bottom),
		Math.min(...[...document.querySelectorAll("#turn .map__bar svg")].filter((e) => e.checkVisibility())
			.map((e) => Math.round(e.getBoundingClientRect().height)))]`
	for _, s := range []browser.Screen{browser.Phone, browser.Chromebook, browser.Laptop} {
		tab.Screen(s)
		tall := 0
		for _, n := range []int{1, 20, 32} {
			tab.Go(fmt.Sprintf("%s/?seed=3&n=%d", url, n))
			tab.Until(`document.fonts.status === "loaded"`)
			got := browser.Value[[]int](tab, box)
			if tall == 0 {
				tall = got[0]
			}
			if got[0] != tall {
				t.Errorf("%d px wide, at token %d: the page is %d px tall, want %d", s.Width, n, got[0], tall)
			}
			if s == browser.Chromebook && (got[1] > s.Height || got[2] < 40) {
				t.Errorf("at token %d, the buttons end at %d and the bars have %d px; want at most %d, at least 40", n,
					got[1], got[2], s.Height)
			}
			tab.Shot(fmt.Sprintf("home-%d-%d.png", s.Width, n))
		}
	}
}

// TestHomeWritesFirst: the home page shows a turn at which the model is unsure. The text generated
// before that turn appears token by token, and only then does the page step through the turn's
// stages.
func TestHomeWritesFirst(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	moving := browser.Laptop
	moving.Motion = true
	tab := browser.Open(t, moving, url+"/?seed=3&n=8")
	const due = `document.querySelectorAll(".is-due").length`
	tab.Wait("a half-written text", due+` > 0 && `+due+` < 7 && `+atStage+` === 1`)
	tab.Wait("the text", due+` === 0 && document.querySelectorAll(".turn .tok--gen").length === 8`)
	tab.Wait("the next stage", atStage+" > 1")

	tab = browser.Open(t, moving, url+"/?seed=3&n=8")
	tab.Wait("a half-written text", due+` > 0`)
	browser.Mouse(tab).Press("[data-play]")
	tab.Wait("the whole text in a pause", due+` === 0`)
}

// TestHomePromptStartsTheFirstRun: a newcomer who types text on the home page or chooses an opening
// starts a first run with that prompt, by mouse, by keyboard and by touch. Skipping the first run
// opens the text in the Loop. From then on, text from the home page's field also opens in the Loop.
func TestHomePromptStartsTheFirstRun(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	browser.EveryWay(t, func(t *testing.T, screen browser.Screen, hands func(*browser.Tab) browser.Hands) {
		tab := browser.Open(t, screen, url+"/?seed=3&n=1")
		hands(tab).Fill("#begin", "My cat & I saw a")
		hands(tab).Press(".ask .btn")
		tab.Wait("the first run", `location.pathname === "/first" &&
			document.querySelector(".prose")?.textContent.includes("My cat & I saw a")`)
		hands(tab).Press(".fr__ways button")
		tab.Wait("the run in the Loop", `location.pathname === "/loop" &&
			document.querySelector("#strip-row")?.textContent.replace(/[\s·]/g, "").includes("Mycat&Isawa")`)
		tab.Wait("a live page", `document.querySelector("[data-live]").textContent.includes("live")`)
	})
	tab := browser.Open(t, browser.Phone, url+"/?seed=3&n=1")
	browser.Touch(tab).Press(".starters a:last-child")
	tab.Wait("the opening in the first run", `location.pathname === "/first" && document.querySelector(".chips")`)
	browser.Touch(tab).Press(".fr__ways button")
	tab.Wait("the Loop", `location.pathname === "/loop" && document.querySelector("#strip-row")`)
	tab.Go(url + "/?seed=3&n=1")
	browser.Touch(tab).Press(".starters a:last-child")
	tab.Wait("the opening in the Loop", `location.pathname === "/loop" && document.querySelector("#strip-row")`)
}

// TestOpeningsFitTheField: each opening offered on the home page fits completely into the field.
func TestOpeningsFitTheField(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	tab := browser.Open(t, browser.Phone, url+"/?seed=3&n=1")
	tab.Until(`document.fonts.status === "loaded"`)
	for _, screen := range []browser.Screen{browser.Phone, browser.Chromebook} {
		tab.Screen(screen)
		tab.Until(fmt.Sprintf(`innerWidth === %d`, screen.Width))
		for _, o := range session.Openings {
			if o.Kind != session.Tale {
				continue
			}
			tab.Eval(fmt.Sprintf(`document.getElementById("begin").value = %q`, o.Text))
			if over := browser.Value[int](tab, `document.getElementById("begin").scrollWidth -
				document.getElementById("begin").clientWidth`); over > 0 {
				t.Errorf("%d px wide: %q is %d px wider than the field", screen.Width, o.Text, over)
			}
		}
	}
}

// TestHomeIsShort: a new visitor's home page has few words.
func TestHomeIsShort(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	tab := browser.Open(t, browser.Laptop, url+"/?seed=3")
	tab.Wait("the page", `document.readyState === "complete"`)
	n := browser.Value[int](tab, `[...document.body.innerText.matchAll(/\S+/g)].length`)
	t.Logf("%d words", n)
	if n > 340 {
		t.Errorf("%d words, want at most 340", n)
	}
}

// TestFirstPageIsLight: the home page and everything it loads amount to at most 150 KB in eight
// files as transferred, and nothing comes from other servers.
// Promise: The first page loads at most 150 KB, all of it from the server.
func TestFirstPageIsLight(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	tab := browser.Open(t, browser.Laptop, url+"/?seed=3&n=1")
	tab.Wait("everything loaded", `document.readyState === "complete" && document.fonts.status === "loaded"`)
	type sum struct{ Bytes, Files, Foreign int }
	got := browser.Value[sum](tab, `(() => {
		const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
		return {bytes: all.reduce((n, e) => n + e.transferSize, 0), files: all.length,
			foreign: all.filter((e) => new URL(e.name).origin !== location.origin).length};
	})()`)
	t.Logf("%d bytes in %d files", got.Bytes, got.Files)
	if got.Bytes > 150_000 || got.Files < 4 || got.Files > 8 || got.Foreign != 0 {
		t.Errorf(
			"got %d bytes in %d files, %d of them from other servers; want at most 150_000, 4 to 8, 0",
			got.Bytes, got.Files, got.Foreign,
		)
	}
}
