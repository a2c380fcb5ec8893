// The code that all screens of a class share. It replaces parts of the page, shows the state of
// the connection and countdowns, and keeps the end of the text in view.
import { draw } from './heat.js';
import { patch } from './patch.js';
import { fly } from './falls.js';
import { afterFall, isFalling, landed } from './falling.js';
import { carry, measure } from './carry.js';
import { endByHand } from './motion.js';

const shown = new Map(); // id of a panel → its current HTML
const held = new Map(); // panels held back while the learner looks elsewhere
let holding = false;
let seq = 0; // number of the last snapshot
let heat = null; // the data for drawing the heads, if they are shown

// put shows the panels in a message. It returns false for an outdated message.
export function put({ seq: number, panels, data }) {
  if (data?.seq !== undefined) {
    if (data.seq < seq) return false;
    seq = data.seq;
  } else if (panels && number === undefined) return false;
  const arrived = !holding && arrives(data);
  if (arrived) {
    measure();
    landed();
  }
  for (const { id, html } of panels ?? []) {
    if (holding && id !== 'cl-who') held.set(id, html);
    else if (isFalling(document.getElementById(id))) afterFall(id, () => late(id, html));
    else piece(id, html);
  }
  if (data && (data.seq !== undefined || 'heat' in data)) {
    heat = data.heat ?? null;
    if (!holding) draw(heat);
  }
  fit();
  fly();
  if (arrived) carry();
  return true;
}

// late shows a panel that has waited for the marker to land.
function late(id, html) {
  piece(id, html);
  fit();
  fly();
}

let stage = ''; // the stage shown; initially the stage of the loaded page

// arrives reports whether a snapshot's stage differs from the previous snapshot's stage.
function arrives(data) {
  if (!data?.seq) return false;
  const was = stage;
  stage = `${data.text} ${data.step} ${data.undrawn ? 'undrawn' : data.stage}`;
  return was !== '' && was !== stage;
}

// fit shrinks the poll on the slide, or the stage in the Story, until it fits, but not so far that
// it cannot be read from the back of the room.
const smallest = 3;
function fit() {
  fitQuestions();
  const part = document.querySelector('.deck .poll, .deck__stage .story');
  if (!part) return;
  delete part.dataset.fit;
  for (let step = 1; step <= smallest && part.scrollHeight > part.clientHeight + 1; step++) part.dataset.fit = step;
}

// fitQuestions gives the questions on the slide the largest of the font sizes with which all of them fit.
const sizes = 10;
function fitQuestions() {
  const part = document.querySelector('.bigasked');
  const stage = part?.parentElement;
  for (let size = sizes; part && size > 0; size--) {
    part.dataset.size = size;
    if (stage.scrollHeight <= stage.clientHeight + 1) return;
  }
}
if (document.querySelector('.deck')) {
  addEventListener('resize', fit);
  document.fonts.ready.then(fit);
}

// answer shows the answer to a request by this screen.
export function answer(panels) {
  for (const { id, html } of panels) {
    const element = document.getElementById(id);
    if (!element) continue;
    patch(element, html);
    document.getElementById(id).scrollIntoView({ block: 'nearest' });
  }
}

// asked returns the command of a button inside a stage, so that the page's script can send it. A
// button that only closes its own part has no command.
export function asked(target) {
  const shuts = target.closest?.('[data-toggle]');
  if (shuts) document.getElementById(shuts.dataset.toggle).hidden = true;
  const button = target.closest?.('[data-cmd]');
  return button ? JSON.parse(button.dataset.cmd) : null;
}

function piece(id, html) {
  if (shown.get(id) === html) return;
  const element = document.getElementById(id);
  if (!element) return;
  shown.set(id, html);
  patch(element, html);
  if (id.endsWith('strip')) toEnd(document.getElementById(id));
}

// hold holds back the panels of the class and empties its stage, since another stage is about to
// use the same ids. release shows the panels that have arrived since then.
export function hold() {
  if (holding) return;
  holding = true;
  const stage = document.getElementById('cl-stage');
  if (!stage) return;
  held.set('cl-stage', stage.outerHTML);
  shown.delete('cl-stage');
  stage.replaceChildren();
}

export function release() {
  holding = false;
  for (const [id, html] of held) piece(id, html);
  held.clear();
  draw(heat);
}

// toEnd scrolls a strip to its newest token.
export function toEnd(strip) {
  if (!strip) return;
  strip.scrollLeft = strip.scrollWidth;
  strip.scrollTop = strip.scrollHeight;
}

// If both windows are in this browser, the presenter's window sends the wall's window the view to
// show and the address for joining the class.
export const viewChannel = new BroadcastChannel('viz.view');
export const shows = (view) => `${view} ${document.querySelector('.join b')?.textContent}`;

const banner = document.getElementById('conn');
let calm = 0;

// say shows the banner with a headline and a sentence or, without a headline, hides it.
export function say(head, words = '', retry = true) {
  if (!banner) return;
  clearTimeout(calm);
  banner.hidden = !head;
  if (!head) return;
  banner.querySelector('[data-conn-head]').textContent = head;
  banner.querySelector('[data-conn-say]').textContent = words;
  banner.querySelector('[data-retry]').hidden = !retry;
}

// sayFor is like say, for a limited time.
export function sayFor(ms, head, words) {
  say(head, words, false);
  calm = setTimeout(() => say(''), ms);
}

// tell shows why something was refused, until the next action.
export function tell(words) {
  const line = document.getElementById('told');
  if (line && line.textContent !== words) line.textContent = words;
}

export const minutes = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;

function countDown() {
  for (const clock of document.querySelectorAll('[data-until]')) {
    const left = Math.max(0, Math.ceil((Number(clock.dataset.until) - Date.now()) / 1000));
    const words = `${minutes(left)} left`;
    if (clock.textContent !== words) clock.textContent = words;
  }
}
setInterval(countDown, 500);
endByHand();
countDown();
for (const strip of document.querySelectorAll('[data-scroll]')) toEnd(strip);
