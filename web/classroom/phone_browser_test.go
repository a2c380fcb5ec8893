package classroom_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// cut is a script that breaks the connection and prevents new ones; mend allows connections
// again.
const (
	cut = `window.whole = window.WebSocket;
		window.WebSocket = class {
			static OPEN = 1; readyState = 0;
			constructor() { setTimeout(() => this.onclose?.({code: 1006}), 20) }
			close() {} send() {}
		};
		dispatchEvent(new Event("offline"))`
	mend = `window.WebSocket = window.whole`
)

// TestVoteDuringAnOutageCounts: a vote that is cast while the connection is broken stays on
// the phone, marked as not sent, and counts once the phone has reconnected.
func TestVoteDuringAnOutageCounts(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	base := serve(t)
	presenter := browser.Open(t, browser.Laptop, base+"/join")
	room := classroomTab(t, presenter, base)
	drive(presenter, room, "start", "prompt", "The capital of France is")
	drive(presenter, room, "ask-next", "where", "here")
	phone := browser.Open(t, browser.Phone, room)
	hands := browser.Touch(phone)
	phone.Wait("the class", `document.querySelector("#cl-who").textContent.includes("1 here")`)
	phone.Eval(cut)
	phone.Wait("the banner", `!document.querySelector("#conn").hidden`)
	hands.Press(`#cl-poll button[data-letter="c"]`)
	phone.Wait("a vote that waits", `document.querySelector("#cl-poll .is-mine em").textContent === "not sent yet"`)
	says(phone, "#conn", "Your vote is saved here and will be sent.")
	phone.Shot("cut-phone.png")
	if over := browser.Value[bool](
		phone,
		`document.querySelector("#conn").getBoundingClientRect().bottom <= `+
			`document.querySelector("#cl-strip").getBoundingClientRect().top + 1`,
	); !over {
		t.Error("the banner covers the text")
	}
	// If the connection were mended earlier, a phone on a busy machine could reconnect
	// automatically, and the button would be gone.
	phone.Eval(`addEventListener("pointerdown", () => { ` + mend + ` }, {capture: true, once: true})`)
	hands.Press("#conn [data-retry]")
	phone.Wait(
		"a vote that counts", `document.querySelector("#cl-poll .is-mine em").textContent === "your vote, counted"`,
	)
	says(phone, "#conn", "Vote sent.")
	presenter.Go(room)
	presenter.Wait("one vote", `document.querySelector("#cl-poll").textContent.includes("1 of ")`)
	phone.Reload()
	phone.Wait("the vote after a reload", `document.querySelector("#cl-poll .is-mine .let")?.textContent === "C"`)
	phone.Faults() // drops the errors of the broken connections
}

// TestPhoneLooksAroundAndRejoins: a phone views other stages while the class continues, changes its
// own temperature, and rejoins with one tap at the class's current stage.
func TestPhoneLooksAroundAndRejoins(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	base := serve(t)
	presenter := browser.Open(t, browser.Laptop, base+"/join")
	room := classroomTab(t, presenter, base)
	drive(presenter, room, "start", "prompt", "The capital of France is")
	for range 3 {
		drive(presenter, room, "forward")
	}
	phone := browser.Open(t, browser.Phone, room)
	hands := browser.Touch(phone)
	const now = `[...document.querySelectorAll(".ph__screen:not([hidden]) .is-now .stage__short")].map(e => ` +
		`e.textContent).join()`
	phone.Wait("the class's stage", now+` === "Filter"`)
	hands.Press("[data-wander]")
	phone.Wait("an own look", now+` === "Filter" && !document.querySelector("#own").hidden`)
	hands.Press(`#own [data-step="ArrowLeft"]`)
	phone.Wait("the stage before", now+` === "Softmax"`)
	phone.Set("#own-t", "0.3")
	says(phone, "#own", "This is not what the class sees")
	phone.Shot("wander-phone.png")
	drive(presenter, room, "forward")
	says(phone, "[data-class-at]", "the class is at stage 5, Sample")
	if got := browser.Value[string](phone, now); got != "Softmax" {
		t.Errorf("a step of the class moved the phone that looks elsewhere to %s, want %s", got, "Softmax")
	}
	hands.Press("[data-rejoin]")
	phone.Wait("the class again", now+` === "Sample" && document.querySelectorAll("#panel").length === 1`)
	hands.Press("[data-wander]")
	phone.Wait("an own look", `!document.querySelector("#own").hidden`)
	drive(presenter, room, "follow")
	phone.Wait("to be called back", `document.querySelector("#own").hidden`)
}

// TestSecondPresenterMayTakeOver: while someone presents, anyone else with the instructor's
// link sees a notice about this and cannot change anything, but can take over.
func TestSecondPresenterMayTakeOver(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	base := serve(t)
	presenter := browser.Open(t, browser.Laptop, base+"/teach?walk=loop")
	presenter.Click(".make .btn--main")
	presenter.Wait("the new room", `document.querySelector("[data-secret]")`)
	link, err := url.Parse(browser.Value[string](presenter, `document.querySelector("[data-secret]").value`))
	if err != nil {
		t.Fatal(err)
	}
	code := strings.Split(link.Path, "/")[2]
	presenter.Go(base + "/class/" + code + "/present")
	presenter.Wait("the connection", `document.body.dataset.conn === "live"`)
	presenter.Keys(browser.ArrowRight)
	says(presenter, "#pr-note small", "Step 1 of")
	second := newPerson(t, base)
	second.get(link.Path + "?" + link.RawQuery)
	got := second.post("/class/"+code+"/do", url.Values{"cmd": {"next-step"}})
	if got.status != http.StatusConflict || !strings.Contains(words(got.Find("main")), "Someone else is presenting") {
		t.Errorf(
			"a second presenter: got %d %s; want %d with %q", got.status, words(got.Find("main")),
			http.StatusConflict, "Someone else is presenting",
		)
	}
	says(presenter, "#pr-note small", "Step 1 of")
	second.do(code, "take-seat")
	second.do(code, "next-step")
	says(presenter, "#pr-note small", "Step 2 of")
	const looksOn = "Someone else is presenting in this room. You are watching."
	third := browser.Open(t, browser.Laptop, base+link.Path+"?"+link.RawQuery)
	says(third, "#pr-ctl", "Close and reveal") // the presenter has had no controls since someone else took over
	says(presenter, "#pr-ctl", looksOn)
	presenter.Shot("onlooker.png")
	presenter.Keys("v") // a key that would reveal the result
	presenter.Click(`#pr-ctl button[value="take-seat"]`)
	says(presenter, "#pr-ctl", "Close and reveal")
	says(third, "#pr-ctl", looksOn)
}
