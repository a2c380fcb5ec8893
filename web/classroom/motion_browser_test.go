package classroom_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/browser"
)

// watch notes what moves, and slows it down until it is looked at.
const watch = `
	const animate = Element.prototype.animate;
	window.moved = {};
	Element.prototype.animate = function (...how) {
		const one = animate.apply(this, how);
		queueMicrotask(() => {
			moved[one.id] = true;
			if (one.id === "carry-sample") one.updatePlaybackRate(.001);
		});
		return one;
	};
	window.carried = () => document.getAnimations().filter(a => a.id === "carry-sample" && a.playState === "running")`

// TestStagesMoveIntoEachOther: on the wall and the phones each stage moves what the one
// before it ended with, as in the loop. The winner is not named before the marker has
// fallen, nor beside the stage, and a key ends the movement.
func TestStagesMoveIntoEachOther(t *testing.T) {
	t.Parallel()
	base := serveStory(t)
	desk := browser.Open(t, browser.Laptop, base+"/join")
	room := classroomTab(t, desk, base)
	drive(desk, room, "start", "prompt", "Once upon a time there was a")
	screens := map[string]*browser.Tab{
		"wall":  browser.Open(t, browser.Screen{Width: 1440, Height: 900, Motion: true}, room+"/projector"),
		"phone": browser.Open(t, browser.Screen{Width: 390, Height: 844, Touch: true, Motion: true}, room),
	}
	for name, tab := range screens {
		tab.Wait("stage 1 on the "+name, `document.querySelector("#panel.story--1")`)
		tab.Eval(watch)
	}
	for _, stage := range []string{"logits", "softmax", "filter"} {
		drive(desk, room, "forward")
		for name, tab := range screens {
			tab.Wait(stage+" moves on the "+name, `moved["carry-`+stage+`"]`)
		}
	}
	drive(desk, room, "forward", "withhold", "true")
	for name, tab := range screens {
		tab.Wait("the line waits on the "+name, `document.querySelector(".laid.is-open")`)
		tab.Wait("bars tip over on the "+name, `moved["carry-sample"] && carried().length > 0`)
		tab.Keys("x")
		tab.Wait("they lie on the "+name, `carried().length === 0`)
	}
	drive(desk, room, "forward", "withhold", "true")
	for name, tab := range screens {
		tab.Wait("the marker falls on the "+name, `document.querySelector(".is-falling .laid__drop")`)
		tab.Shot("falling-" + name + ".png")
		if told := browser.Value[string](tab, `[...document.querySelectorAll(".laid__at, .say, .story__foot")]`+
			`.filter(e => getComputedStyle(e).opacity !== "0").map(e => e.textContent.trim()).join("|")`); told != "" {
			t.Errorf("while it falls the %s says %q", name, told)
		}
		if n := browser.Value[int](tab, `new Set([...document.querySelectorAll(".laid__box:not(.is-rest)")]`+
			`.map(e => getComputedStyle(e)).filter(s => s.visibility !== "hidden").map(s => s.fill)).size`); n > 1 {
			t.Errorf("while it falls a piece stands out on the %s", name)
		}
		tab.Keys("x")
		tab.Wait("it has landed on the "+name, `!document.querySelector(".is-falling") && carried().length === 0`)
		tab.Shot("landed-" + name + ".png")
	}
	drive(desk, room, "forward")
	for name, tab := range screens {
		tab.Wait("the token flies on the "+name, `moved["carry-append"]`)
	}
}
