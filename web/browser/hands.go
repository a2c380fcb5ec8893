package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// Hands is a way of using a page. It only generates input events: no script clicks or focuses an
// element or sets a value. The test fails if a control cannot be reached with that device. A
// selector selects the first visible element that it matches.
type Hands interface {
	// Name is "mouse", "keyboard" or "touch".
	Name() string
	// Press presses a button, a link, a checkbox or a summary.
	Press(selector string)
	// Point points at an element without pressing it: the mouse hovers, the keyboard moves the
	// focus, a finger taps.
	Point(selector string)
	// Fill replaces the text in a field.
	Fill(selector, text string)
	// Slide moves a slider close to a value and returns the value that the slider has reached.
	Slide(selector string, value float64) float64
}

// Mouse returns Hands that use a tab with the mouse, and with the keyboard only to type.
func Mouse(tab *Tab) Hands { return mouse{tab} }

// Keyboard returns Hands that use a tab only by keyboard: Tab, the arrow keys, Enter and the
// space bar.
func Keyboard(tab *Tab) Hands { return keyboard{tab} }

// Touch returns Hands that use a tab with a finger; the screen should be one with Touch.
func Touch(tab *Tab) Hands { return touch{tab} }

// A spot is the position at which an element can be hit.
type spot struct {
	X, Y        float64
	Left, Right float64 // the ends of a slider's track, at its minimum and maximum
	Why         string  // why the element cannot be hit, or ""
}

// findSpot scrolls an element into view, as little as possible, and checks whether it can be hit.
// For a checkbox that is not drawn itself, it checks the label. It waits for a frame in which
// nothing has moved, because users aim at what they see. Coordinates are relative to the visible
// part of the page.
const findSpot = `(async (selector, finger) => {
	const look = async () => {
		const all = [...document.querySelectorAll(selector)];
		const seen = (e) => e.checkVisibility({visibilityProperty: true});
		const e = all.find(seen);
		if (!e) return {why: all.length ? 'is there and not visible' : 'is not there'};
		const aims = [e, ...(e.labels ?? [])].filter(seen);
		const view = visualViewport;
		let why = '';
		for (const aim of aims) for (const block of ['nearest', 'center', 'start', 'end']) {
			aim.scrollIntoView({block, inline: 'nearest', behavior: 'instant'});
			let r = aim.getBoundingClientRect();
			for (let still = finger ? 0 : 2, n = 0; still < 2 && n < 60; n++) {
				await new Promise(requestAnimationFrame);
				const now = aim.getBoundingClientRect();
				still = now.top === r.top && now.left === r.left ? still + 1 : 0;
				r = now;
			}
			const middle = (from, to, start, size) => (Math.max(from, start) + Math.min(to, start + size)) / 2;
			const x = middle(r.left, r.right, view.offsetLeft, view.width);
			const y = middle(r.top, r.bottom, view.offsetTop, view.height);
			const hit = document.elementFromPoint(x, y);
			const thumb = 8;
			if (hit && (aim.contains(hit) || hit.closest('label')?.control === e)) return {
				x: x - view.offsetLeft, y: y - view.offsetTop,
				left: r.left + thumb - view.offsetLeft, right: r.right - thumb - view.offsetLeft, why: '',
			};
			why ||= 'is covered by ' + (hit?.outerHTML.slice(0, 80) ?? 'nothing: out of sight');
		}
		return {why};
	};
	for (const late = performance.now() + 1000;;) {
		const at = await look();
		if (!at.why || performance.now() > late) return at;
		await new Promise((done) => setTimeout(done, 20));
	}
})(%q, %t)`

// spot returns the position of an element as soon as the element can be hit. If the tab is leaving
// this page, the element may be on the next one.
func (tab *Tab) spot(selector string, finger bool) spot {
	tab.t.Helper()
	look := chromedp.Evaluate[spot](fmt.Sprintf(findSpot, tab.site.script(selector), finger), chromedp.EvalAwaitPromise)
	for deadline := time.Now().Add(Patience); ; {
		ctx, cancel := context.WithTimeout(tab.ctx, Patience)
		at, err := chromedp.Run(ctx, look)
		cancel()
		switch {
		case err == nil && at.Why == "":
			return at
		case err != nil && !leftPage(err):
			tab.t.Fatalf("find %s: %v", selector, err)
		case time.Now().After(deadline):
			tab.Shot("failed.png")
			tab.t.Fatalf("cannot use %s: %s", selector, at.Why)
		}
	}
}

func (tab *Tab) mouse(kind input.DispatchMouseEventType, x, y float64) {
	tab.t.Helper()
	options := []chromedp.MouseOption{chromedp.ButtonNone}
	if kind != input.DispatchMouseEventTypeMouseMoved {
		options = []chromedp.MouseOption{chromedp.ButtonLeft, chromedp.ClickCount(1)}
	}
	tab.do("mouse", chromedp.MouseEvent(kind, x, y, options...))
}

func (tab *Tab) touch(kind input.DispatchTouchEventType, points ...*input.TouchPoint) {
	tab.t.Helper()
	tab.do("touch", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(
			ctx, target, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points},
		)
		return err
	}))
}

// retype replaces the text of the focused field.
func (tab *Tab) retype(text string) {
	tab.t.Helper()
	n := Value[int](tab, `document.activeElement.value.length`)
	tab.Keys(kb.End + strings.Repeat(kb.Backspace, n) + text)
}

func (tab *Tab) valueOf(selector string) float64 {
	tab.t.Helper()
	return Value[float64](tab, fmt.Sprintf(`Number(document.querySelector(%q).value)`, selector))
}

// along returns the horizontal position of a value on a slider's track.
func (tab *Tab) along(selector string, value float64, at spot) float64 {
	tab.t.Helper()
	part := Value[float64](
		tab,
		fmt.Sprintf(
			`(%v - document.querySelector(%[2]q).min) / (document.querySelector(%[2]q).max - `+
				`document.querySelector(%[2]q).min)`,
			value, selector,
		),
	)
	return at.Left + part*(at.Right-at.Left)
}

type mouse struct{ *Tab }

func (m mouse) Name() string { return "mouse" }

func (m mouse) Press(selector string) {
	m.t.Helper()
	at := m.spot(selector, false)
	m.mouse(input.DispatchMouseEventTypeMouseMoved, at.X, at.Y)
	m.mouse(input.DispatchMouseEventTypeMousePressed, at.X, at.Y)
	m.mouse(input.DispatchMouseEventTypeMouseReleased, at.X, at.Y)
}

func (m mouse) Point(selector string) {
	m.t.Helper()
	at := m.spot(selector, false)
	m.mouse(input.DispatchMouseEventTypeMouseMoved, at.X, at.Y)
}

func (m mouse) Fill(selector, text string) {
	m.t.Helper()
	m.enter(selector, m.Press)
	m.retype(text)
}

// Slide drags the slider's thumb.
func (m mouse) Slide(selector string, value float64) float64 {
	m.t.Helper()
	at := m.spot(selector, false)
	from, to := m.along(selector, m.valueOf(selector), at), m.along(selector, value, at)
	m.mouse(input.DispatchMouseEventTypeMouseMoved, from, at.Y)
	m.mouse(input.DispatchMouseEventTypeMousePressed, from, at.Y)
	for n := 1.0; n <= 4; n++ { // with the button held
		m.do(
			"drag",
			chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, from+(to-from)*n/4, at.Y, chromedp.ButtonLeft),
		)
	}
	m.mouse(input.DispatchMouseEventTypeMouseReleased, to, at.Y)
	return m.valueOf(selector)
}

// enter presses a field until it has focus. A single press can miss: if a response adds content
// to the page between aiming and pressing, the field moves.
func (tab *Tab) enter(selector string, press func(string)) {
	tab.t.Helper()
	has := fmt.Sprintf(`document.activeElement?.matches(%q)`, selector)
	for range 2 {
		press(selector)
		if tab.holds(has, 2*time.Second) {
			return
		}
	}
	press(selector)
	tab.Wait("the focus in "+selector, has)
}

type touch struct{ *Tab }

func (f touch) Name() string { return "touch" }

func (f touch) Press(selector string) {
	f.t.Helper()
	at := f.spot(selector, true)
	f.touch(input.DispatchTouchEventTypeTouchStart, &input.TouchPoint{X: at.X, Y: at.Y})
	f.touch(input.DispatchTouchEventTypeTouchEnd)
}

func (f touch) Point(selector string) { f.t.Helper(); f.Press(selector) }

func (f touch) Fill(selector, text string) {
	f.t.Helper()
	f.enter(selector, f.Press)
	f.retype(text)
}

// hold is how long a finger rests after sliding before it is lifted. If a moving finger is lifted,
// the page continues to scroll, and the next tap would only stop the scrolling.
const hold = 100 * time.Millisecond

// Slide drags the slider's thumb.
func (f touch) Slide(selector string, value float64) float64 {
	f.t.Helper()
	at := f.spot(selector, true)
	from, to := f.along(selector, f.valueOf(selector), at), f.along(selector, value, at)
	f.touch(input.DispatchTouchEventTypeTouchStart, &input.TouchPoint{X: from, Y: at.Y})
	for n := 1.0; n <= 4; n++ {
		f.touch(input.DispatchTouchEventTypeTouchMove, &input.TouchPoint{X: from + (to-from)*n/4, Y: at.Y})
	}
	time.Sleep(hold)
	f.touch(input.DispatchTouchEventTypeTouchEnd)
	return f.valueOf(selector)
}

// ways are the ways of using a page, each with a suitable screen.
var ways = []struct {
	name   string
	screen Screen
	hands  func(*Tab) Hands
}{{"mouse", Chromebook, Mouse}, {"keyboard", Chromebook, Keyboard}, {"touch", Phone, Touch}}

// Ways runs use with the mouse and, in the long tier, also with the keyboard and with a
// finger; each way is a separate subtest.
func Ways(t *testing.T, use func(t *testing.T, screen Screen, hands func(*Tab) Hands)) {
	t.Helper()
	if fixture.LongTier() {
		EveryWay(t, use)
		return
	}
	t.Run(ways[0].name, func(t *testing.T) { use(t, ways[0].screen, ways[0].hands) })
}

// EveryWay is like [Ways], but runs all three ways in every tier, for features with different
// gestures for each way.
func EveryWay(t *testing.T, use func(t *testing.T, screen Screen, hands func(*Tab) Hands)) {
	t.Helper()
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) { use(t, way.screen, way.hands) })
	}
}
