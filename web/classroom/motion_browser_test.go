package classroom_test

import (
	"fmt"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// classOn opens a class whose run has begun, with a wall and a phone whose animations are
// slowed down.
func classOn(t *testing.T, base string) (presenter *browser.Tab, room string, screens map[string]*browser.Tab) {
	t.Helper()
	presenter = browser.Open(t, browser.Laptop, base+"/join")
	room = classroomTab(t, presenter, base)
	drive(presenter, room, "start", "prompt", "Once upon a time there was a")
	screens = map[string]*browser.Tab{
		"wall":  browser.Open(t, browser.Screen{Width: 1440, Height: 900, Motion: true}, room+"/projector"),
		"phone": browser.Open(t, browser.Screen{Width: 390, Height: 844, Touch: true, Motion: true}, room),
	}
	for name, tab := range screens {
		tab.Wait("stage 1 on the "+name, `document.querySelector("#panel") !== null`)
		tab.SlowMotion()
	}
	says(screens["wall"], "#cl-who", "1 here") // wait until both are connected
	return presenter, room, screens
}

// still is a script that reports whether nothing is moving and no temporary element is left.
const still = `film.moving().length === 0 && !document.querySelector(".carried, .is-falling, .trimline, .bar--slice")`

// TestStageMotionOnWallAndPhones: on the wall and the phones, each stage animates the result
// of the previous one, as in the Loop, and a new stage ends animations in progress. The
// winner is not named before the marker has landed, not even outside the stage, and pressing
// a key ends the fall early. If VIZ_SHOTS is set, the test saves five frames of each
// animation.
func TestStageMotionOnWallAndPhones(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	for view, serves := range map[string]func(*testing.T) string{"story": serveStory, "numbers": serve} {
		t.Run(view, func(t *testing.T) {
			t.Parallel()
			presenter, room, screens := classOn(t, serves(t))
			moves := func(stage string, more ...string) {
				t.Helper()
				drive(presenter, room, "forward", more...)
				for name, tab := range screens {
					tab.Moves("carry-" + stage)
					tab.Wait("nothing else to move on the "+name,
						fmt.Sprintf(`film.moving().every((a) => a.id === "carry-%s")`, stage))
					tab.Film("class-" + view + "-" + name + "-" + stage)
				}
			}
			moves("logits")
			moves("softmax")
			moves("filter")
			moves("sample", "withhold", "true")
			for name, tab := range screens {
				tab.Wait("the line waits on the "+name, `document.querySelector(".laid.is-open, [data-undrawn]")`)
				tab.Keys("x") // this key is not a command
				tab.Wait("the bars lie on the "+name, still)
			}
			drive(presenter, room, "forward", "withhold", "true")
			for name, tab := range screens {
				tab.Wait("the marker falls on the "+name, `document.querySelector(".is-falling")`)
				tab.Film("class-" + view + "-" + name + "-fall")
				saysNothing(tab, name)
				tab.Keys("x")
				tab.Wait("it has landed on the "+name, still)
				if told := seenOf(tab); told == "" {
					t.Errorf("after the fall, the %s shows no text", name)
				}
			}
			moves("append")
			drive(presenter, room, "forward")
			if wall := screens["wall"]; view == "story" { // the wall has a map only in this view
				wall.Moves("carry-cache")
				wall.Film("class-story-wall-cache")
			}
		})
	}
}

// seenOf returns the text about a draw that is visible on a screen.
func seenOf(tab *browser.Tab) string {
	return browser.Value[string](tab, `[...document.querySelectorAll(".laid__at, .say, .story__foot, .verdict, `+
		`.mark:not(.mark--what) text, .panel__head p, .tok--next.is-known > span, .bigstage__say")]`+
		`.filter(e => e.checkVisibility({ opacityProperty: true })).map(e => e.textContent.trim()).join("")`)
}

// saysNothing fails the test if a screen names the winner or highlights a segment.
func saysNothing(tab *browser.Tab, name string) {
	if told := seenOf(tab); told != "" {
		tab.Fail("during the fall, the %s shows %q", name, told)
	}
	const standsOut = `(() => {
		const probe = document.body.appendChild(document.createElement("i"));
		probe.style.color = "var(--accent)";
		const accent = getComputedStyle(probe).color;
		probe.remove();
		return [...document.querySelectorAll(".laid__box, .seg__box, .lane")]
			.map((e) => getComputedStyle(e)).some((s) => s.visibility !== "hidden" && s.fill === accent);
	})()`
	if browser.Value[bool](tab, standsOut) {
		tab.Fail("during the fall, a piece is highlighted on the %s", name)
	}
}

// TestMessagesWaitForTheMarker: messages that a screen gets while the marker falls are
// handled once it has landed. The winner is not named early, and no message is lost.
func TestMessagesWaitForTheMarker(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	presenter, room, screens := classOn(t, serveStory(t))
	for range 3 {
		drive(presenter, room, "forward")
	}
	drive(presenter, room, "forward", "withhold", "true")
	for name, tab := range screens {
		tab.Wait("the line waits on the "+name, `document.querySelector(".laid.is-open")`)
	}
	drive(presenter, room, "forward", "withhold", "true")
	for name, tab := range screens {
		tab.Wait("the marker falls on the "+name, `document.querySelector(".is-falling")`)
		tab.Eval(`film.at(350)`)
		tab.Eval(`
			const { id, outerHTML } = document.querySelector("#cl-body, #cl-stage");
			const quiet = outerHTML.replace(" is-falling", "").replace(' aria-busy="true"', "");
			const html = quiet.replace('<p class="say">', '<p class="new">A later message.</p><p class="say">');
			const data = Object.getOwnPropertyDescriptor(MessageEvent.prototype, "data").get;
			Object.defineProperty(MessageEvent.prototype, "data", { configurable: true, get() {
				const message = JSON.parse(data.call(this));
				const piece = message.data?.seq && message.panels.find((panel) => panel.id === id);
				if (piece) {
					piece.html = html;
					window.sent = true;
				}
				return JSON.stringify(message);
			} })`)
		browser.Open(t, browser.Phone, room) // another phone joins, and all screens are notified
		tab.Wait("a message to the "+name, `window.sent`)
		if told := seenOf(tab); told != "" || browser.Value[bool](tab, `!document.querySelector(".is-falling")`) {
			t.Errorf(
				"after a message during the fall, the %s shows %q, want nothing until the marker lands", name, told,
			)
		}
		tab.Keys("x")
		tab.Wait("it has landed on the "+name, still)
		tab.Wait("the message on the "+name, `document.querySelector(".new")`)
	}
}
