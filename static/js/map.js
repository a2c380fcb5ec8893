// The map of the model: arrow keys move between its buttons, and Esc leaves the zoomed view. The
// server renders both the map and the zoomed view; see web/stage/map.templ. zoom.js animates the
// changes.
import { onKey } from './keys.js';
import { grow, press, shrink } from './zoom.js';

const zoom = () => document.getElementById('map-zoom');
const isOpen = () => zoom() !== null && !zoom().hidden;

let from = null; // label of the pressed button on the map or on a block
let entering = false; // whether to move the focus into the view that a press has opened

// listenToMap handles the map's keys. ask sends a question to the server.
export function listenToMap(ask) {
  onKey(document, (key, { target }) => {
    const keys = target.closest?.('[data-map-keys]');
    if (keys && move(keys, target, key)) return true;
    if (key !== 'Escape' || !zoom()?.contains(target)) return false;
    [...zoom().querySelectorAll('.zoom__crumbs button')].at(-1)?.click();
    return true;
  });
  document.addEventListener('click', ({ target }) => {
    const button = target.closest?.('button');
    if (!button) return;
    if (button.matches('[data-zoom-out]')) leave(button);
    else if (/"cmd":"(zoom|inside|head)"/.test(button.dataset.cmd)) {
      entering = zoom() !== null;
      if (entering) press(button);
      if (!zoom()?.contains(button)) from = button.getAttribute('aria-label');
    }
  });
  again = () => { if (isOpen()) ask(JSON.parse(zoom().dataset.ask)); };
}

let again = () => {};

// followMap requests the zoomed view for a new state.
export function followMap() { again(); }

// showZoom is called after the answer to a question has been put into the page.
export function showZoom() {
  if (!entering || !isOpen()) return;
  entering = false;
  grow();
  const now = zoom().querySelector('[data-zoom-now]');
  zoom().scrollIntoView({ block: 'nearest' });
  now?.focus({ preventScroll: true });
}

// leave shows the whole model and focuses the button that led to the zoomed view.
function leave(button) {
  const box = zoom();
  press(button);
  box.hidden = true;
  box.replaceChildren();
  delete box.dataset.ask;
  shrink();
  const all = [...document.querySelectorAll('.map__key, #panel button[aria-label]')];
  const back = all.find((b) => b.getAttribute('aria-label') === from) ?? document.querySelector('.map__key');
  if (back?.matches('.map__key')) only(back);
  back?.focus();
}

// move moves to the next button in the direction of an arrow key. It reports whether key is an
// arrow key.
function move(keys, at, key) {
  const rows = [...keys.children].map((row) => [...row.querySelectorAll('button')]);
  const y = rows.findIndex((row) => row.includes(at));
  if (y < 0) return false;
  const x = rows[y].indexOf(at);
  // Count from the end, since rows may lack their first cell in a map with text.
  const below = (row) => Math.max(0, (rows[row]?.length ?? 0) - rows[y].length + x);
  const to = {
    ArrowUp: [below(y - 1), y - 1], ArrowDown: [below(y + 1), y + 1], ArrowLeft: [x - 1, y], ArrowRight: [x + 1, y],
    Home: [0, y], End: [rows[y].length - 1, y],
  }[key];
  if (!to) return false;
  const next = rows[to[1]]?.[to[0]];
  if (next) {
    only(next);
    next.focus();
  }
  return true;
}

// rove makes one button of a map reachable with Tab: the pressed button or, if none is
// pressed, the last one in the top row.
export function rove(keys) {
  const top = keys.firstElementChild.querySelectorAll('button');
  const at = keys.querySelector('[aria-pressed="true"]') ?? top[top.length - 1];
  if (at) only(at);
}

// only makes a button the only one that Tab reaches.
function only(button) {
  for (const other of button.closest('[data-map-keys]').querySelectorAll('button')) other.tabIndex = -1;
  button.tabIndex = 0;
}
