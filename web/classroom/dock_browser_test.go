package classroom_test

import (
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// inView is a script that reports whether the vote's heading is visible.
const inView = `(() => {
	const r = document.querySelector("#cl-ask")?.getBoundingClientRect();
	return Boolean(r) && r.top >= 0 && r.bottom <= innerHeight;
})()`

// TestVoteComesIntoView: when a vote opens, a phone scrolls to it. If its user scrolls away
// or views another stage, the vote is docked as "Vote now" until the phone has voted.
func TestVoteComesIntoView(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	base := serve(t)
	presenter := browser.Open(t, browser.Laptop, base+"/join")
	room := classroomTab(t, presenter, base)
	drive(presenter, room, "start", "prompt", "Once upon a time there was a")
	for range 3 {
		drive(presenter, room, "forward")
	}
	phone := browser.Open(t, browser.Phone, room)
	hands := browser.Touch(phone)
	phone.Wait("the table", `document.querySelector("#cl-stage .tc")`)
	phone.Eval(`scrollTo(0, document.documentElement.scrollHeight)`)
	phone.Wait("the foot of the page", `scrollY > 300`)
	drive(presenter, room, "ask-question", "id", "q-one-sentence")
	const docked = `!document.querySelector("#dock").hidden`
	phone.Wait("the vote in view, and not docked as well", inView+` && !(`+docked+`)`)
	phone.Shot("vote-in-view.png")
	phone.Eval(`scrollTo(0, document.documentElement.scrollHeight)`)
	phone.Wait("the dock", docked)
	phone.Shot("vote-docked.png")
	hands.Press("[data-vote-now]")
	phone.Wait("the vote in view", inView+` && document.querySelector("#dock").hidden`)

	hands.Press("[data-wander]")
	phone.Wait("the dock while wandering", `!document.querySelector("#own").hidden && `+docked)
	phone.Shot("vote-docked-wandering.png")
	hands.Press("[data-vote-now]")
	phone.Wait("the class's vote", `document.querySelector("#own").hidden && `+inView)
	hands.Press(`#cl-poll button[data-letter="a"]`)
	says(phone, "#cl-poll .is-mine em", "your vote, counted")
	phone.Eval(`scrollTo(0, document.documentElement.scrollHeight)`)
	phone.Wait("no dock after voting", `document.querySelector("#dock").hidden`)
	hands.Press("[data-wander]")
	phone.Wait("no dock while wandering after voting",
		`!document.querySelector("#own").hidden && document.querySelector("#dock").hidden`)
	drive(presenter, room, "reveal")
	drive(presenter, room, "ask-question", "id", "q-second-turn")
	phone.Wait("the dock of the next vote", docked)
	phone.Audit("docked")
}

// TestEndOfClassIsShownEverywhere: when the class ends, the wall, the phones and the
// presenter's page say so, and show a summary of the class and links for continuing.
func TestEndOfClassIsShownEverywhere(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	l := newLesson(t, "loop", browser.Laptop, browser.Desktop, browser.Phone)
	l.next()
	l.next()
	l.cast("abc")
	l.presenter.Keys("v")
	l.all("the reveal", `document.querySelector('[data-phase="revealed"]')`)
	l.presenter.Click(`[data-dialog="d-room"]`)
	l.presenter.Click(`#pr-flags button[value="end"]`)
	l.all("the end", `document.querySelector("#end-h")?.textContent.includes("the end of the class")`)
	for _, tab := range []*browser.Tab{l.wall, l.phones[0]} {
		says(tab, ".end", "3 people took part.")
		says(tab, ".end", "3 votes on 1 question.")
	}
	says(l.presenter, "#pr-ctl", "See the summary")
	l.shots("end")
	for _, tab := range []*browser.Tab{l.presenter, l.wall, l.phones[0]} {
		tab.Audit("the end")
	}
	phone := l.phones[1]
	browser.Touch(phone).Press(".end__ways .btn--main")
	phone.Wait("the replay", `location.pathname.endsWith("/replay")`)
	says(phone, "main", "What was asked, and what the class said")
}
