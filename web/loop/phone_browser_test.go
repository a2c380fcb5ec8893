package loop

import (
	"strconv"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// visible returns an expression that is true while an element is within the window and its
// center is not covered.
func visible(selector string) string {
	return `(() => {
		const e = document.querySelector('` + selector + `');
		if (!e) return false;
		const { top, bottom, left, width, height } = e.getBoundingClientRect();
		if (height === 0 || top < 0 || bottom > innerHeight) return false;
		const at = document.elementFromPoint(left + Math.min(width, innerWidth) / 2, top + height / 2);
		return at !== null && (e.contains(at) || at.contains(e));
	})()`
}

// TestPhoneKeepsTheStageInView: on a phone, the stepper and the name of the stage stay on the
// screen when the page is scrolled. Each step shows the beginning of its stage. The row of the
// drawn token is visible, no matter how far down the table it is.
func TestPhoneKeepsTheStageInView(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	for name, moves := range map[string]bool{"still": false, "moving": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			screen := browser.Phone
			screen.Motion = moves
			b := startTabOn(t, newSite(t, limits{}), screen)
			b.say(`{"cmd":"set","temperature":2,"top_p":1}`)
			for n := 2; n <= 7; n++ {
				b.Eval(`scrollTo({top: document.documentElement.scrollHeight, behavior: 'instant'})`)
				b.Until(visible(`#rail [aria-current="step"] .stage__name`))
				b.Until(`scrollY > 400`)
				b.forward(n)
				b.Until(visible(`#rail [aria-current="step"] .stage__name`))
				b.Until(visible("#now"))
				if n == 5 {
					b.Until(visible("#panel tr.is-pick"))
				}
				if n == 3 {
					b.Shot("phone-" + strconv.Itoa(n) + ".png")
				}
			}
			b.Keys("5")
			b.Until(atStage("5"))
			b.Until(visible("#panel tr.is-pick"))
			b.Shot("phone-drawn.png")
			b.Eval(`document.querySelector('#panel tbody').scrollIntoView({behavior: 'instant'})`)
			b.Until(visible("#panel tr.is-pick"))
			b.Until(`Math.abs(document.querySelector('.strip').getBoundingClientRect().bottom -
				document.querySelector('#rail').getBoundingClientRect().top) < 3`)
			b.Shot("phone-rows.png")
		})
	}
}

// TestPhoneDoesNotScrollWhileScrubbing: dragging the scrubber, which is below the stage,
// does not scroll up to the stage.
func TestPhoneDoesNotScrollWhileScrubbing(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	b := startTabOn(t, newSite(t, limits{}), browser.Phone)
	b.say(`{"cmd":"token"}`)
	b.Until(atStage("7"))
	b.Eval(`scrub.focus(); scrub.scrollIntoView({block: 'center', behavior: 'instant'})`)
	b.Keys(browser.Home)
	b.Until(atStage("1"))
	if !browser.Value[bool](b.Tab, `scrollY > 300`) {
		t.Error("the page has scrolled to the head of the stage, want it to stay")
	}
}
