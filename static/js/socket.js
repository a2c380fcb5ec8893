// One connection to a run that is kept up: commands out, messages in, a new
// try after every loss.

const firstDelay = 250; // ms before the first new try, at most; it doubles
const longestDelay = 10_000; // a server that comes back is found within this
const answerWait = 20_000; // a command without any sign by then: the line is dead
const probeWait = 4_000; // the same after the page slept: the line is likely dead
const busyAfter = 150; // quicker answers need no mark

// Close codes by which the server says that this page did wrong: trying again
// would end the same way.
const forGood = new Set([1002, 1003, 1007, 1008, 1009]);

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

  // options: protocol, run (id or ''), link (or ''), onMessage(message),
  // onDone(command), onRefused(command or null, error), onRebuilt(), onLost().
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
    const url = new URL('/ws', location.href);
    url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    if (this.run) url.searchParams.set('run', this.run);
    if (this.run && this.started && !this.link) url.searchParams.set('had', '1');
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
    if (held && !message.error && this.started) this.#options.onRebuilt();
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
    // What was on its way may have been carried out or not; the first message
    // of the next connection shows how things stand.
    this.#pending.clear();
    this.#held = null;
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
