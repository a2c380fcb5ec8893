package learn_test

import (
	"os"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/web/browser"
)

// tourPages maps the paths of Learn's pages and of the progress page to the names of their
// screenshots.
var tourPages = map[string]string{
	"/?seed=3&n=6": "home", "/learn": "learn", "/learn/the-loop": "the-loop", "/learn/temperature": "temperature",
	"/learn/logits-and-softmax": "logits", "/learn/longer-chapter": "longer", "/reference": "reference",
	"/glossary": "glossary", "/search?q=temperature": "search", "/progress": "progress", "/learn/none": "none",
}

// TestScreenshotsOfLearn saves pictures of Learn's pages under $VIZ_SHOTS; $VIZ_ONLY selects
// some of the screens, such as "390-light".
func TestScreenshotsOfLearn(t *testing.T) {
	t.Parallel()
	if os.Getenv("VIZ_SHOTS") == "" {
		t.Skip("set VIZ_SHOTS to a folder for pictures of every screen")
	}
	url, _ := serve(t)
	for name, screen := range browser.Screens() {
		if only := os.Getenv("VIZ_ONLY"); only != "" && !strings.Contains(only, name) {
			continue
		}
		tab := browser.Open(t, screen, url)
		for path, page := range tourPages {
			tab.Go(url + path)
			tab.Wait(
				"the page's script",
				`document.documentElement.dataset.theme !== null && document.fonts.status === "loaded"`,
			)
			tab.FullShot(name + "-" + page + ".png")
		}
		tab.Faults() // expected: the status of the missing page
	}
}
