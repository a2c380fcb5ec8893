package site_test

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// TestFirstVisitInPrivateWindow: in a private window, a first-time visitor can get from the first
// sentence to a drill. (A browser context created over Chromium's protocol counts as private, since
// its profile is off the record.) The work is visible in a second tab and to another worker. The
// page states how long the work is kept, and no message contradicts that. The work does not appear
// in another private window.
func TestFirstVisitInPrivateWindow(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url := serve(t, nil)
	tab := browser.Open(t, browser.Laptop, url)
	hands := browser.Mouse(tab)
	tab.Wait("the program", runs)
	hands.Fill("#begin", "The wizard lived in a")
	tab.Click(".ask .btn")
	tab.Wait("the first scene", runs+` && document.querySelector(".fr--read")`)
	tab.Go(url + "loop/?prompt=The+wizard+lived+in+a")
	tab.Wait("a live page", runs+` && document.documentElement?.dataset.conn === "live"`)
	tab.Keys("n")
	tab.Wait("a token", `document.querySelectorAll("#strip-gen > *").length === 1`)
	tab.Go(url + "practice/softmax/")
	tab.Wait("the drill", runs+` && document.querySelector("#drill")`)
	checkSoftmax(t, tab)
	tab.Wait("the finished step", `document.querySelector(".dsteps .is-now.is-done")`)

	second := tab.Another(browser.Laptop, url+"practice/")
	second.Wait("the first tab's work", runs+" && "+kept)
	second.StopWorkers()
	second.Go(url + "practice/")
	second.Wait("the first tab's work with another worker", runs+" && "+kept)
	second.Go(url + "progress/")
	second.Wait("the program", runs)
	if say := second.Text("#yours .band__say"); !strings.Contains(say, "A private window deletes it when you close") {
		t.Errorf("the page says %q, want it to contain %q", say, "A private window deletes it when you close")
	}
	second.Wait("no other message", `!document.querySelector(".tab-line")`)

	other := browser.Open(t, browser.Laptop, url+"practice/")
	other.Wait("the drills", runs+` && document.querySelector(".drills")`)
	if browser.Value[bool](other, kept+" !== null") {
		t.Error("another private window shows the work done in the first")
	}
}

// TestRunsWithoutAnyQuota: if a browser does not let a site store any files or records, the program
// runs, and messages say that nothing is saved.
func TestRunsWithoutAnyQuota(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url := serve(t, nil)
	tab := browser.Open(t, browser.Laptop, url+"static/img/icon.svg") // nothing is stored for this page
	tab.Quota(strings.TrimSuffix(url, under), 1)
	tab.Go(url + "practice/softmax/")
	tab.Wait("the program", runs)
	checkSoftmax(t, tab)
	tab.Wait("a message", `document.body?.innerText.includes("This browser does not allow any more data")`)
	tab.Faults() // the refusal is in the browser's console
	tab.Go(url + "loop/?prompt=The+wizard+lived+in+a")
	tab.Wait("a live page", runs+` && document.documentElement?.dataset.conn === "live"`)
	tab.Keys("n")
	tab.Wait("a token", `document.querySelectorAll("#strip-gen > *").length === 1`)
}
