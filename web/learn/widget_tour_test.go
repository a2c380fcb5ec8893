package learn_test

import (
	"os"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/browser"
)

// A placed value is an experiment together with the address of its lesson.
type placed struct {
	lessons.Widget
	href string
}

// experiments returns all experiments in the course, in course order.
func experiments(course *lessons.Course) []placed {
	var list []placed
	for _, l := range course.Lessons {
		for _, s := range l.Sections {
			for _, b := range s.Blocks {
				if w, ok := b.(lessons.Widget); ok {
					list = append(list, placed{w, l.Href()})
				}
			}
		}
	}
	return list
}

// TestScreenshotsOfExperiments saves pictures of every experiment under $VIZ_SHOTS; $VIZ_ONLY
// selects some of the screens, and $VIZ_WIDGET selects one experiment.
func TestScreenshotsOfExperiments(t *testing.T) {
	t.Parallel()
	if os.Getenv("VIZ_SHOTS") == "" {
		t.Skip("set VIZ_SHOTS to a folder for pictures of every screen")
	}
	url, course := serve(t)
	for name, screen := range browser.Screens() {
		if only := os.Getenv("VIZ_ONLY"); only != "" && !strings.Contains(only, name) {
			continue
		}
		tab := browser.Open(t, screen, url)
		for _, w := range experiments(course) {
			if only := os.Getenv("VIZ_WIDGET"); only != "" && !strings.Contains(only, w.ID) {
				continue
			}
			tab.Go(url + w.href)
			tab.Eval(`document.querySelector("#` + w.ID + `").scrollIntoView()`)
			tab.Wait("fonts", `document.fonts.status === "loaded"`)
			tab.Shot(name + "-" + w.ID + ".png")
		}
	}
}
