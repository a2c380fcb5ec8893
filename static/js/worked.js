// What follows the pointer or the focus: the worked line above the table and
// the line under the strip. All words come with the page from the server.

let row = -1; // index of the row worked by the learner
let peeked = null; // the children of #peek while another token's line stands there

const rowsOf = (table) => [...table.querySelectorAll('[data-row]')];
const table = () => document.querySelector('[data-rows]');

export function followRows() {
  for (const type of ['pointerover', 'focusin']) {
    document.addEventListener(type, ({ target }) => {
      const hovered = target.closest?.('[data-row]');
      if (hovered) work(hovered);
      const token = target.closest?.('[data-peek]');
      if (token) peek(token.dataset.peek);
      else unpeek();
    });
  }
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return;
    const grid = event.target.closest?.('[data-rows]');
    if (!grid || event.ctrlKey || event.metaKey || event.altKey) return;
    const rows = rowsOf(grid);
    const at = rows.findIndex((r) => r.classList.contains('is-hover'));
    const next = rows[Math.min(rows.length - 1, Math.max(0, at + (event.key === 'ArrowDown' ? 1 : -1)))];
    if (!next) return;
    event.preventDefault();
    work(next);
    next.scrollIntoView({ block: 'nearest' });
  });
}

// work shows a row's arithmetic.
function work(target) {
  const rows = rowsOf(target.closest('[data-rows]') ?? target.parentElement);
  const line = document.getElementById('work-line');
  const template = target.querySelector('template');
  if (!line || (!template && !target.dataset.work)) return;
  row = rows.indexOf(target);
  for (const other of rows) other.classList.toggle('is-hover', other === target);
  if (template) line.replaceChildren(template.content.cloneNode(true));
  else line.textContent = target.dataset.work;
}

function peek(words) {
  const line = document.getElementById('peek');
  if (!line) return;
  peeked ??= [...line.childNodes];
  line.replaceChildren(words);
}

function unpeek() {
  if (!peeked) return;
  document.getElementById('peek')?.replaceChildren(...peeked);
  peeked = null;
}

// beforePanels gives the server back the page as it sent it.
export function beforePanels() { unpeek(); }

// afterPanels works the same row again while the learner is still at the table.
export function afterPanels() {
  const grid = table();
  const target = grid?.matches(':hover, :focus') ? rowsOf(grid)[row] : null;
  if (target) work(target);
  else row = -1;
}
