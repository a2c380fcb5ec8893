package classroom_test

import (
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// TestRemovedMemberIsTold: a member who is removed gets a message and no more updates, while the
// others continue. When the room is deleted, every open screen says so and shows nothing else from
// the room.
func TestRemovedMemberIsTold(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	base := serve(t)
	presenter := browser.Open(t, browser.Laptop, base+"/join")
	room := classroomTab(t, presenter, base)
	presenter.Go(room + "/present")
	wall := presenter.Another(browser.Desktop, room+"/projector")
	first := browser.Open(t, browser.Phone, room)
	says(presenter, "#cl-who", "1 here")
	second := browser.Open(t, browser.Phone, room)
	says(presenter, "#cl-who", "2 here")
	drive(presenter, room, "start", "prompt", "The capital of France is")
	for _, phone := range []*browser.Tab{first, second} {
		says(phone, "#cl-rail .is-now", "Forward")
	}
	drive(presenter, room, "remove", "member", "1")
	says(first, "#told", "removed you from this room")
	says(presenter, "#cl-who", "1 here")
	drive(presenter, room, "forward")
	says(second, "#cl-rail .is-now", "Logits")
	if got := browser.Value[string](first, place); got != "Forward" {
		t.Errorf("the removed member was moved to %s, want %s", got, "Forward")
	}
	first.Reload()
	says(first, "main", "The instructor has removed you from this room.")
	first.Faults() // drops the error status of that page
	drive(presenter, room, "end")
	says(second, "#conn", "The class is over.")
	drive(presenter, room, "reopen")
	second.Wait("the class again", `document.querySelector("#conn").hidden`)
	presenter.Click(`[data-dialog="d-room"]`)
	presenter.Click(`#d-room .check input`)
	presenter.Click(`#d-room button[value="delete"]`)
	presenter.Wait("the instructor's page", `location.pathname === "/teach"`)
	says(presenter, "[role=status]", "The room and everything in it have been deleted.")
	for _, tab := range []*browser.Tab{wall, second} {
		says(tab, "#conn", "This room was deleted.")
		tab.Wait("nothing of the stage", `!document.querySelector(".panel") && !document.querySelector(".tok--given")`)
	}
}

// asleep is a script that lets the connection die without closing it, as on a phone that
// sleeps for a long time, and then wakes the phone.
const asleep = `{ Object.defineProperty(document, "hidden", { value: false });
	const send = WebSocket.prototype.send;
	WebSocket.prototype.send = function () { this.onmessage = null; WebSocket.prototype.send = send; };
	document.dispatchEvent(new Event("visibilitychange")); }`

// TestSleepingPhoneReconnects: a phone whose connection died while the phone was asleep
// notices that when it wakes up, and shows the class's current stage.
// Promise: A phone that wakes up returns to where the class is by then.
func TestSleepingPhoneReconnects(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	base := serve(t)
	presenter := browser.Open(t, browser.Laptop, base+"/join")
	room := classroomTab(t, presenter, base)
	drive(presenter, room, "start", "prompt", "The capital of France is")
	phone := browser.Open(t, browser.Phone, room)
	says(phone, "#cl-rail .is-now", "Forward")
	says(phone, "#cl-who", "1 here")
	phone.Eval(asleep)
	for range 3 {
		drive(presenter, room, "forward")
	}
	if got := browser.Value[string](phone, place); got != "Forward" {
		t.Fatalf("the dead connection has moved the phone to %s, want %s", got, "Forward")
	}
	says(phone, "#cl-rail .is-now", "Filter")
	says(phone, "[data-live]", "Following the class")
}
