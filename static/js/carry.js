// Carries what a stage ends with into the next one: what has the same
// data-carry in two stages is moved from where it was to where it is now. The
// elements are in their final place from the start; only transform and opacity
// move, once, and finish() of motion.js ends them at any moment. Times in ms.
const calm = matchMedia('(prefers-reduced-motion: reduce)');
const ease = 'cubic-bezier(.2, 0, 0, 1)';
const shortest = 80; // anything shorter is left out

let before = null; // data-carry → where it was
let named = null; // where the winner's name was

const rect = (selector) => document.querySelector(selector)?.getBoundingClientRect() ?? null;

// measure notes where everything is, before the next stage is shown. Nothing
// has changed since the last frame, so the browser has the layout at hand.
export function measure() {
  before = null;
  if (calm.matches || document.hidden) return;
  before = new Map();
  for (const e of document.querySelectorAll('#panel [data-carry]')) {
    before.set(e.dataset.carry, e.getBoundingClientRect());
  }
  named = rect('#panel .laid__at');
}

// carry moves it to where it is now, after a stage has been reached.
export function carry() {
  const panel = document.getElementById('panel');
  const enter = panel?.classList.contains('story') && panel.dataset.enter;
  if (!before || !enter || panel.dataset.pace === 'still') return;
  const pace = Number(panel.dataset.pace ?? 1);
  const play = (element, frames, duration, delay = 0, easing = ease) => {
    if (!element || duration / pace < shortest) return null;
    const animation = element.animate(
      frames, { duration: duration / pace, delay: delay / pace, easing, fill: 'backwards' },
    );
    animation.id = `carry-${enter}`;
    return animation;
  };
  const moves = { forward: climb, logits: unroll, softmax: move, filter: move, sample: fall, append: fly };
  (open(panel) ? tip : moves[enter])?.(panel, play);
  before = null;
}

// open says that the marker has not been let fall.
const open = (panel) => panel.querySelector('.laid.is-open') !== null;

const appear = [{ opacity: 0 }, { opacity: 1 }];
const rise = [{ opacity: 0, transform: 'translateY(1rem)' }, { opacity: 1, transform: 'none' }];

// climb: what each block would say, from the first block up.
function climb(panel, play) {
  [...panel.querySelectorAll('.hunch li')].reverse().forEach((row, i) => play(row, appear, 240, 160 * i));
  panel.querySelectorAll('.chips .tk').forEach((chip, i) => play(chip, rise, 480, Math.min(40 * i, 320)));
}

// unroll: the scores come out of the last column of the map.
function unroll(panel, play) {
  const from = rect('#map .map__rise rect') ?? rect('#map');
  for (const dot of panel.querySelectorAll('.dot')) {
    const to = dot.getBoundingClientRect();
    if (!from) break;
    const at = `translate(${from.right - to.x}px, ${from.y - to.y}px)`;
    play(dot, [{ opacity: 0, transform: at }, { opacity: 1, transform: 'none' }], 480);
  }
}

// move: everything that was there goes to its new place and size.
function move(panel, play, duration = 480, stagger = 0) {
  [...panel.querySelectorAll('[data-carry]')].forEach((element, i) => {
    const was = before.get(element.dataset.carry);
    const is = element.getBoundingClientRect();
    if (!was || is.width === 0 || is.height === 0) return;
    const size = `scale(${was.width / is.width}, ${was.height / is.height})`;
    const at = `translate(${was.x - is.x}px, ${was.y - is.y}px) ${size}`;
    play(element, [{ transform: at }, { transform: 'none' }], duration, stagger * i);
  });
}

// tip: the bars lie down end to end.
function tip(panel, play) { move(panel, play, 900, 60); }

// fall: the marker runs to the far end and back, aims, and falls. Only then is
// the winner named.
function fall(panel, play) {
  const line = panel.querySelector('.laid__bar')?.getBoundingClientRect();
  const marker = panel.querySelector('.laid__pin circle');
  if (!line || !marker) return;
  const is = marker.getBoundingClientRect();
  const left = line.left - is.left - is.width / 2;
  const stops = [left, left + line.width, left, 0, 0].map((x) => `translateX(${x}px)`);
  const offset = [0, 350, 700, 1000, 1200].map((t) => t / 1200);
  play(marker, { transform: stops, offset }, 1200, 0, 'linear');
  play(panel.querySelector('.laid__drop'), [{ transform: 'scaleY(0)' }, { transform: 'none' }], 260, 1200, 'ease-in');
  const laid = panel.querySelector('.laid');
  const settle = play(laid, [{ opacity: 1 }, { opacity: 1 }], 1460);
  if (settle) { // until then no piece looks other than the rest
    laid.classList.add('is-falling');
    settle.onfinish = settle.oncancel = () => laid.classList.remove('is-falling');
  }
  for (const later of panel.querySelectorAll('.laid__at, .laid__rings, .say, .story__foot, .laid__twin, .laid .cap')) {
    play(later, appear, 200, 1600);
  }
}

// fly: the winner's name leaves the line for its place in the text. What flies is a copy,
// since words in a line cannot be moved; it is gone when the flight is over.
function fly(panel, play) {
  const word = document.querySelector('#strip-gen .w.is-now');
  const to = word?.getBoundingClientRect();
  if (!named || !to?.width) return;
  const copy = document.createElement('span');
  copy.className = 'carried';
  copy.setAttribute('aria-hidden', 'true');
  copy.textContent = word.textContent.trim();
  document.body.append(copy);
  const at = ({ x, y }) => `translate(${x}px, ${y}px)`;
  const half = { x: (named.x + to.x) / 2, y: (named.y + to.y) / 2 - 24 };
  const flight = play(copy, [{ transform: at(named) }, { transform: at(half) }, { transform: at(to) }], 600);
  if (!flight) copy.remove();
  else flight.onfinish = flight.oncancel = () => copy.remove();
  play(word, [{ opacity: 0 }, { opacity: 0, offset: .99 }, { opacity: 1 }], 600);
}
