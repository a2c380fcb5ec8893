// The pages of the labs. This script updates the address when the settings change, so a reload
// shows the same results, and sets selects to the server's values. feed.js does everything else.
import { startRings } from './rings.js';
import { startChips } from './chips.js';
import { sendForm } from './feed.js';
import { at } from './place.js';
import { Walk } from './walk.js';

const lab = document.querySelector('main[data-feed]');

// Every press of Run gets its own number. When the connection is restored after a loss, the page
// repeats its last command, and the server finds the run by its number instead of starting a new
// one. If the page already has a number when it loads, the run with that number is resumed.
const press = lab?.querySelector('[name="press"]');
document.addEventListener('submit', ({ target }) => {
  if (target === press?.form) press.value = `${Date.now()}-${Math.random()}`;
}, true);
if (press?.value) sendForm(press.form);

lab?.addEventListener('feed', ({ detail }) => {
  const { link, inputs } = detail.data ?? {};
  if (link) history.replaceState(history.state, '', at(link));
  for (const [name, value] of Object.entries(inputs ?? {})) {
    const select = lab.querySelector(`select[name="${CSS.escape(name)}"]`);
    if (select && select !== document.activeElement) select.value = value;
  }
  if (inputs?.request) followRequest(inputs.request);
});

if (lab) {
  startChips(lab);
  startRings();
}

// The focused field is not updated, so typing is not undone. The JSON is updated even when focused,
// unless it was edited, since its old text would otherwise count as an edit and undo the change.
const request = lab?.querySelector('[name="request"]');
let untouched = request?.value;
function followRequest(json) {
  if (request === document.activeElement && request.value === untouched) request.value = json;
  untouched = json;
}

// Every message replaces the results, but the page then shows the same step as before.
const walks = new Map(); // by the name of the walk
function showWalks() {
  for (const bar of document.querySelectorAll('[data-walk]')) {
    const name = bar.dataset.walk;
    if (!walks.has(name)) walks.set(name, new Walk());
    walks.get(name).show(bar);
  }
}
lab?.addEventListener('feed', showWalks);
showWalks();

// A slider beside a number only fills in the number. Its position is from 0 to 1000, on a linear
// or, for a large range, a logarithmic scale, which the server chooses.
const whole = 1000;

function scaleOf(slider) {
  const [least, most, step] = ['min', 'max', 'step'].map((name) => Number(slider.dataset[name]));
  const unit = Math.min(Math.max(step, 1e-9), Math.max(least, 1));
  const stretch = Math.log1p((most - least) / unit);
  const byFactors = 'log' in slider.dataset;
  return {
    valueAt(place) {
      const value = least + (byFactors ? unit * Math.expm1(stretch * place / whole) : (most - least) * place / whole);
      return Math.min(most, Math.max(least, rounded(value, step, byFactors)));
    },
    placeOf(value) {
      const above = Math.min(Math.max(value, least), most) - least;
      return Math.round(whole * (byFactors ? Math.log1p(above / unit) / stretch : above / (most - least)));
    },
  };
}

// rounded returns a multiple of the step or, if the slider is logarithmic, a number with two
// significant figures.
function rounded(value, step, byFactors) {
  const size = byFactors && value > 0 ? 10 ** (Math.floor(Math.log10(value)) - 1) : 0;
  const grain = Math.max(size, Number.isInteger(step) ? 1 : step);
  return Number((Math.round(value / grain) * grain).toPrecision(12));
}

for (const slider of document.querySelectorAll('[data-slides]')) {
  const field = document.getElementById(slider.dataset.slides);
  const { valueAt, placeOf } = scaleOf(slider);
  const follow = () => {
    const value = field.value.trim() === '' ? NaN : Number(field.value);
    if (!Number.isNaN(value)) slider.value = placeOf(value);
    slider.setAttribute('aria-valuetext', field.value);
  };
  slider.hidden = false;
  follow();
  for (const kind of ['input', 'feedset']) field.addEventListener(kind, follow);
  slider.addEventListener('input', () => {
    field.value = String(valueAt(Number(slider.value)));
    slider.setAttribute('aria-valuetext', field.value);
  });
}
