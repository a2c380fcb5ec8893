// Carries what a stage ends with into the next one: what has the same
// data-carry in two stages is moved from where it was to where it is now. The
// elements are in their final place from the start; only transform and opacity
// move, once, and finish() of motion.js ends them at any moment. What moves at
// which stage is in moves.js. Times are in ms.
import { moves, again, tip } from './moves.js';
import { afterFrame } from './frames.js';

const calm = matchMedia('(prefers-reduced-motion: reduce)');
const ease = 'cubic-bezier(.2, 0, 0, 1)';
const shortest = 80; // anything shorter is left out

let before = null; // the page before the next stage
const running = new Set(); // movements
let turn = 0; // counts calls of measure

const sceneOf = (page) => page.querySelector('#panel, .fr__main[data-enter], .w-stage[data-enter]');
const rectOf = (page, selector) => page.querySelector(selector)?.getBoundingClientRect() ?? null;

// endCarries ends every movement now: what is then shown stands at its place.
export function endCarries() {
  for (const movement of [...running]) {
    const done = movement.onfinish;
    movement.onfinish = movement.oncancel = null;
    movement.finish();
    done?.();
  }
  running.clear();
}

// measure notes where everything is, before the next stage is shown on the page, or in
// a part of it; what still moves ends. Nothing has changed since the last frame, so the
// browser has the layout at hand.
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
  before.again = page.querySelector('.map.is-again') !== null; // a token has come round
}

// carry moves it to where it is now, after a stage has been reached; or, at the same
// stage, lets the marker fall again after a new draw.
export function carry(arrived = true) {
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
    afterFrame(() => { if (mine === turn && scene.isConnected) moves[enter](scene, play, was); });
  } else moves[enter]?.(scene, play, was);
}

// In Numbers the map is beside the stage, and its newest version waits for a frame.
const onMap = new Set(['forward', 'cache']);

// isOpen says that the marker has not been let fall.
const isOpen = (scene) => scene?.matches('[data-undrawn]') || scene?.querySelector('.laid.is-open') != null;

// player returns what starts a movement: at a pace, and not if it would be too short.
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
