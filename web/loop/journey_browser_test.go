package loop

import (
	"encoding/json"
	"fmt"
	"net/url"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
)

const isLive = `document.documentElement?.dataset.conn === 'live'`

// startTab opens the page and begins a text.
func startTab(t testing.TB, x *site) loopTab { t.Helper(); return startTabOn(t, x, browser.Laptop) }

// startTabOn is like startTab, but on the given screen.
func startTabOn(t testing.TB, x *site, screen browser.Screen) loopTab {
	t.Helper()
	b := openTab(t, x, screen)
	b.say(`{"cmd":"start","prompt":"Once upon a time there was a"}`)
	b.Until(atStage("1"))
	return b
}

// say sends a command as a button on the page would.
func (b loopTab) say(command string) {
	quoted, _ := json.Marshal(command)
	b.Eval(
		`const e = document.createElement('button'); e.dataset.cmd = ` + string(quoted) +
			`; document.body.append(e); e.click(); e.remove()`,
	)
}

// tokens waits for n tokens in the text.
func (b loopTab) tokens(n int) {
	b.Until(fmt.Sprintf(`document.querySelectorAll('#strip-gen > *').length === %d`, n))
}

// write generates n tokens by pressing the N key repeatedly.
func (b loopTab) write(n int) {
	for i := range n {
		b.Keys("n")
		b.tokens(i + 1)
	}
}

// text returns the text of the strip.
func (b loopTab) text() string {
	return browser.Value[string](
		b.Tab, `[...document.querySelectorAll('#strip-gen > *')].map(e => e.children[1].textContent.trim()).join('|')`,
	)
}

const firstChoice = `#peek [data-cmd*=choose]`

// TestBranchByMouse hovers over a token, clicks an alternative, and returns to the first branch
// through the tree.
func TestBranchByMouse(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	b := startTab(t, x)
	b.write(4)
	before := b.text()
	browser.Mouse(b.Tab).Point("#t-2")
	b.Until(`document.getElementById('peek').dataset.step === '2'`)
	b.Click(firstChoice)
	b.Until(atStage("5"))
	st := x.onlyRun().Latest()
	if !st.Steps[1].Forced || len(st.Branches) != 2 {
		t.Fatalf("step 2 chosen by hand: got %v, %d branches; want true, 2", st.Steps[1].Forced, len(st.Branches))
	}
	b.Eval(`for (const d of document.querySelectorAll('details')) if (d.querySelector('#branches')) d.open = true`)
	b.Click(`#branches [data-cmd*='"branch"']`)
	b.Until(atStage("7"))
	b.tokens(4)
	if got := b.text(); got != before {
		t.Errorf("back on the first branch, the text is %q, want %q", got, before)
	}
}

// TestBranchByKeyboard does the same as [TestBranchByMouse] by keyboard, and also searches for a
// token.
func TestBranchByKeyboard(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	b := startTab(t, x)
	b.write(3)
	focused := func(expr string) string { return `document.activeElement?.matches(` + "`" + expr + "`" + `)` }
	b.Eval(`document.querySelector('#strip-gen [tabindex="0"]').focus()`)
	b.Keys(browser.Home)
	b.Until(focused("#t-1"))
	b.Keys(browser.ArrowRight)
	b.Until(focused("#t-2"))
	b.Keys(browser.End)
	b.Until(focused("#t-3"))
	b.Keys(browser.ArrowLeft)
	b.Until(focused("#t-2"))
	if n := browser.Value[int](b.Tab, `document.querySelectorAll('#strip-gen [tabindex="0"]').length`); n != 1 {
		t.Errorf("%d tokens in the tab order, want one", n)
	}
	if got := browser.Value[bool](b.Tab, atStage("7")); !got {
		t.Error("an arrow in the strip moved the stage")
	}
	b.Keys(browser.Enter) // shows the token's draw
	b.Until(atStage("5") + ` && document.querySelector('#t-2').getAttribute('aria-current') === 'true'`)
	b.Keys(browser.ArrowDown)
	b.Until(focused("#peek button"))
	b.Keys(browser.Escape)
	b.Until(focused("#t-2"))
	b.Keys(browser.ArrowDown)
	b.Until(focused("#peek button"))
	b.Keys(" ") // presses the button, but does not play
	b.Until(`document.querySelector('#t-2') === null`)
	st := x.onlyRun().Latest()
	if !st.Steps[1].Forced || st.Playing || st.Cursor != (session.Cursor{Step: 2, Stage: infer.KindSample}) {
		t.Fatalf(
			"by hand %v, playing %v, at %+v; want true, false, %+v", st.Steps[1].Forced, st.Playing, st.Cursor,
			session.Cursor{Step: 2, Stage: infer.KindSample},
		)
	}

	// Any other token can be found by its text.
	b.Eval(`const i = document.querySelector('[data-find]'); i.closest('details')?.setAttribute('open', ''); i.focus()`)
	b.Keys("·the")
	b.Until(
		`document.querySelector('#found [data-cmd]') !== null && ` +
			`!document.querySelector('#found').textContent.includes('undefined')`,
	)
	b.Keys(browser.Enter)
	b.Until(focused("#found [data-cmd]"))
	want := browser.Value[int](b.Tab, `JSON.parse(document.activeElement.dataset.cmd).token`)
	b.Keys(browser.Enter)
	b.Until(`document.querySelector('#spoken') !== null`)
	x.onlyRun().comes(t, func(st *session.State) bool { return st.Steps[1].Chosen == want })
	if got := testmodel.Target(t).Token(want).Text; got != " the" {
		t.Errorf("the first result is %q, want \" the\"", got)
	}
}

// TestBranchByTouch: the first tap selects a token, and a button then rewinds to it.
func TestBranchByTouch(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	b := startTabOn(t, x, browser.Phone)
	for i := range 3 {
		b.say(`{"cmd":"token"}`)
		b.tokens(i + 1)
	}
	b.Tap("#t-1")
	b.Until(`document.getElementById('peek').dataset.step === '1'`)
	if !browser.Value[bool](b.Tab, atStage("7")) {
		t.Error("the first tap has already rewound the text")
	}
	b.Tap(".peek__rewind")
	b.Until(atStage("5") + ` && document.querySelector('#t-1').getAttribute('aria-current') === 'true'`)
	b.Tap(firstChoice)
	b.Until(`document.querySelector('#t-2') === null`)
	if !x.onlyRun().Latest().Steps[0].Forced {
		t.Error("the token was not chosen")
	}
}

// TestScrubberAndWhatIfSliders moves the two sliders with their keys.
// Promise: You can rewind to any token and see what another u would have drawn.
func TestScrubberAndWhatIfSliders(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	b := startTab(t, x)
	b.write(3)
	slide := func(selector string, value string) {
		b.Eval(
			fmt.Sprintf(
				`const e = document.querySelector(%q); e.value = %s; `+
					`e.dispatchEvent(new Event('input', {bubbles: true}))`,
				selector, value,
			),
		)
	}
	if got := browser.Value[string](b.Tab, `[scrub.value, scrub.max].join()`); got != "21,21" {
		t.Errorf("the scrubber is at %s, want 21,21", got)
	}
	slide("#scrub", "12") // step 2, stage 5
	b.Until(atStage("5") + ` && document.querySelector('#t-2').getAttribute('aria-current') === 'true'`)
	b.Until(`!document.getElementById('whatif').hidden`)
	st := x.onlyRun().Latest()
	if got := browser.Value[float64](
		b.Tab, `Number(document.querySelector('[data-whatif]').value)`,
	); got < st.Steps[1].U-0.001 || got > st.Steps[1].U+0.001 {
		t.Errorf(
			"the slider stands at %v, u is %v; want at least %v and at most %v", got, st.Steps[1].U,
			st.Steps[1].U-0.001, st.Steps[1].U+0.001,
		)
	}
	slide("[data-whatif]", "0.9999")
	x.onlyRun().comes(t, func(st *session.State) bool { return st.WhatIf != nil && *st.WhatIf == 0.9999 })
	b.Eval(`scrub.focus()`)
	b.Keys(browser.ArrowRight)
	b.Until(atStage("6") + ` && document.getElementById('whatif').hidden`)
	b.Keys(browser.Home)
	b.Until(atStage("1"))
	for range 30 { // as when dragging: only the last of many values matters
		b.Eval(`scrub.value = Number(scrub.value) + 1; scrub.dispatchEvent(new Event('input', {bubbles: true}))`)
	}
	b.Until(atStage("7") + ` && scrub.value === '21'`)
}

// TestContinuePastLimitAndFinish continues past a limit, runs to the end, and cancels before the
// end.
func TestContinuePastLimitAndFinish(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	b := startTab(t, x)
	b.say(`{"cmd":"preset","preset":"greedy"}`)
	b.say(`{"cmd":"stop","max_tokens":2}`)
	b.write(2)
	b.Until(`document.querySelector('#strip-next').classList.contains('is-stopped')`)
	b.Click(`[data-cmd='{"cmd":"goon"}']`)
	b.Until(`!document.querySelector('#strip-next').classList.contains('is-stopped')`)
	b.say(`{"cmd":"stop","max_tokens":450}`)
	// The model is fast: cancel as soon as there is something to cancel.
	b.Eval(`new MutationObserver((_, o) => {
		const cancel = document.querySelector('#progress [data-cmd*=pause]')
		if (cancel) { o.disconnect(); document.body.dataset.canceled = 'yes'; cancel.click() }
	}).observe(document.body, {childList: true, subtree: true, attributes: true})`)
	b.Click(`[data-cmd='{"cmd":"finish"}']`)
	b.Until(`document.body.dataset.canceled === 'yes'`)
	st := x.onlyRun().comes(t, func(st *session.State) bool { return !st.Playing })
	b.tokens(len(st.Steps))
}

// TestLinkInFreshBrowser opens a copied link in a browser that has never seen the run, and then
// a link edited by hand.
// Promise: A link opens the very stage in a browser that has never seen the run.
func TestLinkInFreshBrowser(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	b := startTab(t, x)
	b.write(2)
	b.Keys(browser.ArrowLeft)
	b.Until(atStage("6"))
	b.Until(`new URLSearchParams(location.search).get('log')?.length > 50`)
	b.Eval(`navigator.clipboard.writeText = async (text) => { window.copied = text };
		document.querySelector('[data-copy-link]').click()`)
	b.Until(told("Link copied") + ` && window.copied !== undefined`)
	link := browser.Value[string](b.Tab, `window.copied`)
	st := x.onlyRun().Latest()
	if want := b.At(x.http.URL + "/loop?log=" + session.LinkOf(st)); link != want {
		t.Fatalf("copied %s, want %s", link, want)
	}
	fresh := loopTab{browser.Open(t, browser.Laptop, link)}
	if !browser.Value[bool](fresh.Tab, atStage("6")) {
		t.Error("the page does not show the stage before its socket is open")
	}
	fresh.Until(isLive + ` && ` + atStage("6"))
	if fresh.text() != b.text() {
		t.Errorf("the link shows %q, want %q", fresh.text(), b.text())
	}
	fresh.Keys(browser.ArrowRight)
	fresh.Until(atStage("7"))
	if got := b.text(); got != fresh.text() || !browser.Value[bool](b.Tab, atStage("6")) {
		t.Error("the other learner's step moved this one's run")
	}

	bad := loopTab{
		browser.Open(
			t, browser.Laptop,
			x.http.URL+"/loop?log="+url.QueryEscape(edited(t, session.LinkOf(st), `"n":2`, `"n":700`)),
		),
	}
	bad.Until(isLive + ` && ` + told("edited by hand"))
	bad.Until(`!document.getElementById('prompt-box').hidden`)
	bad.Faults() // the status of the page is expected
	bad.say(`{"cmd":"try","key":"sure"}`)
	bad.Until(atStage("1"))
}

// TestKeyboardShortcuts checks every shortcut, and that a key press ends an animation.
func TestKeyboardShortcuts(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	b := startTab(t, x)
	for key, id := range map[string]string{"t": "temperature", "k": "top_k", "p": "top_p", "m": "min_p", "s": "seed"} {
		b.Keys(key)
		b.Until(`document.activeElement.id === '` + id + `'`)
		b.Keys(browser.Escape)
		b.Until(`document.activeElement === document.body`)
	}
	speed := func(s session.Speed) string {
		return `document.querySelector('[aria-pressed=true][data-cmd*=speed]').dataset.cmd.includes('"` + string(s) +
			`"')`
	}
	b.Keys("]")
	b.Until(speed(session.SpeedDouble))
	b.Keys("[")
	b.Until(speed(session.SpeedNormal))
	b.write(1)
	for _, n := range []string{"3", "6", "1", "7"} {
		b.Keys(n)
		b.Until(atStage(n))
	}
	b.Keys(" ")
	b.Until(`document.querySelector('#transport [data-cmd*=pause]') !== null`)
	b.Keys(" ")
	b.Until(`document.querySelector('#transport [data-cmd*=pause]') === null`)
	b.Keys("r")
	b.Until(atStage("1"))
	b.tokens(0)
	b.say(`{"cmd":"stop","max_tokens":3}`)
	b.Keys("e")
	b.Until(`document.querySelector('#strip-next').classList.contains('is-stopped')`)
	b.tokens(3)
	b.Keys("r")
	b.tokens(0)
	b.Keys("?")
	b.Until(`document.getElementById('keys').open`)
	b.Keys(browser.Escape)
	b.Until(`!document.getElementById('keys').open`)

	b.Eval(`window.slow = document.getElementById('panel').animate([{opacity: 0}, {opacity: 1}], 60000)`)
	b.Keys("x") // not a command key, so it only ends animations
	b.Until(`window.slow.playState === 'finished'`)
	b.Keys(browser.ArrowRight)
	b.Until(atStage("2"))
}
