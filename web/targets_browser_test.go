package web

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/tokenbytoken/viz/web/ui"
)

// tooSmall lists every control that can be seen and whose target is less than
// so many pixels wide or high. A box or a knob is as large as the label around
// it. The slider is as high as its input, and links within a sentence may be as
// small as the words.
const tooSmall = `((least) => {
	const list = [];
	for (const e of document.querySelectorAll('a[href], button, input, select, textarea, summary, label.btn')) {
		if (!e.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
		if (e.closest('.sr, .skip') || e.matches('.all-cut')) continue;
		const target = e.matches('[type=checkbox], [type=radio]') ? e.closest('label') ?? e : e;
		if (e.matches('a') && getComputedStyle(e).display === 'inline' && e.closest('p, li, dd')) continue;
		const { width, height } = target.getBoundingClientRect();
		if (Math.min(width, height) < least - 0.25) {
			list.push((target.id || target.className || target.outerHTML.slice(0, 60)) + ' “' + target.textContent.trim().slice(0, 20) + '” ' + width.toFixed(1) + ' × ' + height.toFixed(1));
		}
	}
	return [...new Set(list)];
})`

// TestTargets measures every control of every state: 44 px where a finger
// presses, 24 px under a mouse.
func TestTargets(t *testing.T) {
	x := newSite(t, Limits{})
	b := openTab(t)
	touch := []chromedp.EmulateViewportOption{chromedp.EmulateMobile, chromedp.EmulateTouch}
	for _, screen := range []struct {
		width, height int64
		options       []chromedp.EmulateViewportOption
		least         int
	}{
		{390, 844, touch, 44},
		{1366, 1024, touch, 44},
		{1440, 900, nil, 24},
	} {
		b.run("screen", chromedp.EmulateViewport(screen.width, screen.height, screen.options...), media("light"))
		for _, s := range stories {
			b.run(s.Name, chromedp.Navigate(x.http.URL+ui.StoryBase+s.Name))
			b.until(isReady)
			b.do(`for (const d of document.querySelectorAll('details')) d.open = true;
				document.documentElement.classList.toggle('is-touch', matchMedia('(pointer: coarse)').matches);
				document.getElementById('keys').showModal()`)
			for _, small := range eval[[]string](b, fmt.Sprintf("%s(%d)", tooSmall, screen.least)) {
				t.Errorf("%s at %d × %d, touch %v: %s", s.Name, screen.width, screen.height, screen.least == 44, small)
			}
		}
	}
}

// isReady is true of a storybook page whose script has done its part.
const isReady = `document.readyState === 'complete' && document.documentElement.dataset.conn !== undefined`
