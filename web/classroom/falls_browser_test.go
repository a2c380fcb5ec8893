package classroom_test

import (
	"net/url"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// TestNamesAppearInTheDrawStrip: if the instructor chose to show names in draws, a student's
// name appears below their number on the wall and the phones, in the segment that the number falls
// into. The page explains this before the student chooses a name. Otherwise, no name is shown.
func TestNamesAppearInTheDrawStrip(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	base := serve(t)
	for _, on := range []bool{true, false} {
		form := url.Values{"title": {"Dice"}, "nicknames": {"on"}}
		sees := "only the instructor sees it"
		if on {
			form.Set("namesfall", "on")
			sees = "everybody sees it where your number falls"
		}
		p, code := instructor(t, base, form)
		p.do(code, "start", "prompt", "Once upon a time there was a")
		p.do(code, "ask-draw", "where", "here")
		room := base + "/class/" + code
		wall := browser.Open(t, browser.Screen{Width: 1440, Height: 900, Motion: true}, room+"/projector")
		wall.Eval(`window.flown = 0;
			const animate = Element.prototype.animate;
			Element.prototype.animate = function (...how) {
				if (this.dataset.fall) flown++;
				return animate.apply(this, how);
			}`)
		phone := browser.Open(t, browser.Phone, room)
		phone.Wait("who sees a name", `document.querySelector('label[for="nick"]').textContent.includes("`+sees+`")`)
		hands := browser.Touch(phone)
		hands.Press(".ph__name summary")
		phone.Wait("the field", `document.querySelector("#nick").checkVisibility()`)
		phone.Type("#nick", "Grace")
		hands.Press(".ph__name .btn")
		phone.Wait("the name alone",
			`document.querySelector(".ph__name summary").innerText.trim() === "Your name is Grace"`)
		hands.Press("[data-draw]")
		says(wall, ".poll", "1 of 1 have drawn")
		phone.Wait("the number counted", `document.querySelector("[data-mine]").textContent.includes("counted")`)
		if !on {
			for screen, tab := range map[string]*browser.Tab{"wall": wall, "phone": phone} {
				if browser.Value[bool](tab, `Boolean(document.querySelector(".falls")) || `+
					`document.querySelector(".poll, #cl-poll").textContent.includes("Grace")`) {
					t.Errorf("the %s shows a name, want none without the option", screen)
				}
			}
			continue
		}
		u := `Number(document.querySelector("[data-mine]").textContent.match(/0\.\d+/)[0])`
		drawn := browser.Value[float64](phone, u)
		wall.Wait("the name flies", `flown === 1`)
		for screen, tab := range map[string]*browser.Tab{"wall": wall, "phone": phone} {
			says(tab, ".falls__names", "Grace")
			tab.Wait("its place", `document.querySelector("[data-fall]").getAnimations().length === 0`)
			tab.Shot("falls-" + screen + ".png")
			at := browser.Value[float64](tab, `(() => {
				const bar = document.querySelector(".falls__bar").getBoundingClientRect();
				const pin = document.querySelector("[data-fall] circle").getBoundingClientRect();
				return (pin.x + pin.width / 2 - bar.x) / bar.width;
			})()`)
			if at < drawn-0.01 || at > drawn+0.01 {
				t.Errorf(
					"%s: the number %g is at %g of the strip; want at least %g and at most %g", screen, drawn, at,
					drawn-0.01, drawn+0.01,
				)
			}
			tab.Audit("falls on the " + screen)
		}
	}
}
