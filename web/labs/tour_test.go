package labs_test

import (
	"os"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/browser"
)

// TestScreenshotsOfLabs saves screenshots of the labs under $VIZ_SHOTS. $VIZ_ONLY restricts the
// test to some of the screens, such as "390-light", and $VIZ_LAB restricts it to one lab.
func TestScreenshotsOfLabs(t *testing.T) {
	t.Parallel()
	if os.Getenv("VIZ_SHOTS") == "" {
		t.Skip("set VIZ_SHOTS to a folder for pictures of every screen")
	}
	url := serve(t)
	for name, screen := range browser.Screens() {
		if only := os.Getenv("VIZ_ONLY"); only != "" && !strings.Contains(only, name) {
			continue
		}
		tab := browser.Open(t, screen, url+"/labs")
		tab.FullShot(name + "-labs.png")
		for _, l := range lab.All() {
			i := l.Info(terms.English)
			if only := os.Getenv("VIZ_LAB"); only != "" && only != i.Name {
				continue
			}
			tab.Go(url + "/labs/" + i.Name)
			tab.FullShot(name + "-" + i.Name + "-0.png")
			run(tab, browser.Mouse(tab))
			tab.FullShot(name + "-" + i.Name + ".png")
		}
	}
}

// run chooses the first prediction if the lab asks for one, runs the lab, and waits for the run to
// end.
func run(tab *browser.Tab, hands browser.Hands) {
	if browser.Value[bool](tab, `!!document.querySelector(".commit")`) {
		hands.Press(`.commit__one input`)
	}
	runGuessed(tab, hands)
}

// runGuessed is like run, but for a page on which a prediction has already been chosen.
func runGuessed(tab *browser.Tab, hands browser.Hands) {
	hands.Press(`.btn--run`)
	// On a busy machine, the estimated time can be so long that the page asks for confirmation.
	tab.Wait("the end of the run, or a question", `document.querySelector(".about, .ask")`)
	if browser.Value[bool](tab, `!!document.querySelector(".ask")`) {
		hands.Press(".ask button")
	}
	tab.Wait("the end of the run", `document.querySelector("#lab-run").textContent.includes("Done in")`)
	tab.Wait("results", `document.querySelector(".about")`)
}
