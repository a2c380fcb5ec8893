// Animations play once, when a stage is reached: not again when something else
// changes there or the page reconnects. A key or a press ends them. motion.css
// defines the animations: within #panel by its data-enter, elsewhere by the
// data-arrived of the whole page.
import { endCarries } from './carry.js';
import { onAnyKey } from './keys.js';

const root = document.documentElement;
const panelOf = () => document.getElementById('panel');

let place = ''; // the stage shown last
let panel = null; // the element that showed it

const finite = (animation) => animation.effect?.getComputedTiming().iterations !== Infinity;

// endByHand makes a key or a press anywhere end all animations.
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

// arrives reports, before a state is shown, whether its stage differs from the
// previous one. The first state is the page as loaded.
export function arrives({ cursor, undrawn }) {
  const here = `${cursor.step} ${undrawn ? 'undrawn' : cursor.stage}`;
  const first = place === '';
  const moved = here !== place;
  place = here;
  return moved && !first;
}

// leave makes the next state count as a new stage even if the stage is the same,
// since it belongs to another text.
export function leave() { place = 'elsewhere'; }

// animate starts the animations of a stage that was just reached, and ends those
// that a change at the same stage has started.
export function animate(arrived, { cursor, playing }) {
  const kept = panel === panelOf();
  panel = panelOf();
  const enter = panel?.dataset.enter;
  if (!arrived) {
    if (enter) finish(panel.getAnimations({ subtree: true }));
    return;
  }
  const flying = playing && cursor.stage === 'cache'; // whole tokens are being written
  const was = root.dataset.arrived;
  delete root.dataset.arrived;
  if (!enter || flying) return;
  // A kept element replays its animation only after briefly losing the attribute;
  // a new element plays it automatically.
  if (kept) delete panel.dataset.enter;
  if (kept || was === enter) void getComputedStyle(panel).animationName;
  panel.dataset.enter = enter;
  root.dataset.arrived = enter;
}
