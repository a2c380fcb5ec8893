package loop

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// A loopTab is the Loop page in a browser, with operations shared by many tests.
type loopTab struct{ *browser.Tab }

// openTab opens the Loop page as a new learner, and waits until it is live.
func openTab(t testing.TB, x *site, screen browser.Screen) loopTab {
	t.Helper()
	b := loopTab{browser.Open(t, screen, x.http.URL+"/loop")}
	b.Until(isLive)
	x.tab = b.Tab
	return b
}

// second opens an address in another tab, as the same learner.
func (b loopTab) second(url string) loopTab { return loopTab{b.Another(browser.Laptop, url)} }

// atStage returns an expression that is true when the rail shows the given stage, from 1 to 7.
func atStage(n string) string {
	return `document.querySelector('#rail [aria-current=step] i')?.textContent === '` + n + `'`
}

// isDrawn is an expression that is true at stage 5 once the draw has been made. isUndrawn is an
// expression that is true while the draw is withheld.
const (
	isDrawn   = `!document.getElementById('panel').hasAttribute('data-undrawn')`
	isUndrawn = `document.getElementById('panel').hasAttribute('data-undrawn')`
)

// forward presses → until the page shows the given stage. At the draw, it presses → a second time
// to make the draw.
func (b loopTab) forward(n int) {
	b.Keys(browser.ArrowRight)
	b.Until(atStage(strconv.Itoa(n)))
	if n == 5 {
		b.Until(isUndrawn)
		b.Keys(browser.ArrowRight)
		b.Until(isDrawn)
	}
}

// told returns an expression that is true when the page shows a message with the given words.
func told(words string) string {
	return fmt.Sprintf(
		`['told', 'err-general'].some(id => document.getElementById(id)?.textContent.includes(%q))`, words,
	)
}

// TestBrowserStepsByKeyboard uses the page by keyboard, as a learner does.
func TestBrowserStepsByKeyboard(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	b := openTab(t, x, browser.Laptop)
	b.Until(`!document.getElementById('prompt-box').hidden`)

	// The prompt's tokens appear as it is typed, and Ctrl+Enter starts the run.
	b.Type("#prompt", "Once upon a time")
	b.Until(`document.querySelectorAll('#pieces .tk').length > 3`)
	b.Chord(browser.Enter)
	b.Until(atStage("1"))
	b.Until(`document.getElementById('prompt-box').hidden`)
	if at := browser.Value[string](b.Tab, `location.search`); !strings.HasPrefix(at, "?run=") {
		t.Errorf("the address is %q, without the run", at)
	}
	for n := 2; n <= 7; n++ {
		b.forward(n)
	}
	if n := browser.Value[int](b.Tab, `document.querySelectorAll('#strip-gen > *').length`); n != 1 {
		t.Errorf("got %d tokens after one turn, want 1", n)
	}
	b.Keys("n")
	b.Until(`document.getElementById('t-2') !== null`)
	b.Keys(browser.ArrowLeft)
	b.Until(atStage("6"))

	// A reload shows the same run at the same stage, over HTTP and then live.
	strip := browser.Value[string](b.Tab, `document.getElementById('strip-gen').innerText`)
	b.Reload()
	b.Until(atStage("6"))
	b.Until(`document.documentElement.dataset.conn === 'live'`)
	if moved := browser.Value[float64](b.Tab, `(() => {
		const live = document.querySelector('[data-live]'), word = live.textContent;
		const left = () => document.querySelector('.view').getBoundingClientRect().left;
		const after = left();
		live.textContent = '';
		const before = left();
		live.textContent = word;
		return after - before;
	})()`); moved != 0 {
		t.Errorf("the view switch moves by %v px when the page goes live, want 0", moved)
	}
	if got := browser.Value[string](b.Tab, `document.getElementById('strip-gen').innerText`); got != strip {
		t.Errorf("after a reload the strip is %q, want %q", got, strip)
	}
}

// TestBrowserControlsKeepFocusAndValues: inputs send their values, errors appear next to
// them, and focus and values survive panel updates.
func TestBrowserControlsKeepFocusAndValues(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	b := openTab(t, x, browser.Laptop)
	b.Eval(`document.querySelector('[data-prompt]').click()`)
	b.Until(atStage("1"))
	settings := func() string {
		return browser.Value[string](
			b.Tab,
			`['temperature','top_k','seed','max_tokens'].map(f => `+
				`document.querySelector('[data-set='+f+']').value).join(' ')`,
		)
	}

	// An invalid field shows an error, from the server or from the page itself.
	b.Eval(`document.getElementById('max_tokens').focus(); document.getElementById('max_tokens').select()`)
	b.Keys("0")
	b.Until(`document.getElementById('err-max_tokens').textContent.includes('1 to')`)
	b.Keys("x")
	b.Until(`document.getElementById('err-max_tokens').textContent.includes('not a number')`)
	b.Eval(`document.getElementById('max_tokens').select()`)
	b.Keys("12")
	b.Until(`document.getElementById('err-max_tokens').textContent === ''`)
	if got := browser.Value[string](b.Tab, `document.activeElement.id`); got != "max_tokens" {
		t.Errorf("the focus went to %q, want %q", got, "max_tokens")
	}

	// A preset sets the sliders, and a key on a focused slider moves it.
	b.Eval(`document.querySelector('#presets button').click()`)
	b.Until(`document.getElementById('temperature').value === '0'`)
	b.Eval(`document.getElementById('top_k').focus()`)
	b.Keys(browser.ArrowRight)
	b.Until(`document.getElementById('out-top_k').textContent.startsWith('1')`)
	if got := settings(); got != "0 1 42 12" {
		t.Errorf("the inputs show %q, want 0 1 42 12", got)
	}
	if st := x.onlyRun().Latest(); st.Settings.TopK != 1 || st.Settings.Temperature != 0 ||
		st.Settings.Stop.MaxTokens != 12 {
		t.Errorf("the run has %+v, want TopK = 1, Temperature = 0, Stop.MaxTokens = 12", st.Settings)
	}

	// A stop string typed as \n is a line break.
	b.Eval(`
		document.querySelector('[data-stop-input]').value = '\\nUser:';
		document.querySelector('[data-stop-form]').requestSubmit()`)
	b.Until(`document.getElementById('stops').dataset.stops === '["\\nUser:"]'`)
	b.Until(`document.querySelector('[data-stop-input]').value === ''`)
	b.Eval(`document.querySelector('[data-stop-remove]').click()`)
	b.Until(`JSON.parse(document.getElementById('stops').dataset.stops || '[]').length === 0`)

	// Letter keys can be switched off.
	b.Eval(`document.activeElement.blur();
		const box = document.querySelector('[data-letter-keys]'); box.checked = false;
		box.dispatchEvent(new Event('change', {bubbles: true}))`)
	b.Keys("n")
	b.Keys(browser.ArrowRight)
	b.Until(atStage("2")) // one stage, not a whole token
}

// TestBrowserPlaysAtFullSpeed plays a text at full speed and checks that it causes few screen
// reader announcements.
func TestBrowserPlaysAtFullSpeed(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	b := openTab(t, x, browser.Laptop)
	b.Eval(`
		window.announced = 0;
		new MutationObserver(() => window.announced++).observe(
			document.getElementById('spoken'), {childList: true, characterData: true, subtree: true});
		document.querySelector('[data-prompt]').click()`)
	b.Until(atStage("1"))
	b.Eval(`document.querySelector('#transport [data-cmd*=max]').click()`)
	b.Keys(" ")
	b.Until(`document.getElementById('strip-next').classList.contains('is-stopped')`)
	steps := x.onlyRun().Latest().Steps
	ids := browser.Value[string](b.Tab, `[...document.querySelectorAll('#strip-gen > *')].map(e => e.id).join()`)
	var want []string
	for _, s := range steps {
		want = append(want, tokenID(s.N))
	}
	if ids != strings.Join(want, ",") {
		t.Errorf("tokens on the page: %s, want %s", ids, strings.Join(want, ","))
	}
	if n := browser.Value[int](b.Tab, `window.announced`); n > len(steps)/2 {
		t.Errorf("got %d announcements for %d tokens; want at most %d", n, len(steps), len(steps)/2)
	}
	if hidden := browser.Value[bool](
		b.Tab,
		`(() => { const e = document.getElementById('strip-gen').lastElementChild.getBoundingClientRect(); `+
			`return e.left > innerWidth || e.right < 0 })()`,
	); hidden {
		t.Error("the newest token is out of view")
	}
}

// TestBrowserReportsLostServer: while there is no server, the page says so and refuses commands,
// because they cannot be sent. When a server is back, the page continues.
func TestBrowserReportsLostServer(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSiteOn(t, limits{}, "127.0.0.1:0", folderSecret)
	b := openTab(t, x, browser.Laptop)
	b.MayLose()
	b.Eval(`document.querySelector('[data-prompt]').click()`)
	b.Until(atStage("1"))

	// A broken connection is restored at the same stage.
	x.breakSockets()
	b.Until(`document.documentElement.dataset.conn === 'live' && ` + atStage("1"))
	b.Until(`document.getElementById('conn').hidden`)
	b.Keys(browser.ArrowRight)
	b.Until(atStage("2"))

	// A server that no longer has the run gets the run's link from the page.
	x.stop()
	x = newSiteOn(t, limits{}, x.http.Listener.Addr().String(), folderSecret)
	b.Eval(`dispatchEvent(new Event('online'))`)
	b.Until(told("rebuilt from the link"))
	b.Until(atStage("2"))
	b.Keys(browser.ArrowRight)
	b.Until(atStage("3"))

	// Now there is no server at all.
	ctx, cancel := context.WithTimeout(context.Background(), browser.Patience)
	defer cancel()
	if err := x.wire.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	b.Until(`document.documentElement.dataset.conn === 'reconnecting' && !document.getElementById('conn').hidden`)
	b.Eval(`document.querySelector('[data-prompt]').click()`)
	b.Until(`document.getElementById('err-general').textContent.includes('Not connected right now')`)

	// Once a server is running again, the learner can repeat a key press whose command was not
	// sent.
	x.stop()
	newSiteOn(t, limits{}, x.http.Listener.Addr().String(), folderSecret)
	b.Eval(`dispatchEvent(new Event('online'))`)
	b.Until(`document.getElementById('err-general').textContent.includes('Connected again')`)
	b.Keys(browser.ArrowRight)
	b.Until(`document.getElementById('err-general').textContent === ''`)
}
