package learn_test

import (
	"fmt"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/shell"
)

// turnIn opens the lesson with the experiment that steps through the loop, slows down its
// animations, and returns the experiment's selector.
func turnIn(t *testing.T, view shell.View) (*browser.Tab, string) {
	t.Helper()
	url, course := serveIn(t, view)
	for l, w := range course.Experiments() {
		if w.Kind == lessons.WidgetTurn {
			tab := browser.Open(t, browser.Screen{Width: 1366, Height: 657, Motion: true}, url+l.Href())
			noIdea(tab, browser.Mouse(tab), w)
			tab.SlowMotion()
			return tab, "#" + w.ID
		}
	}
	t.Fatal("no lesson walks through the loop")
	return nil, ""
}

// TestExperimentMotion: in a lesson, each stage animates the result of the previous stage, as in
// the Loop. Moving to the next stage or pressing a key ends the animation early, and no part of it
// remains on the page. The winner is not named before the marker has fallen. Going back starts no
// animation. With VIZ_SHOTS, five frames of each animation are saved.
func TestExperimentMotion(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	const left = `document.querySelector(".carried, .is-falling, .trimline, .bar--slice")`
	for view, moved := range map[shell.View][]string{
		shell.Story:   {"logits", "softmax", "filter", "sample", "append"},
		shell.Numbers: {"softmax", "filter", "append"},
	} {
		t.Run(string(view), func(t *testing.T) {
			t.Parallel()
			tab, figure := turnIn(t, view)
			hands := browser.Mouse(tab)
			at := 1
			next := func() {
				t.Helper()
				hands.Press(figure + " .w__steps [data-next]")
				at++
				tab.Wait("the next stage", fmt.Sprintf(
					`document.querySelector(%q + " input[name=at][type=hidden]").value === "%d"`, figure, at))
			}
			stages := []string{"", "", "logits", "softmax", "filter", "sample", "append", "cache"}
			for at < len(stages)-1 {
				next()
				name := stages[at]
				moves := false
				for _, m := range moved {
					moves = moves || m == name
				}
				if !moves {
					continue
				}
				tab.Moves("carry-" + name)
				tab.Film(fmt.Sprintf("lesson-%s-%s", view, name))
				if name != "sample" {
					continue // the next press ends the animation
				}
				tab.Wait("the winner unnamed", `document.querySelector(".is-falling .laid__drop") &&
					[...document.querySelectorAll(".is-falling :is(.w-stage__say, .laid__at)")]
						.every((e) => !e.checkVisibility({ opacityProperty: true }))`)
				tab.Keys("x") // not a command key
				tab.Wait("the winner named", `!`+left+` &&
					document.querySelector(".w-stage__say").checkVisibility({ opacityProperty: true })`)
			}
			tab.Wait("the end of all animations", `film.moving().length === 0 && !`+left)
			tab.Eval(`film.began.clear()`)
			hands.Press(figure + ` .w__steps button:not([data-next])[value="6"]`)
			tab.Wait("the previous stage", fmt.Sprintf(
				`document.querySelector(%q + " input[name=at][type=hidden]").value === "6"`, figure))
			if n := browser.Value[int](tab, `film.began.size`); n > 0 {
				t.Errorf("going back starts %d animations, want 0", n)
			}
		})
	}
}

// TestExperimentWithReducedMotion: nothing moves for readers who prefer reduced motion. The inputs
// keep their values when the reader switches between the views, which reloads the page.
func TestExperimentWithReducedMotion(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	tab, figure := turnIn(t, shell.Story)
	tab.Screen(browser.Laptop)
	for n := 2; n <= 5; n++ {
		browser.Mouse(tab).Press(figure + " .w__steps [data-next]")
		tab.Wait("the next stage", fmt.Sprintf(
			`document.querySelector(%q + " input[name=at][type=hidden]").value === "%d"`, figure, n))
	}
	if n := browser.Value[int](tab, `film.began.size`); n > 0 {
		t.Errorf("got %d animations, want 0", n)
	}
	tab.Set(figure+` [name="prompt"]`, "The old man")
	tab.Click(figure + ` .view [value="numbers"]`)
	tab.Wait("the text in Numbers", fmt.Sprintf(`((f) => f?.querySelector(".view [value=numbers][aria-pressed=true]") &&
		f.querySelector("[name=prompt]").value === "The old man" &&
		f.querySelector(".w-text")?.textContent.includes("man"))(document.querySelector(%q))`, figure))
}

// TestHomeRevealsNothingEarly: as the home page steps through the stages, it does not show shares
// before stage 3, or the drawn token before stage 5.
func TestHomeRevealsNothingEarly(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	tab := browser.Open(t, browser.Laptop, url+"/?seed=3&n=8")
	tab.Wait("the script", `!document.querySelector("[data-play]").hidden`)
	tab.Eval(`document.querySelector(".turn__nums").open = true`)
	word := browser.Value[string](tab, `document.querySelector(".turn__known").textContent.trim()`)
	for stage := 1; stage <= 5; stage++ {
		tab.Eval(fmt.Sprintf(`document.querySelector("#turn").dataset.stage = %d`, stage))
		const seen = `[...document.querySelectorAll(%q)].some((e) =>
			e.checkVisibility({ visibilityProperty: true, opacityProperty: true }))`
		shares := browser.Value[bool](tab, fmt.Sprintf(seen, "#turn .map__bar rect, #turn .g3, #turn .w-bar rect"))
		drawn := browser.Value[bool](tab, fmt.Sprintf(seen, "#turn .turn__known, #turn .g5"))
		if shares != (stage >= 3) || drawn != (stage >= 5) {
			t.Errorf(
				"at stage %d: shares shown: %t, draw shown: %t; want %t, %t", stage, shares, drawn, stage >= 3,
				stage >= 5,
			)
		}
		standsOut := browser.Value[bool](tab, `(() => {
			const look = (row) => [row, ...row.querySelectorAll("*")].map((e) => getComputedStyle(e))
				.map((s) => [s.color, s.backgroundColor, s.fontWeight, s.boxShadow].join()).join();
			const [pick, ...others] = ["tr.is-pick", "tr:not(.is-pick, .is-cut)"]
				.flatMap((kind) => [...document.querySelectorAll("#turn tbody " + kind)]);
			return others.length > 0 && pick.matches(".is-pick") && look(pick.cells[0]) !== look(others[0].cells[0]);
		})()`)
		if stage < 5 && standsOut {
			t.Errorf("at stage %d a row is highlighted, want none before the draw", stage)
		}
	}
	if word == "" {
		t.Fatal("no word is drawn, so the test checks nothing")
	}
}
