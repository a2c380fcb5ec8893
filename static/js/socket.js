// One connection to a run that is kept up: commands out, messages in, a new
// try after every loss.

import { addressOf, delayAfter, isForGood, panelProtocol } from './again.js';

const answerWait = 20_000; // ms for a command without any sign by then: the line is dead
const probeWait = 4_000; // the same after the page slept: the line is likely dead
const busyAfter = 150; // quicker answers need no mark

// joined makes one message of an empty run's first and of the one that fills
// it, so that nothing on the page is emptied in between.
function joined(first, next) {
  const again = new Set(next.panels?.map(({ id, op }) => (op === 'morph' ? id : '')));
  const panels = (first.panels ?? []).filter(({ id }) => !again.has(id)).map((panel) => ({ ...panel }));
  for (const panel of next.panels ?? []) {
    const list = panel.op === 'append' && panels.find(({ id, op }) => id === panel.id && op === 'morph');
    if (list) list.html = list.html.replace(/(<\/[a-z]+>)$/, (end) => panel.html + end);
    else panels.push(panel);
  }
  return { ...next, panels };
}

// The name of this loading of the page, the same through all its connections.
const page = Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(36)).join('-');

export class Socket {
  #options;
  #ws = null;
  #seq = 0; // version of the last state shown
  #n = 0; // number of the last command sent
  #pending = new Map(); // n → command, not answered yet
  #tries = 0; // since the last message
  #opened = false; // whether any connection has ever worked
  #retry = 0;
  #watch = 0;
  #busy = 0;
  #held = null; // the first message of a run that is being opened from the link
  #opening = 0; // n of that open
  #unknown = []; // commands that were on their way to a server which does not know of them

  // options: run (id or ''), link (or ''), isQuestion(command), which asks and
  // changes nothing, onMessage(message), onDone(command),
  // onRefused(command or null, error), onRebuilt(), onLost().
  constructor(options) {
    this.#options = options;
    this.run = options.run;
    this.link = options.link; // leads to what is shown, also where the run is lost
    this.started = options.run !== ''; // had a text, so its loss must be told
    addEventListener('online', () => this.#wake());
    addEventListener('offline', () => this.#status());
    addEventListener('pageshow', (event) => { if (event.persisted) this.#wake(); });
    document.addEventListener('visibilitychange', () => { if (!document.hidden) this.#wake(); });
    document.addEventListener('click', (event) => { if (event.target.closest('[data-reconnect]')) this.#wake(); });
  }

  // wake finds out at once how things stand after a sleep or a change of
  // networks: by a new connection, or by asking the present one for a sign.
  #wake() {
    if (!this.live) {
      if (this.#ws) this.#giveUp();
      this.connect();
      return;
    }
    const n = ++this.#n;
    this.#pending.set(n, { cmd: 'ping' });
    this.#ws.send(JSON.stringify({ cmd: 'ping', n }));
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => { this.#giveUp(); this.connect(); }, probeWait);
  }

  get live() { return this.#ws?.readyState === WebSocket.OPEN && this.#tries === 0; }

  // connect opens a connection unless there is one.
  connect() {
    if (this.#ws) return;
    clearTimeout(this.#retry);
    const query = { page };
    if (this.run) query.run = this.run;
    if (this.run && this.started && !this.link) query.had = '1';
    this.#tries++;
    const ws = new WebSocket(addressOf(query), panelProtocol);
    this.#ws = ws;
    ws.onmessage = (event) => { if (ws === this.#ws) this.#receive(JSON.parse(event.data)); };
    ws.onclose = (event) => { if (ws === this.#ws) this.#lost(event); };
  }

  // send numbers a command and sends it. It is false, and nothing is sent,
  // while there is no connection.
  send(command) {
    if (!this.live) return false;
    const n = ++this.#n;
    this.#pending.set(n, command);
    this.#transmit(n, command);
    return true;
  }

  #transmit(n, command) {
    this.#ws.send(JSON.stringify({ ...command, n }));
    this.#busy ||= setTimeout(() => document.documentElement.setAttribute('data-busy', ''), busyAfter);
    this.#watch ||= setTimeout(() => this.#giveUp(), answerWait);
  }

  #receive(message) {
    clearTimeout(this.#watch);
    this.#watch = 0;
    if (message.run) { // the first message of a connection holds everything
      this.run = message.run;
      this.#seq = 0;
    }
    if (message.error?.code === 'expired') this.started = false; // told once
    if (this.#tries > 0) {
      this.#tries = 0;
      this.#opened = true;
      this.#status();
    }
    if (message.run && !message.again) {
      this.#unknown.push(...this.#pending.values());
      this.#pending.clear();
    }
    if (message.run && this.link && message.data?.cursor.step === 0) {
      this.#open(message);
      return;
    }
    // A state comes of this page's own asking, or of another page of the run
    // that was quicker.
    const held = this.#held && (message.data || message.ack >= this.#opening) ? this.#held : null;
    if (held) {
      this.#held = null;
      if (message.error && !message.data) { // what the run really shows is nothing
        this.link = '';
        this.#show(held);
      } else {
        message = joined(held, message);
      }
    }
    this.#settle(message);
    this.#show(message);
    if (message.run && message.again) this.#sendAgain();
    else if (message.run || held) this.#refuseUnknown();
    if (held && !message.error && this.started) this.#options.onRebuilt();
  }

  // sendAgain repeats what a broken connection left without an answer. The
  // server knows by the numbers what it has carried out.
  #sendAgain() {
    for (const [n, command] of this.#pending) this.#transmit(n, command);
  }

  // refuseUnknown gives up commands that a server which does not know this page
  // cannot have received, or received before it restarted. The person can press
  // again.
  #refuseUnknown() {
    const unknown = this.#unknown;
    this.#unknown = [];
    for (const command of unknown) {
      this.#options.onRefused(command, { message: 'The connection was lost before this was answered, and the server has started anew. What you see is how things stand.' });
    }
  }

  #show(message) {
    if (message.seq < this.#seq) return; // older than what is shown
    this.#seq = message.seq;
    this.#options.onMessage(message);
  }

  // open makes the run of the link on a server that does not have it. What
  // the page shows meanwhile stays: it is the same.
  #open(message) {
    this.#held = message;
    this.send({ cmd: 'rebuild', link: this.link });
    this.#opening = this.#n;
  }

  // settle closes the commands that a message answers: all up to its ack are
  // done, except that an error is about the last of them.
  #settle({ ack, error }) {
    for (const [n, command] of this.#pending) {
      if (n > ack) break;
      this.#pending.delete(n);
      if (error && n === ack) this.#options.onRefused(command, error);
      else this.#options.onDone(command);
    }
    if (error && ack === 0) this.#options.onRefused(null, error);
    if (this.#pending.size === 0) this.#idle();
  }

  #idle() {
    clearTimeout(this.#busy);
    clearTimeout(this.#watch);
    this.#busy = this.#watch = 0;
    document.documentElement.removeAttribute('data-busy');
  }

  // giveUp drops a connection that does not answer without waiting for it to
  // close in good order.
  #giveUp() {
    const ws = this.#ws;
    if (!ws) return;
    this.#lost({ code: 1006 });
    ws.close();
  }

  #lost({ code, reason }) {
    this.#ws = null;
    // What was on its way may have been carried out or not. Commands are sent
    // again on the next connection; questions are asked anew by whoever still
    // wants to know.
    for (const [n, command] of this.#pending) {
      if (command.cmd === 'rebuild' || this.#options.isQuestion(command)) this.#pending.delete(n);
    }
    this.#held = null;
    this.#idle();
    this.#options.onLost();
    if (isForGood(code)) {
      this.#pending.clear();
      this.#tries = Math.max(this.#tries, 1);
      this.#status(`The server has closed the connection: ${reason || `code ${code}`}. Reload the page to go on.`);
      return;
    }
    this.#retry = setTimeout(() => this.connect(), delayAfter(this.#tries));
    this.#tries = Math.max(this.#tries, 1);
    this.#status();
  }

  // status tells how the connection is, in words and as attributes.
  #status(sentence) {
    const state = this.live ? 'live' : sentence || !navigator.onLine ? 'offline' : 'reconnecting';
    document.documentElement.dataset.conn = state;
    for (const element of document.querySelectorAll('[data-live]')) {
      element.textContent = state === 'reconnecting' ? 'reconnecting…' : state;
    }
    const banner = document.getElementById('conn');
    if (!banner) return;
    banner.hidden = state === 'live';
    if (!sentence && !this.#opened && this.#tries > 2) {
      sentence = 'No live connection has come up. A proxy on the way may block WebSockets; ask for /ws to be let through.';
    }
    const text = banner.querySelector('[data-conn-text]') ?? banner.querySelector('p');
    if (text) {
      text.dataset.said ??= text.textContent;
      const words = sentence ?? text.dataset.said;
      if (text.textContent !== words) text.textContent = words;
    }
  }
}
