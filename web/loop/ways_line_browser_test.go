package loop

import (
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
)

// The tests in this file check what happens when the server fails or a connection to it breaks.

// visitAt opens a page of a site and begins a text, with the mouse as input.
func visitAt(t *testing.T, x *site) *visitor {
	t.Helper()
	tab := visit(t, x, browser.Laptop)
	v := &visitor{tab, browser.Mouse(tab), t, x}
	v.Press("#prompt-form [data-prompt]")
	v.Wait("a text", atStage("1"))
	return v
}

// watchTokens records every token that is added to the text or removed.
const watchTokens = `window.came = []; new MutationObserver((list) => {
	for (const { addedNodes, removedNodes } of list) {
		for (const e of addedNodes) if (e.id) came.push(e.id);
		for (const e of removedNodes) if (e.id) came.push('-' + e.id);
	}
}).observe(document.getElementById('strip-gen'), {childList: true})`

// TestFrozenConnectionLosesNothing freezes the connection without closing it, while the run plays
// and while keys are pressed. After it is unfrozen, every token is there once and in order, every
// key press has taken effect once, and the connection is still the same.
func TestFrozenConnectionLosesNothing(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	p := x.proxied(t)
	v := visitAt(t, x.through(p))
	v.given(session.Try{Key: "loop"}, session.SetKnob("max_tokens", 400), session.SetSpeed{Speed: session.SpeedFour})
	v.same()
	v.Eval(watchTokens)
	line := func() string { return x.onlyJoined().line() }
	before := line()

	t.Run("keys", func(t *testing.T) {
		thaw := p.Freeze()
		for range 3 {
			v.Keys(browser.ArrowRight)
		}
		v.Keys("n") // to the end of this turn
		v.Keys("n")
		v.settle()
		if st := v.state(); !at(1, infer.KindForward)(st) || !browser.Value[bool](v.Tab, atStage("1")) {
			t.Errorf("the run is at %+v, want it at the forward stage on a frozen connection", st.Cursor)
		}
		thaw()
		v.comes("two tokens", at(2, infer.KindCache))
	})
	t.Run("stages", func(t *testing.T) { frozenPlay(v, p, session.SpeedFour, 4) })
	t.Run("whole tokens", func(t *testing.T) { frozenPlay(v, p, session.SpeedMax, 120) })

	var want []string
	for n := range v.state().Steps {
		want = append(want, tokenID(n+1))
	}
	if got := browser.Value[[]string](v.Tab, `came`); !slices.Equal(got, want) {
		t.Errorf("tokens were added and removed as\n%q, want\n%q", got, want)
	}
	if after := line(); after != before {
		t.Errorf("the connection was given up: %s, want %s", after, before)
	}
}

// frozenPlay plays while the connection is frozen, and unfreezes it while the run is still playing.
// The text ends after n tokens.
func frozenPlay(v *visitor, p *browser.Proxy, speed session.Speed, n int) {
	v.t.Helper()
	v.given(session.SetKnob("max_tokens", float64(n)), session.SetSpeed{Speed: speed})
	v.same()
	const text = `document.getElementById('rail').innerText + document.getElementById('strip-gen').innerText`
	before, from := browser.Value[string](v.Tab, text), v.state().Frontier()
	thaw := p.Freeze()
	v.given(session.Play{})
	browser.Eventually(v.t, func() bool { // the run completes two turns, which the page does not receive
		f := v.state().Frontier()
		return (f.Step-from.Step)*7+int(f.Stage)-int(from.Stage) >= 14
	})
	v.settle()
	if shows := browser.Value[string](v.Tab, text); shows != before {
		v.t.Errorf("the page shows %q on a frozen connection, want %q, as before", shows, before)
	}
	thaw()
	v.comes("the end", func(st *session.State) bool { return len(st.Steps) == n && st.Stopped == infer.StopMaxTokens })
}

// TestFrozenConnectionIsReplaced: a page that was asleep sends a ping, gets no answer, and opens
// another connection. A key pressed in the meantime takes effect once or not at all.
func TestFrozenConnectionIsReplaced(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	p := x.proxied(t)
	v := visitAt(t, x.through(p))
	v.given(oneToken)
	v.same()
	thaw := p.Freeze()
	v.Keys(browser.ArrowRight)
	v.Eval(`document.dispatchEvent(new Event('visibilitychange'))`)
	v.Wait(
		"the line to be given up",
		`document.documentElement.dataset.conn === 'reconnecting' && !document.getElementById('conn').hidden`,
	)
	thaw()
	v.Wait("another line", isLive+` && document.getElementById('conn').hidden`)
	v.same()
	v.comes("the stage that the key asked for, once", at(2, infer.KindForward))
	v.Press(cmd("#transport", `{"cmd":"token"}`))
	v.comes("the next token", at(2, infer.KindCache))
}

// TestPressLostWithTheServerIsReported: if the server goes down before a press has arrived, the
// next server does not carry it out. The page says so, and shows the same stage as before.
func TestPressLostWithTheServerIsReported(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	p := x.proxied(t)
	y := x.through(p)
	v := visitAt(t, y)
	v.MayLose()
	v.given(oneToken)
	v.same()
	v.Wait("the link in the address", `location.search.includes('log=')`)
	p.Lose(func() { v.Keys(browser.ArrowRight) })
	x.stop()
	v.Wait("the loss to be told", `document.documentElement.dataset.conn === 'reconnecting'`)
	v.x = newSiteAt(t, limits{}, x.http.Listener.Addr().String())
	v.x.through(p)
	p.Mend()
	v.Eval(`dispatchEvent(new Event('online'))`)
	v.says("#told", "rebuilt from the link")
	v.says("#err-general", "lost before an answer arrived")
	v.comes("the stage from before", at(1, infer.KindCache))
	v.Keys(browser.ArrowRight)
	v.comes("the next stage", at(2, infer.KindForward))
	v.Wait("the words gone", `document.getElementById('err-general').textContent === ''`)
}

// TestPressDuringOutageIsResentOnce: if the connection breaks before a press has arrived, the press
// is sent again on the next connection and takes effect once.
func TestPressDuringOutageIsResentOnce(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	p := x.proxied(t)
	v := visitAt(t, x.through(p))
	v.MayLose()
	v.given(oneToken)
	v.same()
	p.Lose(func() { v.Keys(browser.ArrowRight) })
	v.Wait("the loss to be told", `document.documentElement.dataset.conn === 'reconnecting'`)
	if st := v.state(); !at(1, infer.KindCache)(st) {
		t.Fatalf("the run is at %+v, want the key not to have arrived", st.Cursor)
	}
	p.Mend()
	v.Eval(`dispatchEvent(new Event('online'))`)
	v.comes("the stage that the key asked for", at(2, infer.KindForward))
	v.same()
	v.Keys(browser.ArrowRight)
	v.comes("the next stage", at(2, infer.KindLogits))
}

// TestTwoTabsDriveOneRun: two tabs control one run without waiting for each other. Both show
// the results, and both can continue.
func TestTwoTabsDriveOneRun(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	v := visitAt(t, x)
	tab := v.Another(browser.Phone, v.URL())
	w := &visitor{tab, browser.Touch(tab), t, x}
	w.Wait("a live page", isLive)
	w.same()
	for n := range 6 {
		v.Press("#transport [data-cmd*=token]")
		w.Press("#transport .btn--main") // one stage
		if n == 3 {
			w.Slide("#temperature", 1.4)
			v.Press("#presets button:nth-child(2)")
		}
	}
	v.same()
	w.same()
	w.Press(cmd("#transport", `{"cmd":"reset"}`))
	v.comes("the prompt", at(1, infer.KindForward))
	w.same()
	v.Press(cmd("#transport", `{"cmd":"play"}`))
	w.Wait("playing", `document.querySelector('#transport [data-cmd*=pause]') !== null`)
	w.Press(cmd("#transport", `{"cmd":"pause"}`))
	v.comes("a pause", func(st *session.State) bool { return !st.Playing })
}

// TestReloadAtEveryStage reloads the page at every stage, both while the run is paused and while it
// plays.
// Promise: Reloading the page returns to the same stage, even while the run plays.
func TestReloadAtEveryStage(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	v := visitAt(t, x)
	v.given(oneToken)
	// figures selects the numbers of every stage. Since the measured times are part of the state,
	// they also stay the same.
	const figures = `[...document.querySelectorAll('#panel :is(h2, dd, tbody tr, tfoot tr), #peek, ` +
		`#cost')].map((e) => e.textContent.replace(/\s+/g, ' ').trim()).join('\n')`
	// whole reports whether the parts that arrive in a second message are the same as on the
	// server's page.
	const whole = `(() => {
		window.fresh ??= (fetch(location.href).then((r) => r.text()).then((text) => {
			window.fresh = new DOMParser().parseFromString(text, 'text/html');
		}), {});
		const cost = (page) => page.querySelector?.('#cost').textContent.replace(/\s+/g, ' ').trim();
		return cost(window.fresh) === cost(document);
	})()`
	for _, k := range infer.Kinds {
		v.given(oneStage)
		v.same()
		v.Wait("the whole stage", whole)
		before := browser.Value[string](v.Tab, figures)
		v.Reload()
		if got := browser.Value[string](v.Tab, figures); got != before { // over HTTP
			t.Errorf("stage %s after a reload:\n%s\nwant\n%s", k, got, before)
		}
		v.Wait("a live page", isLive)
		v.same()
		if got := browser.Value[string](v.Tab, figures); got != before { // over the socket
			t.Errorf("stage %s, after reconnecting:\n%s\nwant\n%s", k, got, before)
		}
	}
	// Stages last so long that both reloads happen within the run's first turns on any machine.
	v.given(
		session.Try{Key: "loop"}, session.SetSpeed{Speed: session.SpeedFour}, session.SetKnob("max_tokens", 300),
		session.Play{},
	)
	for range 2 {
		was := v.state().Cursor
		browser.Eventually(t, func() bool { return v.state().Cursor != was })
		v.Reload()
		v.Wait("a live page", isLive)
		if !v.state().Playing {
			t.Fatal("a reload has stopped the run")
		}
	}
	v.given(session.SetKnob("max_tokens", float64(len(v.state().Steps)+1)), session.SetSpeed{Speed: session.SpeedMax})
	v.comes("the end", func(st *session.State) bool { return st.Stopped == infer.StopMaxTokens })
}

// TestWaysToReconnect: while the server is down, the page says so and keeps its content. "Try now"
// reconnects to the same stage on a server that has just started, or reports that there is still no
// server.
func TestWaysToReconnect(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	browser.Ways(t, func(t *testing.T, screen browser.Screen, hands func(*browser.Tab) browser.Hands) {
		x := newSite(t, limits{})
		tab := visit(t, x, screen)
		v := &visitor{tab, hands(tab), t, x}
		v.MayLose()
		v.Press("#prompt-form [data-prompt]")
		v.Wait("a text", atStage("1"))
		v.given(oneToken, oneToken, session.Seek{Step: 2, Stage: infer.KindFilter})
		v.same()
		v.Wait("the link in the address", `location.search.includes('log=')`)
		want := v.state()
		x.stop()
		v.Wait(
			"the loss to be told",
			`document.documentElement.dataset.conn === 'reconnecting' && !document.getElementById('conn').hidden`,
		)
		v.says("#conn", "Connection lost. Trying again")
		v.Press("[data-reconnect]")
		v.Press(cmd("#transport", nextCmd))
		v.says("#err-general", "this was not sent")
		if !browser.Value[bool](v.Tab, atStage("4")) {
			t.Error("the page does not show the same as before")
		}
		v.x = newSiteAt(t, limits{}, x.http.Listener.Addr().String())
		// Press the button from a script, because the page may reconnect between a check and a
		// press.
		v.Eval(`if (!document.getElementById('conn').hidden) document.querySelector('[data-reconnect]').click()`)
		v.says("#told", "rebuilt from the link")
		st := v.comes("the same stage", at(2, infer.KindFilter))
		for i, step := range want.Steps {
			if st.Steps[i].Chosen != step.Chosen {
				t.Errorf("step %d is %d, want %d", i+1, st.Steps[i].Chosen, step.Chosen)
			}
		}
		v.Press(cmd("#transport", nextCmd))
		v.comes("the next stage", at(2, infer.KindSample)) // this token had already been drawn
	})
}
