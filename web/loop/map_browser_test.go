package loop

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// focused is an expression for the label of the focused element, or its text.
const focused = `(document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText)`

// zoomText waits until the last breadcrumb of the zoom has the given words.
func zoomText(b *browser.Tab, words string) {
	b.Wait(words, fmt.Sprintf(`document.querySelector('#map-zoom [data-zoom-now]')?.innerText === %q`, words))
}

// TestZoomByKeyboard goes from the map to a block, a head and the head's sum by keyboard, and then
// back to the button from which it started.
func TestZoomByKeyboard(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	b := startTab(t, newSite(t, limits{}))
	b.Until(`document.querySelectorAll('.map__key[tabindex="0"]').length === 1`)
	b.Eval(`document.querySelector('.map__key[tabindex="0"]').focus()`)
	b.Until(focused + ` === 'Look inside block 6'`)
	b.Keys(browser.ArrowDown)
	b.Keys(browser.ArrowRight)
	b.Until(focused + `.startsWith('Block 5, ')`)
	b.Until(atStage("1")) // the arrow key moved only within the map
	b.Keys(browser.Enter)
	zoomText(b.Tab, "Block 5")
	b.Until(focused + ` === 'Block 5'`)
	b.Until(`document.querySelectorAll('#map-zoom .zoom__lane').length === 6 && ` +
		`!document.querySelector('.cost .map').checkVisibility()`)
	b.Audit("a block")
	b.Shot("zoom-block.png")
	b.Eval(`document.querySelectorAll('#map-zoom .zoom__lane')[2].focus()`)
	b.Keys(browser.Enter)
	zoomText(b.Tab, "Head 3")
	b.Shot("zoom-head.png")
	b.Eval(`document.querySelector('#map-zoom [data-cmd*=sum]').focus()`)
	b.Keys(browser.Enter)
	zoomText(b.Tab, "One sum")
	b.Audit("a sum")
	b.Shot("zoom-sum.png")
	for _, up := range []string{"Head 3", "Block 5"} {
		b.Keys(browser.Escape)
		zoomText(b.Tab, up)
		b.Until(focused + ` === '` + up + `'`)
	}
	b.Keys(browser.Escape)
	b.Until(`document.querySelector('#map-zoom').hidden && document.querySelector('.cost .map').checkVisibility()`)
	b.Until(focused + `.startsWith('Block 5, ')`)
}

// TestZoomFollowsTheRun opens a head with the mouse. The next stage has no inside view, and
// explains how to get to one. Back at the forward stage, the same head is shown.
func TestZoomFollowsTheRun(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	b := startTab(t, newSite(t, limits{}))
	b.Until(`document.querySelectorAll('.map__key--row').length === 6`)
	browser.Mouse(b.Tab).Press(`.map__keyrow:nth-child(2) .map__key--row`)
	zoomText(b.Tab, "Block 5")
	browser.Mouse(b.Tab).Press(`#map-zoom .zoom__lane:nth-child(4)`)
	zoomText(b.Tab, "Head 4")
	b.Until(`document.querySelector('#map-zoom .reads') !== null`)
	b.Keys(browser.ArrowRight)
	b.Until(atStage("2") + ` && document.querySelector('#map-zoom [data-cmd*=seek]') !== null`)
	browser.Mouse(b.Tab).Press(`#map-zoom [data-cmd*=seek]`)
	b.Until(atStage("1") + ` && document.querySelector('#map-zoom .reads') !== null`)
	zoomText(b.Tab, "Head 4")
}

// TestZoomByTouch: on a phone, tapping the map opens a block, and further taps open a head and its
// sum. Each of these views is visible and no wider than the screen. A single press closes it and
// shows the map.
func TestZoomByTouch(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	b := openStory(t, browser.Phone)
	finger := browser.Touch(b.Tab)
	for _, to := range []struct{ press, says string }{
		{`.map__keyrow:nth-child(2) .map__key:not(.map__key--row)`, "Block 5"},
		{`#map-zoom .zoom__lane:nth-child(4)`, "Head 4"},
		{`#map-zoom [data-cmd*=sum]`, "One sum"},
	} {
		finger.Press(to.press)
		zoomText(b.Tab, to.says)
		b.Until(visible("#map-zoom [data-zoom-now]"))
		b.Until(`document.documentElement.scrollWidth <= innerWidth`)
		b.Shot("zoom-touch-" + strings.ReplaceAll(to.says, " ", "-") + ".png")
	}
	finger.Press(`#map-zoom [data-zoom-out]`)
	b.Until(`document.querySelector('#map-zoom').hidden`)
	// On a phone, the map's rows are short. The block buttons, which also zoom in, are taller.
	finger.Press(`.lookin .btn:nth-of-type(4)`)
	zoomText(b.Tab, "Block 4")
	if h := browser.Value[float64](b.Tab, `document.querySelector('.lookin .btn').offsetHeight`); h < 44 {
		t.Errorf("the button of a block is %g px high for a finger, want at least 44", h)
	}
	finger.Press(`#map-zoom [data-zoom-out]`)
	b.Until(focused + ` === 'Look inside block 4'`)
}

// TestMapKeepsFocusDuringTheRun: the map keeps focus while the run continues.
func TestMapKeepsFocusDuringTheRun(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	b := startTab(t, newSite(t, limits{}))
	b.Until(`document.querySelectorAll('.map__key--row').length === 6`)
	b.Eval(`document.querySelector('.map__key--row').focus()`)
	b.write(1)
	b.Until(focused + ` === 'Look inside block 6'`)
}

// TestZoomMotion: a row grows into lanes, a lane grows into a head, and the columns of a sum slide
// into one column. A key press ends each animation early, and zooming out takes half the time. If
// VIZ_SHOTS is set, the test takes five screenshots of each animation.
func TestZoomMotion(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	b := startTabOn(t, newSite(t, limits{}), browser.Screen{Width: 1440, Height: 900, Motion: true})
	b.Until(`document.querySelectorAll('.map__key--row').length === 6`)
	b.Eval(watchCarry)
	lasts := func(name string) float64 {
		b.Until(`window.carried().length > 0`)
		long := browser.Value[float64](
			b.Tab, `Math.max(...window.carried().map(a => a.effect.getTiming().duration))`,
		)
		for frame := range 5 {
			b.Eval(fmt.Sprintf(`window.at(%g)`, float64(frame)/4))
			b.Shot(fmt.Sprintf("zoom-%s-%d.png", name, frame))
		}
		b.Eval(`window.at(.5)`)
		b.Keys("x") // not a command key
		b.Until(`window.carried().length === 0 && !document.querySelector('.carried')`)
		return long
	}
	press := func(selector string) { browser.Mouse(b.Tab).Press(selector) }
	press(`.map__keyrow:nth-child(2) .map__key--row`)
	zoomText(b.Tab, "Block 5")
	b.Until(`document.querySelectorAll('.carried--net .map__row').length === 6`) // the other rows slide off
	in := lasts("block")
	press(`#map-zoom .zoom__lane:nth-child(4)`)
	zoomText(b.Tab, "Head 4")
	lasts("head")
	press(`#map-zoom [data-cmd*=sum]`)
	zoomText(b.Tab, "One sum")
	lasts("sum")
	press(`#map-zoom .zoom__crumbs button:nth-of-type(2)`)
	zoomText(b.Tab, "Block 5")
	lasts("back")
	press(`#map-zoom [data-zoom-out]`)
	b.Until(`document.querySelector('#map-zoom').hidden`)
	if out := lasts("out"); out != in/2 {
		t.Errorf("zooming in takes %g ms, zooming out takes %g, want half", in, out)
	}
}
