package loop

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
)

// InTab serves a static site whose pages contain the program, for the tests that run in a browser
// tab. Its functions are nil if the test binary has no package that can build such a site. Package
// loop_test sets them.
var InTab struct {
	Is    func(testing.TB) bool
	Serve func(testing.TB, shell.View) string // returns an address without a trailing slash
}

// isInTab reports whether a test runs the program in its pages instead of on a server.
func isInTab(t testing.TB) bool { return InTab.Is != nil && InTab.Is(t) }

// newTabSite returns a static site whose learners see a view. There is no server.
func newTabSite(t testing.TB, in view) *site {
	t.Helper()
	v := shell.View(in)
	if in == storyView {
		v = "" // the view of newcomers
	}
	return &site{t: t, http: &httptest.Server{URL: InTab.Serve(t, v)}, twin: &twin{}}
}

// onlyServer lists the features that the tests skip in a tab, each with the reason.
var onlyServer = map[string]string{
	"to the end and cancel": "the server's run is held while a hand moves; " +
		"in a tab TestContinuePastLimitAndFinish cancels",
}

// running is a run on the server, or in a page's own program. Tests read and change it
// independently of the page.
type running interface {
	Latest() *session.State
	do(t testing.TB, c session.Command)
	reaches(is func(*session.State) bool, orElse <-chan time.Time) bool
	comes(t testing.TB, is func(*session.State) bool) *session.State
}

// tabRun is the run on a page in which the program runs. The test watches the run over a separate
// connection that uses JSON. From each state's link, the test's own engine computes the whole
// state. The page is therefore compared with another build of the program.
type tabRun struct {
	t   testing.TB
	tab *browser.Tab
	*twin
}

// twin is the last state that the test has computed.
type twin struct {
	raw   string // the state as sent by the program in the tab
	looks bool   // whether the state includes the inside view, if requested
	log   infer.Log
	here  *session.Session
	st    *session.State
}

// joinTwin makes a page open a separate connection, twin, to its run, unless it already has one.
// twin.say sends commands and returns a promise of the last state after they have been answered.
const joinTwin = `
	const run = new URLSearchParams(location.search).get('run');
	if (window.twin?.run !== run) {
		window.twin?.leave();
		const { port1, port2 } = new MessageChannel();
		const twin = window.twin = { run, n: 0, last: null, looks: false, error: null, waits: new Map() };
		const begun = new Promise((begin) => { twin.begin = begin; });
		twin.leave = () => port1.postMessage(null);
		addEventListener('pagehide', twin.leave);
		port1.onmessage = ({ data }) => {
			if (typeof data !== 'string') {
				if (data.code) twin.error = data.code + ' ' + data.reason;
				return;
			}
			const { seq, ack, run: id, again, stages, cut, error, zoom, ...state } = JSON.parse(data);
			if (id && id !== run) twin.error = 'another run, ' + id;
			if (error) twin.error = error.message;
			if (zoom) twin.looks = zoom.look;
			if (state.cursor) {
				twin.last = JSON.stringify(state);
				twin.begin();
			}
			// The answer to a ping can overtake the state that answers the commands before it.
			const alone = !state.cursor && twin.waits.get(ack)?.ping;
			for (const [n, { done }] of [...twin.waits]) {
				if (alone ? n !== ack : n > ack) continue;
				twin.waits.delete(n);
				done();
			}
		};
		const send = (c) => new Promise((done) => {
			twin.waits.set(++twin.n, { done, ping: c.cmd === 'ping' });
			port1.postMessage(JSON.stringify({ ...c, n: twin.n }));
		});
		twin.say = (commands) => Promise.all([begun, ...[...commands, { cmd: 'ping' }].map(send)]);
		navigator.serviceWorker.controller.postMessage(
			{ viz: 'connect', query: 'run=' + run, protocol: 'viz.json.v1' }, [port2]);
	}
	`

// say sends commands. It returns the resulting state as the program sends it, and whether that
// state includes the inside view of the pass.
func (r tabRun) say(t testing.TB, commands ...map[string]any) (state string, looks bool) {
	t.Helper()
	list, err := json.Marshal(append([]map[string]any{}, commands...))
	if err != nil {
		t.Fatal(err)
	}
	tab := r.tab.As(t)
	tab.Wait("a run in the address", `new URLSearchParams(location.search).has('run')`) // set once there is a text
	tab.Await(fmt.Sprintf(joinTwin+`return twin.say(%s)`, list))
	said := browser.Value[struct {
		Error, Last string
		Looks       bool
	}](tab, `({ Error: twin.error ?? '', Last: twin.last ?? '', Looks: twin.looks })`)
	if said.Error != "" || said.Last == "" {
		t.Fatalf(`after %s, the program in the tab answers %+v; want Error = "", Last not empty`, list, said)
	}
	return said.Last, said.Looks
}

// do implements [running].
func (r tabRun) do(t testing.TB, c session.Command) {
	t.Helper()
	r.say(t, sent(t, c)...)
}

// Latest implements [running].
func (r tabRun) Latest() *session.State {
	t := r.t
	t.Helper()
	raw, _ := r.say(t)
	looks := strings.Contains(raw, `"stage":"forward"`)
	if looks {
		raw, looks = r.say(t, map[string]any{"cmd": "zoom", "block": 1})
	}
	if raw == r.raw && looks == r.looks {
		return r.st
	}
	var said struct {
		Undrawn  bool
		Playing  bool
		Speed    session.Speed
		Stopped  infer.StopReason
		Settings infer.Settings
		Link     string
		Branches []struct {
			ID      int
			Current bool
		}
		WhatIf *struct{ U float64 }
	}
	if err := json.Unmarshal([]byte(raw), &said); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	st := &session.State{Model: testmodel.Target(t)}
	if said.Link != "" {
		st = r.worked(t, said.Link)
	}
	whole := *st
	whole.Playing, whole.Speed, whole.Undrawn = said.Playing, said.Speed, said.Undrawn
	whole.Stopped, whole.Settings, whole.WhatIf = said.Stopped, said.Settings, nil
	if w := said.WhatIf; w != nil {
		whole.WhatIf = &w.U
	}
	if whole.Branches = nil; len(said.Branches) == 0 && said.Link != "" {
		whole.Branches = []session.Branch{{ID: 1, Current: true}}
	}
	for _, b := range said.Branches {
		whole.Branches = append(whole.Branches, session.Branch{ID: b.ID, Current: b.Current})
	}
	if whole.Look != nil && !looks {
		whole.Looking, whole.Look = false, nil
	}
	r.raw, r.looks, r.st = raw, looks, &whole
	return r.st
}

// worked returns the state that a link describes, computed by the test's engine.
func (r tabRun) worked(t testing.TB, text string) *session.State {
	t.Helper()
	link, err := session.ParseLink(testmodel.Target(t), text)
	if err != nil {
		t.Fatal(err)
	}
	var c session.Command = session.Open{Link: link}
	if r.here == nil {
		r.here = session.New(testmodel.Target(t), session.DefaultLimits())
	} else if reflect.DeepEqual(link.Log, r.log) && !link.Undrawn && !r.here.State().Undrawn {
		c = session.Seek{Step: link.Cursor.Step, Stage: link.Cursor.Stage}
	}
	r.log = link.Log
	st, err := r.here.Apply(t.Context(), c)
	if err != nil {
		t.Fatalf("%+v: %v", c, err)
	}
	return st
}

// reaches implements [running].
func (r tabRun) reaches(is func(*session.State) bool, orElse <-chan time.Time) bool {
	for {
		if is(r.Latest()) {
			return true
		}
		select {
		case <-orElse:
			return false
		default:
			r.tab.Changed()
		}
	}
}

// comes implements [running].
func (r tabRun) comes(t testing.TB, is func(*session.State) bool) *session.State {
	t.Helper()
	if !r.reaches(is, time.After(browser.Patience)) {
		t.Fatalf("the run did not reach the expected state: it is at %+v", r.Latest().Cursor)
	}
	return r.Latest()
}

// sent returns the messages that a client sends for a command.
func sent(t testing.TB, c session.Command) []map[string]any {
	t.Helper()
	one := func(name string, fields ...any) []map[string]any {
		m := map[string]any{"cmd": name}
		for i := 0; i < len(fields); i += 2 {
			m[fields[i].(string)] = fields[i+1]
		}
		return []map[string]any{m}
	}
	switch c := c.(type) {
	case session.Pause:
		return one("pause")
	case session.Play:
		return one("play")
	case session.Reset:
		return one("reset")
	case session.StepToken:
		return one("token")
	case session.StepStage:
		return one("step", "withhold", c.Withhold)
	case session.Start:
		return one("start", "prompt", c.Prompt)
	case session.Try:
		return one("try", "key", c.Key)
	case session.SetPreset:
		return one("preset", "preset", c.Key)
	case session.SetSpeed:
		return one("speed", "speed", c.Speed)
	case session.SetLook:
		return one("look", "on", c.On)
	case session.Seek:
		return one("seek", "step", c.Step, "stage", c.Stage.String())
	case session.Set:
		return sentSet(c)
	}
	t.Fatalf("a client cannot send %T here", c)
	return nil
}

// sentSet returns the messages for [session.Set]. A client sends stop conditions separately.
func sentSet(c session.Set) (list []map[string]any) {
	const limit = "max_tokens"
	set, stop := map[string]any{}, map[string]any{}
	for key, x := range c.Knobs {
		if key == limit {
			stop[key] = x
		} else {
			set[key] = x
		}
	}
	if c.Bias != nil {
		set["logit_bias"] = c.Bias
	}
	if c.Order != nil {
		set["samplers"] = c.Order.Text()
	}
	if c.Grammar != nil {
		set["grammar"] = *c.Grammar
	}
	if c.Stop != nil {
		stop["stop"] = *c.Stop
	}
	for name, fields := range map[string]map[string]any{"set": set, "stop": stop} {
		if len(fields) > 0 {
			m := maps.Clone(fields)
			m["cmd"] = name
			list = append(list, m)
		}
	}
	return list
}
