package learn_test

import (
	"fmt"
	"testing"

	"github.com/tokenbytoken/viz/web/browser"
)

// TestExperimentsAccessible: axe-core finds nothing on any lesson with an
// experiment, once every way forward in it has been pressed, and nothing is
// wider than the window.
func TestExperimentsAccessible(t *testing.T) {
	url, course := serve(t)
	b := browser.New(t)
	for name, screen := range screens() {
		if name != "390-light" && name != "390-dark" && name != "1440-light" && name != "1440-dark" {
			continue // at 1920 the lesson's column is that of 1440
		}
		t.Run(name, func(t *testing.T) {
			tab := b.Stranger(t, screen, url)
			seen := map[string]bool{}
			for _, w := range experiments(course) {
				if seen[w.href] {
					continue
				}
				seen[w.href] = true
				tab.Go(url + w.href)
				tab.Eval(`for (const next of document.querySelectorAll("[data-next]")) if (next.name) next.click()`)
				tab.Wait("answers", `![...document.querySelectorAll("[data-feed]")].some((f) => f.hasAttribute("aria-busy"))`)
				for _, fault := range tab.Axe("../../testdata/axe/axe.min.js.gz") {
					t.Errorf("%s: %s", w.href, fault)
				}
				if wide := browser.Value[float64](tab, `document.documentElement.scrollWidth`); wide > float64(screen.Width) {
					t.Errorf("%s: %g px wide", w.href, wide)
				}
				if screen.Touch {
					small := browser.Value[string](tab, smallTargets)
					if small != "" {
						t.Errorf("%s: smaller than 44 px: %s", w.href, small)
					}
				}
			}
			tab.Faults()
		})
	}
}

// smallTargets lists what a finger presses in an experiment and is too small
// for it.
var smallTargets = fmt.Sprintf(`[...document.querySelectorAll(".w button, .w input:not([type=hidden]), .w textarea, .w a")]
	.filter((e) => e.offsetParent && (e.getBoundingClientRect().height < %[1]d || e.getBoundingClientRect().width < %[1]d))
	.map((e) => e.outerHTML.slice(0, 80) + " " + e.getBoundingClientRect().height).join("; ")`, 44)
