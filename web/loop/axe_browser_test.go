package loop

import (
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// isReady is true of a storybook page whose script has done its part.
const isReady = `document.readyState === 'complete' && document.documentElement.dataset.conn !== undefined`

// sameParts are the states made of the same parts as another: the run that is not
// here, the limit that stopped it, the prompt's pass, the filter's table, the draw
// or the ghosts. Only words and numbers differ, so the short tier leaves them to
// the long one.
var sameParts = []string{
	"bad-link", "playing", "stopped-end", "stopped-string", "rewound", "bytes", "not-looking", "decode", "what-if",
	"greedy", "forced", "idle", "softmax",
}

// TestEveryStateIsAccessible: axe-core finds nothing in any state of the
// storybook, no page is wider than its window, and every control is large
// enough: 44 px where a finger presses, 24 px under a mouse.
func TestEveryStateIsAccessible(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	tab := browser.Open(t, browser.Laptop, x.http.URL+"/loop")
	for n, s := range stories {
		if !fixture.LongTier() && slices.Contains(sameParts, s.Name) {
			continue
		}
		tab.Go(x.http.URL + storyBase + s.Name)
		tab.Until(isReady)
		tab.AuditState(s.Name, n)
		if !fixture.LongTier() && n%2 > 0 {
			continue // every other state on a tablet, with all that opens open
		}
		tab.Eval(`for (const d of document.querySelectorAll('details')) d.open = true;
			document.getElementById('keys').showModal();
			document.documentElement.classList.add('is-touch')`) // as strip.js does at the first touch
		tablet := browser.Screen{Width: 1366, Height: 1024, Touch: true}
		tab.Screen(tablet)
		tab.Until(`matchMedia('(width: 1366px)').matches`)
		tab.Targets(s.Name, tablet)
	}
}
