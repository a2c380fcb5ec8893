// The movements when zooming into the map and back out: a row of cells grows into lanes, a lane
// grows into its weights, and the strips of a sum slide into one. All elements are in their final
// places from the start. Times are in ms; zooming out takes half as long.
import { player } from './carry.js';

const inward = 480;
const outward = 240;
const appear = [{ opacity: 0 }, { opacity: 1 }];
const box = () => document.getElementById('map-zoom');
const boxOf = (element) => element?.getBoundingClientRect();

let from = null; // position of the pressed element
let depth = 0;
let row = -1; // the row of the map that was zoomed into
let beside = null; // the cells of the map before zooming into one of its rows

// depthOf returns 0 for the whole model, 1 for a block, 2 for a head, 3 for a sum.
const depthOf = () => box().hidden ? 0 : box().querySelectorAll('.zoom__crumbs :is(b, button)').length - 1;

// press records the element to zoom into or out of, before the answer is shown.
export function press(button) {
  const keys = button.closest('.map__keyrow');
  const cells = keys && document.querySelector('#map .map__net');
  if (keys) row = [...keys.parentElement.children].indexOf(keys);
  else if (depth === 0) row = -1;
  beside = cells && { cells: cells.cloneNode(true), at: boxOf(cells) };
  from = boxOf(keys ?? button.closest('.zoom__lane') ?? box().querySelector('.zoom__lanes') ?? button);
}

// grow animates the zoomed view from the previous position of its element.
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

// slideOff shows the copy of the map that press made, and moves the rows next to the zoomed one
// up or down, out of view.
function slideOff(play) {
  const { cells, at } = beside;
  cells.setAttribute('class', 'map__net carried carried--net');
  cells.setAttribute('aria-hidden', 'true');
  document.body.append(cells);
  const place = { transform: `translate(${at.x}px, ${at.y}px)`, width: `${at.width}px`, height: `${at.height}px` };
  const stay = play(cells, [place, place], inward);
  if (!stay) return cells.remove();
  stay.onfinish = stay.oncancel = () => cells.remove();
  for (const [i, other] of [...cells.querySelectorAll('.map__row')].entries()) {
    play(other, [{ opacity: i === row ? 0 : 1, transform: 'none' }, away(i)], inward);
  }
}

// away returns the frame at which a neighboring row has moved up or down out of view.
const away = (i) => ({ opacity: 0, transform: `translateY(${Math.sign(i - row) * 100}%)` });

// shrink moves the zoomed row of the map from the lanes back to its place, and moves the other
// rows back beside it.
export function shrink() {
  depth = 0;
  const net = document.querySelector('#map .map__net');
  if (!from || !net) return;
  const play = player('zoom');
  const at = boxOf(net);
  const { width, height } = net.viewBox.baseVal; // the units of a row's lengths
  const high = height / net.querySelectorAll('.map__row').length;
  for (const [i, each] of [...net.querySelectorAll('.map__row')].entries()) {
    const x = ((from.x - at.x) * width) / at.width;
    const y = ((from.y - at.y) * height) / at.height;
    const size = `scale(${from.width / at.width}, ${(from.height / at.height) * (height / high)})`;
    const start = i === row ? { transform: `translate(${x}px, ${y}px) ${size} translateY(${-i * high}px)` } : away(i);
    play(each, [start, { opacity: 1, transform: 'none' }], outward);
  }
  from = null;
}

function moveFrom(old, element, play, time) {
  const now = boxOf(element);
  if (!now.width || !now.height) return;
  const size = `scale(${old.width / now.width}, ${Math.max(old.height, 1) / now.height})`;
  const start = `translate(${old.x - now.x}px, ${old.y - now.y}px) ${size}`;
  play(element, [{ transform: start, transformOrigin: '0 0' }, { transform: 'none', transformOrigin: '0 0' }], time);
}

// gather copies the numbers of each column, shrinks the copy to its weight and moves it onto the
// sum.
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
    document.body.append(copy);
    const size = { width: `${at.width}px`, height: `${at.height}px` };
    const slide = play(copy, [
      { ...size, transform: `translate(${at.x}px, ${at.y}px)` },
      { ...size, transform: `translate(${to.x}px, ${to.y}px) scaleY(${Math.max(weight, 0.05)})` },
    ], 900, Math.min(60, 480 / terms.length) * i);
    if (!slide) copy.remove();
    else slide.onfinish = slide.oncancel = () => copy.remove();
  }
  play(total, [{ opacity: 0 }, { opacity: 0, offset: .8 }, { opacity: 1 }], 900 + Math.min(60 * terms.length, 480));
}
