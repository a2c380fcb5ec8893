// Lights what belongs to the thing under the pointer, the finger or the focus, wherever else the
// page shows it. The server says what a thing is: data-token is a token's text, data-at a position
// in the text, data-block a block of the model. What has a position and a block is a cell of the map,
// which reads the cells below it and to its left: those are lit, with their tokens.
import { weightsOf } from './heat.js';

const marked = '[data-token], [data-at], [data-block], [data-head]';
let at = null; // the thing that is pointed at
let lit = [];

const same = (name, value) => (value ? document.querySelectorAll(`[data-${name}="${CSS.escape(value)}"]`) : []);

function readBy(cell) {
  const { at: last, block: top } = cell.dataset;
  const below = ({ dataset }) => Number(dataset.at) <= last && Number(dataset.block ?? 0) <= top;
  return [...document.querySelectorAll('[data-at]')].filter((e) => e.dataset.at && below(e));
}

function belongs(thing) {
  const { token, at: position, block, head } = thing.dataset;
  if (head) return looksAt(thing);
  if (position && block) return readBy(thing);
  return [...same('token', token), ...same('at', position), ...same('block', block)];
}

// looksAt are the tokens of the text that a head reads, each with its share.
function looksAt(head) {
  const weights = weightsOf(head) ?? [];
  const read = [...document.querySelectorAll('#strip-row [data-at]')].filter((e) => weights[e.dataset.at] > 1);
  for (const token of read) {
    const weight = weights[token.dataset.at] / 255;
    token.style.setProperty('--looks', weight);
    token.dataset.looks = `${Math.round(weight * 100)}%`;
  }
  return read;
}

function light(thing) {
  if (thing === at && thing?.isConnected) return;
  at = thing;
  for (const e of lit) {
    e.classList.remove('is-lit');
    e.style.removeProperty('--looks');
    delete e.dataset.looks;
  }
  lit = thing ? belongs(thing) : [];
  for (const e of lit) e.classList.add('is-lit');
}

// followPointer lights things from now on.
export function followPointer() {
  for (const kind of ['pointerover', 'focusin']) {
    document.addEventListener(kind, ({ target }) => light(target.closest?.(marked) ?? null));
  }
  document.documentElement.addEventListener('pointerleave', () => light(null));
}
