package static

import (
	"fmt"
	"testing"
)

// keyboard implements the part of a browser that keys.js needs: listeners, which are called in
// the order of their phases, and a page with a button for each key in buttons.
const keyboard = `'use strict';
const said = [], listeners = [], stored = {};
let buttons = '', dialog = false;
const target = (place) => ({
	addEventListener: (type, act, options) => listeners.push({ type, act, place: options === true ? 0 : place }),
});
globalThis.document = Object.assign(target(1), {
	querySelector: (selector) => {
		if (selector === 'dialog[open]') return dialog ? {} : null;
		const key = /^\[data-key="(.*)"\]$/.exec(selector)?.[1];
		if (!key || !buttons.split(',').includes(key)) return null;
		return { getAttribute: () => null, click: () => said.push('press ' + key) };
	},
});
globalThis.window = target(2);
globalThis.addEventListener = window.addEventListener;
globalThis.CSS = { escape: (text) => text };
globalThis.localStorage = { getItem: (key) => stored[key] ?? null };
const element = (kinds, form = null) => ({
	form, matches: (list) => list.split(', ').some((kind) => kinds.includes(kind)), blur: () => said.push('blur'),
});
const body = element([]);
const prompt = element(['#prompt', 'textarea'], { requestSubmit: () => said.push('send') });
const field = element(['input']), box = element(['input', 'input[type=checkbox]']);
const slider = element(['input', 'input[type=range]']), link = element(['a']);
const hit = (key, code, more = {}) => {
	const { altGr = false, ...rest } = more;
	const event = {
		type: 'keydown', key, code, target: body, ...rest, getModifierState: (name) => name === 'AltGraph' && altGr,
		defaultPrevented: false, preventDefault() { this.defaultPrevented = true; },
	};
	for (const place of [0, 1, 2]) {
		for (const l of listeners) if (l.place === place && l.type === event.type) l.act(event);
	}
	return event.defaultPrevented;
};
`

func newKeyboard(t *testing.T, buttons string) *page {
	t.Helper()
	p := load(t, keyboard, "import { listenToKeys, onKey } from './keys.js';\n"+
		"globalThis.listenToKeys = listenToKeys;\nglobalThis.onKey = onKey;\n")
	p.does(fmt.Sprintf("buttons = %q; listenToKeys();", buttons))
	return p
}

// TestKeyNames: letters of other scripts are named by their position on an English keyboard. On a
// Latin layout, the typed letter counts, wherever its key is.
// Promise: Keyboard shortcuts work on layouts without Latin letters.
func TestKeyNames(t *testing.T) {
	p := newKeyboard(t, "")
	p.does("onKey(document, (key) => { said.push(key); })")
	for _, tc := range []struct{ layout, press, want string }{
		{"English", `'n', 'KeyN'`, "n"},
		{"English", `'N', 'KeyN', { shiftKey: true }`, "N"},
		{"English with caps lock", `'N', 'KeyN'`, "n"},
		{"English", `'?', 'Slash', { shiftKey: true }`, "?"},
		{"English", `'Tab', 'Tab', { shiftKey: true }`, "Shift+Tab"},
		{"English", `' ', 'Space', { shiftKey: true }`, "Shift+ "},
		{"English", `'Enter', 'Enter', { ctrlKey: true }`, "Ctrl+Enter"},
		{"Mac", `'Enter', 'Enter', { metaKey: true }`, "Ctrl+Enter"},
		{"English", `'n', 'KeyN', { altKey: true }`, "Alt+n"},
		{"Russian", `'т', 'KeyN'`, "n"},
		{"Russian", `'Т', 'KeyN', { shiftKey: true }`, "N"},
		{"Russian", `'т', 'KeyN', { ctrlKey: true }`, "Ctrl+n"},
		{"Russian", `'х', 'BracketLeft'`, "["},
		{"Russian", `'.', 'Slash'`, "."},
		{"Russian", `'№', 'Digit3', { shiftKey: true }`, "Shift+3"},
		{"Greek", `'ν', 'KeyN'`, "n"},
		{"Hebrew", `'מ', 'KeyN'`, "n"},
		{"Hebrew", `"'", 'KeyW'`, "w"},
		{"Hebrew", `'/', 'KeyQ'`, "/"},
		{"Arabic", `'لا', 'KeyB'`, "b"},
		{"Arabic", `'؟', 'Slash', { shiftKey: true }`, "?"},
		{"Arabic", `'١', 'Digit1'`, "1"},
		{"Korean", `'ㅜ', 'KeyN'`, "n"},
		{"Dvorak", `'b', 'KeyN'`, "b"},
		{"Dvorak", `',', 'KeyW'`, ","},
		{"Dvorak", `"'", 'KeyQ'`, "'"},
		{"AZERTY", `'a', 'KeyQ'`, "a"},
		{"AZERTY", `'1', 'Digit1', { shiftKey: true }`, "1"},
		{"AZERTY", `'é', 'Digit2'`, "é"},
		{"Turkish", `'ı', 'KeyI'`, "ı"},
		{"Vietnamese", `'ơ', 'BracketRight'`, "ơ"},
		{"German", `'[', 'Digit8', { altGr: true, ctrlKey: true, altKey: true }`, "["},
		{"German", `'€', 'KeyE', { altGr: true }`, "€"},
	} {
		p.does("said.length = 0; hit(" + tc.press + ")")
		if got := p.does("said.join(' ')").String(); got != tc.want {
			t.Errorf("hit(%s) on a keyboard for %s is named %q, want %q", tc.press, tc.layout, got, tc.want)
		}
	}
}

// TestKeysPressButtons: a key presses its button, unless the focused element or a dialog uses
// the key, or the learner has switched single characters off.
func TestKeysPressButtons(t *testing.T) {
	p := newKeyboard(t, "n, ,ArrowRight,2")
	for _, tc := range []struct{ before, press, want string }{
		{"", `'n', 'KeyN'`, "press n, true"},
		{"", `'т', 'KeyN'`, "press n, true"},
		{"", `'N', 'KeyN', { shiftKey: true }`, "false"},
		{"", `'n', 'KeyN', { ctrlKey: true }`, "false"},
		{"", `'n', 'KeyN', { isComposing: true, keyCode: 229 }`, "false"},
		{"", `'ㅜ', 'KeyN', { keyCode: 229 }`, "false"},
		{"", `undefined, undefined`, "false"}, // autofill sends such events
		{"", `' ', 'Space'`, "press  , true"},
		{"", `' ', 'Space', { target: link }`, "false"},
		{"", `'n', 'KeyN', { target: link }`, "press n, true"},
		{"", `'n', 'KeyN', { target: field }`, "false"},
		{"", `'2', 'Digit2', { target: box }`, "press 2, true"},
		{"", `'ArrowRight', 'ArrowRight', { target: slider }`, "false"},
		{"", `'ArrowRight', 'ArrowRight'`, "press ArrowRight, true"},
		{"", `'x', 'KeyX'`, "false"},
		{"dialog = true", `'n', 'KeyN'`, "false"},
		{"stored['viz.letterkeys'] = 'off'", `'т', 'KeyN'`, "false"},
		{"stored['viz.letterkeys'] = 'off'", `'ArrowRight', 'ArrowRight'`, "press ArrowRight, true"},
	} {
		p.does("dialog = false; delete stored['viz.letterkeys']; said.length = 0;" + tc.before)
		if got := p.does("said.push(hit(" + tc.press + ")); said.join(', ')").String(); got != tc.want {
			t.Errorf("%s; hit(%s): got %q, want %q", tc.before, tc.press, got, tc.want)
		}
	}
}

// TestEnterSends: Enter submits a prompt, but an Enter that ends a composition does not. WebKit
// reports the latter after the composition, and only its code, 229, identifies it. That Enter does
// not submit a form, either.
// Promise: The Enter that ends a Chinese, Japanese or Korean composition sends nothing.
func TestEnterSends(t *testing.T) {
	p := newKeyboard(t, "")
	for _, tc := range []struct{ press, want string }{
		{`'Enter', 'Enter', { target: prompt, keyCode: 13 }`, "send, true"},
		{`'Enter', 'Enter', { target: prompt, keyCode: 13, ctrlKey: true }`, "send, true"},
		{`'Enter', 'Enter', { target: prompt, keyCode: 13, shiftKey: true }`, "false"},
		{`'Enter', 'Enter', { target: prompt, keyCode: 229, isComposing: true }`, "false"},
		{`'Enter', 'Enter', { target: prompt, keyCode: 229, isComposing: false }`, "false"},
		{`'Enter', 'Enter', { target: prompt, keyCode: 229, isComposing: false, ctrlKey: true }`, "false"},
		{`'Enter', 'Enter', { target: field, keyCode: 13 }`, "false"}, // the browser submits the form
		{`'Enter', 'Enter', { target: field, keyCode: 229, isComposing: false }`, "true"},
		{`'Escape', 'Escape', { target: field, keyCode: 27 }`, "blur, false"},
		{`'Escape', 'Escape', { target: field, keyCode: 229 }`, "false"},
	} {
		p.does("said.length = 0")
		if got := p.does("said.push(hit(" + tc.press + ")); said.join(', ')").String(); got != tc.want {
			t.Errorf("hit(%s): got %q, want %q", tc.press, got, tc.want)
		}
	}
}
