// Animations play once, when a stage is reached: not again when something else
// changes there or the page reconnects, and a key or a press ends them. What moves
// is in motion.css: within #panel by its data-enter, elsewhere by the
// data-arrived of the whole page.
import { endCarries } from './carry.js';
import { onAnyKey } from './keys.js';

const root = document.documentElement;
const panelOf = () => document.getElementById('panel');

let place = ''; // the stage shown last
let panel = null; // the element that showed it

const finite = (animation) => animation.effect?.getComputedTiming().iterations !== Infinity;

// endByHand has a key or a press anywhere end what moves.
export function endByHand() {
  const end = () => {
    endCarries();
    finish(document.getAnimations());
  };
  onAnyKey(end, true);
  addEventListener('pointerdown', end, true);
}

function finish(animations) {
  for (const animation of animations) if (finite(animation) && animation.playState === 'running') animation.finish();
}

// arrives returns, before anything of a state is shown, whether it is at a
// different stage from the previous one; the first is the page as loaded.
export function arrives({ cursor, undrawn }) {
  const here = `${cursor.step} ${undrawn ? 'undrawn' : cursor.stage}`;
  const first = place === '';
  const moved = here !== place;
  place = here;
  return moved && !first;
}

// leave makes the next state count as a new stage even if it is the same one,
// of another text.
export function leave() { place = 'elsewhere'; }

// animate starts the animations of a stage just reached, and ends those that a
// change at the same stage has started.
export function animate(arrived, { cursor, playing }) {
  const kept = panel === panelOf();
  panel = panelOf();
  const enter = panel?.dataset.enter;
  if (!arrived) {
    if (enter) finish(panel.getAnimations({ subtree: true }));
    return;
  }
  const flying = playing && cursor.stage === 'cache'; // whole tokens
  const was = root.dataset.arrived;
  delete root.dataset.arrived;
  if (!enter || flying) return;
  // An element that stays replays its animation only after being without it for
  // a moment; a new one plays by itself.
  if (kept) delete panel.dataset.enter;
  if (kept || was === enter) void getComputedStyle(panel).animationName;
  panel.dataset.enter = enter;
  root.dataset.arrived = enter;
}
