package first_test

import (
	"bytes"
	"net/url"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/webtest"
)

// TestCardPicturesAreSaved: the browser saves the card as SVG and as PNG, and both files are
// identical to those from the server.
func TestCardPicturesAreSaved(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	link, _ := linkAt(t, 3, begins, session.StepToken{}, session.StepToken{})
	at := "/first/card?" + url.Values{"log": {link}}.Encode()
	tab := browser.Open(t, browser.Laptop, webtest.Serve(t, webtest.Options{})+at)
	downloads := tab.Downloads()
	for _, ending := range []string{".svg", ".png"} {
		tab.Click(`.keep__share a[download$="` + ending + `"]`)
		address := strings.Replace(at, "?", ending+"?", 1)
		if got, want := downloads.File("token-by-token"+ending), webtest.Answered(t, address); !bytes.Equal(got, want) {
			t.Errorf(
				"%s: %d bytes were saved, a server sends %d: got %.60q, want %.60q", address, len(got), len(want), got,
				want,
			)
		}
	}
}
