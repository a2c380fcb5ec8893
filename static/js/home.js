// The loop on the home page. The server sends each turn with all seven stages. This script shows
// the preceding text token by token. Where the model is unsure, it steps through the stages by
// setting the attribute data-stage, which the styles use. Then it requests the next turn. It
// computes no numbers.
import { ask } from './learn.js';
import { at } from './place.js';
import { t } from './texts.js';

const turns = at('/learn/turn');

// The time in ms for which each stage is shown: long enough to read its sentence.
const looks = [0, 2200, 2200, 2200, 2400, 2200, 1600, 2200];
const lastStage = looks.length - 1;
const writes = 1600; // ms in which the text before a turn appears, whatever its length
const sureLook = 160; // ms for a token that the model is sure of

const reduced = matchMedia('(prefers-reduced-motion: reduce)');
let playing = false;
let timer = 0;
let asking = false;
let inView = true;

const turn = () => document.getElementById('turn');
const stage = () => Number(turn().dataset.stage);

function show(n) { turn().dataset.stage = n; }

// hideWritten hides the text before the turn, so that it can appear token by token.
function hideWritten() {
  for (const token of turn().querySelectorAll('.turn__text .tok--gen:not(.turn__new)')) token.classList.add('is-due');
}

const due = () => turn().querySelectorAll('.is-due');

function showPlaying() {
  const button = turn().querySelector('[data-play]');
  button.hidden = false;
  button.setAttribute('aria-pressed', String(playing));
  button.querySelector('span').textContent = t(playing ? 'js.pause' : 'js.play');
  button.querySelector('use').setAttribute('href', playing ? '#i-pause' : '#i-play');
}

// next replaces this turn with the next one. It shows the first stage or, if the visitor
// requested it, the draw.
async function next(at) {
  if (asking) return;
  asking = true;
  const old = turn();
  const focus = document.activeElement?.closest?.('#turn [data-play], #turn [data-next]');
  const query = new URL(old.querySelector('[data-next]').href).search;
  try {
    const html = await ask(turns + query);
    const fresh = new DOMParser().parseFromString(html, 'text/html').getElementById('turn');
    const another = fresh.dataset.seed !== old.dataset.seed;
    fresh.dataset.stage = at === 1 && 'sure' in fresh.dataset ? lastStage : at;
    old.replaceWith(fresh);
    if (another && playing) hideWritten();
    document.getElementById('turn-error').textContent = '';
    showPlaying();
    if (focus) turn().querySelector(focus.matches('[data-play]') ? '[data-play]' : '[data-next]').focus();
  } catch (error) {
    play(false);
    document.getElementById('turn-error').textContent = error.message;
  } finally {
    asking = false;
  }
}

// tick advances by one stage and schedules the next call of itself.
async function tick() {
  if (!playing) return;
  if (inView && !document.hidden) {
    const [token] = due();
    if (token) token.classList.remove('is-due');
    else if (stage() < lastStage) show(stage() + 1);
    else await next(1);
  }
  wait();
}

function wait() {
  clearTimeout(timer);
  if (playing) timer = setTimeout(tick, pause());
}

// pause returns the time in ms for which the current stage is shown.
function pause() {
  if (due().length) return writes / turn().querySelectorAll('.tok--gen').length;
  return 'sure' in turn().dataset ? sureLook : looks[stage()];
}

function play(on) {
  playing = on;
  if (!on) for (const token of due()) token.classList.remove('is-due');
  showPlaying();
  wait();
}

document.addEventListener('click', async (event) => {
  if (event.target.closest('[data-play]')) play(!playing);
  const link = event.target.closest('[data-next]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  clearTimeout(timer);
  await next(playing ? 1 : 5);
  wait();
});

new IntersectionObserver((entries) => {
  inView = entries.at(-1).isIntersecting;
}).observe(document.querySelector('.live'));

if (reduced.matches) {
  play(false); // stay at the draw until the visitor presses Play
} else {
  hideWritten();
  show(1);
  play(true);
}
reduced.addEventListener('change', () => { if (reduced.matches) play(false); });
