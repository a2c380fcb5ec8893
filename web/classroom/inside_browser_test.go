package classroom_test

import (
	"net/url"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// TestLookInsideOnWallAndPhone: at the forward stage, the wall shows where the heads look,
// and a phone shows it on request. Neither shows it while the class is asked for the token.
func TestLookInsideOnWallAndPhone(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	base := serve(t)
	presenter := browser.Open(t, browser.Laptop, base+"/join")
	room := classroomTab(t, presenter, base)
	presenter.Go(room + "/present")
	wall, phone := presenter.Another(browser.Desktop, room+"/projector"), browser.Open(t, browser.Phone, room)
	hands := browser.Touch(phone)
	says(presenter, "#cl-who", "1 here")
	drive(presenter, room, "start", "prompt", "The capital of France is")
	drive(presenter, room, "token")
	drive(presenter, room, "forward")
	const drawn = `[...document.querySelectorAll("canvas[data-heat]")].length === 6 && ` +
		`[...document.querySelectorAll("canvas[data-heat]")].every(c => new ` +
		`Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer).some(x => x !== 0))`
	wall.Wait("the heads on the wall", drawn)
	phone.Wait("the forward pass", `document.querySelector("#cl-stage .fwd")`)
	if browser.Value[bool](phone, `document.querySelector("canvas") !== null`) {
		t.Error("a phone shows the inside before requesting it")
	}
	hands.Press(".fwd__look button")
	phone.Wait("the heads on the phone", drawn)
	phone.Shot("inside-phone.png")
	hands.Press(`[data-head="2.1"]`)
	says(phone, "#head-detail", "Block 3, head 2 reads")
	says(phone, "#work-line", "Block 3, head 2")
	hands.Press(`#head-detail [data-toggle]`)
	phone.Wait("it shut", `document.querySelector("#head-detail").hidden`)
	hands.Press(`[data-head="2.1"]`)
	phone.Wait("it open again", `!document.querySelector("#head-detail").hidden`)
	presenter.Click(".blk__open")
	says(presenter, "#inside", "Inside block 1")
	if browser.Value[bool](wall, `!document.querySelector("#inside").hidden`) {
		t.Error("a part that the instructor opens also opens on the wall")
	}
	drive(presenter, room, "token")
	drive(presenter, room, "forward")
	phone.Wait(
		"the next pass, still from inside", `document.querySelectorAll("#cl-strip .tok--gen").length === 2 && `+drawn,
	)
	drive(presenter, room, "ask-next", "where", "here")
	for _, tab := range []*browser.Tab{presenter, wall, phone} {
		tab.Wait(
			"the vote without a look inside",
			`document.querySelector('[data-phase="open"]') && !document.querySelector("canvas")`,
		)
	}
	drive(presenter, room, "reveal")
	drive(presenter, room, "dismiss")
	phone.Wait("the inside after the vote", drawn)
	hands.Press(".look__note button")
	phone.Wait("the outside again", `!document.querySelector("canvas")`)
	drive(presenter, room, "look", "on", "false")
	wall.Wait("the wall from outside", `!document.querySelector("canvas")`)
	phone.Wait("nothing to look into", `!document.querySelector(".fwd__look")?.checkVisibility()`)
}

// TestPhoneRunsAloneAndRejoins: a phone can continue alone with its own run, and returns to
// the class with one tap.
func TestPhoneRunsAloneAndRejoins(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	base := serve(t)
	presenter := browser.Open(t, browser.Laptop, base+"/join")
	room := classroomTab(t, presenter, base)
	drive(presenter, room, "start", "prompt", "The capital of France is")
	drive(presenter, room, "forward")
	phone := browser.Open(t, browser.Phone, room)
	hands := browser.Touch(phone)
	says(phone, "#cl-rail .is-now", "Logits")
	hands.Press("[data-wander]")
	phone.Wait("an own look", `!document.querySelector("#own").hidden`)
	hands.Press("[data-alone]")
	phone.Wait("the loop", `location.pathname === "/loop" && document.documentElement?.dataset.conn === "live"`)
	hands.Press(`[data-cmd='{"cmd":"token"}']`)
	phone.Wait("a token of one's own", `document.querySelectorAll("#gen .tok--gen, .tok--gen").length > 0`)
	phone.Shot("alone-phone.png")
	phone.Reload()
	u, err := url.Parse(room)
	if err != nil {
		t.Fatal(err)
	}
	hands.Press(`.note-line a[href="` + u.Path + `"]`)
	says(phone, "#cl-rail .is-now", "Logits")
	says(phone, "[data-live]", "Following the class")
}

// TestClickerKeysDriveTheWalk: the keys of a clicker move forward and back through the
// walkthrough. Controlling the run by hand leaves the script, and the list of steps leads
// back to it.
func TestClickerKeysDriveTheWalk(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	base := serve(t)
	presenter := browser.Open(t, browser.Laptop, base+"/teach?walk=cache")
	presenter.Click(".make .btn--main")
	presenter.Wait("the new room", `document.querySelector(".made__code")`)
	u, err := url.Parse(presenter.URL())
	if err != nil {
		t.Fatal(err)
	}
	presenter.Go(base + u.Path[:len(u.Path)-len("/made")] + "/present")
	presenter.Wait("the connection", `document.body.dataset.conn === "live"`)
	at := func(step string) {
		t.Helper()
		presenter.Wait("step "+step, `document.querySelector("#pr-script .is-now b")?.textContent === "`+step+`"`)
	}
	forward := func(key, step string) {
		t.Helper()
		presenter.Wait("a free presenter", `document.querySelector("#pr-ctl .btn--main")`)
		presenter.Keys(key)
		at(step)
	}
	forward(kb.PageDown, "1")
	if asks := browser.Value[bool](presenter, `document.querySelector('[data-phase="open"]') !== null`); asks {
		t.Fatal("the first step has a poll, but this test needs a step without one")
	}
	forward(" ", "2")
	presenter.Keys(kb.PageUp)
	at("1")
	forward(browser.ArrowRight, "2")
	presenter.Keys(browser.ArrowLeft)
	at("1")
	presenter.Keys("b") // the key that turns the screen black in other programs
	at("1")
	presenter.Click(`[data-dialog="d-run"]`)
	presenter.Click(`#d-run button[value="forward"]`)
	says(presenter, "#pr-note", "You have left the script")
	presenter.Eval(`document.querySelector("#d-run").close()`)
	presenter.Click(`[data-dialog="d-script"]`)
	presenter.Click(`#pr-script button[value="2"]`)
	at("2")
	presenter.Wait(
		"to be on the script again", `!document.querySelector("#pr-note").textContent.includes("You have left")`,
	)
}
