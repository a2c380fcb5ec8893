package loop

import (
	"strconv"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// isReady is a JavaScript expression that is true on a storybook page whose script has run.
const isReady = `document.readyState === 'complete' && document.documentElement.dataset.conn !== undefined`

// shortState is the state that the short tier audits: the one with the most controls.
const shortState = "filter"

// TestEveryStateIsAccessible: in every state of the storybook, axe-core reports no problems, no
// page is wider than its window, and every control is large enough: 44 px for a finger, 24 px for a
// mouse.
// Promise: axe-core finds nothing in the Loop (WCAG 2.2 AA).
func TestEveryStateIsAccessible(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	if !fixture.LongTier() {
		tab := browser.Open(t, browser.Laptop, x.http.URL+storyBase+shortState)
		tab.Until(isReady)
		tab.Audit(shortState)
		return
	}
	const parts = 3
	for part := range parts {
		t.Run(strconv.Itoa(part+1), func(t *testing.T) {
			tab := browser.Open(t, browser.Laptop, x.http.URL+"/loop")
			for i := part; i < len(stories); i += parts {
				x.audit(tab, stories[i].Name)
			}
		})
	}
}

// audit opens a state on a tablet, unfolds everything in it, and checks it.
func (x *site) audit(tab *browser.Tab, name string) {
	tab.Go(x.http.URL + storyBase + name)
	tab.Until(isReady)
	tab.Audit(name)
	tab.Eval(`for (const d of document.querySelectorAll('details')) d.open = true;
		document.getElementById('keys').showModal();
		document.documentElement.classList.add('is-touch')`) // strip.js does this on the first touch
	tablet := browser.Screen{Width: 1366, Height: 1024, Touch: true}
	tab.Screen(tablet)
	tab.Until(`matchMedia('(width: 1366px)').matches`)
	tab.Targets(name, tablet)
}
