// The experiments in the lessons. The server sends their contents (feed.js); this script only
// handles the number next to a moving slider, the quick choices, and playing.
import { carry, measure } from './carry.js';
import { sendForm } from './feed.js';
import { onKey } from './keys.js';
import { endByHand } from './motion.js';
import { handedOver, handOver } from './stored.js';
import { t } from './texts.js';

const pace = 1600; // ms between two steps while playing, which is enough to read a sentence

// follow updates the number next to a slider, and marks the quick choice that is selected.
function follow(slider) {
  const form = slider.form;
  const decimals = Number(slider.dataset.decimals ?? 0);
  const text = Number(slider.value).toFixed(decimals);
  const output = form.querySelector(`output[for="${slider.id}"]`);
  if (output && 'decimals' in slider.dataset) output.textContent = text;
  for (const mark of form.querySelectorAll(`.w__marks button[name="${slider.name}"]`)) {
    mark.setAttribute('aria-pressed', String(Number(mark.value).toFixed(decimals) === text));
  }
}

document.addEventListener('input', ({ target }) => { if (target.matches('.w input[type=range]')) follow(target); });
document.addEventListener('feedset', ({ target }) => { if (target.matches('.w input[type=range]')) follow(target); });

// A quick choice sets its slider before the form is sent.
document.addEventListener('click', ({ target }) => {
  const mark = target.closest('.w__marks button');
  const slider = mark?.form.querySelector(`input[type=range][name="${mark.name}"]`);
  if (!slider) return;
  slider.value = mark.value;
  follow(slider);
});

// Switching views --------------------------------------------------------------

// Switching views reloads the page, but the settings survive.
const formsOf = () => [...document.querySelectorAll('figure.widget > form.w')];
const valuesOf = (form) => Object.fromEntries(new FormData(form));

document.addEventListener('submit', ({ target }) => {
  if (!target.matches('[data-view-form]')) return;
  handOver('viz.experiments', formsOf().map((form) => [form.parentElement.id, valuesOf(form)]));
});

function setAsBefore(form, values) {
  const fresh = valuesOf(form);
  const changed = [...form.elements].filter(({ name, type }) => (
    type !== 'submit' && name in values && values[name] !== fresh[name]));
  for (const field of changed) {
    if (field.type === 'radio' || field.type === 'checkbox') field.checked = field.value === values[field.name];
    else field.value = values[field.name];
    field.dispatchEvent(new Event('feedset', { bubbles: true }));
  }
  const guess = [...form.querySelectorAll('button[name=guess]')].find(({ value }) => value === values.guess);
  if (!changed.length && !guess) return;
  // An experiment that waits for a guess lacks the fields of its result, such as the position.
  const lacking = Object.entries(values).filter(([name]) => name !== 'guess' && !(name in fresh))
    .map(([name, value]) => Object.assign(document.createElement('input'), { type: 'hidden', name, value }));
  form.append(...lacking);
  sendForm(form, guess);
  for (const field of lacking) field.remove();
}

const before = new Map(handedOver('viz.experiments'));
for (const form of formsOf()) {
  const values = before.get(form.parentElement.id);
  if (values) setAsBefore(form, values);
}

// Moving -----------------------------------------------------------------------

// The results of a stage move into the next one, as in the Loop. Nothing moves when the
// learner goes back or to another token.
const placeOf = (figure) => Number(figure.querySelector('.w__body > input[name=at]')?.value);
let was = 0; // the position before the newest message

document.addEventListener('feedcomes', ({ target }) => {
  was = placeOf(target);
  if (was) measure(target);
});
document.addEventListener('feed', ({ target }) => { if (was && placeOf(target) === was + 1) carry(); });
endByHand();

// Cutting ----------------------------------------------------------------------

// The gaps between a text's letters are a single Tab stop. The arrow keys move between them, and
// Enter or the space bar cuts.
const placesOf = (element) => [...element.closest('figure').querySelectorAll('.w-cut input')];

onKey(document, (key, { target }) => {
  if (!target.matches?.('.w-cut input')) return false;
  const places = placesOf(target);
  const at = places.indexOf(target);
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: places.length - 1 };
  if (key === 'Enter') target.click();
  else if (key in to) places[to[key]]?.focus();
  else return false;
  return true;
});
document.addEventListener('focusin', ({ target }) => {
  if (!target.matches('.w-cut input')) return;
  for (const place of placesOf(target)) place.tabIndex = place === target ? 0 : -1;
});

// judge shows how many of the model's cuts the learner has found, once the model's cuts are
// shown.
function judge({ target }) {
  const say = target.closest?.('figure')?.querySelector('.w-model[open] [data-cut-say]');
  if (!say) return;
  const made = placesOf(say).filter((place) => place.checked);
  const found = made.filter((place) => 'model' in place.dataset).length;
  const more = made.length - found;
  say.textContent = more ? t('js.cuts.more', { more, found }) : made.length ? t('js.cuts', { found }) : '';
}
document.addEventListener('change', judge);
document.addEventListener('feed', judge);
document.addEventListener('toggle', judge, true);

// Counting ---------------------------------------------------------------------

// A press counts from the newest counters, even if the answer to an earlier press is still to come.
const spreads = new WeakMap(); // form → the number of counters on each token

document.addEventListener('click', ({ target }) => {
  const button = target.closest('.w__body--counters button[name]');
  if (!button) return;
  const { form } = button;
  const field = form.querySelector('input[name=spread]');
  const list = spreads.get(form) ?? field.value.split('.').map(Number);
  if (button.name === 'spread') {
    const [at, by] = [Number(button.dataset.at), Number(button.dataset.by)];
    const placed = list.reduce((sum, n) => sum + n, 0);
    const most = Number(form.querySelector('[data-counters]').dataset.counters);
    if (list[at] + by >= 0 && placed + by <= most) list[at] += by;
    spreads.set(form, list);
    button.value = list.join('.');
  }
  field.value = list.join('.');
});

// Playing ----------------------------------------------------------------------

const timers = new WeakMap(); // figure → timer of the next step

function playing(figure) { return timers.has(figure); }

function stop(figure) {
  clearTimeout(timers.get(figure));
  timers.delete(figure);
  show(figure);
}

function show(figure) {
  const button = figure.querySelector('[data-play]');
  button.setAttribute('aria-pressed', String(playing(figure)));
  button.querySelector('span').textContent = t(playing(figure) ? 'js.pause' : 'js.play');
  button.querySelector('use').setAttribute('href', playing(figure) ? '#i-pause' : '#i-play');
}

// wait advances by a step after each pause, unless the figure is busy or the tab is hidden. It
// stops at the end.
function wait(figure) {
  clearTimeout(timers.get(figure));
  timers.set(figure, setTimeout(() => {
    const next = figure.querySelector('[data-next]');
    if (!next || next.getAttribute('aria-disabled') === 'true') {
      stop(figure);
      return;
    }
    if (!document.hidden && !figure.hasAttribute('aria-busy')) sendForm(next.form, next);
    wait(figure);
  }, pace));
}

function toggle(figure) {
  if (playing(figure)) {
    stop(figure);
    return;
  }
  const next = figure.querySelector('[data-next]');
  if (next && next.getAttribute('aria-disabled') !== 'true') sendForm(next.form, next);
  else begin(figure);
  wait(figure);
  show(figure);
}

// begin goes back to the first step, so playing begins there.
function begin(figure) {
  const form = figure.querySelector('form');
  const first = Object.assign(document.createElement('button'), { name: 'at', value: '1', hidden: true });
  form.append(first);
  sendForm(form, first);
  first.remove();
}

document.addEventListener('click', ({ target }) => {
  const button = target.closest('.w [data-play]');
  if (button) toggle(button.closest('figure'));
  else if (target.closest('.w [name=at]') && playing(target.closest('figure'))) stop(target.closest('figure'));
});
for (const button of document.querySelectorAll('.w [data-play]')) button.hidden = false;

// Results that were not ready in time for the page, as on a slow machine, are computed once they
// are in view.
const seen = new IntersectionObserver((entries) => {
  for (const { target } of entries.filter(({ isIntersecting }) => isIntersecting)) {
    seen.unobserve(target);
    sendForm(target.querySelector('form.w'));
  }
});
for (const figure of document.querySelectorAll('figure.widget:has([data-feed-error]:not(:empty))')) {
  seen.observe(figure);
}
