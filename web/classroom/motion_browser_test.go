package classroom_test

import (
	"fmt"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// classOn is a class whose run has begun, on a wall and a phone in slow motion.
func classOn(t *testing.T, base string) (desk *browser.Tab, room string, screens map[string]*browser.Tab) {
	t.Helper()
	desk = browser.Open(t, browser.Laptop, base+"/join")
	room = classroomTab(t, desk, base)
	drive(desk, room, "start", "prompt", "Once upon a time there was a")
	screens = map[string]*browser.Tab{
		"wall":  browser.Open(t, browser.Screen{Width: 1440, Height: 900, Motion: true}, room+"/projector"),
		"phone": browser.Open(t, browser.Screen{Width: 390, Height: 844, Touch: true, Motion: true}, room),
	}
	for name, tab := range screens {
		tab.Wait("stage 1 on the "+name, `document.querySelector("#panel") !== null`)
		tab.SlowMotion()
	}
	says(screens["wall"], "#cl-who", "1 here") // so both are connected
	return desk, room, screens
}

// still is true once nothing moves and nothing is left of what moved.
const still = `film.moving().length === 0 && !document.querySelector(".carried, .is-falling, .trimline, .bar--slice")`

// TestStageMotionOnWallAndPhones: on the wall and the phones each stage moves what the one
// before it ended with, as in the loop, and the next stage ends what still moves. The
// winner is not named before the marker has fallen, nor beside the stage, and a key ends the
// fall. With VIZ_SHOTS there are five frames of each.
func TestStageMotionOnWallAndPhones(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	for view, serves := range map[string]func(*testing.T) string{"story": serveStory, "numbers": serve} {
		t.Run(view, func(t *testing.T) {
			t.Parallel()
			desk, room, screens := classOn(t, serves(t))
			moves := func(stage string, more ...string) {
				t.Helper()
				drive(desk, room, "forward", more...)
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
				tab.Keys("x") // no command
				tab.Wait("the bars lie on the "+name, still)
			}
			drive(desk, room, "forward", "withhold", "true")
			for name, tab := range screens {
				tab.Wait("the marker falls on the "+name, `document.querySelector(".is-falling")`)
				tab.Film("class-" + view + "-" + name + "-fall")
				saysNothing(tab, name)
				tab.Keys("x")
				tab.Wait("it has landed on the "+name, still)
				if told := seenOf(tab); told == "" {
					t.Errorf("when it has fallen the %s says nothing", name)
				}
			}
			moves("append")
			drive(desk, room, "forward")
			if wall := screens["wall"]; view == "story" { // the only one with a map
				wall.Moves("carry-cache")
				wall.Film("class-story-wall-cache")
			}
		})
	}
}

// seenOf is what a screen says of a draw, as far as it can be seen.
func seenOf(tab *browser.Tab) string {
	return browser.Value[string](tab, `[...document.querySelectorAll(".laid__at, .say, .story__foot, .verdict, `+
		`.mark:not(.mark--what) text, .panel__head p, .tok--next.is-known > span, .bigstage__say")]`+
		`.filter(e => e.checkVisibility({ opacityProperty: true })).map(e => e.textContent.trim()).join("")`)
}

// saysNothing fails the test if a screen names the winner, or if a piece stands out.
func saysNothing(tab *browser.Tab, name string) {
	if told := seenOf(tab); told != "" {
		tab.Fail("while it falls the %s says %q", name, told)
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
		tab.Fail("while it falls a piece stands out on the %s", name)
	}
}

// TestMessagesWaitForTheMarker: what a class is sent of its stage while the marker falls waits
// until it has landed: the winner is not named early, and nothing is lost.
func TestMessagesWaitForTheMarker(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	desk, room, screens := classOn(t, serveStory(t))
	for range 3 {
		drive(desk, room, "forward")
	}
	drive(desk, room, "forward", "withhold", "true")
	for name, tab := range screens {
		tab.Wait("the line waits on the "+name, `document.querySelector(".laid.is-open")`)
	}
	drive(desk, room, "forward", "withhold", "true")
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
		browser.Open(t, browser.Phone, room) // one more is here, which all are told
		tab.Wait("a message to the "+name, `window.sent`)
		if told := seenOf(tab); told != "" || browser.Value[bool](tab, `!document.querySelector(".is-falling")`) {
			t.Errorf(
				"a message during the fall has the %s say %q, want nothing before the marker has landed", name, told,
			)
		}
		tab.Keys("x")
		tab.Wait("it has landed on the "+name, still)
		tab.Wait("the message on the "+name, `document.querySelector(".new")`)
	}
}
