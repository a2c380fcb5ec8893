package classroom_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

// TestVotesFitTheWall: the wall and the presenter's window show the whole vote, no matter how many
// options it has and how long its answer is, because nobody can scroll a wall.
func TestVotesFitTheWall(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	base := serve(t)
	presenter := browser.Open(t, browser.Laptop, base+"/join")
	room := classroomTab(t, presenter, base)
	presenter.Go(room + "/present")
	wall, phone := presenter.Another(browser.Desktop, room+"/projector"), browser.Open(t, browser.Phone, room)
	says(presenter, "#cl-who", "1 here")
	drive(
		presenter, room, "start", "prompt",
		"Once upon a time there was a little fox who lived in the forest. One day the fox",
	)
	drive(presenter, room, "set", "temperature", "1", "top_p", "1")
	at := func(name, phase string) {
		t.Helper()
		for screen, tab := range map[string]*browser.Tab{"presenter": presenter, "wall": wall} {
			tab.Wait(phase, `document.querySelector('.poll[data-phase="`+phase+`"]')`)
			if over := browser.Value[float64](
				tab, `(p => p.scrollHeight - p.clientHeight)(document.querySelector(".poll"))`,
			); over > 1 {
				t.Errorf("%s: %g px of the vote do not fit the %s", name, over, screen)
			}
			if small := browser.Value[float64](
				tab,
				`Math.min(...[...document.querySelectorAll(".poll *")].filter(e => e.textContent.trim() && `+
					`e.checkVisibility() && !e.closest(".sr, `+
					`math")).map(e => parseFloat(getComputedStyle(e).fontSize))) / `+
					`parseFloat(getComputedStyle(document.documentElement).fontSize)`,
			); small < 1.125 {
				t.Errorf(
					"%s: got text of %g rem on the %s, want at least 1.125 (18 px at a width of 1920)",
					name, small, screen,
				)
			}
			tab.Shot("fit-" + name + "-" + screen + ".png")
		}
	}
	drive(presenter, room, "ask-next", "choices", "8", "where", "here")
	at("eight candidates", "open")
	phone.Wait("the vote", `document.querySelector('#cl-poll button[data-letter="b"]')`)
	browser.Touch(phone).Press(`#cl-poll button[data-letter="b"]`)
	phone.Wait(
		"a vote that counts",
		`document.querySelector('#cl-poll [data-letter="b"] em').textContent === "your vote, counted"`,
	)
	drive(presenter, room, "close")
	drive(presenter, room, "revote")
	drive(presenter, room, "reveal")
	at("two rounds", "revealed")
	drive(presenter, room, "ask-draw", "where", "here")
	phone.Wait("the draw", `document.querySelector("[data-draw]")`)
	browser.Touch(phone).Press("[data-draw]")
	says(wall, ".poll", "1 of 1 have drawn")
	at("a draw", "open")
	drive(presenter, room, "reveal")
	course := webtest.Course(t)
	longest, most := "", 0
	for _, q := range course.Questions {
		n := len(q.PromptText) + len(q.Answer)
		for _, c := range q.Choices {
			n += len(c.Text)
		}
		for _, point := range q.Rubric {
			n += len(point)
		}
		if n > most {
			longest, most = q.ID, n
		}
	}
	drive(presenter, room, "ask-question", "id", longest)
	drive(presenter, room, "reveal")
	says(wall, ".poll", "All of it")
	at("the longest question, "+longest, "revealed")
	var crowd []*person
	for range 11 {
		crowd = append(crowd, newPerson(t, base))
	}
	questions(presenter, wall, phone, crowd, strings.TrimPrefix(room, base+"/class/"))
}

// walkFits leads a class through a script. It checks that the notes and the slide fit
// completely on both of the presenter's screens, and that the notes do not repeat what the
// wall shows.
func walkFits(presenter *browser.Tab, base string, walk *lessons.Walk) {
	presenter.Go(base + "/teach?walk=" + walk.Slug)
	presenter.Click(".make .btn--main")
	presenter.Wait("the new room", `document.querySelector(".made__code")`)
	presenter.Eval(`location.pathname = location.pathname.replace("made", "present")`)
	presenter.Wait("the presenter's page", `document.body?.dataset.conn === "live"`)
	for n := 1; n <= len(walk.Steps); n++ {
		room := browser.Value[string](presenter, `location.pathname.replace("/present", "")`)
		drive(presenter, room, "goto", "step", fmt.Sprint(n))
		at := fmt.Sprintf("step %d of %s", n, walk.Slug)
		says(presenter, "#pr-note small", fmt.Sprintf("Step %d of", n))
		for _, screen := range []browser.Screen{browser.Laptop, browser.Chromebook} {
			presenter.Screen(screen)
			presenter.Wait(fmt.Sprintf("%s, whole at %d px", at, screen.Width), fmt.Sprintf(`innerHeight === %d &&
				[...document.querySelectorAll("#pr-note, .bigstage, .deck__stage .story, .deck .poll")].every(
					(e) => e.clientHeight > 0 && e.scrollHeight <= e.clientHeight + 1)`, screen.Height))
			presenter.Shot(fmt.Sprintf("walk-%s-%02d-%d.png", walk.Slug, n, screen.Width))
		}
		if browser.Value[bool](presenter, `(said =>
			said && document.querySelector("#pr-note").textContent.includes(said))(
			document.querySelector(".bigstage__say--walk p")?.textContent)`) {
			presenter.Fail("%s: the notes repeat what the wall shows", at)
		}
		if browser.Value[bool](presenter, `document.querySelector('.deck [data-phase="open"]') !== null`) {
			presenter.Keys("v")
			presenter.Wait("the reveal", `document.querySelector('.deck [data-phase="revealed"]')`)
		}
	}
}
