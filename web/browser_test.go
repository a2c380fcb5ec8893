package web

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/tokenbytoken/viz/web/browser"
)

// tab is a page in Chromium.
type tab struct {
	t   testing.TB
	ctx context.Context

	mu     sync.Mutex
	faults []string // uncaught exceptions, and console errors such as CSP violations
}

// chromium is one process for all tests of the package.
var chromium = sync.OnceValues(func() (context.Context, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(browser.Path()), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(1440, 900))
	alloc, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(alloc)
	closeChromium = func() {
		chromedp.Cancel(ctx)
		cancel()
		stop()
	}
	return ctx, chromedp.Do(ctx) // starts it, without a deadline
})

var closeChromium = func() {}

// openTab opens a tab of a browser that nobody has used before: a learner of
// its own.
func openTab(t testing.TB) *tab {
	t.Helper()
	browser.Find(t)
	ctx, err := chromium()
	if err != nil {
		t.Fatal(err)
	}
	return newTab(t, ctx, chromedp.WithNewBrowserContext())
}

// second opens another tab of the same browser.
func (b *tab) second() *tab { b.t.Helper(); return newTab(b.t, b.ctx) }

func newTab(t testing.TB, of context.Context, options ...chromedp.ContextOption) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(of, options...)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1440, 900)); err != nil {
		t.Fatal(err)
	}
	err := chromedp.Listen(ctx, func(ev any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch ev := ev.(type) {
		case *runtime.EventExceptionThrown:
			b.faults = append(b.faults, exception(ev.ExceptionDetails))
		case *runtime.EventConsoleAPICalled:
			if ev.Type == runtime.ConsoleAPICalledTypeError && len(ev.Args) > 0 {
				b.faults = append(b.faults, string(ev.Args[0].Value))
			}
		case *log.EventEntryAdded:
			if ev.Entry.Level == log.EntryLevelError {
				b.faults = append(b.faults, ev.Entry.Text+" "+ev.Entry.URL)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *tab) run(what string, actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
}

// eval returns the value of an expression.
func eval[T any](b *tab, expr string) (v T) {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expr))
	if err != nil {
		b.t.Fatalf("%s: %v", expr, err)
	}
	return v
}

// do carries out statements.
func (b *tab) do(statements string) {
	b.t.Helper()
	eval[bool](b, "(() => {"+statements+"; return true })()")
}

// until waits for an expression to be true.
func (b *tab) until(expr string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](expr, chromedp.WithPollingInterval(10*time.Millisecond))); err != nil {
		b.t.Fatalf("never true: %s (%v)\nconn %s\nerrors %q", expr, err,
			eval[string](b, `document.documentElement.dataset.conn ?? ''`),
			eval[string](b, `[...document.querySelectorAll('.field-error')].map(e => e.textContent).join('|')`))
	}
}

// stage is the expression that is true at a stage of the rail, 1 to 7.
func atStage(n string) string {
	return `document.querySelector('#rail [aria-current=step] i')?.textContent === '` + n + `'`
}

// told is the expression that is true when the page says something.
func told(words string) string {
	return fmt.Sprintf(`['told', 'err-general'].some(id => document.getElementById(id)?.textContent.includes(%q))`, words)
}

func (b *tab) key(keys string) { b.t.Helper(); b.run("key", chromedp.KeyEvent(keys)) }

func (b *tab) checkFaults() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.faults {
		b.t.Errorf("in the browser: %s", f)
	}
}

// TestBrowserWalk drives the page as a learner does, by keyboard.
func TestBrowserWalk(t *testing.T) {
	x := newSite(t, Limits{})
	b := openTab(t)
	b.run("open", chromedp.Navigate(x.http.URL+"/loop"))
	b.until(`document.documentElement.dataset.conn === 'live'`)
	b.until(`!document.getElementById('prompt-box').hidden`)

	// The pieces show while the prompt is typed; Ctrl+Enter starts.
	b.run("type", chromedp.SendKeys("#prompt", "Once upon a time"))
	b.until(`document.querySelectorAll('#pieces .tk').length > 3`)
	b.run("start", chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.until(atStage("1"))
	b.until(`document.getElementById('prompt-box').hidden`)
	if at := eval[string](b, `location.search`); !strings.HasPrefix(at, "?run=") {
		t.Errorf("the address is %q, without the run", at)
	}
	for _, n := range []string{"2", "3", "4", "5", "6", "7"} {
		b.key(kb.ArrowRight)
		b.until(atStage(n))
	}
	if n := eval[int](b, `document.querySelectorAll('#strip-gen > *').length`); n != 1 {
		t.Errorf("%d tokens after one turn", n)
	}
	b.key("n")
	b.until(`document.getElementById('t-2') !== null`)
	b.key(kb.ArrowLeft)
	b.until(atStage("6"))

	// A reload shows the same run at the same stage, over HTTP and then live.
	strip := eval[string](b, `document.getElementById('strip-gen').innerText`)
	b.run("reload", chromedp.Reload())
	b.until(atStage("6"))
	b.until(`document.documentElement.dataset.conn === 'live'`)
	if got := eval[string](b, `document.getElementById('strip-gen').innerText`); got != strip {
		t.Errorf("after a reload the strip is %q, was %q", got, strip)
	}
	b.checkFaults()
}

// TestBrowserControls: inputs send their values, errors stand beside them,
// focus and values survive the panels.
func TestBrowserControls(t *testing.T) {
	x := newSite(t, Limits{})
	b := openTab(t)
	b.run("open", chromedp.Navigate(x.http.URL+"/loop"))
	b.until(`document.documentElement.dataset.conn === 'live'`)
	b.do(`document.querySelector('[data-prompt]').click()`)
	b.until(atStage("1"))
	settings := func() string {
		return eval[string](b, `['temperature','top_k','seed','max_tokens'].map(f => document.querySelector('[data-set='+f+']').value).join(' ')`)
	}

	// A field that is wrong says so, by the server's words or the page's own.
	b.do(`document.getElementById('max_tokens').focus(); document.getElementById('max_tokens').select()`)
	b.key("0")
	b.until(`document.getElementById('err-max_tokens').textContent.includes('1 to')`)
	b.key("x")
	b.until(`document.getElementById('err-max_tokens').textContent.includes('not a number')`)
	b.do(`document.getElementById('max_tokens').select()`)
	b.key("12")
	b.until(`document.getElementById('err-max_tokens').textContent === ''`)
	if got := eval[string](b, `document.activeElement.id`); got != "max_tokens" {
		t.Errorf("the focus went to %q", got)
	}

	// A preset sets the sliders; a key on a focused slider moves it.
	b.do(`document.querySelector('#presets button').click()`)
	b.until(`document.getElementById('temperature').value === '0'`)
	b.do(`document.getElementById('top_k').focus()`)
	b.key(kb.ArrowRight)
	b.until(`document.getElementById('out-top_k').textContent.startsWith('1')`)
	if got := settings(); got != "0 1 42 12" {
		t.Errorf("the inputs show %q, want 0 1 42 12", got)
	}
	if st := x.onlyRun().latest.Load(); st.Settings.TopK != 1 || st.Settings.Temperature != 0 || st.Settings.Stop.MaxTokens != 12 {
		t.Errorf("the run has %+v", st.Settings)
	}

	// A stop string typed as \n is a line break.
	b.do(`
		document.querySelector('[data-stop-input]').value = '\\nUser:';
		document.querySelector('[data-stop-form]').requestSubmit()`)
	b.until(`document.getElementById('stops').dataset.stops === '["\\nUser:"]'`)
	b.until(`document.querySelector('[data-stop-input]').value === ''`)
	b.do(`document.querySelector('[data-stop-remove]').click()`)
	b.until(`JSON.parse(document.getElementById('stops').dataset.stops || '[]').length === 0`)

	// Letter keys can be switched off.
	b.do(`document.activeElement.blur();
		const box = document.querySelector('[data-letter-keys]'); box.checked = false;
		box.dispatchEvent(new Event('change', {bubbles: true}))`)
	b.key("n")
	b.key(kb.ArrowRight)
	b.until(atStage("2")) // one stage, not a token
	b.checkFaults()
}

// TestBrowserPlay plays a text at full speed; the announcements are few.
func TestBrowserPlay(t *testing.T) {
	x := newSite(t, Limits{})
	b := openTab(t)
	b.run("open", chromedp.Navigate(x.http.URL+"/loop"))
	b.until(`document.documentElement.dataset.conn === 'live'`)
	b.do(`
		window.announced = 0;
		new MutationObserver(() => window.announced++).observe(document.getElementById('spoken'), {childList: true, characterData: true, subtree: true});
		document.querySelector('[data-prompt]').click()`)
	b.until(atStage("1"))
	b.do(`document.querySelector('#transport [data-cmd*=max]').click()`)
	b.key(" ")
	b.until(`document.getElementById('strip-next').classList.contains('is-stopped')`)
	steps := x.onlyRun().latest.Load().Steps
	ids := eval[string](b, `[...document.querySelectorAll('#strip-gen > *')].map(e => e.id).join()`)
	var want []string
	for _, s := range steps {
		want = append(want, tokenID(s.N))
	}
	if ids != strings.Join(want, ",") {
		t.Errorf("tokens on the page: %s, want %s", ids, strings.Join(want, ","))
	}
	if n := eval[int](b, `window.announced`); n > len(steps)/2 {
		t.Errorf("%d announcements for %d tokens", n, len(steps))
	}
	if hidden := eval[bool](b, `(() => { const e = document.getElementById('strip-gen').lastElementChild.getBoundingClientRect(); return e.left > innerWidth || e.right < 0 })()`); hidden {
		t.Error("the newest token is out of sight")
	}
	b.checkFaults()
}

// TestBrowserLoss: without a server the page says so, refuses what cannot be
// sent, and goes on when a server is there again.
func TestBrowserLoss(t *testing.T) {
	x := newSite(t, Limits{})
	b := openTab(t)
	b.run("open", chromedp.Navigate(x.http.URL+"/loop"))
	b.until(`document.documentElement.dataset.conn === 'live'`)
	b.do(`document.querySelector('[data-prompt]').click()`)
	b.until(atStage("1"))

	// A connection that breaks comes back at the same stage.
	x.breakSockets()
	b.until(`document.documentElement.dataset.conn === 'live' && ` + atStage("1"))
	b.until(`document.getElementById('conn').hidden`)
	b.key(kb.ArrowRight)
	b.until(atStage("2"))

	// A server that has lost the run is told by the page what it was.
	x.forget()
	b.until(told("rebuilt from the link"))
	b.until(atStage("2"))
	b.key(kb.ArrowRight)
	b.until(atStage("3"))

	// No server at all.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := x.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	b.until(`document.documentElement.dataset.conn === 'reconnecting' && !document.getElementById('conn').hidden`)
	b.do(`document.querySelector('[data-prompt]').click()`)
	b.until(`document.getElementById('err-general').textContent.includes('not sent')`)
}

// onlyRun is the one run there is.
func (x *site) onlyRun() *run {
	x.t.Helper()
	x.runs.mu.Lock()
	defer x.runs.mu.Unlock()
	if len(x.runs.byID) != 1 {
		x.t.Fatalf("%d runs, want one", len(x.runs.byID))
	}
	for _, r := range x.runs.byID {
		return r
	}
	return nil
}

// breakSockets closes every connection as a broken network would.
func (x *site) breakSockets() {
	x.conns.Range(func(c, _ any) bool {
		c.(interface{ Close() error }).Close()
		return true
	})
}

// forget drops every run as a restart would, and breaks the connections.
func (x *site) forget() {
	x.runs.mu.Lock()
	for _, r := range x.runs.byID {
		x.runs.drop(r)
	}
	x.runs.mu.Unlock()
	x.breakSockets()
}

func exception(d *runtime.ExceptionDetails) string {
	if d.Exception != nil {
		return d.Text + " " + d.Exception.Description
	}
	return d.Text
}
