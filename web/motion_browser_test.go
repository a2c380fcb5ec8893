package web

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// watchMotion notes which animations start, and keeps them from ending by
// themselves while the test looks.
const watchMotion = `
	window.started = [];
	addEventListener('animationstart', (event) => {
		if (event.animationName === 'wait') return; // the waiting slot's, without end
		window.started.push(event.animationName);
		for (const a of event.target.getAnimations({ subtree: true })) if (a.effect.getComputedTiming().iterations !== Infinity) a.updatePlaybackRate(0.01);
	});
	window.moving = () => document.getAnimations().filter(a => a instanceof CSSAnimation && a.animationName !== 'wait' && a.playState === 'running').length`

// TestMotion: a stage that is arrived at moves, once; a key press ends it; a
// change at the same stage, a connection that comes back and a look back move
// nothing.
func TestMotion(t *testing.T) {
	x := newSite(t, Limits{})
	b := startTab(t, x)
	b.do(watchMotion)
	for n, moves := range []string{2: "m-rise", 3: "m-grow", 4: "m-fade", 5: "m-run", 6: "m-join", 7: "m-return"} {
		if moves == "" {
			continue
		}
		b.do(`window.started = []`)
		b.key(kb.ArrowRight) // and ends those of the stage before
		b.until(atStage(fmt.Sprint(n)))
		b.until(fmt.Sprintf(`window.started.includes(%q)`, moves))
		b.until(`window.moving() > 0`)
		b.key("x") // no command
		b.until(`window.moving() === 0`)
		b.do(`window.started = []`)
		b.say(`{"cmd":"set","min_p":0.0` + fmt.Sprint(n) + `}`)
		b.until(`document.getElementById('min_p').value === '0.0` + fmt.Sprint(n) + `'`)
		b.still(fmt.Sprintf("a setting changed at stage %d", n))
	}
	b.do(`window.started = []`)
	b.key("n") // from a turn's last stage to the next turn's
	b.tokens(2)
	b.until(`['m-return', 'm-fill'].every(name => window.started.includes(name))`)
	b.key("x")
	x.breakSockets()
	b.until(`document.documentElement.dataset.conn !== 'live'`)
	b.until(isLive)
	b.still("the connection came back")
	b.key(kb.ArrowLeft)
	b.until(atStage("6"))
	b.still("looking back")
}

// still fails the test if anything moves in the next two frames.
func (b *tab) still(why string) {
	b.t.Helper()
	n, err := chromedp.Run(b.ctx, chromedp.Evaluate[int](`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(window.moving()))))`, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	if n > 0 {
		b.t.Errorf("%s: %d animations run: %s", why, n, eval[string](b, `window.started.join()`))
	}
}

// TestMotionReduced: nothing moves where that is asked for.
func TestMotionReduced(t *testing.T) {
	x := newSite(t, Limits{})
	b := startTab(t, x)
	b.run("reduced motion", media("light"))
	b.do(watchMotion)
	for n := 2; n <= 7; n++ {
		b.key(kb.ArrowRight)
		b.until(atStage(fmt.Sprint(n)))
		b.still(fmt.Sprintf("stage %d", n))
	}
}
