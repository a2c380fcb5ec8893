// The connection of a page to its class. It comes back by itself: with a random
// wait that grows, so that a room full of phones that lost one server does not
// knock all at once. A phone that was asleep asks at once whether anybody is
// still there.
import { addressOf, delayAfter, isForGood, panelProtocol } from './again.js';

const firstDelay = 500; // ms before the first new try, at most
const answerWait = 10_000; // ms without a word by then the line is dead
const pingEvery = 25_000;

export class Line extends EventTarget {
  tries = 0; // since the line was last up
  receivedAt = 0; // when the server's last message arrived
  up = false;
  ended = false;
  #address;
  #ws = null;
  #n = 0;
  #retry = 0;
  #watch = 0;

  // address returns, or promises, the query of the connection.
  constructor(address) {
    super();
    this.#address = address;
    addEventListener('online', () => this.retry());
    addEventListener('offline', () => this.#ws?.close());
    document.addEventListener('visibilitychange', () => { if (!document.hidden) this.#wake(); });
    setInterval(() => { if (this.up && Date.now() - this.receivedAt > pingEvery) this.send({ cmd: 'ping' }); }, pingEvery);
  }

  async open() {
    if (this.#ws || this.ended) return;
    clearTimeout(this.#retry);
    const mark = {}; // holds the place while the address is being found
    this.#ws = mark;
    let query;
    try { query = await this.#address(); } catch {
      if (this.#ws === mark) this.#lost({ code: 1006 });
      return;
    }
    const ws = new WebSocket(addressOf(query), panelProtocol);
    this.#ws = ws;
    this.#expect();
    ws.onopen = () => { if (ws === this.#ws) this.#tell('open'); };
    ws.onmessage = (event) => { if (ws === this.#ws) this.#receive(JSON.parse(event.data)); };
    ws.onclose = (event) => { if (ws === this.#ws) this.#lost(event); };
  }

  // retry tries at once.
  retry() {
    if (this.up || this.ended) return;
    if (this.#ws instanceof WebSocket) { // it may hang for long
      const old = this.#ws;
      this.#ws = null;
      old.close();
    }
    this.open();
  }

  #wake() {
    if (this.up) this.send({ cmd: 'ping' });
    else this.retry();
  }

  // send says whether the command has gone out, and its number.
  send(command) {
    if (!(this.#ws instanceof WebSocket) || this.#ws.readyState !== WebSocket.OPEN) return 0;
    this.#ws.send(JSON.stringify({ ...command, n: ++this.#n }));
    this.#expect();
    return this.#n;
  }

  #expect() {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => {
      const dead = this.#ws;
      if (!(dead instanceof WebSocket)) return;
      this.#lost({ code: 1006 });
      dead.close();
    }, answerWait);
  }

  #receive(message) {
    clearTimeout(this.#watch);
    this.receivedAt = Date.now();
    const back = this.tries;
    this.up = true;
    this.tries = 0;
    if (back > 0) this.#tell('back');
    this.#tell('message', message);
  }

  #lost({ code, reason }) {
    clearTimeout(this.#watch);
    this.#ws = null;
    this.up = false;
    if (code === 1000 || isForGood(code)) {
      this.ended = true;
      this.#tell('ended', { code, reason });
      return;
    }
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.open(), delayAfter(this.tries++, firstDelay));
    this.#tell('lost');
  }

  #tell(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })); }
}
