// What moves when a stage is reached, from where to where, and for how long at
// the usual pace, in ms. Each takes the scene (the panel of a stage), what starts
// a movement (see player in carry.js), and the page as it was.
const appear = [{ opacity: 0 }, { opacity: 1 }];
const downward = [{ clipPath: 'inset(0 0 100% 0)' }, { clipPath: 'inset(0)' }];
const rowLight = { panel: 80, story: 160, fr__main: 600 }; // how long light stays at a block

const map = (selector) => [...document.querySelectorAll(`.map ${selector}`)];
const boxOf = (element) => element?.getBoundingClientRect();
const last = (list) => list[list.length - 1];

// copyOf is a copy of words that moves over the page and is gone when it arrives:
// words in a line cannot be moved.
function copyOf(words, play, frames, duration, delay = 0) {
  const copy = document.createElement('span');
  copy.className = 'carried';
  copy.setAttribute('aria-hidden', 'true');
  copy.textContent = words;
  document.body.append(copy);
  const flight = play(copy, frames, duration, delay);
  if (!flight) copy.remove();
  else flight.onfinish = flight.oncancel = () => copy.remove();
  return flight;
}

const to = ({ x, y }) => `translate(${x}px, ${y}px)`;

// climb: the way back is drawn once if a token has come round, chips go from the text to
// the foot of their columns, and light climbs the blocks, with what each would say.
function climb(scene, play, was) {
  const came = scene.dataset.enter === 'forward' && was.again;
  let from = 0;
  if (came) {
    for (const edge of map('.map__back')) play(edge, downward, 480, 0, 'linear');
    from = 480;
  }
  const text = boxOf(document.querySelector('#strip-gen .w:last-child, .prose__given, #strip-row, #cl-strip, .prose'));
  const feet = map('.map__toks span:not(.is-next, .is-quiet)');
  const fresh = came ? feet.slice(-1) : feet;
  fresh.forEach((foot, i) => {
    const at = boxOf(foot);
    if (!text || !at.width) return;
    const x = text.x + (text.width * i) / fresh.length - at.x;
    play(foot, [{ opacity: 0, transform: to({ x, y: text.y - at.y }) }, { opacity: 1, transform: 'none' }],
      480, from + Math.min(40 * i, 320));
  });
  if (feet.some((foot) => boxOf(foot).width)) from += 480;
  const kind = Object.keys(rowLight).find((name) => scene.classList.contains(name));
  const step = rowLight[kind] ?? rowLight.panel;
  map('.map__row').reverse().forEach((row, i) => {
    for (const cell of row.querySelectorAll('.pass, .last')) play(cell, appear, Math.max(step, 80), from + step * i);
  });
  [...scene.querySelectorAll('.hunch li')].reverse().forEach((e, i) => play(e, appear, 240, from + step * i));
}

// unroll: the last column's vector leaves at the top of the map, opens, and the scores
// come out of it.
function unroll(scene, play) {
  const tile = map('.map__vec')[0];
  const cell = boxOf(last(map('.map__row:first-child .last, .map__row:first-child .pass')));
  const at = boxOf(tile);
  if (at?.width && cell) {
    const size = `scale(${cell.width / at.width}, ${cell.height / at.height})`;
    const unit = boxOf(tile.ownerSVGElement).width / 100; // the tile's own units
    const high = boxOf(tile.ownerSVGElement).height / 36;
    const start = `translate(${(cell.x - at.x) / unit}px, ${(cell.y - at.y) / high}px) ${size}`;
    play(tile, [{ transform: start }, { transform: 'none' }], 480);
  }
  for (const fan of map('.fan')) play(fan, appear, 240, 480);
  const from = at?.width ? at : boxOf(document.querySelector('.map') ?? document.getElementById('cl-strip'));
  for (const dot of scene.querySelectorAll('.dot, .gap__dot')) {
    const end = boxOf(dot);
    if (!from || !end.width) continue;
    const start = to({ x: from.x + from.width / 2 - end.x, y: from.y - end.y });
    play(dot, [{ opacity: 0, transform: start }, { opacity: 1, transform: 'none' }], 240, 480);
  }
}

// move: everything that was there goes to its new place and size, or level stays in its row.
function move(scene, play, was, { duration = 480, stagger = 0, delay = 0, level = false } = {}) {
  const all = [...scene.querySelectorAll('[data-carry]')];
  all.forEach((element, i) => {
    const old = was.boxes.get(element.dataset.carry);
    const now = boxOf(element);
    if (now.width === 0 || now.height === 0) return;
    let start = 'scaleX(0)';
    if (old) {
      const size = `scale(${old.width / now.width}, ${level ? 1 : old.height / now.height})`;
      start = `${to({ x: old.x - now.x, y: level ? 0 : old.y - now.y })} ${size}`;
    }
    const later = Math.min(stagger, 480 / all.length) * i;
    play(element, [{ transform: start }, { transform: 'none' }], duration, delay + later);
  });
}

// share: dots pull out into bars; the ticks of T = 1 come when the bars stand.
function share(scene, play, was) {
  move(scene, play, was);
  for (const tick of scene.querySelectorAll('.ghost, .ghostkey')) play(tick, appear, 120, 480);
}

// drop: in the Story what is cut falls out, from the least likely up, and is gone.
function drop(scene, play, was) {
  const bars = [...scene.querySelectorAll('.shares .is-cut .bar')].reverse();
  bars.forEach((bar, i) => {
    if (!was.boxes.has(bar.dataset.carry)) return;
    const slice = bar.cloneNode();
    slice.setAttribute('class', 'bar bar--slice');
    delete slice.dataset.carry;
    bar.after(slice);
    const fallen = { opacity: 0, transform: 'translateY(2rem)' };
    const flight = play(slice, [{ opacity: 1, transform: 'none' }, fallen], 240, (240 * i) / bars.length);
    if (!flight) slice.remove();
    else flight.onfinish = flight.oncancel = () => slice.remove();
  });
}

// trim: what is cut is hatched from below, then the rest stretches.
function trim(scene, play, was) {
  drop(scene, play, was);
  const cut = [...scene.querySelectorAll('.is-cut rect[fill^=url]')].reverse();
  cut.forEach((hatch, i) => play(hatch, appear, 240, (240 * i) / cut.length));
  move(scene, play, was, { delay: 480, level: true });
}

// tip: the bars lie down end to end.
export function tip(scene, play, was) { move(scene, play, was, { duration: 900, stagger: 60 }); }

const pins = '.laid__pin circle, .cum .mark:not(.mark--what) :is(path, line)';
const winners = '.laid__at, .laid__rings, .say, .story__foot, .laid__twin, .laid .cap, .verdict, .mark text, .facts, '
  + '.panel__head p, .work-line, .fr__do, .bigstage__say:not(.bigstage__say--walk), .ph__head p';

// whole is the stage with what a wall says of it elsewhere.
const whole = (scene) => scene.closest('.deck__body') ?? scene;

// fall: the marker runs to the far end and back, aims, and falls. Only then is the winner
// named.
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

// again: the old marker shrinks to a ring, and the new one goes straight to its place.
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

// land: the marker, which holds still by then, falls; a ring opens, and the winner is named.
function land(scene, play, at) {
  const stage = whole(scene);
  const drop = [{ transform: 'scaleY(0)' }, { transform: 'none' }];
  play(scene.querySelector('.laid__drop'), drop, 260, at, 'cubic-bezier(.5, 0, 1, .6)');
  const settle = play(scene.querySelector('.laid__pin, .cum'), [{ opacity: 1 }, { opacity: 1 }], at + 260);
  if (settle) { // until then no piece looks other than the rest
    stage.classList.add('is-falling');
    settle.onfinish = settle.oncancel = () => stage.classList.remove('is-falling');
  }
  play(scene.querySelector('.laid__pin circle'), [
    { strokeWidth: '0px', offset: 0 }, { strokeWidth: '6px', offset: .5 }, { strokeWidth: '0px', offset: 1 },
  ], 140, at + 260);
  for (const later of stage.querySelectorAll(winners)) play(later, appear, 200, at + 460);
  if (scene.matches('.fr__main')) play(scene.querySelector('h1'), appear, 200, at + 460);
}

// fly: the winner's name leaves the line for its place in the text.
function fly(scene, play, was) {
  const written = ':is(#strip-gen, #cl-strip) :is(.w, .tok).is-now, .fr__main > .prose .w';
  const word = last([...document.querySelectorAll(written)]);
  const end = boxOf(word);
  if (!was.named || !end?.width) return;
  const half = { x: (was.named.x + end.x) / 2, y: (was.named.y + end.y) / 2 - 24 };
  const words = word.matches('.tok') ? word.firstElementChild.textContent : word.textContent;
  const flight = copyOf(words.trim(), play, [was.named, half, end].map((at) => ({ transform: to(at) })), 600);
  if (flight) play(word, [{ opacity: 0 }, { opacity: 0, offset: .99 }, { opacity: 1 }], 600);
  for (const edge of map('.map__back')) {
    play(edge, downward, 600, 0, 'linear');
  }
}

// remember: the columns of this pass turn to the kept tint, block by block.
function remember(scene, play) {
  map('.map__row').reverse().forEach((row, i) => {
    for (const fresh of row.querySelectorAll('.fresh')) {
      const solid = fresh.cloneNode();
      solid.setAttribute('class', 'last');
      row.append(solid);
      const fade = play(solid, [{ opacity: 1 }, { opacity: 0 }], 120, 40 * i, 'linear');
      if (!fade) solid.remove();
      else fade.onfinish = fade.oncancel = () => solid.remove();
    }
  });
}

export const moves = {
  forward: climb, logits: unroll, softmax: share, filter: trim, sample: fall, append: fly, cache: remember,
};
