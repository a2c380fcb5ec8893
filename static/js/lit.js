// Highlights, everywhere on the page, whatever relates to the thing under the pointer, the finger
// or the focus. The server marks things: data-token is a token's text, data-pos a position in the
// text, data-block a block of the model. A thing with a position and a block is a cell of the map.
// It reads the cells below it and to its left: those are highlighted, with their tokens.
import { weightsOf } from './heat.js';

const marked = '[data-token], [data-pos], [data-block], [data-head]';
const texts = '.widget, [data-picture], main[data-feed]'; // parts of a page with their own text
let at = null; // the thing pointed at
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

// looksAt returns the tokens of the text that a head reads, each with its share.
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
  changes.takeRecords(); // these changes were made here
  if (!thing) changes.disconnect();
}

// point highlights a thing, again whenever the page changes beneath it.
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
