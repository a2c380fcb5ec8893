// Live parts of a page: an element with data-feed="NAME?…" has its own connection to the feed of
// that name, which is opened when the part is first used. In the element, form[data-send="CMD"]
// sends its fields whenever one changes or the form is submitted, and other [data-send] elements
// send their data-fields (JSON) when pressed. The panels in the answer replace those on the page.
//
// Without scripts, the same forms load a page with the same contents.
import { Connection } from './connection.js';
import { patch } from './patch.js';
import { answerer } from './place.js';
import { t } from './texts.js';

// valuesOf returns the values of a form's fields as strings. The pressed button overrides a field
// of the same name.
function valuesOf(form, submitter) {
  return Object.fromEntries(new FormData(form, submitter ?? undefined));
}

export class Feed {
  #element;
  #connection;
  #waiting = null; // the sent command that is not answered yet, as {n, command}
  #next = null; // the newest command, to be sent after the answer
  #last = null; // the command of the last form, which is the state of the part
  #lost = false; // whether the connection was lost and is not restored yet

  constructor(element) {
    this.#element = element;
    this.#connection = new Connection(() => this.#address());
    const events = {
      open: () => this.#opens(),
      message: (message) => this.#receive(message),
      busy: (on) => (on ? element.setAttribute('aria-busy', 'true') : element.removeAttribute('aria-busy')),
      lost: () => this.#isCut(),
      ended: (why) => this.#ended(why),
    };
    for (const [type, act] of Object.entries(events)) {
      this.#connection.addEventListener(type, ({ detail }) => act(detail));
    }
  }

  #address() {
    const [name, query = ''] = this.#element.dataset.feed.split('?');
    return [['feed', name], ...new URLSearchParams(query)];
  }

  connect() { this.#connection.open(); }

  // opens sends the newest unsent command, if any, over a new connection. After a loss, if there is
  // none, it sends the last form again, which is the state of the part.
  #opens() {
    if (this.#lost) this.#next ??= this.#last;
    this.#go();
  }

  // send sends a command. Only the newest unsent command is kept, since an input's earlier value
  // does not matter once it has changed again.
  send(command, keep = false) {
    this.#next = command;
    if (keep) this.#last = command;
    this.connect();
    this.#go();
  }

  #go() {
    if (this.#waiting || !this.#next) return;
    const n = this.#connection.send(this.#next, 'forget'); // after a loss the newest command is sent again
    if (n === 0) return;
    this.#waiting = { n, command: this.#next };
    this.#next = null;
  }

  #receive(message) {
    if (this.#lost) this.#say('');
    this.#lost = false;
    this.#element.dispatchEvent(new CustomEvent('feedcomes', { bubbles: true }));
    for (const panel of message.panels ?? []) put(this.#element, panel);
    if (message.data?.inputs) this.#fill(message.data.inputs);
    this.#element.dispatchEvent(new CustomEvent('feed', { bubbles: true, detail: message }));
    const answered = this.#waiting && message.ack >= this.#waiting.n;
    if (message.error) this.#refuse(message.error);
    else if (answered) this.#refuse(null);
    if (!answered) return;
    this.#waiting = null;
    this.#go();
  }

  // fill sets the fields outside the panels, except the focused one. If a newer command is
  // waiting, it sets none of them.
  #fill(inputs) {
    if (this.#next) return;
    for (const [name, value] of Object.entries(inputs)) {
      for (const field of this.#element.querySelectorAll(`[name="${CSS.escape(name)}"]:is(input, textarea)`)) {
        if (field.value === value || (field === document.activeElement && field.type !== 'range')) continue;
        field.value = value;
        field.dispatchEvent(new Event('feedset', { bubbles: true }));
      }
    }
  }

  #isCut() {
    if (this.#waiting) this.#next ??= this.#waiting.command;
    this.#waiting = null;
    this.#lost = true;
    if (this.#connection.tries > 1) this.#say(t('js.feed.cut'));
  }

  #ended({ code, reason }) {
    this.#waiting = this.#next = null;
    if (code !== 1000) {
      this.#say(t(`js.feed.ended.${answerer}`, { why: reason || t('js.code', { code }) }));
    }
  }

  #say(words) {
    const line = this.#element.querySelector('[data-feed-say]');
    if (line && line.textContent !== words) line.textContent = words;
  }

  // refuse marks the invalid field, or clears such marks.
  #refuse(error) {
    for (const field of this.#element.querySelectorAll('[aria-invalid]')) field.removeAttribute('aria-invalid');
    const line = this.#element.querySelector('[data-feed-error]');
    if (line) line.textContent = error?.message ?? '';
    if (!error?.field) return;
    for (const field of this.#element.querySelectorAll(`[name="${CSS.escape(error.field)}"]`)) {
      field.setAttribute('aria-invalid', 'true');
    }
  }
}

function put(root, { id, op, html }) {
  const element = document.getElementById(id);
  if (!element || !root.contains(element)) throw new Error(`there is no element #${id} in this part`);
  if (op === 'append') element.insertAdjacentHTML('beforeend', html);
  else if (op === 'remove') element.remove();
  else patch(element, html);
}

const feeds = new WeakMap();

// feedOf returns the feed of the live part that contains an element, or null.
export function feedOf(element) {
  const part = element.closest('[data-feed]');
  if (!part) return null;
  if (!feeds.has(part)) feeds.set(part, new Feed(part));
  return feeds.get(part);
}

// sendForm sends a form's fields, as if submitter had been pressed.
export function sendForm(form, submitter) {
  feedOf(form).send({ cmd: form.dataset.send, values: valuesOf(form, submitter) }, true);
}

document.addEventListener('submit', (event) => {
  const form = event.target.closest('[data-feed] form[data-send]');
  if (!form) return;
  event.preventDefault();
  sendForm(form, event.submitter);
});

// A slider sends while it moves; every other field sends when it changes.
document.addEventListener('input', ({ target }) => {
  if (target.type === 'range' && target.form?.matches('[data-feed] form[data-send]')) sendForm(target.form);
});
document.addEventListener('change', ({ target }) => {
  if (target.type !== 'range' && target.form?.matches('[data-feed] form[data-send]')) sendForm(target.form);
});

document.addEventListener('click', ({ target }) => {
  const button = target.closest('[data-feed] [data-send]:not(form)');
  if (button) feedOf(button).send({ cmd: button.dataset.send, ...JSON.parse(button.dataset.fields || '{}') });
});

// The connection opens when the learner is about to use the part, so the first answer is as fast as
// later ones.
for (const kind of ['pointerover', 'focusin']) {
  document.addEventListener(kind, ({ target }) => {
    if (target.closest?.('[data-feed] form[data-send]')) feedOf(target).connect();
  });
}
