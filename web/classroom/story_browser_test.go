package classroom_test

import (
	"fmt"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

// TestClassStoryOnEveryScreen: for newcomers, the presenter, the wall and the phone show
// every stage in the Story view, and each stage fits the wall. Before a reveal, no screen
// shows the answer. The wall follows the presenter's switch, while a phone keeps its own
// view. Every step of the scripts fits the presenter's window.
func TestClassStoryOnEveryScreen(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	base := serveStory(t)
	presenter := browser.Open(t, browser.Chromebook, base+"/join")
	room := classroomTab(t, presenter, base)
	presenter.Go(room + "/present")
	wall, phone := presenter.Another(browser.Desktop, room+"/projector"), browser.Open(t, browser.Phone, room)
	screens := map[string]*browser.Tab{"presenter": presenter, "wall": wall, "phone": phone}
	says(presenter, "#cl-who", "1 here")
	for name, under := range map[string]string{"wall": "innerHeight", "presenter": `at(".presenter").top`} {
		screens[name].Wait("a slide that fills the "+name, `(() => {
			const at = (selector) => document.querySelector(selector).getBoundingClientRect();
			return Math.abs(at("#cl-body").bottom - `+under+`) < 1 &&
				Math.abs(at(".bigstage").bottom - at("#cl-body").bottom) < 1;
		})()`)
	}
	drive(presenter, room, "start", "prompt", "Once upon a time there was a")
	for stage := 1; stage <= 7; stage++ {
		if stage > 1 {
			drive(presenter, room, "forward")
		}
		for name, tab := range screens {
			tab.Wait(
				fmt.Sprintf("stage %d on the %s", stage, name),
				fmt.Sprintf(`document.querySelector("#panel.story--%d")`, stage),
			)
			if stage == 1 && tab.Text(".chips .tk") != "start" {
				t.Errorf(`the first token is %q on the %s, want "start"`, tab.Text(".chips .tk"), name)
			}
			if name == "phone" {
				continue
			}
			if over := browser.Value[float64](
				tab, `(p => p.scrollHeight - p.clientHeight)(document.querySelector(".bigstage"))`,
			); over > 1 {
				t.Errorf("stage %d: %g px of the side with the map do not fit the %s", stage, over, name)
			}
			if over := browser.Value[float64](
				tab,
				`Math.max(...[...document.querySelectorAll(".deck__stage, .deck__stage .story")].map(`+
					`p => p.scrollHeight - p.clientHeight))`,
			); over > 1 {
				t.Errorf("stage %d: %g px of the stage do not fit the %s", stage, over, name)
			}
			if browser.Value[int](tab, `document.querySelectorAll(".bigstage__map #map").length`) != 1 {
				t.Errorf("stage %d: the %s has no map", stage, name)
			}
		}
	}
	wall.Audit("wall-story")
	phone.Audit("phone-story")
	drive(presenter, room, "ask-next", "where", "here")
	for name, tab := range screens {
		tab.Wait("the vote on the "+name, `document.querySelector("#cl-ask")`)
		if n := browser.Value[int](
			tab, `document.querySelectorAll(".shares, .laid, .map, .tc, .is-pick").length`,
		); n != 0 {
			t.Errorf("the %s shows part of the answer", name)
		}
	}
	if !browser.Value[bool](wall, `(() => {
		const at = (selector) => document.querySelector(selector).getBoundingClientRect();
		return at(".deck__view").height > 0 && at(".deck__view").bottom <= at("#cl-body").top;
	})()`) {
		t.Error("the wall's switch covers part of the vote")
	}
	drive(presenter, room, "reveal")
	drive(presenter, room, "dismiss")
	presenter.Click(`.presenter .view [value="numbers"]`)
	presenter.Wait("Numbers in the presenter's window", `document.querySelector(".deck__stage .panel")`)
	wall.Wait("Numbers on the wall", `document.querySelector(".deck__stage .panel")`)
	drive(presenter, room, "forward")
	phone.Wait("the Story on the phone", `document.querySelector("#panel.story")`)
	wall.Wait("the next stage on the wall", `document.querySelector(".deck__stage .panel")`)
	phone.Click(`.ph__much .view [value="numbers"]`)
	phone.Wait("Numbers on the phone", `document.querySelector("#cl-stage .panel")`)
	presenter.Click(`.presenter .view [value="story"]`)
	presenter.Wait("the Story in the presenter's window", `document.querySelector(".deck__stage .story")`)
	for _, walk := range webtest.Course(t).Walks {
		walkFits(presenter, base, walk)
	}
}
