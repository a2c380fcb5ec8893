// A drill whose cells are checked one by one, with the navigation of a spreadsheet. The form works
// without this script. With it, the form is sent without leaving the page and patched with the
// response.
import { onKey } from './keys.js';
import { ask } from './learn.js';
import { patch } from './patch.js';
import { embedded } from './place.js';

const form = document.getElementById('drill');
const shelf = `viz.drill:${location.pathname}${location.search}`;
const cells = 'input[type=text], input:not([type]), input[type=checkbox], input[type=radio]';
const together = 40; // ms during which the changes caused by one press are collected into one request

const edited = new Set(); // names of cells with unsent edits
let asked = null;
let waiting = null;

const isCell = (e) => Boolean(e?.matches?.(cells)) && form.contains(e);
const cellsOf = (name) => [...form.querySelectorAll(`[name="${CSS.escape(name)}"]:is(${cells})`)];
const field = (name) => form.querySelector(`input[type=hidden][name="${name}"]`);
const stateOf = (name) => cellsOf(name)[0]?.dataset.state ?? '';
let at = field('at').value; // the cell that was focused last, to which the help belongs

// Sending ----------------------------------------------------------------------

// send submits the form, without the answer that is still being typed, and shows the response.
async function send(extra = {}) {
  const data = new URLSearchParams(new FormData(form));
  const now = document.activeElement;
  if (isCell(now) && edited.has(now.name) && extra.cell !== now.name && extra.do !== 'check') data.delete(now.name);
  else edited.delete(now?.name);
  for (const [name, value] of Object.entries(extra)) data.set(name, value);
  asked?.abort();
  const mine = new AbortController();
  asked = mine;
  try {
    const html = await ask(form.action, { method: 'POST', body: data, signal: mine.signal });
    const since = typedSince(data);
    patch(form, html);
    for (const [id, was] of since) Object.assign(document.getElementById(id) ?? {}, was);
    keep();
    if (asked === mine && !waiting) at = field('at').value; // the server may have moved to another cell
    return true;
  } catch (error) {
    if (error.name !== 'AbortError') say(error.message);
    return false;
  } finally {
    if (asked === mine) asked = null;
  }
}

// typedSince returns the answers that were typed or checked after a form was sent. The response
// does not include them and must not undo them.
function typedSince(sent) {
  const since = [];
  for (const e of form.querySelectorAll(cells)) {
    if (e.type === 'checkbox' || e.type === 'radio') {
      if (e.checked !== sent.getAll(e.name).includes(e.value)) since.push([e.id, { checked: e.checked }]);
    } else if (e.value !== (sent.get(e.name) ?? '')) since.push([e.id, { value: e.value }]);
  }
  return since;
}

// soon sends the form after a short delay, together with all changes made in the meantime.
function soon(extra) {
  if (!waiting) {
    waiting = { extra: {} };
    waiting.timer = setTimeout(() => { const w = waiting; waiting = null; send(w.extra); }, together);
  }
  Object.assign(waiting.extra, extra);
}

function now(extra) {
  if (waiting) {
    clearTimeout(waiting.timer);
    Object.assign(extra, { ...waiting.extra, ...extra });
    waiting = null;
  }
  return send(extra);
}

function say(text) {
  const told = document.getElementById('drill-told');
  if (told) told.textContent = text;
}

// Work is stored while the tab is open, so a reload loses nothing.
function keep() {
  if (embedded) return;
  try { sessionStorage.setItem(shelf, new URLSearchParams(new FormData(form))); } catch { /* storage is unavailable */ }
}

async function bringBack() {
  if (embedded) return;
  let text = null;
  try { text = sessionStorage.getItem(shelf); } catch { /* nothing was stored */ }
  if (!text) return;
  try {
    patch(form, await ask(form.action, { method: 'POST', body: new URLSearchParams(text) }));
  } catch { /* keep the page as the server sent it */ }
}

// Checking ---------------------------------------------------------------------

form.addEventListener('input', ({ target }) => { if (isCell(target)) edited.add(target.name); });

form.addEventListener('focusin', ({ target }) => {
  if (!isCell(target) || at === target.name) return;
  at = target.name;
  field('at').value = at;
  field('help').value = '0';
  soon({ at: target.name, help: '0' });
});

form.addEventListener('focusout', ({ target, relatedTarget }) => {
  if (!isCell(target) || !edited.has(target.name)) return;
  if (relatedTarget?.name === target.name && relatedTarget !== target && isCell(relatedTarget)) return; // within a set
  edited.delete(target.name);
  soon({ cell: target.name });
});

// A choice made with the pointer counts immediately. A choice made with the arrow keys does not,
// since they pass through other options.
form.addEventListener('click', (event) => {
  if (event.target.matches('input[type=radio]') && event.detail > 0) now({ cell: event.target.name });
});

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const button = event.submitter;
  // The Enter key presses the first button of a form.
  if (button?.matches('.drill__first') && isCell(document.activeElement)) {
    enter(document.activeElement);
    return;
  }
  const extra = button?.name ? { [button.name]: button.value } : { do: 'check' };
  const went = extra.do.startsWith('go:');
  if (!await now(extra)) return;
  if (went) openStep(button);
  else if (!document.contains(button) || document.activeElement === document.body) goOn();
});

// openStep moves the focus to the start of a step, unless the learner is moving along the tabs with
// the arrow keys.
function openStep(button) {
  if (button.id.startsWith('tab-') && document.contains(button)) return;
  const first = order().find((name) => stateOf(name) !== 'right');
  focus(first ?? order()[0]);
}

const order = () => form.dataset.order.split(' ');

function focus(name) {
  const all = cellsOf(name);
  const to = all.find((e) => e.checked) ?? all[0] ?? form.querySelector('#drill-next, .sheet button');
  to?.focus();
  if (to?.select && to.type !== 'checkbox' && to.type !== 'radio') to.select();
}

// goOn moves the focus from the given cell to the next cell that is not right yet.
function goOn(from = field('at').value) {
  const names = order();
  const start = names.indexOf(from) + 1;
  const next = [...names.slice(start), ...names.slice(0, start)].find((name) => stateOf(name) !== 'right');
  if (next) focus(next);
  else document.getElementById('drill-next')?.focus();
}

async function enter(cell) {
  const name = cell.name;
  edited.delete(name);
  if (!await now({ cell: name, at: name })) return;
  if (stateOf(name) === 'right') goOn(name);
  else if (stateOf(name) === 'empty') goOn(name);
  else if (document.activeElement?.name === name) document.activeElement.select?.();
}

// Moving -----------------------------------------------------------------------

const steps = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

onKey(form, (key, { target: cell }) => {
  if (!isCell(cell)) return false;
  if (key in steps) return move(cell, ...steps[key]);
  if (key === 'Tab' || key === 'Shift+Tab') {
    const to = nextInTable(cell, key === 'Tab' ? 1 : -1);
    to?.focus();
    to?.select();
    return to !== null;
  }
  if (key !== '?' || (cell.type !== 'checkbox' && cell.type !== 'radio')) return false;
  now({ do: 'hint' });
  return true;
});

// Answers never contain a question mark, so it can be a command.
form.addEventListener('beforeinput', (event) => {
  if (event.data !== '?' || !isCell(event.target)) return;
  event.preventDefault();
  now({ do: 'hint' });
});

// move moves to the neighboring cell and reports whether there is one. While the caret can
// still move within a cell's text, the arrow keys move the caret.
function move(cell, dx, dy) {
  const place = cell.closest('td');
  if (!place || cell.type === 'radio') return false;
  if (dx && cell.type !== 'checkbox') {
    const all = cell.selectionStart === 0 && cell.selectionEnd === cell.value.length;
    const edge = dx < 0 ? cell.selectionEnd === 0 : cell.selectionStart === cell.value.length;
    if (!all && !edge) return false;
  }
  const to = dy ? along(place, dy) : beside(place, dx);
  if (!to) return false;
  to.focus();
  if (to.type !== 'checkbox') to.select();
  return true;
}

// nextInTable returns the cell that Tab leads to. It skips the buttons of messages about
// mistakes, which may have appeared in between.
function nextInTable(cell, by) {
  const all = [...(cell.closest('table')?.querySelectorAll('td input') ?? [])];
  return all[all.indexOf(cell) + by] ?? null;
}

const inside = (place) => place?.querySelector('input') ?? null;

function along(place, by) {
  const rows = [...place.closest('table').rows].filter((row) => !row.classList.contains('why'));
  for (let i = rows.indexOf(place.parentElement) + by; rows[i]; i += by) {
    const to = inside(rows[i].cells[place.cellIndex]);
    if (to) return to;
  }
  return null;
}

function beside(place, by) {
  for (let i = place.cellIndex + by; place.parentElement.cells[i]; i += by) {
    const to = inside(place.parentElement.cells[i]);
    if (to) return to;
  }
  return null;
}

bringBack();
