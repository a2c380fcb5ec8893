// Steps through a recording. A recording consists of a bar with data-walk and, in the same part of
// the page, elements with data-at, the number of their step. Elements after the shown step are
// hidden (is-ahead), the elements of the shown step are highlighted (is-at), and the data-now
// element of each lane shows their title. At the end, everything is visible, as it is without
// scripts.
import { t } from './texts.js';

const replayEvery = 250; // ms, which is slow enough to read along

export class Walk {
  #at = Infinity; // the shown step; Infinity follows the newest one
  #bar = null;
  #timer = 0;

  // show initializes a bar, which may be new or replaced, and shows its previous step.
  show(bar) {
    bar.hidden = false;
    if (bar !== this.#bar) {
      this.#bar = bar;
      bar.addEventListener('input', ({ target }) => { this.#still(); this.#go(Number(target.value)); });
      bar.addEventListener('click', ({ target }) => this.#press(target.closest('button')));
    }
    this.#draw();
  }

  #press(button) {
    if (!button) return;
    const replaying = this.#timer !== 0;
    this.#still();
    if (button.dataset.by) this.#by(Number(button.dataset.by), true);
    else if (!replaying) this.#start();
    this.#draw();
  }

  get #slider() { return this.#bar.querySelector('input'); }
  get #play() { return this.#bar.querySelector('[data-play]'); }
  get #line() { return this.#bar.querySelector('.walk__say'); }
  get #most() { return Number(this.#bar.dataset.most); }

  // by moves by a number of steps. If aloud is set, it announces the step. Replays do not set
  // aloud, since a screen reader would talk constantly.
  #by(n, aloud) {
    this.#line.setAttribute('aria-live', aloud ? 'polite' : 'off');
    this.#go(Math.min(this.#at, this.#most) + n);
  }

  #go(at) {
    this.#at = at >= this.#most ? Infinity : Math.max(1, at);
    this.#draw();
  }

  #start() {
    if (this.#at === Infinity) this.#go(1);
    this.#timer = setInterval(() => {
      this.#by(1, false);
      if (this.#at === Infinity) { this.#still(); this.#draw(); }
    }, replayEvery);
  }

  #still() {
    clearInterval(this.#timer);
    this.#timer = 0;
  }

  #draw() {
    const step = Math.min(this.#at, this.#most);
    const say = t('js.walk', { noun: this.#bar.dataset.noun, n: step, most: this.#most });
    this.#slider.value = step;
    this.#slider.setAttribute('aria-valuetext', say);
    if (this.#line.textContent !== say) this.#line.textContent = say;
    this.#play.textContent = t(this.#timer ? 'js.pause' : 'js.replay');
    this.#play.setAttribute('aria-pressed', String(this.#timer !== 0));
    const part = this.#bar.parentElement;
    for (const element of part.querySelectorAll('[data-at]')) this.#mark(element, Number(element.dataset.at), step);
    for (const now of part.querySelectorAll('[data-now]')) {
      const lane = now.closest('[data-lane]') ?? part;
      const shown = this.#at !== Infinity || now.dataset.now === 'always';
      now.textContent = (shown && lane.querySelector(`[data-at="${step}"]`)?.title) || '';
    }
  }

  #mark(element, at, step) {
    const walking = this.#at !== Infinity;
    element.classList.toggle('is-ahead', at > step);
    element.classList.toggle('is-at', walking && at === step);
    if (walking && at === step) element.closest('details')?.setAttribute('open', '');
  }
}
