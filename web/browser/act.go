package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// Reload loads the page again.
func (tab *Tab) Reload() {
	tab.t.Helper()
	tab.do("reload", chromedp.Reload())
	tab.arrive()
}

// Go opens a URL in this tab.
func (tab *Tab) Go(url string) {
	tab.t.Helper()
	url = tab.At(url)
	fixture.Spend(fixture.Pages, 1)
	tab.do("go to "+url, chromedp.Navigate(url))
	tab.arrive()
}

// At returns the address that the tab uses for a page, given the page's address on a server. On a
// static site, this is the address of the site's own page.
func (tab *Tab) At(url string) string {
	if tab.site == nil {
		return url
	}
	return tab.site.at(url)
}

// URL returns the address in the address bar or, on a static site, the address that the page would
// have on a server.
func (tab *Tab) URL() string {
	tab.t.Helper()
	url := ask(tab, "read the address", chromedp.Location())
	if s := tab.site; s != nil {
		if rest, ok := strings.CutPrefix(url, s.URL); ok {
			return s.URL + s.own("."+rest)
		}
	}
	return url
}

// css converts a selector for chromedp.
func (tab *Tab) css(selector string) chromedp.CSS { return chromedp.CSS(tab.site.script(selector)) }

// Click clicks the first element that matches a CSS selector, once it is
// visible.
func (tab *Tab) Click(selector string) {
	tab.t.Helper()
	tab.do("click "+selector, chromedp.Click(tab.css(selector), chromedp.NodeVisible))
}

// Tap is like Click, but taps with a finger.
func (tab *Tab) Tap(selector string) {
	tab.t.Helper()
	tab.do("tap "+selector, chromedp.Tap(tab.css(selector), chromedp.NodeVisible))
}

// Type focuses an element and types text, key by key.
func (tab *Tab) Type(selector, text string) {
	tab.t.Helper()
	tab.do("type into "+selector, chromedp.SendKeys(tab.css(selector), text, chromedp.NodeVisible))
}

// Keys presses keys without first moving the focus.
func (tab *Tab) Keys(keys string) {
	tab.t.Helper()
	tab.do("press keys", chromedp.KeyEvent(keys))
}

// Chord presses a key while Control is held.
func (tab *Tab) Chord(key string) {
	tab.t.Helper()
	tab.do("press Control and a key", chromedp.KeyEvent(key, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
}

// Shift presses a key while Shift is held.
func (tab *Tab) Shift(key string) {
	tab.t.Helper()
	tab.do("press Shift and a key", chromedp.KeyEvent(key, chromedp.KeyModifiers(chromedp.ModifierShift)))
}

// Key presses a key that types a character, given its position on the keyboard: "т" is on "KeyN".
func (tab *Tab) Key(character, code string) {
	tab.t.Helper()
	tab.press(input.DispatchKeyEventParams{Key: character, Code: code, Text: character})
}

// EndComposition presses Enter to end an input method's composition of a character. It sends the
// key event that Safari sends: with code 229, and after the composition has ended.
func (tab *Tab) EndComposition() {
	tab.t.Helper()
	tab.press(input.DispatchKeyEventParams{
		Key: "Enter", Code: "Enter", WindowsVirtualKeyCode: 229, NativeVirtualKeyCode: 229,
	})
}

func (tab *Tab) press(key input.DispatchKeyEventParams) {
	tab.t.Helper()
	key.Type = input.DispatchKeyEventTypeKeyDown
	if key.Text == "" {
		key.Type = input.DispatchKeyEventTypeRawKeyDown
	}
	call(tab, "press a key", input.DispatchKeyEvent, key)
	key.Type, key.Text = input.DispatchKeyEventTypeKeyUp, ""
	call(tab, "release a key", input.DispatchKeyEvent, key)
}

// Keys that do not type a character.
const (
	ArrowRight = kb.ArrowRight
	ArrowLeft  = kb.ArrowLeft
	ArrowUp    = kb.ArrowUp
	ArrowDown  = kb.ArrowDown
	Enter      = kb.Enter
	Escape     = kb.Escape
	Tabulator  = kb.Tab
	Home       = kb.Home
	End        = kb.End
	PageDown   = kb.PageDown
)

// Set replaces an input's value as a user would: the page gets an input and a change event.
func (tab *Tab) Set(selector, value string) {
	tab.t.Helper()
	tab.Eval(fmt.Sprintf(`{ const e = document.querySelector(%q); e.focus(); e.value = %q;
		e.dispatchEvent(new Event("input", {bubbles: true}));
		e.dispatchEvent(new Event("change", {bubbles: true})) }`, selector, value))
}

// Files selects files from the disk in a file input.
func (tab *Tab) Files(selector string, paths ...string) {
	tab.t.Helper()
	for i, path := range paths {
		whole, err := filepath.Abs(path)
		if err != nil {
			tab.t.Fatal(err)
		}
		paths[i] = whole
	}
	choose := chromedp.SetUploadFiles(tab.css(selector), paths, chromedp.NodeReady)
	tab.do("choose files", func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		for {
			done, err := choose(ctx, t)
			// The element may be on a page that has just been replaced.
			if err == nil || !strings.Contains(err.Error(), "Could not find node") {
				return done, err
			}
		}
	})
}

// Eval runs statements for their side effects.
func (tab *Tab) Eval(statements string) {
	tab.t.Helper()
	tab.do("run a script", chromedp.Evaluate[chromedp.Void](tab.site.script("(() => {"+statements+"\n})()")))
}

// Await runs statements and waits for the promise that they return to be fulfilled.
func (tab *Tab) Await(statements string) {
	tab.t.Helper()
	script := tab.site.script("(() => {" + statements + "\n})()")
	tab.do("run a script", chromedp.Evaluate[chromedp.Void](script, chromedp.EvalAwaitPromise))
}

// Value returns the value of a script.
func Value[T any](tab *Tab, script string) T {
	tab.t.Helper()
	return ask(tab, "run "+script, chromedp.Evaluate[T](tab.site.script(script)))
}

// Text returns an element's rendered text, trimmed.
func (tab *Tab) Text(selector string) string {
	tab.t.Helper()
	return Value[string](
		tab, fmt.Sprintf(`document.querySelector(%q)?.innerText.trim() ?? "(no %s)"`, selector, selector),
	)
}

// Texts returns the trimmed rendered text of every matching element.
func (tab *Tab) Texts(selector string) []string {
	tab.t.Helper()
	return Value[[]string](
		tab, fmt.Sprintf(`[...document.querySelectorAll(%q)].map(e => e.innerText.trim())`, selector),
	)
}

// Attr returns an element's attribute, or "" if it has none.
func (tab *Tab) Attr(selector, name string) string {
	tab.t.Helper()
	value := Value[string](tab, fmt.Sprintf(`document.querySelector(%q)?.getAttribute(%q) ?? ""`, selector, name))
	if name == "href" || name == "action" {
		return tab.site.own(value)
	}
	return value
}

// where describes the state of a page for failure messages: its address, the focused element and
// its content, and the visible status messages.
const where = `(({pathname, search, hash}, e) => pathname + search + hash +
	' with the focus on ' + e?.tagName + ' #' + e?.id + ' ' + JSON.stringify(e?.value ?? '') + ', saying ' +
	JSON.stringify([...document.querySelectorAll('[role=status], [role=alert], [aria-live]')]
		.filter((s) => s.checkVisibility())
		.map((s) => s.textContent.trim().slice(0, 100)).filter(Boolean)))(location, document.activeElement)`

// Wait waits until a script's value is true. The parameter what completes the failure
// message "timed out waiting for".
func (tab *Tab) Wait(what, script string) {
	tab.t.Helper()
	deadline := time.Now().Add(Patience)
	for !tab.holds(script, time.Second) {
		if time.Now().After(deadline) {
			tab.Shot("failed.png")
			tab.t.Fatalf("timed out waiting for %s, at %s", what, Value[string](tab, where))
		}
	}
}

// holds reports whether a script's value is true, or becomes true within a given time. The page
// itself polls, because polling from here would cost more than the check. While the tab is loading
// another page, the script has no value, which counts as false.
func (tab *Tab) holds(script string, within time.Duration) bool {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, Patience)
	defer cancel()
	is, err := chromedp.Run(ctx, chromedp.Evaluate[bool](
		fmt.Sprintf(`new Promise((done, fail) => {
			const late = performance.now() + %d;
			const look = (pause) => {
				try {
					if (%s) done(true);
					else if (performance.now() > late) done(false);
					else setTimeout(look, pause, Math.min(2 * pause, 40));
				} catch (error) { fail(error); }
			};
			look(5);
		})`, within.Milliseconds(), tab.site.script(script)),
		chromedp.EvalAwaitPromise,
	))
	if err != nil && !leftPage(err) {
		tab.t.Fatalf("run %s: %v", script, err)
	}
	return is && err == nil
}

// leftPage reports whether a script failed because the tab left its page.
func leftPage(err error) bool {
	return strings.Contains(err.Error(), "navigated") || strings.Contains(err.Error(), "context was destroyed") ||
		strings.Contains(err.Error(), "Promise was collected")
}

// Changed waits until something in the page has changed, but only for a short time, because typing
// into a field does not change the document.
func (tab *Tab) Changed() {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, Patience)
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`new Promise((done) => {
		const seen = new MutationObserver(() => { seen.disconnect(); setTimeout(done, 10, true); });
		seen.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
		setTimeout(() => { seen.disconnect(); done(false); }, 50);
	})`, chromedp.EvalAwaitPromise))
	if err != nil && !leftPage(err) {
		tab.t.Fatalf("waiting for the page to change: %v", err)
	}
}

// Until is like Wait, but uses the script itself as the description.
func (tab *Tab) Until(script string) { tab.t.Helper(); tab.Wait(script, script) }

// WaitText waits until an element's rendered text equals text.
func (tab *Tab) WaitText(selector, text string) {
	tab.t.Helper()
	tab.Wait(fmt.Sprintf("%q in %s", text, selector),
		fmt.Sprintf(`document.querySelector(%q)?.innerText.trim() === %q`, selector, text))
}

// Shot saves a screenshot of the window as $VIZ_SHOTS/name for inspection, if $VIZ_SHOTS is set.
func (tab *Tab) Shot(name string) {
	tab.t.Helper()
	if dir := os.Getenv("VIZ_SHOTS"); dir != "" {
		tab.write(dir, name, ask(tab, "take a screenshot", chromedp.CaptureScreenshot()))
	}
}

// FullShot is like Shot, but for the whole page, however long it is.
func (tab *Tab) FullShot(name string) {
	tab.t.Helper()
	if dir := os.Getenv("VIZ_SHOTS"); dir != "" {
		tab.write(dir, name, ask(tab, "take a screenshot", chromedp.FullScreenshot(100)))
	}
}

func (tab *Tab) write(dir, name string, data []byte) {
	tab.t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tab.t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		tab.t.Fatal(err)
	}
}
