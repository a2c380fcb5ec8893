// Decides which key presses are commands, and names them. No other script listens to keys. Keys
// also press the buttons that name them (data-key="ArrowRight") and focus the fields that name them
// (data-focus-key="t").
import { recall } from './stored.js';

// composes reports whether a press belongs to an input method, which combines several presses into
// one character. WebKit sends the Enter that ends a composition only after the composition has
// ended, so its keyCode has to identify it.
const composes = (event) => event.isComposing || event.keyCode === 229;

const latin = /^[\u0000-\u024f\u1e00-\u1eff]/;
const letterOrDigit = /^(?:Key|Digit)(.)$/;
const signs = { BracketLeft: '[', BracketRight: ']', Slash: '/' };

// nameOf returns the name of a press: 'n', 'N' with Shift, '?', 'ArrowLeft', 'Shift+Tab',
// 'Ctrl+Enter' (also with the Command key). A key that does not type a Latin letter is named as
// on an English keyboard. On Hebrew layouts, this includes the W, which types an apostrophe
// there, unlike on any Latin layout.
function nameOf(event) {
  const { shiftKey, code } = event;
  const typed = event.getModifierState('AltGraph'); // AltGr types a character, which is not a separate command
  let key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const foreign = !typed && (!latin.test(key) || (code === 'KeyW' && key === "'"));
  if (foreign) key = letterOrDigit.exec(code)?.[1].toLowerCase() ?? signs[code] ?? key;
  if (shiftKey) {
    if (/^[a-z]$/.test(key)) key = key.toUpperCase();
    else if (foreign && key === '/') key = '?';
    else if (foreign || key.length > 1 || key === ' ') key = `Shift+${key}`;
  }
  if (typed) return key;
  return (event.ctrlKey || event.metaKey ? 'Ctrl+' : '') + (event.altKey ? 'Alt+' : '') + key;
}

// onKey calls act with the name and the event of each press that might be a command. If act
// returns true, the press was a command, and its default action is prevented.
export function onKey(element, act) {
  element.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || composes(event) || !event.key) return; // autofill triggers events without a key
    if (act(nameOf(event), event)) event.preventDefault();
  });
}

// onShortcut is like onKey, for shortcuts of the whole page. It ignores presses that an open
// dialog or the focused element uses, and keys that the learner has switched off.
export function onShortcut(act, element = document) {
  onKey(element, (key, event) => {
    if (document.querySelector('dialog[open]') || takes(event.target, key)) return false;
    // Dictation software might type single characters by mistake.
    if (key.length === 1 && key !== ' ' && recall('viz.letterkeys') === 'off') return false;
    return act(key, event);
  });
}

// onAnyKey calls act for every key press.
export function onAnyKey(act, options) { addEventListener('keydown', act, options); }

// onKeyUp calls act when a key is released.
export function onKeyUp(act) { document.addEventListener('keyup', (event) => act(nameOf(event), event)); }

// The text areas in which Enter submits the text and Shift+Enter inserts a newline.
const sent = '#prompt, #messages textarea, .w textarea';

// listenToKeys adds listeners to the window. They run after those in the document, so a page's
// own use of a key takes precedence.
export function listenToKeys() {
  listenToDrags();
  // Pressing Enter to end a composition must not also submit the form of a one-line field.
  addEventListener('keydown', (event) => {
    if (composes(event) && event.key === 'Enter' && event.target.matches?.('input')) event.preventDefault();
  }, true);
  onKey(window, (key, { target }) => {
    if (key === 'Escape' && isField(target)) target.blur();
    if ((key !== 'Enter' && key !== 'Ctrl+Enter') || !target.matches?.(sent)) return false;
    target.form.requestSubmit();
    return true;
  });
  onShortcut((key) => {
    const name = CSS.escape(key);
    const field = document.querySelector(`[data-focus-key="${name}"]`);
    const button = document.querySelector(`[data-key="${name}"]`);
    if (field) {
      dragged = null;
      field.focus();
    } else if (button && !button.disabled && button.getAttribute('aria-disabled') !== 'true') button.click();
    return Boolean(field || button); // so that the space bar does not scroll
  }, window);
}

// A slider that was dragged with the mouse or a finger ignores the arrow keys, since the learner
// did not focus it deliberately. A slider that was reached by keyboard uses them.
let dragged = null;

function listenToDrags() {
  document.addEventListener('pointerdown', ({ target }) => {
    dragged = target.matches?.('input[type=range]') ? target : null;
  }, true);
  document.addEventListener('focusin', ({ target }) => { if (target !== dragged) dragged = null; });
  onAnyKey(({ key }) => { if (key === 'Tab') dragged = null; }, true);
}

const isField = (element) => element.matches?.('input, textarea, select, [contenteditable]');

// takes reports whether the focused element has its own use for a key.
function takes(element, key) {
  if (!element.matches) return false;
  if (element.matches('input[type=range]')) return element !== dragged && /^(Arrow|Page|Home|End)/.test(key);
  if (element.matches('input[type=checkbox]')) return key === ' ';
  if (element.matches('input[type=radio]')) return key === ' ' || key.startsWith('Arrow');
  if (isField(element)) return true;
  return (key === ' ' || key === 'Enter') && element.matches('button, a, summary');
}
