package learn_test

import (
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/shell"
)

// TestExperimentsAccessible: in every lesson with an experiment, axe-core reports no problems after
// each press of the experiment's buttons that lead to the next step. Nothing is wider than the
// window, and targets are large enough for a finger.
func TestExperimentsAccessible(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	for _, view := range shell.Views {
		t.Run(string(view), func(t *testing.T) { experimentsAccessible(t, view) })
	}
}

func experimentsAccessible(t *testing.T, view shell.View) {
	url, course := serveIn(t, view)
	tab := browser.Open(t, browser.Laptop, url)
	seen := map[string]bool{}
	for _, w := range experiments(course) {
		if seen[w.href] || view == shell.Story && w.Kind != lessons.WidgetTurn && w.Kind != lessons.WidgetTemperature {
			continue
		}
		seen[w.href] = true
		tab.Go(url + w.href)
		tab.Eval(`for (const guess of document.querySelectorAll(".commit__btn[value=none]")) guess.click()`)
		tab.Wait("results", `!document.querySelector(".w__body--waits")`)
		tab.Eval(`for (const next of document.querySelectorAll("[data-next]")) if (next.name) next.click()`)
		tab.Wait("answers", `![...document.querySelectorAll("[data-feed]")].some((f) => f.hasAttribute("aria-busy"))`)
		tab.Audit(w.href)
	}
}
