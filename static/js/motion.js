// Animations play once, when a stage is reached. They do not play again when something else
// changes at that stage or when the page reconnects. A key or a press ends them. motion.css
// defines the animations: those in #panel depend on its data-enter, and those elsewhere on the
// data-arrived of the whole page.
import { endCarries } from './carry.js';
import { onAnyKey } from './keys.js';

const root = document.documentElement;
const panelOf = () => document.getElementById('panel');

let place = ''; // the last stage that was shown
let panel = null; // the element that showed it

const finite = (animation) => animation.effect?.getComputedTiming().iterations !== Infinity;

// endByHand ends all animations whenever a key or anything on the page is pressed.
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

// arrives is called before a state is shown. It reports whether the stage differs from the previous
// stage. For the first state, which belongs to the loaded page, it returns false.
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

// animate starts the animations of a stage that was just reached. It ends animations that a
// change at the same stage has started.
export function animate(arrived, { cursor, playing }) {
  const kept = panel === panelOf();
  panel = panelOf();
  const enter = panel?.dataset.enter;
  if (!arrived) {
    if (enter) finish(panel.getAnimations({ subtree: true }));
    return;
  }
  const flying = playing && cursor.stage === 'cache'; // whole tokens are being generated
  const was = root.dataset.arrived;
  delete root.dataset.arrived;
  if (!enter || flying) return;
  // An element that was kept replays its animation only if the attribute is briefly removed. A new
  // element plays it automatically.
  if (kept) delete panel.dataset.enter;
  if (kept || was === enter) void getComputedStyle(panel).animationName;
  panel.dataset.enter = enter;
  root.dataset.arrived = enter;
}
