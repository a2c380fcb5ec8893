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

const sceneOf = () => document.querySelector('#panel, .fr__main[data-enter]');
const rectOf = (selector) => document.querySelector(selector)?.getBoundingClientRect() ?? null;

// measure notes where everything is, before the next stage is shown. Nothing
// has changed since the last frame, so the browser has the layout at hand.
export function measure() {
  before = null;
  if (calm.matches || document.hidden) return;
  before = {
    boxes: new Map(),
    named: rectOf('.laid__at, .cum .mark:not(.mark--what) text'),
    pin: rectOf('.laid__pin circle, .cum .mark__at path'),
  };
  for (const e of sceneOf()?.querySelectorAll('[data-carry]') ?? []) {
    before.boxes.set(e.dataset.carry, e.getBoundingClientRect());
  }
  before.open = isOpen(sceneOf());
  before.again = document.querySelector('.map.is-again') !== null; // a token has come round
}

// carry moves it to where it is now, after a stage has been reached; or, at the same
// stage, lets the marker fall again if it has been drawn anew.
export function carry(arrived = true) {
  const scene = sceneOf();
  const enter = scene?.dataset.enter;
  const was = before;
  before = null;
  if (!was || !enter || scene.dataset.pace === 'still') return;
  const play = player(enter, Number(scene.dataset.pace ?? 1));
  if (!arrived) {
    if (enter === 'sample' && was.pin && !was.open) again(scene, play, was);
  } else if (isOpen(scene)) tip(scene, play, was);
  else if (scene.matches('.panel') && onMap.has(enter)) {
    afterFrame(() => { if (scene.isConnected) moves[enter](scene, play, was); });
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
    return animation;
  };
}
