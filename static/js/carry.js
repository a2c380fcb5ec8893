// Carries the results of a stage into the next one: elements with the same data-carry in two stages
// are moved from their old position to the new one. The elements are in their final positions from
// the start. Only transform and opacity are animated, once, and motion.js can end the animations at
// any time. moves.js defines the movements of each stage. Times are in ms.
import { moves, again, tip } from './moves.js';
import { afterFrame } from './frames.js';

const calm = matchMedia('(prefers-reduced-motion: reduce)');
const ease = 'cubic-bezier(.2, 0, 0, 1)';
const shortest = 80; // shorter movements are skipped

let before = null; // positions of the elements before the next stage
const running = new Set(); // movements in progress
let turn = 0; // counts calls of measure

const sceneOf = (page) => page.querySelector('#panel, .fr__main[data-enter], .w-stage[data-enter]');
const rectOf = (page, selector) => page.querySelector(selector)?.getBoundingClientRect() ?? null;

// endCarries ends every movement immediately, so all elements are in their final positions.
export function endCarries() {
  for (const movement of [...running]) {
    const done = movement.onfinish;
    movement.onfinish = movement.oncancel = null;
    movement.finish();
    done?.();
  }
  running.clear();
}

// measure records the positions of all elements before the next stage is shown on the page or in a
// part of it. It ends running movements. It must be called before the page changes, so that the
// browser does not have to compute the layout.
export function measure(page = document) {
  endCarries();
  turn++;
  before = null;
  if (calm.matches || document.hidden) return;
  before = {
    page,
    boxes: new Map(),
    named: rectOf(page, '.laid__at, .cum .mark:not(.mark--what) text, .w-tab .is-pick th .tk'),
    pin: rectOf(page, '.laid__pin circle, .cum .mark__at path'),
  };
  const scene = sceneOf(page);
  for (const e of scene?.querySelectorAll('[data-carry]') ?? []) {
    before.boxes.set(e.dataset.carry, e.getBoundingClientRect());
  }
  before.open = isOpen(scene);
  before.again = page.querySelector('.map.is-again') !== null; // the page shows a token that has gone around the loop
}

// carry animates all elements to their new positions after a stage has been reached. If the token
// was redrawn without leaving the stage, carry drops the marker again. later takes a function to call
// when the map beside the stage is up to date.
export function carry(arrived = true, later = afterFrame) {
  const was = before;
  before = null;
  const scene = was && sceneOf(was.page);
  const enter = scene?.dataset.enter;
  if (!enter || scene.dataset.pace === 'still') return;
  const play = player(enter, Number(scene.dataset.pace ?? 1));
  if (!arrived) {
    if (enter === 'sample' && was.pin && !was.open) again(scene, play, was);
  } else if (isOpen(scene)) tip(scene, play, was);
  else if (scene.matches('.panel') && onMap.has(enter)) {
    const mine = turn;
    later(() => { if (mine === turn && scene.isConnected) moves[enter](scene, play, was); });
  } else moves[enter]?.(scene, play, was);
}

// In Numbers, the map is beside the stage, and its newest version is shown after the stage.
const onMap = new Set(['forward', 'cache']);

// isOpen reports whether the marker is still waiting to be dropped.
const isOpen = (scene) => scene?.matches('[data-undrawn]') || scene?.querySelector('.laid.is-open') != null;

// player returns a function that starts a movement at the given pace, unless the movement would
// be too short.
export function player(name, pace = 1) {
  return (element, frames, duration, delay = 0, easing = ease) => {
    if (!element || calm.matches || document.hidden || duration / pace < shortest) return null;
    const animation = element.animate(
      frames, { duration: duration / pace, delay: delay / pace, easing, fill: 'backwards' },
    );
    animation.id = `carry-${name}`;
    running.add(animation);
    for (const type of ['finish', 'cancel']) animation.addEventListener(type, () => running.delete(animation));
    return animation;
  };
}
