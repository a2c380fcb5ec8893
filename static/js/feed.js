// Live parts of a page: an element with data-feed="NAME?…" has a connection of
// its own to the feed of that name, opened when the part is first used. Inside
// it, form[data-send="CMD"] sends what its fields say whenever one changes or
// it is sent, and [data-send] elements besides forms send their data-fields
// (JSON) when pressed. The answer's panels are put in their place.
//
// Without a script the same forms load a page that shows the same.
import { addressOf, delayAfter, isForGood, panelProtocol } from './again.js';
import { patch } from './patch.js';

const answerWait = 60_000; // ms for a command without any sign by then: the line is dead
const probeWait = 4_000; // the same after the page slept: the line is likely dead
const busyAfter = 250; // quicker answers need no mark

// The values of a form's fields, all as text. What was pressed to send it
// counts before a field of the same name.
function valuesOf(form, submitter) {
  return Object.fromEntries(new FormData(form, submitter ?? undefined));
}

export class Feed {
  #element;
  #ws = null;
  #n = 0;
  #open = false; // the connection has come up
  #waiting = null; // {n, command} that is being answered
  #next = null; // the newest command to send when that is done
  #last = null; // the last form's command: how the part stands
  #tries = 0;
  #retry = 0;
  #watch = 0;
  #busy = 0;

  constructor(element) {
    this.#element = element;
    addEventListener('online', () => this.#wake());
    document.addEventListener('visibilitychange', () => { if (!document.hidden) this.#wake(); });
  }

  // wake finds out at once how things stand after a sleep or a change of
  // networks: by a new connection where one was lost, or by asking the present
  // one for a sign.
  #wake() {
    if (!this.#ws && (this.#retry || this.#last)) this.connect();
    if (!this.#open || this.#waiting) return;
    this.#waiting = { n: ++this.#n, command: null };
    this.#ws.send(JSON.stringify({ cmd: 'ping', n: this.#n }));
    this.#watch = setTimeout(() => this.#giveUp(), probeWait);
  }

  // giveUp drops a connection without waiting for the other end to agree.
  #giveUp() {
    const ws = this.#ws;
    if (!ws) return;
    ws.onclose = null;
    ws.close();
    this.#lost({ code: 1006, reason: '' });
  }

  connect() {
    if (this.#ws) return;
    clearTimeout(this.#retry);
    this.#retry = 0;
    const [name, query = ''] = this.#element.dataset.feed.split('?');
    const ws = new WebSocket(addressOf([['feed', name], ...new URLSearchParams(query)]), panelProtocol);
    this.#ws = ws;
    ws.onopen = () => {
      if (ws !== this.#ws) return;
      this.#open = true;
      this.#next ??= this.#again;
      this.#go();
    };
    ws.onmessage = (event) => { if (ws === this.#ws) this.#receive(JSON.parse(event.data)); };
    ws.onclose = (event) => { if (ws === this.#ws) this.#lost(event); };
  }

  // again is what brings a new connection to where the part stands.
  get #again() { return this.#tries > 0 ? this.#last : null; }

  // send asks for something. Only the newest of what has not been sent yet is
  // kept: an input that moves on makes where it was of no interest.
  send(command, keep = false) {
    this.#next = command;
    if (keep) this.#last = command;
    this.connect();
    this.#go();
  }

  #go() {
    if (!this.#open || this.#waiting || !this.#next) return;
    const command = this.#next;
    this.#next = null;
    this.#waiting = { n: ++this.#n, command };
    this.#ws.send(JSON.stringify({ ...command, n: this.#n }));
    this.#busy ||= setTimeout(() => this.#element.setAttribute('aria-busy', 'true'), busyAfter);
    this.#watch = setTimeout(() => this.#giveUp(), answerWait);
  }

  #receive(message) {
    if (this.#tries > 0) this.#say('');
    this.#tries = 0;
    for (const panel of message.panels ?? []) put(this.#element, panel);
    if (message.data?.inputs) this.#fill(message.data.inputs);
    this.#element.dispatchEvent(new CustomEvent('feed', { detail: message }));
    const answered = this.#waiting && message.ack >= this.#waiting.n;
    if (message.error) this.#refuse(message.error);
    else if (answered) this.#refuse(null);
    if (!answered) return;
    this.#waiting = null;
    this.#idle();
    this.#go();
  }

  // fill puts values into the fields outside of the panels, but leaves the one
  // that someone is at, and all of them while there is a newer command.
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

  #idle() {
    clearTimeout(this.#watch);
    clearTimeout(this.#busy);
    this.#watch = this.#busy = 0;
    this.#element.removeAttribute('aria-busy');
  }

  #lost({ code, reason }) {
    this.#ws = null;
    this.#open = false;
    if (this.#waiting && !this.#next) this.#next = this.#waiting.command;
    this.#waiting = null;
    this.#idle();
    if (code === 1000 || isForGood(code)) {
      this.#next = null;
      if (code !== 1000) this.#say(`The server has ended the connection: ${reason || `code ${code}`}. Reload the page to go on.`);
      return;
    }
    this.#retry = setTimeout(() => this.connect(), delayAfter(this.#tries++));
    if (this.#tries > 1) this.#say('The connection is cut. What you see stays; trying again…');
  }

  #say(words) {
    const line = this.#element.querySelector('[data-feed-say]');
    if (line && line.textContent !== words) line.textContent = words;
  }

  // refuse marks the field at fault, or takes such marks away.
  #refuse(error) {
    for (const field of this.#element.querySelectorAll('[aria-invalid]')) field.removeAttribute('aria-invalid');
    const line = this.#element.querySelector('[data-feed-error]');
    if (line) line.textContent = error?.message ?? '';
    if (!error?.field) return;
    for (const field of this.#element.querySelectorAll(`[name="${CSS.escape(error.field)}"]`)) field.setAttribute('aria-invalid', 'true');
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

// feedOf returns the feed of the live part that an element is in, or null.
export function feedOf(element) {
  const part = element.closest('[data-feed]');
  if (!part) return null;
  if (!feeds.has(part)) feeds.set(part, new Feed(part));
  return feeds.get(part);
}

// sendForm sends what a form says, as if submitter had been pressed.
export function sendForm(form, submitter) {
  feedOf(form).send({ cmd: form.dataset.send, values: valuesOf(form, submitter) }, true);
}

document.addEventListener('submit', (event) => {
  const form = event.target.closest('[data-feed] form[data-send]');
  if (!form) return;
  event.preventDefault();
  sendForm(form, event.submitter);
});

// A slider answers while it moves, everything else when it is left.
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

// The connection is opened when someone is about to use the part, so that the
// first answer is as quick as the others.
for (const kind of ['pointerover', 'focusin']) {
  document.addEventListener(kind, ({ target }) => {
    if (target.closest?.('[data-feed] form[data-send]')) feedOf(target).connect();
  });
}
