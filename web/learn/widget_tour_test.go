package learn_test

import (
	"fmt"
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
	for l, w := range course.Experiments() {
		list = append(list, placed{w, l.Href()})
	}
	return list
}

// noIdea answers an experiment's question, if it asks one, with "No idea". The button keeps the
// focus.
func noIdea(tab *browser.Tab, hands browser.Hands, w lessons.Widget) {
	if w.Ask == "" {
		return
	}
	in := "#" + w.ID
	hands.Press(in + ` .commit__btn[value="none"]`)
	tab.Wait("the result after a guess", fmt.Sprintf(`document.querySelector(%q) &&
		document.activeElement.matches(".commit__btn[aria-pressed=true]")`, in+" .w__body:not(.w__body--waits)"))
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
