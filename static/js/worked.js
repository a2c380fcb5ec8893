// The line above the table, which shows the arithmetic of the row under the pointer or the focus.
// #work-lines has the lines of all rows, and arrives after the panel.
import { onKey } from './keys.js';

let row = -1; // index of the row that the learner points at
let current = true; // whether #work-lines belongs to the panel on the page

const rowsOf = (table) => [...table.querySelectorAll('[data-row]')];
const table = () => document.querySelector('[data-rows]');

export function followRows() {
  for (const type of ['pointerover', 'focusin']) {
    document.addEventListener(type, ({ target }) => {
      const hovered = target.closest?.('[data-row]');
      if (hovered) work(hovered);
    });
  }
  onKey(document, (key, { target }) => {
    const grid = target.closest?.('[data-rows]');
    if (grid && key === 'Escape') target.blur();
    if (!grid || (key !== 'ArrowUp' && key !== 'ArrowDown')) return false;
    const rows = rowsOf(grid);
    const at = rows.findIndex((r) => r.classList.contains('is-hover'));
    const next = rows[Math.min(rows.length - 1, Math.max(0, at + (key === 'ArrowDown' ? 1 : -1)))];
    if (!next) return false;
    work(next);
    next.scrollIntoView({ block: 'nearest' });
    return true;
  });
}

// work shows a row's arithmetic.
function work(target) {
  const rows = rowsOf(target.closest('[data-rows]') ?? target.parentElement);
  const line = document.getElementById('work-line');
  const cells = document.getElementById('work-lines')?.content.querySelector(`[data-of="${target.dataset.row}"]`);
  if (!line || !cells) return;
  row = rows.indexOf(target);
  for (const other of rows) other.classList.toggle('is-hover', other === target);
  if (current) line.replaceChildren(...cells.cloneNode(true).childNodes);
}

// afterPanels selects the same row again if the pointer or the focus is still in the table. all is
// set once #work-lines has been updated as well.
export function afterPanels(all) {
  current = all;
  const grid = table();
  const target = grid?.matches(':hover, :focus') ? rowsOf(grid)[row] : null;
  if (target) work(target);
  else row = -1;
}
