// Highlights everything on the page that is related to the element under the pointer, the finger
// or the focus. The server marks elements with data-token, the text of a token, data-pos, a
// position in the text, and data-block, a block of the model. An element with a position and a
// block is a cell of the map. The cells that it reads, below it and to its left, are highlighted
// with their tokens.
import { weightsOf } from './heat.js';

const marked = '[data-token], [data-pos], [data-block], [data-head]';
const texts = '.widget, [data-picture], main[data-feed]'; // parts of a page with their own text
let at = null; // the element under the pointer
let lit = [];
const changes = new MutationObserver(() => light(at?.isConnected ? at : null));

const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const same = (name, value, within) => (value ? all(`[data-${name}="${CSS.escape(value)}"]`, within) : []);

function belongs(thing) {
  const { token, pos, block, head } = thing.dataset;
  const text = thing.closest(texts) ?? document;
  if (head) return looksAt(head);
  if (pos && block) return readBy(Number(pos), Number(block), text);
  return [...same('token', token), ...same('pos', pos, text), ...same('block', block)];
}

const readBy = (last, top, text) => all('[data-pos]', text).filter(({ dataset: { pos, block = 0 } }) => (
  pos !== '' && Number(pos) <= last && Number(block) <= top));

// looksAt returns the tokens that a head attends to, each marked with its share.
function looksAt(head) {
  const weights = weightsOf(head);
  const read = all('#strip-row [data-pos]').filter(({ dataset: { pos } }) => weights.get(Number(pos)) > 1);
  for (const token of read) {
    const weight = weights.get(Number(token.dataset.pos)) / 255;
    token.style.setProperty('--looks', weight);
    token.dataset.looks = `${Math.round(weight * 100)}%`;
  }
  return read;
}

function light(thing) {
  for (const e of lit) {
    e.classList.remove('is-lit');
    e.style.removeProperty('--looks');
    delete e.dataset.looks;
  }
  at = thing;
  lit = thing ? belongs(thing) : [];
  for (const e of lit) e.classList.add('is-lit');
  changes.takeRecords(); // ignore the changes made here
  if (!thing) changes.disconnect();
}

// point highlights everything related to an element, and updates the highlighting whenever the page
// changes.
function point(thing) {
  if (thing === at) return;
  light(thing);
  if (!thing) return;
  const attributeFilter = ['class', 'data-token', 'data-pos', 'data-block'];
  changes.observe(document.body, { subtree: true, childList: true, attributeFilter });
}

// followPointer starts highlighting.
export function followPointer() {
  for (const kind of ['pointerover', 'focusin']) {
    document.addEventListener(kind, ({ target }) => point(target.closest?.(marked) ?? null));
  }
  document.documentElement.addEventListener('pointerleave', () => point(null));
}
