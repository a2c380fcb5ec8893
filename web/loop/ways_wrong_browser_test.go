package loop

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
)

// TestPageSaysWhatIsRefused presses buttons whose commands are not possible now, as can happen on a
// page of another run or version. Each refusal states what is allowed, nothing changes, and the
// page keeps working.
func TestPageSaysWhatIsRefused(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	v := visitAt(t, x)
	v.given(oneToken, oneToken, session.Seek{Step: 2, Stage: infer.KindSample})
	v.same()
	before := v.state()
	for _, c := range []struct{ command, says string }{
		{`{"cmd":"choose","step":1,"token":4096}`, "The token is 4096; it must be a token id from 0 to 4095"},
		{`{"cmd":"choose","step":1,"token":-1}`, "The token is -1; it must be a token id from 0 to 4095"},
		{`{"cmd":"choose","step":99,"token":5}`, "The step is 99; it must be one whose scores have been computed"},
		{`{"cmd":"seek","step":99,"stage":"filter"}`, "99"},
		{`{"cmd":"seek","step":0,"stage":"filter"}`, "0"},
		{`{"cmd":"seek","step":1,"stage":"dream"}`, "forward, logits, softmax, filter, sample, append, cache"},
		{`{"cmd":"branch","id":77}`, "The branch is 77; it must be one of the branches in the tree"},
		{`{"cmd":"whatif","u":1}`, "from 0 up to but not including 1"},
		{`{"cmd":"goon"}`, "nothing to continue"},
		{`{"cmd":"try","key":"nothing"}`, "nothing"},
		{`{"cmd":"open","link":"hello"}`, "damaged"},
		{`{"cmd":"dream"}`, "Unknown command"},
	} {
		quoted, _ := json.Marshal(c.command)
		v.Eval(`document.querySelector('#rail li:first-child button').dataset.cmd = ` + string(quoted))
		v.Press("#rail li:first-child button")
		field := map[bool]string{true: "#err-u", false: "#err-general"}[strings.Contains(c.command, "whatif")]
		v.says(field, c.says)
		if at := v.state(); at != before {
			t.Errorf("%s has changed the run: it is at %+v", c.command, at.Cursor)
		}
		v.Press("#rail li:nth-child(4) button") // a valid command removes the message
		v.comes("the filter", at(2, infer.KindFilter))
		v.Wait("no words", `document.getElementById('err-general').textContent === ''`)
		v.given(session.Seek{Step: 2, Stage: infer.KindSample})
		v.same()
		before = v.state()
	}
}

// TestScrubberBeyondShortenedText: the text is shortened in another tab while the scrubber in
// this tab still has the old length.
func TestScrubberBeyondShortenedText(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	v := visitAt(t, x)
	v.given(oneToken, oneToken, oneToken)
	v.same()
	p := `scrub.max = 70` // as if the message about the shorter text had not arrived yet
	v.Eval(p)
	v.Set("#scrub", "60")
	v.Wait(
		"a word about it",
		`document.getElementById('err-general').textContent + document.getElementById('err-step')?.textContent !== ''`,
	)
	if st := v.state(); !at(3, infer.KindCache)(st) {
		t.Errorf("the run is at %+v, want the cache stage of token 3", st.Cursor)
	}
	v.Press(cmd("#transport", `{"cmd":"back"}`))
	v.comes("the stage before", at(3, infer.KindAppend))
}

// TestLinksThatLeadNowhere: the page explains once what is wrong with an address, and can be used
// immediately.
func TestLinksThatLeadNowhere(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	v := visitAt(t, x)
	v.given(oneToken, oneToken)
	v.same()
	st := v.state()
	good := session.LinkOf(st)
	tab := visit(t, x, browser.Laptop) // as another learner
	for _, c := range []struct{ name, query, says string }{
		{"cut short", "log=" + good[:len(good)/2], "damaged or was cut short"},
		{
			"edited: more steps than fit", "log=" + url.QueryEscape(edited(t, good, `"n":2`, `"n":700`)),
			"edited by hand",
		},
		{
			"edited: looks past its end", "log=" + url.QueryEscape(edited(t, good, `"at":[2,7]`, `"at":[9,7]`)),
			"edited by hand",
		},
		{
			"another model", "log=" + url.QueryEscape(edited(t, good, `"m":"`+st.Model.Hash()[:4], `"m":"zzzz`)),
			"a model other than",
		},
		{"a run that is not here", "run=gone", "There is no such run here"},
		{"a run that is not here, with a bad link", "run=gone&log=hello", "damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &visitor{tab.As(t), browser.Mouse(tab.As(t)), t, x}
			w.Go(x.http.URL + "/loop?" + c.query)
			w.Wait("a live page", isLive)
			words := `['told', 'err-general', 'notice'].map((id) => document.getElementById(id).innerText).join(' ')`
			w.Wait(c.says, fmt.Sprintf(`(%s).includes(%q)`, words, c.says))
			w.Fill("#prompt", "The sun")
			w.Press("#prompt-form [type=submit]")
			w.Wait("a text", atStage("1"))
			w.Wait("no complaint any more", fmt.Sprintf(`!(%s).includes(%q)`, words, c.says))
			if got := w.Faults(); len(got) > 1 { // Chromium reports the status of the page
				t.Errorf("the page reported %q, want at most 1 element", got)
			}
		})
	}
}

// TestEvictedRunReturnsOnNextPress: the memory of an idle run is freed while its page is open. The
// page keeps its content. The next press, or a reload, continues from there.
func TestEvictedRunReturnsOnNextPress(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	browser.Ways(t, func(t *testing.T, screen browser.Screen, hands func(*browser.Tab) browser.Hands) {
		x := newSite(t, tight)
		tab := visit(t, x, screen)
		v := &visitor{tab, hands(tab), t, x}
		v.Press("#prompt-form [data-prompt]")
		v.Wait("a text", atStage("1"))
		v.given(oneToken, oneToken, oneStage, oneStage)
		v.same()
		before := v.state()
		v.evict()
		if got := browser.Value[shown](v.Tab, pageShows); len(got.Tokens) != 2 || got.Stage != "2" {
			t.Errorf("the page of an evicted run shows %+v, want len(Tokens) = 2, Stage = %q", got, "2")
		}
		v.Press(cmd("#transport", nextCmd))
		browser.Eventually(t, func() bool { return v.state() != nil })
		st := v.comes("the next stage", at(3, infer.KindSoftmax))
		for i, step := range before.Steps[:2] {
			if st.Steps[i].Chosen != step.Chosen || st.Steps[i].P != step.P {
				t.Errorf("step %d is %d, want %d", i+1, st.Steps[i].Chosen, step.Chosen)
			}
		}
		v.evict()
		v.Reload()
		v.Wait("a live page", isLive)
		browser.Eventually(t, func() bool { return v.state() != nil })
		v.comes("the same stage", at(3, infer.KindSoftmax))
	})
}

// evict frees the run's memory, as the server does when other runs need it.
func (v *visitor) evict() {
	v.t.Helper()
	v.x.evict(v.watched())
	v.settle()
}
