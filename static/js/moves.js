import { beginFall } from './falling.js';
import { trim } from './trim.js';

// The movements when a stage is reached, with their start, their end and their duration in ms at
// the usual pace. Each function gets the scene (the panel of a stage), the function that starts a
// movement (see player in carry.js), and the previous state of the page, or of the part of the page
// that contains the scene.
const appear = [{ opacity: 0 }, { opacity: 1 }];
const downward = [{ clipPath: 'inset(0 0 100% 0)' }, { clipPath: 'inset(0)' }];
const rowLight = { panel: 80, story: 160, fr__main: 600 }; // ms for which the light stays at a block

const map = (page, selector) => [...page.querySelectorAll(`.map ${selector}`)];
const boxOf = (element) => element?.getBoundingClientRect();
const last = (list) => list[list.length - 1];

// Selects the tokens of the text that are separate elements.
const written = '#strip-prompt .tok, #strip-gen > :is(.tok, .w), .fr__text .w, '
  + ':is(#cl-strip, .w-text, .w .ph__prose) :is(.tok:not(.tok--next), .w)';
const tokens = (page) => [...page.querySelectorAll(written)];

// endOf returns the position of the last part of a word, which may be split across two lines.
const endOf = (word) => last([...word.getClientRects()]);

// copyOf copies words, moves the copy over the page and removes it when it arrives, since words
// in a line cannot be moved.
function copyOf(words, play, frames, duration, delay = 0) {
  const copy = document.createElement('span');
  copy.className = 'carried';
  copy.setAttribute('aria-hidden', 'true');
  copy.textContent = words;
  document.body.append(copy);
  const flight = play(copy, frames, duration, delay);
  gone(copy, flight);
  return flight;
}

// gone removes an element once its movement ends, or immediately if it does not move.
function gone(element, flight) {
  if (!flight) element.remove();
  else flight.onfinish = flight.oncancel = () => element.remove();
}

const to = ({ x, y }) => `translate(${x}px, ${y}px)`;

// climb: if a token has gone around the loop, the way back is drawn once; chips move from
// the text to the foot of their columns, and a light climbs the blocks and shows the
// prediction of each.
function climb(scene, play, was) {
  const came = scene.dataset.enter === 'forward' && was.again;
  let from = 0;
  if (came) {
    for (const edge of map(was.page, '.map__back')) play(edge, downward, 480, 0, 'linear');
    from = 480;
  }
  const text = boxOf(was.page.querySelector('.prose__given, #strip-row, #cl-strip, .prose'));
  const each = tokens(was.page);
  const feet = map(was.page, '.map__toks span:not(.is-next, .is-quiet)');
  const fresh = came ? feet.slice(-1) : feet;
  fresh.forEach((foot, i) => {
    const at = boxOf(foot);
    const own = each[each.length - fresh.length + i];
    const word = own ? endOf(own) : text && { x: text.x + (text.width * i) / fresh.length, y: text.y };
    if (!word || !at.width) return;
    const start = { opacity: 0, transform: to({ x: word.x - at.x, y: word.y - at.y }) };
    play(foot, [start, { opacity: 1, transform: 'none' }], 480, from + Math.min(40 * i, 320));
  });
  if (feet.some((foot) => boxOf(foot).width)) from += 480;
  const kind = Object.keys(rowLight).find((name) => scene.classList.contains(name));
  const step = rowLight[kind] ?? rowLight.panel;
  map(was.page, '.map__row').reverse().forEach((row, i) => {
    for (const cell of row.querySelectorAll('.pass, .last')) play(cell, appear, Math.max(step, 80), from + step * i);
  });
}

// unroll: the last column's vector leaves the top of the map along its line and opens into the
// tile. A fan with the outlines of the bars opens above the tile, and the scores appear.
function unroll(scene, play, was) {
  const tile = map(was.page, '.map__vec')[0];
  const cell = boxOf(last(map(was.page, '.map__row:first-child :is(.last, .pass)')));
  const at = boxOf(tile);
  if (at?.width && cell) {
    const unit = boxOf(tile.ownerSVGElement).width / 100; // the tile's own units
    const high = boxOf(tile.ownerSVGElement).height / 36;
    const size = `scale(${cell.width / at.width}, ${cell.height / at.height})`;
    const stop = (x, y) => ({ transform: `translate(${(x - at.x) / unit}px, ${(y - at.y) / high}px) ${size}` });
    const inside = Math.min(Math.max(cell.x, at.x), at.right - cell.width);
    play(tile, [stop(cell.x, cell.y), stop(cell.x, at.y), stop(inside, at.y), { transform: 'none' }], 480);
  }
  const above = map(was.page, ':is(.map__rise path:not(.map__elbow), .map__bar svg)');
  for (const opens of above) play(opens, appear, 240, 480);
  const from = at?.width ? at : boxOf(was.page.querySelector('.map, #cl-strip, .w-text, .ph__prose'));
  for (const dot of scene.querySelectorAll('.dot, .gap__dot')) {
    const end = boxOf(dot);
    if (!from || !end.width) continue;
    const start = to({ x: from.x + from.width / 2 - end.x, y: from.y - end.y });
    play(dot, [{ opacity: 0, transform: start }, { opacity: 1, transform: 'none' }], 240, 480);
  }
}

// move: all elements that were already on the page move to their new places and sizes. It
// returns the time at which the last one arrives.
function move(scene, play, was, duration = 480, stagger = 0) {
  const all = [...scene.querySelectorAll('[data-carry]')];
  const step = Math.min(stagger, 480 / all.length);
  all.forEach((element, i) => {
    const old = was.boxes.get(element.dataset.carry);
    const now = boxOf(element);
    if (now.width === 0 || now.height === 0) return;
    let start = 'scaleX(0)';
    if (old) {
      const size = `scale(${old.width / now.width}, ${old.height / now.height})`;
      start = `${to({ x: old.x - now.x, y: old.y - now.y })} ${size}`;
    }
    play(element, [{ transform: start }, { transform: 'none' }], duration, step * i);
  });
  return duration + step * Math.max(all.length - 1, 0);
}

// arrive: elements, most of them figures, appear at the given time, when a movement ends.
function arrive(scene, play, selector, at) {
  for (const element of scene.querySelectorAll(selector)) play(element, appear, 120, at);
}

// share: dots stretch into bars. The figures and the ticks for T = 1 appear when the bars are
// complete.
function share(scene, play, was) {
  move(scene, play, was);
  arrive(scene, play, '.ghost, .ghostkey, .pct, td.now', 480);
}

// tip: the bars are laid end to end. Then each one gets its name, and the marker waits.
export function tip(scene, play, was) {
  const end = move(scene, play, was, 900, 60);
  const words = '.laid__t, .seg__t, .laid__gaps, .laid__rest, .laid__twin, .laid__pin, .story__foot, .laid .cap';
  arrive(scene, play, words, end);
}

const pins = '.laid__pin circle, .cum .mark:not(.mark--what) :is(path, line)';
const winners = '.laid__at, .laid__rings, .say, .story__foot, .laid__twin, .laid .cap, .verdict, .mark text, .facts, '
  + '.panel__head p, .work-line, .fr__do, .bigstage__say:not(.bigstage__say--walk), .ph__head p, .w-stage__say';

// whole returns the stage, including the parts that a wall shows in another place.
const whole = (scene) => scene.closest('.deck__body') ?? scene;

// fall: the marker runs to the far end and back, aims, and falls. Only then is the winner named.
function fall(scene, play) {
  const offset = [0, 350, 700, 1000, 1200].map((t) => t / 1200);
  let falls = false;
  for (const marker of whole(scene).querySelectorAll(pins)) {
    const line = boxOf(marker.closest('.laid, .cum').querySelector('.laid__bar, .cum__bar'));
    if (!line?.width) continue;
    const { x, width } = boxOf(marker);
    const left = line.left - x - width / 2;
    const stops = [left, left + line.width, left, 0, 0].map((at) => `translateX(${at}px)`);
    play(marker, { transform: stops, offset }, 1200, 0, 'ease-in-out');
    falls = true;
  }
  if (falls) land(scene, play, 1200);
}

// again: the old marker shrinks to a ring, and the new one moves straight to its place.
export function again(scene, play, was) {
  const markers = [...scene.querySelectorAll(pins)];
  const now = boxOf(markers[0]);
  if (!now || Math.abs(now.x - was.pin.x) < 1) return;
  const ring = last([...scene.querySelectorAll('.laid__rings circle')]);
  play(ring, [{ transform: 'scale(2.5)' }, { transform: 'none' }], 160);
  const aim = [{ transform: to({ x: was.pin.x - now.x, y: 0 }) }, { transform: 'none' }];
  for (const marker of markers) play(marker, aim, 300, 160, 'ease-in-out');
  land(scene, play, 660);
}

// land: the marker stops and then drops; a ring opens, and the winner is named.
function land(scene, play, at) {
  const stage = whole(scene);
  const drop = [{ transform: 'scaleY(0)' }, { transform: 'none' }];
  play(scene.querySelector('.laid__drop'), drop, 260, at, 'cubic-bezier(.5, 0, 1, .6)');
  beginFall(stage, play(stage, [{ '--falls': 1 }, { '--falls': 1 }], at + 260));
  play(scene.querySelector('.laid__pin circle'), [
    { strokeWidth: '0px', offset: 0 }, { strokeWidth: '6px', offset: .5 }, { strokeWidth: '0px', offset: 1 },
  ], 140, at + 260);
  for (const later of stage.querySelectorAll(winners)) play(later, appear, 200, at + 460);
  if (scene.matches('.fr__main')) play(scene.querySelector('h1'), appear, 200, at + 460);
}

// fly: the winner's name moves from the line to its place in the text.
function fly(scene, play, was) {
  const word = last(tokens(was.page));
  const end = word && endOf(word);
  if (!was.named || !end?.width) return;
  const half = { x: (was.named.x + end.x) / 2, y: (was.named.y + end.y) / 2 - 24 };
  const level = `translateY(calc(${end.height / 2}px - 50%))`; // the copy is larger than the word
  const words = word.matches('.tok') ? word.querySelector('span:not(.sr)').textContent : word.textContent;
  const way = [was.named, half, end].map((at) => ({ transform: `${to(at)} ${level}` }));
  const flight = copyOf(words.trim(), play, way, 600);
  if (flight) play(word, [{ opacity: 0 }, { opacity: 0, offset: .99 }, { opacity: 1 }], 600);
  for (const edge of map(was.page, '.map__back')) run(edge, play);
  for (const label of map(was.page, '.map__toks .is-next')) play(label, appear, 120, 600);
}

// run: a dot runs down the edge of the map, which lights up behind it.
function run(edge, play) {
  const { right: x, top, bottom } = boxOf(edge);
  if (!play(edge, downward, 600, 0, 'linear') || bottom - top < 1) return;
  const dot = document.createElement('i');
  dot.className = 'carried carried--dot';
  document.body.append(dot);
  gone(dot, play(dot, [{ transform: to({ x, y: top }) }, { transform: to({ x, y: bottom }) }], 600, 0, 'linear'));
}

// remember: block by block, the columns of this pass change to the tint of the cached columns.
function remember(scene, play, was) {
  map(was.page, '.map__row').reverse().forEach((row, i) => {
    for (const fresh of row.querySelectorAll('.fresh')) {
      const solid = fresh.cloneNode();
      solid.setAttribute('class', 'last');
      row.append(solid);
      gone(solid, play(solid, [{ opacity: 1 }, { opacity: 0 }], 120, 40 * i, 'linear'));
    }
  });
}

export const moves = {
  forward: climb, logits: unroll, softmax: share, filter: trim, sample: fall, append: fly, cache: remember,
};
