// One connection to a run that is kept up: commands out, messages in, a new
// try after every loss.

const firstDelay = 250; // ms before the first new try, at most; it doubles
const longestDelay = 10_000; // a server that comes back is found within this
const answerWait = 20_000; // a command without any sign by then: the line is dead
const busyAfter = 150; // quicker answers need no mark

// Close codes by which the server says that this page did wrong: trying again
// would end the same way.
const forGood = new Set([1002, 1003, 1007, 1008, 1009]);

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

  // options: protocol, run (id or ''), onMessage(message), onDone(command),
  // onRefused(command or null, error), onLost().
  constructor(options) {
    this.#options = options;
    this.run = options.run;
    this.started = options.run !== ''; // had a text, so its loss must be told
    addEventListener('online', () => this.connect());
    addEventListener('offline', () => this.#status());
    document.addEventListener('visibilitychange', () => { if (!document.hidden) this.connect(); });
    document.addEventListener('click', (event) => { if (event.target.closest('[data-reconnect]')) this.connect(); });
  }

  get live() { return this.#ws?.readyState === WebSocket.OPEN && this.#tries === 0; }

  // connect opens a connection unless there is one.
  connect() {
    if (this.#ws) return;
    clearTimeout(this.#retry);
    const url = new URL('/ws', location.href);
    url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    if (this.run) url.searchParams.set('run', this.run);
    if (this.run && this.started) url.searchParams.set('had', '1');
    this.#tries++;
    const ws = new WebSocket(url, this.#options.protocol);
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
    this.#ws.send(JSON.stringify({ ...command, n }));
    this.#busy ||= setTimeout(() => document.documentElement.setAttribute('data-busy', ''), busyAfter);
    this.#watch ||= setTimeout(() => this.#giveUp(), answerWait);
    return true;
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
    this.#settle(message);
    if (message.seq < this.#seq) return; // older than what is shown
    this.#seq = message.seq;
    this.#options.onMessage(message);
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
    // What was on its way may have been carried out or not; the first message
    // of the next connection shows how things stand.
    this.#pending.clear();
    this.#idle();
    this.#options.onLost();
    if (forGood.has(code)) {
      this.#tries = Math.max(this.#tries, 1);
      this.#status(`The server has closed the connection: ${reason || `code ${code}`}. Reload the page to go on.`);
      return;
    }
    const ceiling = Math.min(longestDelay, firstDelay * 2 ** this.#tries);
    this.#tries = Math.max(this.#tries, 1);
    // Full jitter: many pages that lost one server do not come back at once.
    this.#retry = setTimeout(() => this.connect(), Math.random() * ceiling);
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
