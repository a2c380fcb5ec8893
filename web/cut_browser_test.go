package web

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/web/session"
)

// TestTwoTabs on one run stay in step.
func TestTwoTabs(t *testing.T) {
	x := newSite(t, Limits{})
	b := startTab(t, x)
	other := b.second()
	other.run("open", chromedp.Navigate(eval[string](b, `location.href`)))
	other.until(isLive + ` && ` + atStage("1"))
	b.write(2)
	other.tokens(2)
	other.key(kb.ArrowLeft)
	b.until(atStage("6"))
	other.say(`{"cmd":"set","top_k":9}`)
	b.until(`document.getElementById('top_k').value === '9'`)
	if b.text() != other.text() {
		t.Errorf("one tab has %q, the other %q", b.text(), other.text())
	}
	b.checkFaults()
	other.checkFaults()
}

// TestReloadInMidRun while it plays to the end.
func TestReloadInMidRun(t *testing.T) {
	x := newSite(t, Limits{})
	b := startTab(t, x)
	b.say(`{"cmd":"preset","preset":"greedy"}`)
	b.say(`{"cmd":"stop","max_tokens":120}`)
	b.say(`{"cmd":"finish"}`)
	b.until(`document.querySelectorAll('#strip-gen > *').length > 3`)
	b.run("reload", chromedp.Reload())
	b.until(isLive)
	b.until(`document.querySelector('#strip-next').classList.contains('is-stopped')`)
	b.tokens(len(x.onlyRun().latest.Load().Steps))
	b.checkFaults()
}

// TestBrowserCut breaks the connection at every stage, once by force and once
// with nobody to answer for a while.
func TestBrowserCut(t *testing.T) {
	x := newSite(t, Limits{})
	p := newProxy(t, x.http.Listener.Addr().String())
	b := startTab(t, x.through(p))
	for n := 2; n <= 8; n++ {
		p.cut(n == 5)
		if n == 5 {
			b.until(`document.documentElement.dataset.conn === 'reconnecting' && !document.getElementById('conn').hidden`)
			p.mu.Lock()
			p.down = false
			p.mu.Unlock()
			b.do(`dispatchEvent(new Event('online'))`)
		}
		b.until(isLive)
		eventually(t, func() bool { return x.onlyRun().watched() })
		b.until(isLive + ` && document.getElementById('conn').hidden && ` + atStage(fmt.Sprint(1+(n-2)%7)))
		b.press(kb.ArrowRight, atStage(fmt.Sprint(1+(n-1)%7)))
	}
	st := x.onlyRun().latest.Load()
	if st.Cursor != (session.Cursor{Step: 2, Stage: infer.KindForward}) {
		t.Errorf("after seven steps at %+v", st.Cursor)
	}
	b.tokens(1)
}

// press presses a key, once, for what is to come of it. A key that finds the
// line just lost is refused with words, and pressed again; one that was on its
// way when the line broke is sent again by the page itself.
func (b *tab) press(key, expr string) {
	b.t.Helper()
	b.key(key)
	b.until(`(` + expr + `) || document.getElementById('err-general').textContent.includes('not sent')`)
	if !eval[bool](b, expr) {
		b.until(isLive)
		b.key(key)
		b.until(expr)
	}
}

// TestServerRestarted: the page comes back by itself to the same stage.
func TestServerRestarted(t *testing.T) {
	x := newSite(t, Limits{})
	b := startTab(t, x)
	b.write(2)
	b.key(kb.ArrowLeft)
	b.until(atStage("6"))
	before := b.text()
	x.stop()
	b.until(`document.documentElement.dataset.conn === 'reconnecting'`)
	y := newSiteAt(t, Limits{}, x.http.Listener.Addr().String())
	b.do(`dispatchEvent(new Event('online'))`)
	b.until(told("rebuilt from the link"))
	b.until(isLive + ` && ` + atStage("6"))
	if got := b.text(); got != before {
		t.Errorf("the text is %q, was %q", got, before)
	}
	b.key(kb.ArrowRight)
	b.until(atStage("7"))
	if st := y.onlyRun().latest.Load(); len(st.Steps) != 2 || st.Cursor.Stage != infer.KindCache {
		t.Errorf("the new server's run is at %+v", st.Cursor)
	}
}

// TestSleepingTab: a line that is dead without a word is found out when the
// page is looked at again.
func TestSleepingTab(t *testing.T) {
	x := newSite(t, Limits{})
	b := startTab(t, x)
	viewers := func() string { r := x.onlyRun(); r.mu.Lock(); defer r.mu.Unlock(); return fmt.Sprint(r.viewers) }
	before := viewers()
	b.do(`document.dispatchEvent(new Event('visibilitychange'))`) // the line is well: it is kept
	b.key(kb.ArrowRight)
	b.until(atStage("2") + ` && ` + isLive)
	if after := viewers(); after != before {
		t.Errorf("the connection was given up: %s, was %s", after, before)
	}
	// While it slept the server was gone: back at once, not after a pause.
	x.stop()
	b.until(`document.documentElement.dataset.conn === 'reconnecting'`)
	newSiteAt(t, Limits{}, x.http.Listener.Addr().String())
	b.do(`document.dispatchEvent(new Event('visibilitychange'))`)
	b.until(isLive + ` && ` + atStage("2"))
}
