package loop

import (
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// TestConsoleIsOneRow: on a Chromebook, the console is one row with the sliders and the seed, so
// that the rest of the height is left for the table. "More" shows and hides the other controls, and
// keys work either way.
func TestConsoleIsOneRow(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	b := startTabOn(t, newSite(t, limits{}), browser.Chromebook)
	const height = `document.querySelector('.console').getBoundingClientRect().height`
	b.Until(height + ` < 80`)
	for _, shown := range []string{"#temperature", "#top_p", "#min_p", "#seed", "#transport .btn--main"} {
		b.Until(visible(shown))
	}
	b.Until(`(c => c.scrollWidth <= c.clientWidth)(document.querySelector('.console'))`)
	mouse := browser.Mouse(b.Tab)
	hidden := []string{"#scrub", "#presets", "#max_tokens", "#more-rules > summary"}
	for _, is := range hidden {
		b.Until(`!document.querySelector('` + is + `').checkVisibility()`)
	}
	mouse.Press("#all-controls")
	for _, is := range hidden {
		b.Until(visible(is))
	}
	mouse.Press("#all-controls")
	b.Until(height + ` < 80`)
	b.Keys("e")
	b.Until(visible("#reading .prose"))
}
