package loop

import (
	"fmt"
	"testing"

	"github.com/tokenbytoken/viz/web/browser"
)

// watchCarry slows what carry.js moves down, so that a test can look at it.
const watchCarry = `
	const animate = Element.prototype.animate;
	window.moves = 0;
	Element.prototype.animate = function (...how) {
		const one = animate.apply(this, how);
		one.updatePlaybackRate(.001);
		window.moves++;
		return one;
	};
	window.carried = () => document.getAnimations().filter(a => a.id.startsWith('carry') && a.playState === 'running');
	// at sets all of them to a share of the time that the longest takes.
	window.at = (share) => {
		const ends = carried().map(a => a.effect.getComputedTiming().endTime);
		for (const [i, a] of carried().entries()) a.currentTime = Math.min(share * Math.max(...ends), ends[i] - 1);
	};
	// alike says that neither a piece of the line nor a bar of the map stands out.
	window.alike = () => {
		const pieces = [...document.querySelectorAll('#panel .laid__box:not(.is-rest)')].map(e => getComputedStyle(e))
			.filter(s => s.visibility !== 'hidden').map(s => s.fill + s.opacity);
		const bars = [...document.querySelectorAll('#map .map__bar rect')].map(e => getComputedStyle(e).opacity);
		return new Set(pieces).size === 1 && new Set(bars).size === 1;
	};
	window.unseen = (selector) => getComputedStyle(document.querySelector(selector)).opacity === '0'`

// TestStoryCarries: from one stage into the next something moves; a key or a press ends
// it in its middle, and nothing is left of it. The winner is not named before the marker
// has fallen. With VIZ_SHOTS there are five frames of each.
func TestStoryCarries(t *testing.T) {
	t.Parallel()
	for name, screen := range map[string]browser.Screen{
		"laptop": {Width: 1366, Height: 657, Motion: true},
		"phone":  {Width: 390, Height: 844, Touch: true, Motion: true},
	} {
		b := openStory(t, screen)
		b.Eval(watchCarry)
		for i, to := range []struct{ name, verb, shown string }{
			{"score", "Score", ".shares--dots"},
			{"share", "Share", ".shares:not(.shares--dots)"},
			{"trim", "Trim", ".is-cut, .shares"},
			{"tip", "Draw", ".laid.is-open"},
			{"fall", "Draw", ".laid__drop"},
			{"write", "Write", ".ends"},
		} {
			b.Eval(`window.moves = 0`)
			b.Keys(browser.ArrowRight)
			b.Until(verb(to.verb) + ` && document.querySelector('#panel ` + to.shown + `')`)
			b.Until(`window.moves > 0 && window.carried().length > 0`)
			for frame := range 5 {
				b.Eval(fmt.Sprintf(`window.at(%g)`, float64(frame)/4))
				b.Shot(fmt.Sprintf("motion-%s-%s-%d.png", name, to.name, frame))
			}
			b.Eval(`window.at(.5)`)
			if to.name == "fall" {
				for _, selector := range []string{"#panel .say", "#panel .laid__at", "#panel .story__foot"} {
					if !browser.Value[bool](b.Tab, fmt.Sprintf(`window.unseen(%q)`, selector)) {
						b.Fail("%s: %s is seen before the marker has fallen", name, selector)
					}
				}
			}
			if to.name == "fall" && !browser.Value[bool](b.Tab, `window.alike()`) {
				b.Fail("%s: the winner's piece or bar looks other than the rest before the marker has fallen", name)
			}
			flies := browser.Value[int](b.Tab, `document.querySelectorAll('.carried').length`)
			if flies > 1 || flies == 1 != (to.name == "write") {
				b.Fail("%s: at %s %d copies fly", name, to.name, flies)
			}
			if i%2 == 0 {
				b.Keys("x") // no command
			} else {
				b.Eval(`document.body.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }))`)
			}
			b.Until(`window.carried().length === 0 && !document.querySelector('.carried')`)
		}
	}
}

// TestStoryIsStill: nothing is carried where that is asked for.
func TestStoryIsStill(t *testing.T) {
	t.Parallel()
	b := openStory(t, browser.Laptop)
	b.Eval(watchCarry)
	for _, name := range []string{"Score", "Share", "Trim", "Draw"} {
		b.Keys(browser.ArrowRight)
		b.Until(verb(name))
	}
	b.Keys(browser.ArrowRight)
	b.Until(`document.querySelector('.laid__drop')`)
	b.Keys(browser.ArrowRight)
	b.Until(verb("Write"))
	if n := browser.Value[int](b.Tab, `window.moves`); n != 0 {
		t.Errorf("%d things moved", n)
	}
}
