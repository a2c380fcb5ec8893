// Keys press the buttons that name them: data-key="ArrowRight" on a button,
// data-focus-key="t" on a field.
import { recall } from './stored.js';

export function listenToKeys() {
  // On the window, whose listeners run after everything in the document: a
  // page's own use of a key takes precedence.
  listenToDrags();
  window.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit(event);
      return;
    }
    if (event.key === 'Enter' && !event.shiftKey) submit(event);
    if (event.key === 'Escape' && isField(event.target)) {
      event.target.blur();
      return;
    }
    if (document.querySelector('dialog[open]') || takes(event.target, event.key)) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    // Single-character keys, which dictation software may type by mistake, can
    // be switched off.
    if (key.length === 1 && key !== ' ' && recall('viz.letterkeys') === 'off') return;
    if (event.shiftKey && /^[a-z ]$|^Arrow/.test(key)) return;
    const name = CSS.escape(key);
    const field = document.querySelector(`[data-focus-key="${name}"]`);
    const button = document.querySelector(`[data-key="${name}"]`);
    if (!field && !button) return;
    event.preventDefault(); // such as scrolling by the space bar
    if (field) {
      dragged = null;
      field.focus();
    } else if (!button.disabled && button.getAttribute('aria-disabled') !== 'true') button.click();
  });
}

// submit sends the prompt or the chat from its text area, where Shift and Enter make a new line.
function submit(event) {
  if (!event.target.matches?.('#prompt, #messages textarea')) return;
  event.preventDefault();
  event.target.form.requestSubmit();
}

// A slider that was dragged by mouse or finger gives the arrow keys back, since
// nobody moved into it to use them. One reached by the keyboard keeps them.
let dragged = null;

function listenToDrags() {
  document.addEventListener('pointerdown', ({ target }) => {
    dragged = target.matches?.('input[type=range]') ? target : null;
  }, true);
  document.addEventListener('focusin', ({ target }) => { if (target !== dragged) dragged = null; });
  document.addEventListener('keydown', ({ key }) => { if (key === 'Tab') dragged = null; }, true);
}

const isField = (element) => element.matches?.('input, textarea, select, [contenteditable]');

// takes reports whether the focused element has its own use for a key.
function takes(element, key) {
  if (!element.matches) return false;
  if (element.matches('input[type=range]')) return element !== dragged && /^(Arrow|Page|Home|End)/.test(key);
  if (element.matches('input[type=checkbox], input[type=radio]')) return key === ' ' || key.startsWith('Arrow');
  if (isField(element)) return true;
  return (key === ' ' || key === 'Enter') && element.matches('button, a, summary');
}
