// What moves when one looks into the map, and back out: a row of cells grows into
// lanes, a lane into its weights, and the strips of a sum slide into one. Everything
// is in its final place from the start. Times are in ms; the way back takes half.
import { player } from './carry.js';

const inward = 480;
const outward = 240;
const appear = [{ opacity: 0 }, { opacity: 1 }];
const box = () => document.getElementById('map-zoom');
const boxOf = (element) => element?.getBoundingClientRect();

let from = null; // where what was pressed stands
let depth = 0;
let beside = null; // the cells of the map as they stood, where one of their rows is zoomed into

// depthOf is 0 at the whole model, 1 in a block, 2 in a head, 3 in a sum.
const depthOf = () => box().hidden ? 0 : box().querySelectorAll('.zoom__crumbs :is(b, button)').length - 1;

// press notes what is zoomed into, or out of, before the answer to it is shown.
export function press(button) {
  const row = button.closest('.map__keyrow');
  const cells = row && document.querySelector('#map .map__net');
  const which = row && [...row.parentElement.children].indexOf(row);
  beside = cells && { cells: cells.cloneNode(true), at: boxOf(cells), which };
  from = boxOf(row ?? button.closest('.zoom__lane') ?? box().querySelector('.zoom__lanes') ?? button);
}

// grow moves what has been zoomed into from where it stood.
export function grow() {
  const was = depth;
  depth = depthOf();
  if (!from || depth === was) return;
  const play = player('zoom');
  const time = depth > was ? inward : outward;
  if (depth === 3) gather(play);
  else for (const lane of box().querySelectorAll('.zoom__lane svg')) moveFrom(from, lane, play, time);
  if (depth === 2) for (const cell of box().querySelectorAll('.zoom__lane svg *')) play(cell, appear, inward);
  if (was === 0 && beside) slideOff(play);
  from = null;
  beside = null;
}

// slideOff has a copy of the rows beside the one zoomed into leave upward and downward.
function slideOff(play) {
  const { cells, at, which } = beside;
  cells.setAttribute('class', 'map__net carried carried--net');
  cells.setAttribute('aria-hidden', 'true');
  document.body.append(cells);
  const place = { transform: `translate(${at.x}px, ${at.y}px)`, width: `${at.width}px`, height: `${at.height}px` };
  const stay = play(cells, [place, place], inward);
  if (!stay) return cells.remove();
  stay.onfinish = stay.oncancel = () => cells.remove();
  for (const [i, other] of [...cells.querySelectorAll('.map__row')].entries()) {
    const way = Math.sign(i - which) * 100;
    const away = { opacity: 0, transform: `translateY(${way}%)` };
    play(other, [{ opacity: way ? 1 : 0, transform: 'none' }, away], inward);
  }
}

// shrink moves the rows of the map back from where the lanes stood.
export function shrink() {
  depth = 0;
  if (!from) return;
  for (const row of document.querySelectorAll('#map .map__body')) moveFrom(from, row, player('zoom'), outward);
  from = null;
}

function moveFrom(old, element, play, time) {
  const now = boxOf(element);
  if (!now.width || !now.height) return;
  const size = `scale(${old.width / now.width}, ${Math.max(old.height, 1) / now.height})`;
  const start = `translate(${old.x - now.x}px, ${old.y - now.y}px) ${size}`;
  play(element, [{ transform: start, transformOrigin: '0 0' }, { transform: 'none', transformOrigin: '0 0' }], time);
}

// gather has a copy of each column's numbers shrink to its weight and slide onto the sum.
function gather(play) {
  const total = box().querySelector('.terms__total svg');
  const to = boxOf(total);
  if (!to) return;
  const terms = [...box().querySelectorAll('.terms li:not(.terms__total)')];
  for (const [i, term] of terms.entries()) {
    const strip = term.querySelector('svg');
    const at = boxOf(strip);
    const weight = Number(term.querySelector('b')?.textContent.replace(/[^\d.]/g, '')) || 0;
    const copy = strip.cloneNode(true);
    copy.setAttribute('class', `${strip.getAttribute('class') ?? ''} carried carried--strip`);
    copy.setAttribute('width', at.width);
    copy.setAttribute('height', at.height);
    document.body.append(copy);
    const slide = play(copy, [
      { transform: `translate(${at.x}px, ${at.y}px)` },
      { transform: `translate(${to.x}px, ${to.y}px) scaleY(${Math.max(weight, 0.05)})` },
    ], 900, Math.min(60, 480 / terms.length) * i);
    if (!slide) copy.remove();
    else slide.onfinish = slide.oncancel = () => copy.remove();
  }
  play(total, [{ opacity: 0 }, { opacity: 0, offset: .8 }, { opacity: 1 }], 900 + Math.min(60 * terms.length, 480));
}
