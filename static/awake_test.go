package static

import "testing"

// lamp is a page whose screen can be kept on. A request is pending until the test grants or
// refuses it.
const lamp = `'use strict';
const said = [], requests = [], listeners = [];
globalThis.document = {
	hidden: false, addEventListener: (type, act) => listeners.push(act),
};
const sentinel = () => ({
	ends: [], addEventListener(type, act) { this.ends.push(act); },
	release() { said.push('off'); for (const act of this.ends) act(); },
});
const request = (type) => new Promise((grant, refuse) => { said.push(type); requests.push({ grant, refuse }); });
globalThis.navigator = { wakeLock: { request } };
const hide = (hidden) => { document.hidden = hidden; for (const act of listeners) act(); };
let lock;
const grant = () => { lock = sentinel(); requests.shift().grant(lock); };
`

// TestScreenStaysOn: the wake lock is requested once, requested again when the page is back in
// view, and released at the end, even if the browser grants it only after that.
// Promise: The screens of a class do not go dark while it runs.
func TestScreenStaysOn(t *testing.T) {
	p := load(t, lamp, "import { stayAwake } from './awake.js';\nglobalThis.stayAwake = stayAwake;\n")
	for _, step := range []struct {
		do   string
		want []string
	}{
		{"hide(false)", nil}, // the page does not want the lock yet
		{"stayAwake(true); stayAwake(true)", []string{"screen"}},
		{"grant()", nil},
		{"stayAwake(true); hide(false)", nil},
		{"hide(true); lock.release()", []string{"off"}}, // browsers release the lock when a page is hidden
		{"stayAwake(true)", nil},
		{"hide(false)", []string{"screen"}},
		{"grant()", nil},
		{"stayAwake(false)", []string{"off"}},
		{"hide(true); hide(false)", nil},
		{"stayAwake(true)", []string{"screen"}},
		{"stayAwake(false)", nil},
		{"grant()", []string{"off"}},
		{"stayAwake(true)", []string{"screen"}},
		{"requests.shift().refuse(new Error('low battery'))", nil},
		{"hide(true); hide(false)", []string{"screen"}},
		{"grant()", nil},
		{"stayAwake(false)", []string{"off"}},
	} {
		p.does(step.do)
		p.says(step.want...)
	}
	p.does("navigator.wakeLock = undefined; stayAwake(true); hide(true); hide(false); stayAwake(false)")
	p.says()
}
