package labs_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

// done is a JavaScript expression for the number of completed parts of the run.
const done = `(document.querySelector("#lab-run progress")?.value ?? 0)`

// A line describes how a page is connected to the program. It contains scripts that record the
// connections, cut the newest one, and check whether the page has connected again since then.
// tokens is large enough for a long measurement.
type line struct {
	watch, cut, another string
	tokens              int
}

var (
	overSocket = line{
		`window.lines = [];
		window.WebSocket = class extends WebSocket { constructor(...of) { super(...of); lines.push(this); } };`,
		`lines.at(-1).close()`,
		`lines.length > 1 && lines.at(-1).readyState === WebSocket.OPEN`,
		400,
	}
	// Only the two ends of a message port can close it, so the script notifies both.
	overPort = line{
		`window.lines = [];
		window.MessageChannel = class extends MessageChannel {
			constructor() { super(); lines.push(this.port1); }
		};`,
		`lines.at(-1).postMessage(null);
		lines.at(-1).onmessage({ data: { code: 1006 } })`,
		`lines.length > 1`,
		30,
	}
)

// TestCutAndReload: neither a cut connection nor a reload restarts a measurement. Afterwards, the
// measurement can still be canceled, and its results are kept.
func TestCutAndReload(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, line := serve(t), lineOf(t)
	t.Run("mouse", func(t *testing.T) { cutAndReload(t, url, line, browser.Chromebook, browser.Mouse) })
	t.Run("keyboard", func(t *testing.T) { cutAndReload(t, url, line, browser.Chromebook, browser.Keyboard) })
}

// TestCutAndReloadOnPhone is TestCutAndReload by touch.
func TestCutAndReloadOnPhone(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	cutAndReload(t, serve(t), lineOf(t), browser.Phone, browser.Touch)
}

// lineOf returns the line of a test's pages.
func lineOf(t *testing.T) line {
	t.Helper()
	if webtest.IsInTab(t) {
		return overPort
	}
	return overSocket
}

func cutAndReload(t *testing.T, url string, line line, screen browser.Screen, with func(*browser.Tab) browser.Hands) {
	t.Helper()
	tab := browser.Open(t, screen, fmt.Sprintf("%s/labs/cache?tokens=%d&repeats=50", url, line.tokens))
	tab.Eval(line.watch)
	hands := with(tab)
	hands.Press(guessFirst)
	hands.Press(".btn--run")
	tab.Wait("the estimate", `document.querySelector(".ask button")`)
	hands.Press(".ask button")
	tab.Wait("some tokens", done+` > 12 && !!document.querySelector("#s-each svg")`)
	before := browser.Value[int](tab, done)
	tab.Eval(`
			window.fell = false;
			let most = 0;
			document.querySelector("main").addEventListener("feed", () => {
			fell ||= ` + done + ` < most;
			most = ` + done + `;
		});
			` + line.cut)
	tab.Wait("another connection", line.another)
	tab.Wait("the same run, further on", done+` > `+strconv.Itoa(before))
	if browser.Value[bool](tab, "fell") {
		t.Error("the run was restarted")
	}

	before = browser.Value[int](tab, done)
	tab.Reload()
	if got := browser.Value[int](tab, done); got < before {
		t.Errorf("the page shows part %d of the run, want at least %d, as before", got, before)
	}
	tab.Wait("the same run, further on", done+` > `+strconv.Itoa(before+1))
	if !browser.Value[bool](tab, `document.querySelector(".commit__one input").checked`) {
		t.Error("the prediction was lost")
	}
	hands.Press("#lab-run button")
	tab.Wait(
		"the end",
		`document.querySelector("#lab-run").textContent.includes("Canceled after") && `+
			`document.querySelector(".about")`,
	)
}
