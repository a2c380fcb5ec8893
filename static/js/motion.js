// Animations play once, when a stage is arrived at: not again when something
// else changes there, and a key press ends them.
const root = document.documentElement;

let place = ''; // the stage shown last

const finite = (animation) => animation.effect?.getComputedTiming().iterations !== Infinity;

export function endByKeys() {
  addEventListener('keydown', () => {
    const running = document.getAnimations().filter((a) => finite(a) && a.playState === 'running');
    for (const animation of running) animation.finish();
    if (running.length) root.classList.add('still');
  }, true);
}

// beforePush lets animations play again.
export function beforePush() { root.classList.remove('still'); }

// afterPush starts the animations of a stage arrived at, and ends those that a
// change at the same stage has started.
export function afterPush({ cursor, playing }) {
  const here = `${cursor.step} ${cursor.stage}`;
  const arrived = here !== place;
  place = here;
  if (arrived && playing && cursor.stage === 'cache') return; // whole tokens fly by
  for (const element of document.querySelectorAll('[data-enter]')) {
    for (const animation of element.getAnimations({ subtree: true })) {
      if (!finite(animation)) continue;
      if (!arrived) animation.finish();
      else if (animation instanceof CSSAnimation) {
        animation.currentTime = 0;
        animation.play();
      }
    }
  }
}
