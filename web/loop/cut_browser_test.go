package loop

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
)

// TestTwoTabsStayInStep: two tabs with the same run show the same text and stage.
func TestTwoTabsStayInStep(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	b := startTab(t, x)
	other := b.second(browser.Value[string](b.Tab, `location.href`))
	other.Until(isLive + ` && ` + atStage("1"))
	b.write(2)
	other.tokens(2)
	other.Keys(browser.ArrowLeft)
	b.Until(atStage("6"))
	other.say(`{"cmd":"set","top_k":9}`)
	b.Until(`document.getElementById('top_k').value === '9'`)
	if b.text() != other.text() {
		t.Errorf("one tab has %q, the other %q, want the same", b.text(), other.text())
	}
}

// TestReloadDuringARun reloads the page while the run plays to the end.
func TestReloadDuringARun(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	b := startTab(t, x)
	b.say(`{"cmd":"preset","preset":"greedy"}`)
	b.say(`{"cmd":"stop","max_tokens":120}`)
	b.say(`{"cmd":"finish"}`)
	b.Until(`document.querySelectorAll('#strip-gen > *').length > 3`)
	b.Reload()
	b.Until(isLive)
	b.Until(`document.querySelector('#strip-next').classList.contains('is-stopped')`)
	b.tokens(len(x.onlyRun().Latest().Steps))
}

// TestBrowserReconnectsAtEveryStage breaks the connection at every stage, and at one stage also
// blocks new connections for some time.
func TestBrowserReconnectsAtEveryStage(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	p := x.proxied(t)
	b := startTab(t, x.through(p))
	b.MayLose()
	for n := 2; n <= 8; n++ {
		if n != 5 {
			p.Break()
		} else {
			p.Cut()
			b.Until(
				`document.documentElement.dataset.conn === 'reconnecting' && !document.getElementById('conn').hidden`,
			)
			p.Mend()
			b.Eval(`dispatchEvent(new Event('online'))`)
		}
		b.Until(isLive)
		browser.Eventually(t, func() bool { return len(x.onlyJoined().connections()) > 0 })
		b.Until(isLive + ` && document.getElementById('conn').hidden && ` + atStage(fmt.Sprint(1+(n-2)%7)))
		b.press(browser.ArrowRight, atStage(fmt.Sprint(1+(n-1)%7)))
		if n == 5 {
			b.press(browser.ArrowRight, isDrawn)
		}
	}
	st := x.onlyRun().Latest()
	if st.Cursor != (session.Cursor{Step: 2, Stage: infer.KindForward}) {
		t.Errorf("after seven steps, the run is at %+v, want %+v", st.Cursor,
			session.Cursor{Step: 2, Stage: infer.KindForward})
	}
	b.tokens(1)
}

// press presses a key once and waits for expr. If the connection has just been lost, the page
// refuses the key with a message, and press presses the key again. If the connection broke while
// the key's command was in flight, the page itself resends the command.
func (b loopTab) press(key, expr string) {
	b.Keys(key)
	b.Until(`(` + expr + `) || document.getElementById('err-general').textContent.includes('not sent')`)
	if !browser.Value[bool](b.Tab, expr) {
		b.Until(isLive)
		b.Keys(key)
		b.Until(expr)
	}
}

// TestOpenedLinkReportsNoLoss: when a link is opened, the page does not report a lost run. This is
// not obvious, because a run is created from a link just as a lost run is rebuilt.
func TestOpenedLinkReportsNoLoss(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	b := loopTab{browser.Open(t, browser.Laptop, x.http.URL+"/loop?prompt=Once+upon+a+time")}
	b.Eval(`window.said = '';
		const look = () => { window.said += document.getElementById('told')?.textContent ?? ''; };
		look();
		new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true });`)
	b.Until(isLive + ` && ` + atStage("1"))
	b.Keys(browser.ArrowRight)
	b.Until(atStage("2"))
	if said := browser.Value[string](b.Tab, "window.said"); strings.Contains(said, "rebuilt") {
		t.Errorf("the page showed %q, want no message with %q", said, "rebuilt")
	}
}

// TestPageSurvivesServerRestart: after a restart of the server, the page returns to the same stage
// without help.
// Promise: After the server restarts, the page returns to the same stage without help.
func TestPageSurvivesServerRestart(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	b := startTab(t, x)
	b.MayLose()
	b.write(2)
	b.Keys(browser.ArrowLeft)
	b.Until(atStage("6"))
	before := b.text()
	x.stop()
	b.Until(`document.documentElement.dataset.conn === 'reconnecting'`)
	y := newSiteAt(t, limits{}, x.http.Listener.Addr().String())
	b.Eval(`dispatchEvent(new Event('online'))`)
	b.Until(told("rebuilt from the link"))
	b.Until(isLive + ` && ` + atStage("6"))
	if got := b.text(); got != before {
		t.Errorf("the text is %q, want %q", got, before)
	}
	b.Keys(browser.ArrowRight)
	b.Until(atStage("7"))
	if st := y.onlyRun().Latest(); len(st.Steps) != 2 || st.Cursor.Stage != infer.KindCache {
		t.Errorf("the new server's run is at %+v, want len(st.Steps) = 2, Stage = %v", st.Cursor, infer.KindCache)
	}
}

// TestSleepingTabNoticesDeadConnection: a connection that broke without notice is detected when the
// page becomes visible again.
func TestSleepingTabNoticesDeadConnection(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	b := startTab(t, x)
	b.MayLose()
	viewers := func() string { return x.onlyJoined().line() }
	before := viewers()
	b.Eval(`document.dispatchEvent(new Event('visibilitychange'))`) // the connection works, so the page keeps it
	b.Keys(browser.ArrowRight)
	b.Until(atStage("2") + ` && ` + isLive)
	if after := viewers(); after != before {
		t.Errorf("the connection was given up: %s, want %s", after, before)
	}
	// If the server stopped while the tab was asleep, the page reconnects at once, without a pause.
	x.stop()
	b.Until(`document.documentElement.dataset.conn === 'reconnecting'`)
	newSiteAt(t, limits{}, x.http.Listener.Addr().String())
	b.Eval(`document.dispatchEvent(new Event('visibilitychange'))`)
	b.Until(isLive + ` && ` + atStage("2"))
}

// slowEcho types a number and, as soon as the number has been sent, another digit. The server's
// echo of the number therefore arrives before the digit is sent. It records the values that scripts
// set in the field. The two %s are the class of the connection and its method.
const slowEcho = `{
	const input = document.getElementById('top_k');
	const value = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
	window.written = [];
	Object.defineProperty(input, 'value', {
		get() { return value.get.call(this); },
		set(v) { window.written.push(String(v)); value.set.call(this, v); },
	});
	const type = (v) => { value.set.call(input, v); input.dispatchEvent(new Event('input', { bubbles: true })); };
	const [of, name] = '%s'.split(' ');
	const line = window[of].prototype;
	const send = line[name];
	line[name] = function (data) {
		send.call(this, data);
		if (!data?.includes('"set"')) return;
		line[name] = send;
		type('12');
	};
	input.focus();
	type('1');
}`

// TestServerEchoDoesNotOverwriteTyping: the server's echo of a number does not overwrite digits
// that have been typed since.
func TestServerEchoDoesNotOverwriteTyping(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	b := startTab(t, x)
	sends := "WebSocket send"
	if isInTab(t) {
		sends = "MessagePort postMessage"
	}
	b.Eval(fmt.Sprintf(slowEcho, sends))
	r := x.onlyRun()
	if !r.reaches(func(s *session.State) bool { return s.Settings.TopK == 12 }, time.After(browser.Patience)) {
		t.Fatalf("top-k is %d, want 12", r.Latest().Settings.TopK)
	}
	b.Until(`document.getElementById('top_k').value === '12'`)
	if got := browser.Value[string](b.Tab, `window.written.join(' ')`); strings.Contains(" "+got+" ", " 1 ") {
		t.Errorf("the field was overwritten: %s", got)
	}
}
