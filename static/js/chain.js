// The rules of stage 4, shown as columns that can be dragged, or moved with ← and → on their
// buttons. The server provides the buttons' commands. This script also sends the grammar that the
// text must match.
import { onKey } from './keys.js';

const slack = 6; // px by which the pointer may move before a press becomes a drag

let send = () => {};
let step = 0; // the step shown

export const followChain = (cursor) => { step = cursor.step; };

export function listenToChain(sends) {
  send = sends;
  onKey(document, byKey);
  document.addEventListener('pointerdown', take);
  document.addEventListener('click', ({ target }) => {
    const form = target.closest?.('[data-grammar]')?.dataset.grammar;
    if (form !== undefined) keepTo(form);
  });
  document.addEventListener('submit', (event) => {
    if (!event.target.matches('[data-grammar-form]')) return;
    event.preventDefault();
    keepTo(document.getElementById('grammar').value.trim());
  });
}

// keepTo sends a grammar. The text must match the grammar from its first token on, so the run goes
// back to the first token.
function keepTo(grammar) {
  document.getElementById('grammar').value = grammar;
  if (step > 1) send({ cmd: 'seek', step: 1, stage: 'filter' });
  send({ cmd: 'set', grammar });
}

// byKey presses the button that corresponds to an arrow key. In the heads of these columns, the
// arrow keys never change the stage.
function byKey(key, { target }) {
  const way = { ArrowLeft: 'earlier', ArrowRight: 'later' }[key];
  const head = target.closest?.('[data-chain] th[data-rule]');
  if (!way || !head) return false;
  const button = head.querySelector(`[data-move=${way}]`);
  if (button.getAttribute('aria-disabled') !== 'true') button.click();
  return true;
}

const heads = () => [...document.querySelectorAll('[data-chain] th[data-rule]')];
const center = (element) => {
  const { left, width } = element.getBoundingClientRect();
  return left + width / 2;
};

// take moves the column under the pointer until the pointer is released.
function take(event) {
  const head = event.target.closest?.('[data-chain] th[data-rule]');
  if (!head || event.button !== 0 || event.target.closest('button')) return;
  const { rule } = head.dataset;
  const from = event.clientX;
  let dragged = false;
  const ends = new AbortController();
  const { signal } = ends;
  event.preventDefault(); // prevents the drag from selecting text
  head.setPointerCapture(event.pointerId);
  document.addEventListener('pointermove', ({ clientX }) => {
    dragged ||= Math.abs(clientX - from) > slack;
    if (dragged) mark(rule, clientX);
  }, { signal });
  const end = () => {
    ends.abort();
    mark(null);
  };
  document.addEventListener('pointerup', ({ clientX }) => {
    end();
    const to = dragged ? placeAt(rule, clientX) : null;
    if (to !== null) send({ cmd: 'move', rule, to });
  }, { signal });
  document.addEventListener('pointercancel', end, { signal });
}

// before returns the heads of the other columns, and the index at which a dragged column
// would be inserted.
function before(rule, x) {
  const others = heads().filter((head) => head.dataset.rule !== rule);
  const at = others.findIndex((head) => x < center(head));
  return { others, at: at < 0 ? others.length : at };
}

// placeAt returns the rule's new position in the order, or null if the column does not move.
function placeAt(rule, x) {
  const { others, at } = before(rule, x);
  const was = heads().findIndex((head) => head.dataset.rule === rule);
  if (was < 0 || at === was) return null;
  const place = (head) => Number(head.dataset.place);
  const own = place(heads()[was]);
  const without = (n) => n - (n > own ? 1 : 0); // the server first removes the rule
  return at < others.length ? without(place(others[at])) : without(place(others.at(-1))) + 1;
}

// mark shows where the column would be inserted.
function mark(rule, x) {
  const { others, at } = rule === null ? { others: [], at: 0 } : before(rule, x);
  for (const head of heads()) {
    head.classList.toggle('is-dragged', head.dataset.rule === rule);
    head.classList.toggle('is-before', head === others[at]);
    head.classList.toggle('is-after', at === others.length && head === others.at(-1));
  }
}
