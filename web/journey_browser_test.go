package web

import (
	"encoding/json"
	"fmt"
	"net/url"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/web/session"
)

const isLive = `document.documentElement.dataset.conn === 'live'`

// startTab opens the page and begins a text by a suggestion's prompt.
func startTab(t testing.TB, x *site, screen ...chromedp.EmulateViewportOption) *tab {
	t.Helper()
	b := openTab(t)
	if len(screen) > 0 {
		b.run("screen", chromedp.EmulateViewport(390, 844, screen...))
	}
	b.run("open", chromedp.Navigate(x.http.URL+"/loop"))
	b.until(isLive)
	b.say(`{"cmd":"start","prompt":"Once upon a time there was a"}`)
	b.until(atStage("1"))
	return b
}

// say sends a command as a button of the page would.
func (b *tab) say(command string) {
	b.t.Helper()
	quoted, _ := json.Marshal(command)
	b.do(`const e = document.createElement('button'); e.dataset.cmd = ` + string(quoted) + `; document.body.append(e); e.click(); e.remove()`)
}

// tokens waits for n tokens in the text.
func (b *tab) tokens(n int) {
	b.t.Helper()
	b.until(fmt.Sprintf(`document.querySelectorAll('#strip-gen > *').length === %d`, n))
}

// write makes n tokens by the key N.
func (b *tab) write(n int) {
	b.t.Helper()
	for i := range n {
		b.key("n")
		b.tokens(i + 1)
	}
}

// text is what the strip says.
func (b *tab) text() string {
	b.t.Helper()
	return eval[string](b, `[...document.querySelectorAll('#strip-gen > *')].map(e => e.children[1].textContent.trim()).join('|')`)
}

const firstChoice = `#peek [data-cmd*=choose]`

// TestBranchByMouse: hover, click an alternative, and go back by the tree.
func TestBranchByMouse(t *testing.T) {
	x := newSite(t, Limits{})
	b := startTab(t, x)
	b.write(4)
	before := b.text()
	at := eval[[]float64](b, `(() => { const r = document.getElementById('t-2').getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })()`)
	b.run("hover", chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0], at[1]))
	b.until(`document.getElementById('peek').dataset.step === '2'`)
	b.run("choose", chromedp.Click(chromedp.CSS(firstChoice)))
	b.until(atStage("5"))
	st := x.onlyRun().latest.Load()
	if !st.Steps[1].Forced || len(st.Branches) != 2 {
		t.Fatalf("step 2 taken by hand: %v, %d branches", st.Steps[1].Forced, len(st.Branches))
	}
	b.do(`for (const d of document.querySelectorAll('details')) if (d.querySelector('#branches')) d.open = true`)
	b.run("back", chromedp.Click(chromedp.CSS(`#branches [data-cmd*='"branch"']`)))
	b.until(atStage("7"))
	b.tokens(4)
	if got := b.text(); got != before {
		t.Errorf("back on the first branch the text is %q, was %q", got, before)
	}
	b.checkFaults()
}

// TestBranchByKeyboard does the same without a mouse, and finds a token.
func TestBranchByKeyboard(t *testing.T) {
	x := newSite(t, Limits{})
	b := startTab(t, x)
	b.write(3)
	focused := func(expr string) string { return `document.activeElement?.matches(` + "`" + expr + "`" + `)` }
	b.do(`document.querySelector('#strip-gen [tabindex="0"]').focus()`)
	b.key(kb.Home)
	b.until(focused("#t-1"))
	b.key(kb.ArrowRight)
	b.until(focused("#t-2"))
	b.key(kb.End)
	b.until(focused("#t-3"))
	b.key(kb.ArrowLeft)
	b.until(focused("#t-2"))
	if n := eval[int](b, `document.querySelectorAll('#strip-gen [tabindex="0"]').length`); n != 1 {
		t.Errorf("%d tokens in the order of Tab, want one", n)
	}
	if got := eval[bool](b, atStage("7")); !got {
		t.Error("an arrow in the strip moved the stage")
	}
	b.key(kb.Enter) // look at its draw
	b.until(atStage("5") + ` && document.querySelector('#t-2').getAttribute('aria-current') === 'true'`)
	b.key(kb.ArrowDown)
	b.until(focused("#peek button"))
	b.key(kb.Escape)
	b.until(focused("#t-2"))
	b.key(kb.ArrowDown)
	b.until(focused("#peek button"))
	b.key(" ") // presses the button, does not play
	b.until(`document.querySelector('#t-2') === null`)
	st := x.onlyRun().latest.Load()
	if !st.Steps[1].Forced || st.Playing || st.Cursor != (session.Cursor{Step: 2, Stage: infer.KindSample}) {
		t.Fatalf("by hand %v, playing %v, at %+v", st.Steps[1].Forced, st.Playing, st.Cursor)
	}

	// Any other token, by its text.
	b.do(`const i = document.querySelector('[data-find]'); i.closest('details')?.setAttribute('open', ''); i.focus()`)
	b.key("·the")
	b.until(`document.querySelector('#found [data-cmd]') !== null && !document.querySelector('#found').textContent.includes('undefined')`)
	b.key(kb.Enter)
	b.until(focused("#found [data-cmd]"))
	want := eval[int](b, `JSON.parse(document.activeElement.dataset.cmd).token`)
	b.key(kb.Enter)
	b.until(`document.querySelector('#spoken') !== null`)
	eventually(t, func() bool { return x.onlyRun().latest.Load().Steps[1].Chosen == want })
	if got := bundledModel(t).Token(want).Text; got != " the" {
		t.Errorf("found %q first, want \" the\"", got)
	}
	b.checkFaults()
}

// TestBranchByTouch: the first tap selects, a button rewinds.
func TestBranchByTouch(t *testing.T) {
	x := newSite(t, Limits{})
	b := startTab(t, x, chromedp.EmulateMobile, chromedp.EmulateTouch)
	for i := range 3 {
		b.say(`{"cmd":"token"}`)
		b.tokens(i + 1)
	}
	b.run("tap", chromedp.Tap(chromedp.CSS("#t-1")))
	b.until(`document.getElementById('peek').dataset.step === '1'`)
	if !eval[bool](b, atStage("7")) {
		t.Error("the first tap has already rewound")
	}
	b.run("rewind", chromedp.Tap(chromedp.CSS(".peek__rewind"), chromedp.NodeVisible))
	b.until(atStage("5") + ` && document.querySelector('#t-1').getAttribute('aria-current') === 'true'`)
	b.run("choose", chromedp.Tap(chromedp.CSS(firstChoice)))
	b.until(`document.querySelector('#t-2') === null`)
	if !x.onlyRun().latest.Load().Steps[0].Forced {
		t.Error("the token was not taken")
	}
	b.checkFaults()
}

// TestScrubAndWhatIf drags the two sliders by their keys.
func TestScrubAndWhatIf(t *testing.T) {
	x := newSite(t, Limits{})
	b := startTab(t, x)
	b.write(3)
	slide := func(selector string, value string) {
		b.t.Helper()
		b.do(fmt.Sprintf(`const e = document.querySelector(%q); e.value = %s; e.dispatchEvent(new Event('input', {bubbles: true}))`, selector, value))
	}
	if got := eval[string](b, `[scrub.value, scrub.max].join()`); got != "21,21" {
		t.Errorf("the scrubber stands at %s, want 21,21", got)
	}
	slide("#scrub", "12") // step 2, stage 5
	b.until(atStage("5") + ` && document.querySelector('#t-2').getAttribute('aria-current') === 'true'`)
	b.until(`!document.getElementById('whatif').hidden`)
	st := x.onlyRun().latest.Load()
	if got := eval[float64](b, `Number(document.querySelector('[data-whatif]').value)`); got < st.Steps[1].U-0.001 || got > st.Steps[1].U+0.001 {
		t.Errorf("the slider stands at %v, u is %v", got, st.Steps[1].U)
	}
	slide("[data-whatif]", "0.9999")
	eventually(t, func() bool { u := x.onlyRun().latest.Load().WhatIf; return u != nil && *u == 0.9999 })
	b.do(`scrub.focus()`)
	b.key(kb.ArrowRight)
	b.until(atStage("6") + ` && document.getElementById('whatif').hidden`)
	b.key(kb.Home)
	b.until(atStage("1"))
	for range 30 { // dragged: many values, the last counts
		b.do(`scrub.value = Number(scrub.value) + 1; scrub.dispatchEvent(new Event('input', {bubbles: true}))`)
	}
	b.until(atStage("7") + ` && scrub.value === '21'`)
	b.checkFaults()
}

// TestGoOnAndFinish: past a limit, to the end, and a cancel on the way.
func TestGoOnAndFinish(t *testing.T) {
	x := newSite(t, Limits{})
	b := startTab(t, x)
	b.say(`{"cmd":"preset","preset":"greedy"}`)
	b.say(`{"cmd":"stop","max_tokens":2}`)
	b.write(2)
	b.until(`document.querySelector('#strip-next').classList.contains('is-stopped')`)
	b.run("go on", chromedp.Click(chromedp.CSS(`[data-cmd='{"cmd":"goon"}']`), chromedp.NodeVisible))
	b.until(`!document.querySelector('#strip-next').classList.contains('is-stopped')`)
	b.say(`{"cmd":"stop","max_tokens":450}`)
	// The model is quick: cancel as soon as there is something to cancel.
	b.do(`new MutationObserver((_, o) => {
		const cancel = document.querySelector('#progress [data-cmd*=pause]')
		if (cancel) { o.disconnect(); document.body.dataset.cancelled = 'yes'; cancel.click() }
	}).observe(document.body, {childList: true, subtree: true, attributes: true})`)
	b.run("to the end", chromedp.Click(chromedp.CSS(`[data-cmd='{"cmd":"finish"}']`), chromedp.NodeVisible))
	b.until(`document.body.dataset.cancelled === 'yes'`)
	eventually(t, func() bool { return !x.onlyRun().latest.Load().Playing })
	b.tokens(len(x.onlyRun().latest.Load().Steps))
	b.checkFaults()
}

// TestLinkInFreshBrowser opens a copied link where nobody knows the run, then
// one edited by hand.
func TestLinkInFreshBrowser(t *testing.T) {
	x := newSite(t, Limits{})
	b := startTab(t, x)
	b.write(2)
	b.key(kb.ArrowLeft)
	b.until(atStage("6"))
	b.until(`new URLSearchParams(location.search).get('log')?.length > 50`)
	b.do(`navigator.clipboard.writeText = async (text) => { window.copied = text };
		document.querySelector('[data-copy-link]').click()`)
	b.until(told("Link copied") + ` && window.copied !== undefined`)
	link := eval[string](b, `window.copied`)
	st := x.onlyRun().latest.Load()
	if want := x.http.URL + "/loop?log=" + session.LinkOf(st); link != want {
		t.Fatalf("copied %s, want %s", link, want)
	}
	fresh := openTab(t)
	fresh.run("open", chromedp.Navigate(link))
	if !eval[bool](fresh, atStage("6")) {
		t.Error("the page does not show the stage before a socket is there")
	}
	fresh.until(isLive + ` && ` + atStage("6"))
	if fresh.text() != b.text() {
		t.Errorf("the link shows %q, want %q", fresh.text(), b.text())
	}
	fresh.key(kb.ArrowRight)
	fresh.until(atStage("7"))
	if got := b.text(); got != fresh.text() || !eval[bool](b, atStage("6")) {
		t.Error("the other learner's step moved this one's run")
	}
	fresh.checkFaults()

	bad := openTab(t)
	bad.run("open", chromedp.Navigate(x.http.URL+"/loop?log="+url.QueryEscape(edited(t, session.LinkOf(st), `"n":2`, `"n":700`))))
	bad.until(isLive + ` && ` + told("edited by hand"))
	bad.until(`!document.getElementById('prompt-box').hidden`)
	bad.say(`{"cmd":"try","key":"sure"}`)
	bad.until(atStage("1"))
}

// TestKeys of the design's table, and that a key press ends an animation.
func TestKeys(t *testing.T) {
	x := newSite(t, Limits{})
	b := startTab(t, x)
	for key, id := range map[string]string{"t": "temperature", "k": "top_k", "p": "top_p", "m": "min_p", "s": "seed"} {
		b.key(key)
		b.until(`document.activeElement.id === '` + id + `'`)
		b.key(kb.Escape)
		b.until(`document.activeElement === document.body`)
	}
	speed := func(s session.Speed) string {
		return `document.querySelector('[aria-pressed=true][data-cmd*=speed]').dataset.cmd.includes('"` + string(s) + `"')`
	}
	b.key("]")
	b.until(speed(session.SpeedDouble))
	b.key("[")
	b.until(speed(session.SpeedNormal))
	b.write(1)
	for _, n := range []string{"3", "6", "1", "7"} {
		b.key(n)
		b.until(atStage(n))
	}
	b.key(" ")
	b.until(`document.querySelector('#transport [data-cmd*=pause]') !== null`)
	b.key(" ")
	b.until(`document.querySelector('#transport [data-cmd*=pause]') === null`)
	b.key("r")
	b.until(atStage("1"))
	b.tokens(0)
	b.say(`{"cmd":"stop","max_tokens":3}`)
	b.key("e")
	b.until(`document.querySelector('#strip-next').classList.contains('is-stopped')`)
	b.tokens(3)
	b.key("r")
	b.tokens(0)
	b.key("?")
	b.until(`document.getElementById('keys').open`)
	b.key(kb.Escape)
	b.until(`!document.getElementById('keys').open`)

	b.do(`window.slow = document.getElementById('panel').animate([{opacity: 0}, {opacity: 1}], 60000)`)
	b.key("x") // no command: it only ends what moves
	b.until(`window.slow.playState === 'finished'`)
	b.key(kb.ArrowRight)
	b.until(atStage("2"))
	b.checkFaults()
}
