package loop

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/wire"
)

// folderSecret is the secret of a data folder that two servers use, one after the other.
var folderSecret = bytes.Repeat([]byte{7}, 32)

// TestLostRunIsRecreatedUnderItsID: if a run is gone, its learner's first connection recreates it
// under its id. The second connection finds the run there and does not change it.
func TestLostRunIsRecreatedUnderItsID(t *testing.T) {
	t.Parallel()
	x := newSiteOn(t, limits{}, "127.0.0.1:0", folderSecret)
	x.get("/loop") // to get the cookie
	c := x.dial(wire.ProtocolHTML, "")
	c.do(`{"cmd":"start","prompt":"Once upon a time"}`)
	c.do(`{"cmd":"token"}`)
	link := session.LinkOf(x.runOf(c.run).Latest())
	x.stop()

	y := newSiteOn(t, limits{}, x.http.Listener.Addr().String(), folderSecret)
	y.jar = x.jar
	first := y.dial(wire.ProtocolHTML, "?run="+c.run)
	first.do(fmt.Sprintf(`{"cmd":"rebuild","link":%q}`, link))
	first.do(`{"cmd":"step"}`)
	second := y.dial(wire.ProtocolHTML, "?run="+c.run)
	second.do(fmt.Sprintf(`{"cmd":"rebuild","link":%q}`, link))
	if first.run != c.run || second.run != c.run {
		t.Fatalf("got runs %s and %s, want %s twice", first.run, second.run, c.run)
	}
	st := y.runOf(c.run).Latest()
	if want := (session.Cursor{Step: 2, Stage: infer.KindForward}); st.Cursor != want {
		t.Errorf("the second connection has moved the run to %+v, want %+v", st.Cursor, want)
	}
}

// TestForeignRunIDGivesANewRun: a learner who requests an id that was not issued to them gets a run
// with another id. It makes no difference whether the id belongs to another learner or is made up.
func TestForeignRunIDGivesANewRun(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	x.get("/loop")
	c := x.dial(wire.ProtocolHTML, "")
	other := x.stranger()
	other.get("/loop")
	third := x.stranger()
	third.get("/loop")
	theirs := third.dial(wire.ProtocolHTML, "").run
	for _, id := range []string{c.run, theirs, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "x", ""} {
		if got := other.dial(wire.ProtocolHTML, "?run="+id).run; got == id {
			t.Errorf("run %q was taken over", id)
		}
	}
}

// TestTwoTabsShareRecreatedRun: if a run is recreated, both of its tabs return to the same run.
func TestTwoTabsShareRecreatedRun(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSiteOn(t, limits{}, "127.0.0.1:0", folderSecret)
	b := startTab(t, x)
	b.write(2)
	other := b.second(browser.Value[string](b.Tab, `location.href`))
	other.Until(isLive + ` && ` + atStage("7"))
	b.MayLose()
	other.MayLose()
	before := b.text()
	x.stop()
	for _, tab := range []loopTab{b, other} {
		tab.Until(`document.documentElement.dataset.conn === 'reconnecting'`)
	}
	y := newSiteOn(t, limits{}, x.http.Listener.Addr().String(), folderSecret)
	for _, tab := range []loopTab{b, other} {
		tab.Eval(`dispatchEvent(new Event('online'))`)
	}
	for _, tab := range []loopTab{b, other} {
		tab.Until(isLive + ` && ` + atStage("7"))
		tab.tokens(2)
		if got := tab.text(); got != before {
			t.Errorf("the text is %q, want %q", got, before)
		}
	}
	browser.Eventually(t, func() bool { return len(y.onlyJoined().connections()) == 2 })
	b.Keys(browser.ArrowRight)
	other.Until(atStage("1"))
	other.Keys("n")
	b.tokens(3)
}

// TestExportsWaitForTheReplaySlot: a run's file is written only while no link is being replayed and
// no other file is being written.
func TestExportsWaitForTheReplaySlot(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	x.get("/loop") // to get the cookie
	c := x.dial(wire.ProtocolHTML, "")
	c.do(`{"cmd":"start","prompt":"Once upon a time"}`)
	for name := range exports {
		c.do(`{"cmd":"token"}`)
		address := x.http.URL + "/export/" + name + "?run=" + c.run
		_, leave, err := x.replays.Enter(t.Context(), admission.Caller{Learner: "someone"}, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		impatient := http.Client{Jar: x.jar, Timeout: 100 * time.Millisecond}
		if resp, err := impatient.Get(address); err == nil {
			resp.Body.Close()
			t.Errorf("%s: got status %s while the slot was in use", name, resp.Status)
		}
		leave()
		if resp, _ := x.get("/export/" + name + "?run=" + c.run); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: got status %s when the slot was free", name, resp.Status)
		}
		if x.replays.Len() != 0 {
			t.Errorf("%s: the slot is not released", name)
		}
	}
}

// TestRunMovesToAnotherServer: a page whose connection is cut reconnects to another server of a
// cluster while the first one is still running. The new server does not have the page's run, and
// rebuilds it from its link at the same stage.
func TestRunMovesToAnotherServer(t *testing.T) {
	t.Parallel()
	x := newSiteOn(t, limits{}, "127.0.0.1:0", folderSecret)
	y := newSiteOn(t, limits{}, "127.0.0.1:0", folderSecret)
	x.get("/loop") // to get the cookie
	y.jar = x.jar
	c := x.dial(wire.ProtocolHTML, "")
	c.do(`{"cmd":"start","prompt":"Once upon a time"}`)
	c.do(`{"cmd":"token"}`)
	before := x.runOf(c.run).Latest()
	moved := y.dial(wire.ProtocolHTML, "?had=1&run="+c.run)
	if moved.told == nil || moved.told.Code != terms.CodeExpired {
		t.Errorf("the page gets %+v, want an error, Code = %q", moved.told, terms.CodeExpired)
	}
	moved.do(fmt.Sprintf(`{"cmd":"rebuild","link":%q}`, session.LinkOf(before)))
	after := y.runOf(c.run).Latest()
	if moved.run != c.run || session.LinkOf(after) != session.LinkOf(before) {
		t.Errorf("on the other server run %s is at %s, want %s at %s", moved.run, session.LinkOf(after), c.run,
			session.LinkOf(before))
	}
}
