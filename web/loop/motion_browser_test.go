package loop

import (
	"fmt"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// watchMotion records which animations start, and keeps them from ending until the test has
// inspected them.
const watchMotion = `
	window.started = [];
	const slow = new CSSStyleSheet();
	slow.replaceSync('*, ::before, ::after { animation-duration: 600s !important }');
	document.adoptedStyleSheets = [...document.adoptedStyleSheets, slow];
	addEventListener('animationstart', (event) => {
		if (event.animationName === 'wait') return; // the waiting slot's animation, which has no end
		window.started.push(event.animationName);
	});
	window.moving = () => document.getAnimations().filter(a =>
		a instanceof CSSAnimation && a.animationName !== 'wait' && a.playState === 'running').length`

// TestMotionOnArrivalOnly: arriving at a stage starts its animation once, and a key press ends it.
// Changing something at the same stage, reconnecting or stepping back does not animate anything.
func TestMotionOnArrivalOnly(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	b := startTabOn(t, x, browser.Screen{Width: 1440, Height: 900, Motion: true})
	b.MayLose()
	b.Eval(watchMotion)
	for n, moves := range []string{2: "m-rise", 3: "m-fade", 4: "m-fade", 5: "m-fade", 6: "m-join", 7: "m-return"} {
		if moves == "" {
			continue
		}
		b.Eval(`window.started = []`)
		b.forward(n) // which also ends the animations of the previous stage
		b.Until(fmt.Sprintf(`window.started.includes(%q)`, moves))
		b.Until(`window.moving() > 0`)
		b.Keys("x") // not a command key
		b.Until(`window.moving() === 0`)
		b.Eval(`window.started = []`)
		b.say(`{"cmd":"set","min_p":0.0` + fmt.Sprint(n) + `}`)
		b.Until(`document.getElementById('min_p').value === '0.0` + fmt.Sprint(n) + `'`)
		b.still(fmt.Sprintf("a setting changed at stage %d", n))
	}
	b.Eval(`window.started = []`)
	b.Keys("n") // from the last stage of one turn to the last stage of the next
	b.tokens(2)
	b.Until(`['m-return', 'm-fill'].every(name => window.started.includes(name))`)
	b.Keys("x")
	if x.conns != nil { // a tab has no connections
		x.breakSockets()
		b.Until(`document.documentElement.dataset.conn !== 'live'`)
		b.Until(isLive)
		b.still("the connection came back")
	}
	b.Keys(browser.ArrowLeft)
	b.Until(atStage("6"))
	b.still("looking back")
}

// still fails the test if anything moves in the next two frames.
func (b loopTab) still(why string) {
	b.Await(
		`return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {
			window.stillMoving = window.moving(); done(true)
		})))`,
	)
	if n := browser.Value[int](b.Tab, `window.stillMoving`); n > 0 {
		b.Fail("%s: %d animations run: %s", why, n, browser.Value[string](b.Tab, `window.started.join()`))
	}
}

// TestReducedMotionMovesNothing: nothing moves if the user prefers reduced motion.
// Promise: With reduced motion nothing moves.
func TestReducedMotionMovesNothing(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	b := startTab(t, x)
	b.Eval(watchMotion)
	for n := 2; n <= 7; n++ {
		b.forward(n)
		b.still(fmt.Sprintf("stage %d", n))
	}
}
