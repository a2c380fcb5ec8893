package why_test

import (
	"os"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

// story is a text with more tokens than the map has columns. Some of its words consist of several
// tokens, and some tokens are surprising.
const story = "Once upon a time there was a little girl who lived in a cottage by the sea. Every morning she fed " +
	"her crocodile with buttered toast. The capital of France is"

// states returns addresses that together show every part of the page.
func states() map[string]string {
	const paris = "The capital of France is"
	return map[string]string{
		"whole":  "/why",
		"off":    at("prompt", paris, "off", "L1.ffn,L3.H1,pos:4"),
		"block":  at("prompt", paris, "off", "L2,L6.H1", "mean", "1", "token", "Paris", "over", "London"),
		"open":   at("prompt", paris, "cell", "3.2"),
		"patch":  at("prompt", paris, "with", "The capital of Italy is"),
		"heads":  at("prompt", paris, "heads", "1"),
		"long":   at("prompt", story, "off", "L5.ffn,pos:3,pos:30", "cell", "6.24"),
		"empty":  at("prompt", ""),
		"parts":  at("prompt", paris, "off", "L9"),
		"token":  at("prompt", paris, "token", "two tokens"),
		"other":  at("prompt", paris, "with", "The capital"),
		"same":   at("prompt", paris, "with", paris),
		"refuse": "/why/no-such-page",
	}
}

// TestScreenshotsOfWhy saves screenshots of every state of the page under $VIZ_SHOTS. $VIZ_ONLY
// selects some of the screens, such as "390-light".
func TestScreenshotsOfWhy(t *testing.T) {
	t.Parallel()
	if os.Getenv("VIZ_SHOTS") == "" {
		t.Skip("set VIZ_SHOTS to a folder for screenshots")
	}
	site := webtest.Serve(t, webtest.Options{})
	for name, screen := range browser.Screens() {
		if only := os.Getenv("VIZ_ONLY"); only != "" && !strings.Contains(only, name) {
			continue
		}
		tab := browser.Open(t, screen, site+"/why")
		for state, address := range states() {
			tab.Go(site + address)
			tab.Until(`document.readyState === "complete" && !document.querySelector("[data-again]")`)
			tab.FullShot(name + "-" + state + ".png")
			if state == "parts" || state == "token" || state == "refuse" {
				tab.Faults() // the refusals are expected
			}
		}
	}
}
