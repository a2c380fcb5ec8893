// The rules of stage 4 as columns: moves one by drag, and with ← and → on its buttons,
// whose commands the server has written on them. Sends the form that the text keeps to.
import { onKey } from './keys.js';

const slack = 6; // px that a hand may shake before a press is a drag

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

// keepTo sends a form. A text keeps to one from its first token on, so it goes back there.
function keepTo(grammar) {
  document.getElementById('grammar').value = grammar;
  if (step > 1) send({ cmd: 'seek', step: 1, stage: 'filter' });
  send({ cmd: 'set', grammar });
}

// byKey presses the button that leads where the arrow points. The arrows of these buttons
// are never those of the stages.
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

// take follows the pointer from a column's head to where it is let go.
function take(event) {
  const head = event.target.closest?.('[data-chain] th[data-rule]');
  if (!head || event.button !== 0 || event.target.closest('button')) return;
  const { rule } = head.dataset;
  const from = event.clientX;
  let dragged = false;
  const ends = new AbortController();
  const { signal } = ends;
  event.preventDefault(); // a drag selects no text
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

// before is the head before which a dragged column would come, and those beside it.
function before(rule, x) {
  const others = heads().filter((head) => head.dataset.rule !== rule);
  const at = others.findIndex((head) => x < center(head));
  return { others, at: at < 0 ? others.length : at };
}

// placeAt is the place in the order of the rules; null where the column stays.
function placeAt(rule, x) {
  const { others, at } = before(rule, x);
  const was = heads().findIndex((head) => head.dataset.rule === rule);
  if (was < 0 || at === was) return null;
  const place = (head) => Number(head.dataset.place);
  const own = place(heads()[was]);
  const without = (n) => n - (n > own ? 1 : 0); // the server takes the rule out first
  return at < others.length ? without(place(others[at])) : without(place(others.at(-1))) + 1;
}

// mark shows where the column would go.
function mark(rule, x) {
  const { others, at } = rule === null ? { others: [], at: 0 } : before(rule, x);
  for (const head of heads()) {
    head.classList.toggle('is-dragged', head.dataset.rule === rule);
    head.classList.toggle('is-before', head === others[at]);
    head.classList.toggle('is-after', at === others.length && head === others.at(-1));
  }
}
