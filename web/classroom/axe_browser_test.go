package classroom_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// classroomTab uses tab to make a room and returns the room's address.
func classroomTab(t *testing.T, tab *browser.Tab, base string) (room string) {
	t.Helper()
	tab.Go(base + "/teach")
	tab.Type("#title", "Room 7")
	tab.Eval(`document.querySelector('[name="alone"]').checked = true; document.querySelector(".make").requestSubmit()`)
	tab.Wait("the new room", `document.querySelector(".made__code")`)
	u, err := url.Parse(tab.URL())
	if err != nil {
		t.Fatal(err)
	}
	return base + strings.TrimSuffix(u.Path, "/made")
}

// drive sends a command from the instructor's browser.
func drive(tab *browser.Tab, room, cmd string, fields ...string) {
	form := url.Values{"cmd": {cmd}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	tab.Eval(fmt.Sprintf(`window.done = false;
		const headers = {"Viz-Fragment": "1", "Content-Type": "application/x-www-form-urlencoded"};
		fetch(%q, {method: "POST", headers, body: %q})
		.then(async r => { window.done = r.status === 204 ? "done" : await r.text() })`, room+"/do", form.Encode()))
	tab.Wait("a reply to "+cmd, `window.done === "done"`)
}

// shortPages lists the pages that the short tests audit, each in only one state.
var shortPages = []string{"open", "filter-projector", "open-present", "summary", "teach", "study", "join", "tour"}

// TestClassPagesAreAccessible: axe-core finds no faults on the pages of a class or in the
// instructor's dialogs, and no page is wider than its window.
// Promise: axe-core finds nothing on the pages of a class (WCAG 2.2 AA).
func TestClassPagesAreAccessible(t *testing.T) {
	t.Parallel()
	base := serve(t)
	tab := browser.Open(t, browser.Laptop, base+"/join")
	room := classroomTab(t, tab, base)
	look := func(page, url string) {
		if !fixture.LongTier() && !slices.Contains(shortPages, page) {
			return
		}
		tab.Go(url)
		tab.Wait("the page", `document.fonts.status === "loaded"`)
		tab.FullShot(page + ".png")
		tab.Audit(page)
	}
	screensOf := func(state string) {
		for _, page := range []string{"", "/projector", "/present"} {
			look(state+strings.ReplaceAll(page, "/", "-"), room+page)
		}
	}
	screensOf("waiting")
	if fixture.LongTier() {
		code := strings.TrimPrefix(room, base+"/class/")
		newPerson(t, base).asks(code, "Why is it so small?")
		newPerson(t, base).asks(code, "Why is it small?")
		drive(tab, room, "question", "do", "same", "question", "1,2")
		drive(tab, room, "question", "do", "show", "question", "1")
		tab.Wait("the question on the wall", `document.querySelector("#pr-raised ol")`)
	}
	for _, dialog := range []string{"d-ask", "d-asked", "d-run", "d-room", "keys"} {
		if !fixture.LongTier() {
			break
		}
		tab.Eval(`document.getElementById("` + dialog + `").showModal()`)
		tab.Audit(dialog)
		tab.Shot(dialog + ".png")
		tab.Eval(`document.getElementById("` + dialog + `").close()`)
	}
	if fixture.LongTier() {
		look("asked-projector", room+"/projector")
		drive(tab, room, "question", "do", "hide", "question", "1")
	}
	drive(tab, room, "start", "prompt", "The capital of France is")
	drive(tab, room, "token")
	drive(tab, room, "forward")
	look("inside", room+"/projector")
	for range 3 {
		drive(tab, room, "forward")
	}
	screensOf("filter")
	look("wander", room+"?at=2.3&t=0.6")
	drive(tab, room, "ask-next", "where", "here")
	screensOf("open")
	drive(tab, room, "reveal")
	screensOf("revealed")
	drive(tab, room, "ask-draw", "where", "here")
	look("draw", room)
	drive(tab, room, "reveal")
	for _, p := range [][2]string{
		{"made", room + "/made"},
		{"summary", room + "/summary"},
		{"teach", base + "/teach"},
		{"study", base + "/teach/study"},
		{"study-sheets", base + "/teach/study/sheet"},
		{"join", base + "/join"},
		{"wrong", base + "/join?code=AAAAAA"},
		{"tour", base + "/tour/loop"},
		{"tour-ask", base + "/tour/loop?step=2"},
	} {
		look(p[0], p[1])
	}
	tab.Faults() // drops the error status caused by the wrong code
	if !fixture.LongTier() {
		return
	}
	tab.Go(room + "/summary")
	look("replay", tab.Attr("[data-replay]", "value"))
}
