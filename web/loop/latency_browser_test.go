package loop

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/web/browser"
)

// BenchmarkKeyToFrame measures, inside the page and without animation, the time from a key press's
// timestamp to the end of the first frame that shows the new stage. It detects that end by a
// message that is posted in the frame and delivered once the frame has been drawn. Before each
// press, the benchmark waits for the work that the page postpones until after a frame. For a
// person, that work is also done before the next press, which comes at least a tenth of a second
// later. The benchmark uses an observer: polling would make the page draw additional frames, and a
// press would take half as long again. The benchmark only reports the times and does not compare
// them with a limit.
func BenchmarkKeyToFrame(b *testing.B) {
	x := newSite(b, limits{})
	page := startTab(b, x)
	page.Unobserved()
	page.Eval(`
		window.times = [];
		window.shown = () => {}; // called when the frame after a press has been drawn
		window.stage = () => document.querySelector('#rail [aria-current=step] i')?.textContent +
			document.getElementById('panel').hasAttribute('data-undrawn');
		let pressed = null; // {from, at}: the stage and the time of the press
		new MutationObserver(() => {
			if (!pressed || stage() === pressed.from) return;
			const { at } = pressed;
			pressed = null;
			requestAnimationFrame(() => {
				const drawn = new MessageChannel();
				drawn.port1.onmessage = () => { times.push(performance.now() - at); shown(); };
				drawn.port2.postMessage('');
			});
		}).observe(
			document.getElementById('rail'), { subtree: true, childList: true, attributes: true, characterData: true });
		addEventListener('keydown', (event) => { pressed = { from: stage(), at: event.timeStamp } }, true)`)
	const presses = 200 // so many that p99 is not the first press, which is slow
	const rest = `return new Promise((done) => setTimeout(() => requestIdleCallback(done), 30))`
	for range b.N {
		page.Eval(`times.length = 0`)
		for n := range presses {
			page.Await(rest)
			page.Keys(browser.ArrowRight)
			// The expression is evaluated only once, because polling would take time from the page.
			page.Await(fmt.Sprintf(
				`return times.length > %d || new Promise((done) => { shown = () => done(true); })`, n))
		}
		ms := browser.Value[[]float64](page.Tab, `times`)
		slices.Sort(ms)
		b.ReportMetric(ms[len(ms)/2], "p50-ms")
		b.ReportMetric(ms[len(ms)*99/100], "p99-ms")
	}
	sent := play(b, 60, true, false)
	b.ReportMetric(float64(sent.bytes/sent.messages), "bytes/stage")
}

// BenchmarkPlayed plays a run in a browser as fast as the model generates.
func BenchmarkPlayed(b *testing.B) {
	x := newSite(b, limits{})
	page := startTab(b, x)
	page.say(`{"cmd":"preset","preset":"greedy"}`)
	page.say(`{"cmd":"stop","max_tokens":400}`)
	page.say(`{"cmd":"start","prompt":"Mile upon mile"}`)
	page.tokens(0)
	for range b.N {
		page.say(`{"cmd":"reset"}`)
		page.tokens(0)
		page.Eval(`window.began = performance.now()`)
		page.say(`{"cmd":"finish"}`)
		page.Until(
			`document.querySelector('#strip-next').classList.contains('is-stopped') && ` +
				`(window.ended = performance.now(), true)`,
		)
		n := browser.Value[float64](page.Tab, `document.querySelectorAll('#strip-gen > *').length`)
		b.ReportMetric(n/browser.Value[float64](page.Tab, `(ended - began) / 1000`), "tokens/s")
		b.ReportMetric(n, "tokens")
	}
}
