package static

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// world implements the part of a browser that connection.js needs: events, a clock that only the
// test advances, and a transport with the test at its other end. Everything that happens is
// recorded in said.
const world = `'use strict';
const said = [], lines = [], timers = [];
let now = 0, ids = 0;
const globals = {
	Math: Object.assign(Object.create(Math), { random: () => 1, min: Math.min }),
	Date: { now: () => now }, location: { href: 'http://here/' },
	setTimeout: (act, ms) => { timers.push({ id: ++ids, at: now + (ms ?? 0), act }); return ids; },
	setInterval: (act, every) => { timers.push({ id: ++ids, at: now + every, act, every }); return ids; },
	clearTimeout: (id) => { const i = timers.findIndex((t) => t.id === id); if (i >= 0) timers.splice(i, 1); },
	CustomEvent: class { constructor(type, { detail }) { this.type = type; this.detail = detail; } },
	EventTarget: class {
		#listeners = [];
		addEventListener(type, act) { this.#listeners.push({ type, act }); }
		dispatchEvent(event) { for (const l of this.#listeners) if (l.type === event.type) l.act(event); }
	},
};
Object.assign(globalThis, globals);
const window = new EventTarget();
globalThis.addEventListener = (type, act) => window.addEventListener(type, act);
globalThis.document = Object.assign(new EventTarget(), {
  hidden: false, querySelectorAll: () => [], documentElement: { dataset: {} },
});
// tick advances the clock to the next timer, but not beyond the given time.
const tick = (until) => {
	timers.sort((a, b) => a.at - b.at);
	const timer = timers[0];
	if (!timer || timer.at > until) { now = until; return false; }
	now = timer.at;
	if (timer.every) timer.at += timer.every; else timers.shift();
	timer.act();
	return true;
};
const transport = (query) => {
	const line = { send: (text) => said.push('> ' + text), close: () => said.push('close'), query };
	lines.push(line);
	said.push('dial');
	return line;
};
const line = () => lines[lines.length - 1];
const receive = (message) => line().onmessage({ data: JSON.stringify(message) });
const make = (options = {}) => {
	const c = new Connection(() => ({ feed: 'test' }), { transport, ...options });
	for (const type of ['open', 'back', 'lost']) c.addEventListener(type, () => said.push(type));
	c.addEventListener('ended', ({ detail }) => said.push('ended ' + detail.code));
	c.addEventListener('done', ({ detail }) => said.push('done ' + detail.cmd));
	c.addEventListener('refused', ({ detail }) => said.push('refused ' + (detail.command?.cmd ?? 'nothing')));
	c.addEventListener('busy', ({ detail }) => said.push(detail ? 'busy' : 'idle'));
	return c;
};
`

// page is a page in which scripts run. [newPage] returns one with a connection called c.
type page struct {
	t  *testing.T
	vm *goja.Runtime
}

func newPage(t *testing.T, options string) *page {
	t.Helper()
	p := load(t, world, "import { Connection } from './connection.js';\nglobalThis.Connection = Connection;\n")
	p.does("const c = make(" + options + "); c.open();")
	return p
}

// load returns a page in which script and then module have run.
func load(t *testing.T, script, module string) *page {
	t.Helper()
	const entry = "js/entry.js"
	j := newJoiner(func(name string) ([]byte, error) {
		if name == entry {
			return []byte(module), nil
		}
		return embedded.ReadFile(name)
	})
	if _, err := j.add(entry); err != nil {
		t.Fatal(err)
	}
	p := &page{t, goja.New()}
	p.does(script)
	p.does(j.out.String())
	return p
}

func (p *page) does(script string) goja.Value {
	p.t.Helper()
	v, err := p.vm.RunString(script)
	if err != nil {
		p.t.Fatalf("%s: %v", script, err)
	}
	return v
}

// passes advances the clock by the given number of milliseconds.
func (p *page) passes(ms int) {
	p.t.Helper()
	until := p.does("now").ToInteger() + int64(ms)
	for p.does(fmt.Sprintf("tick(%d)", until)).ToBoolean() {
	}
}

// says compares the events since the last check with want.
func (p *page) says(want ...string) {
	p.t.Helper()
	got := p.does("said.splice(0).join('\\n')").String()
	if got != strings.Join(want, "\n") {
		p.t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// TestConnectionAcknowledgesCommands: commands are sent with their numbers. A message
// acknowledges all commands up to its ack, and an error refers to the last of them.
func TestConnectionAcknowledgesCommands(t *testing.T) {
	p := newPage(t, "")
	p.does("c.send({ cmd: 'early' })")
	p.says("dial")
	p.does("line().onopen(); c.send({ cmd: 'a' }); c.send({ cmd: 'b' }); c.send({ cmd: 'c' })")
	p.says("open", `> {"cmd":"a","n":1}`, `> {"cmd":"b","n":2}`, `> {"cmd":"c","n":3}`)
	p.passes(1000)
	p.says("busy")
	p.does("receive({ ack: 2, error: { message: 'No.' } })")
	p.says("done a", "refused b")
	p.does("receive({ ack: 3 }); receive({ ack: 0, error: { message: 'Full.' } })")
	p.says("done c", "idle", "refused nothing")
}

// TestConnectionReconnects: after a loss, the page tries to reconnect, with growing delays.
// Unanswered commands are refused, resent, or left to their sender.
func TestConnectionReconnects(t *testing.T) {
	p := newPage(t, "")
	p.does("line().onopen(); receive({ ack: 0 })")
	p.does("c.send({ cmd: 'once' }); c.send({ cmd: 'repeat' }, 'repeat'); c.send({ cmd: 'forget' }, 'forget')")
	p.does("said.splice(0); line().onclose({ code: 1006 })")
	p.says("lost")
	p.passes(499)
	p.says()
	p.passes(1)
	p.does("line().onclose({ code: 1006 })")
	p.says("dial", "lost")
	p.passes(999)
	p.says()
	p.passes(1)
	p.says("dial")
	p.does("line().onopen()")
	p.says("refused once", `> {"cmd":"repeat","n":2}`, "open")
	p.does("receive({ ack: 2 })")
	p.says("back", "done repeat")
}

// TestConnectionHandshake: the server's first message states which commands it has received.
func TestConnectionHandshake(t *testing.T) {
	p := newPage(t, "{ handshake: true }")
	p.does("line().onopen(); receive({ run: 'r', ack: 0 }); c.send({ cmd: 'a' }); c.send({ cmd: 'b' })")
	p.does("said.splice(0); line().onclose({ code: 1001 })")
	p.passes(500)
	p.does("line().onopen()")
	p.says("lost", "dial", "open")
	p.does("receive({ run: 'r', again: true, ack: 1 })")
	p.says("back")
	p.does("c.settle({ ack: 1 }); c.sendAgain()")
	p.says("done a", `> {"cmd":"b","n":2}`)
	p.does("c.refuseLost(c.takeUnanswered())")
	p.says("refused b")
	p.does("receive({ ack: 2 })")
	p.says()
}

// TestDeadConnectionIsNoticed: if an answer does not arrive, the page probes the connection. It
// drops the connection if the probe is not answered either.
func TestDeadConnectionIsNoticed(t *testing.T) {
	p := newPage(t, "")
	p.does("line().onopen(); receive({ ack: 0 }); said.splice(0); c.send({ cmd: 'think' }, 'repeat')")
	p.passes(19_999)
	p.says(`> {"cmd":"think","n":1}`, "busy")
	p.passes(1)
	p.says(`> {"cmd":"ping","n":2}`)
	p.does("receive({ ack: 0 })")
	p.says()
	p.passes(35_000) // after this silence, another probe is sent
	p.says(`> {"cmd":"ping","n":3}`, "idle", "lost", "close", "dial")
}

// TestConnectionChecksAfterSleep: a page that was asleep, or is online again, checks its
// connection immediately. A page that has gone offline reports the loss immediately.
func TestConnectionChecksAfterSleep(t *testing.T) {
	p := newPage(t, "")
	p.does("line().onopen(); receive({ ack: 0 }); said.splice(0)")
	p.does("document.hidden = true")
	p.passes(600_000)
	p.says() // a hidden page does nothing
	p.does("document.hidden = false; document.dispatchEvent({ type: 'visibilitychange' })")
	p.says(`> {"cmd":"ping","n":1}`)
	p.passes(4_000)
	p.says("lost", "close")
	p.does("window.dispatchEvent({ type: 'online' })")
	p.says("dial")
	p.does("line().onopen(); receive({ ack: 0 }); window.dispatchEvent({ type: 'offline' })")
	p.says("open", "back", "lost", "close")
}

// TestConnectionStopsRetrying: the page does not retry if the server reports that the page made an
// error or that no more messages will follow.
func TestConnectionStopsRetrying(t *testing.T) {
	for _, code := range []int{1000, 1002, 1003, 1007, 1008, 1009} {
		p := newPage(t, "")
		p.does(fmt.Sprintf("line().onopen(); said.splice(0); line().onclose({ code: %d })", code))
		p.passes(100_000)
		p.does("c.open(); c.retry(); c.wake()")
		p.says(fmt.Sprintf("ended %d", code))
	}
}
