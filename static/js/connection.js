// The connection of a page to one of its live parts. It sends commands and receives messages,
// reconnects automatically after every loss, detects dead connections, and tracks unanswered
// commands. The scripts that use the connection interpret the messages: for a run (run.js), for an
// experiment or a lab (feed.js), or for a class (class.js, present.js).

import { at, inTab, searchOf } from './place.js';
import { messagePort } from './port.js';
import { t } from './texts.js';

const longestDelay = 10_000; // ms; the maximum delay between two tries
const firstDelay = 500; // ms; the maximum delay before the first retry
const answerWait = 20_000; // ms to wait for any message after a command before probing the connection
const probeWait = 4_000; // ms to wait for the answer to a probe, without which the connection counts as dead
const pingEvery = 25_000; // ms of silence before probing the connection
const busyAfter = 200; // ms to wait for an answer before the page shows that it is waiting

// Close codes after which there is no retry. 1000 means that nothing more follows. The
// others mean that this page has made an error, so a retry would fail in the same way.
const forGood = new Set([1000, 1002, 1003, 1007, 1008, 1009]);

// webSocket is the transport for pages that a server serves. It returns an object with send(text)
// and close(), which calls onopen(), onmessage({data}) and, once, onclose({code, reason}). Any
// function that returns such an object can be used as a transport. If the function has a promise
// named ready, it is not called until the promise is fulfilled.
export function webSocket(query) {
  const url = new URL(at('/ws'), location.href);
  url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  url.search = searchOf(query);
  return new WebSocket(url, 'viz.html.v1'); // the messages contain HTML panels
}

// delayAfter returns a random delay in ms before the next try. Its maximum is firstDelay, doubled
// for every failed try, up to longestDelay. Since it is random, pages that lost the same server
// do not all return at once.
const delayAfter = (failed) => Math.random() * Math.min(longestDelay, firstDelay * 2 ** failed);

// Events, with their details in parentheses: open; message (the message), after done (the
// command) or refused ({command, error}) for the commands that the message answers; back (the
// first message after a loss); lost; ended ({code, reason}), after which there are no retries;
// busy (true or false).
export class Connection extends EventTarget {
  tries = 0; // number of losses since the last message
  up = false; // the current connection has received a message
  opened = false; // a connection has been open before
  ended = false;
  receivedAt = 0; // when the last message arrived
  #address;
  #options;
  #socket = null; // the transport
  #open = false; // whether data can be sent
  #n = 0; // number of the last command
  #unanswered = new Map(); // number → {command, then}
  #retry = 0;
  #watch = 0;
  #busy = 0;
  #isBusy = false;

  // address returns the query of the connection, or a promise for it. The options are: handshake,
  // which is true if the server's first message states which commands the server has seen, in which
  // case the caller must call sendAgain or takeUnanswered; patience, which replaces answerWait; and
  // transport, which replaces the page's default transport.
  constructor(address, options = {}) {
    super();
    this.#address = address;
    this.#options = { handshake: false, patience: answerWait, transport: inTab ? messagePort : webSocket, ...options };
    addEventListener('online', () => this.wake());
    if (inTab) addEventListener('viz-leaving', () => { this.end(); this.#socket?.close?.(); });
    else addEventListener('offline', () => this.#giveUp());
    addEventListener('pageshow', (event) => { if (event.persisted) this.wake(); });
    document.addEventListener('visibilitychange', () => { if (!document.hidden) this.wake(); });
    setInterval(() => { if (!document.hidden && Date.now() - this.receivedAt > pingEvery) this.#probe(); }, pingEvery);
  }

  // open opens a connection unless one exists.
  async open() {
    if (this.#socket || this.ended) return;
    clearTimeout(this.#retry);
    this.#retry = 0;
    const mark = {}; // a placeholder while the address is computed
    this.#socket = mark;
    let query;
    const { ready } = this.#options.transport;
    if (ready) await ready;
    try { query = await this.#address(); } catch {
      if (this.#socket === mark) this.#lost({ code: 1006 });
      return;
    }
    if (this.#socket !== mark) return;
    const socket = this.#options.transport(query);
    this.#socket = socket;
    this.#expect(this.#options.patience);
    socket.onopen = () => { if (socket === this.#socket) this.#opens(); };
    socket.onmessage = ({ data }) => { if (socket === this.#socket) this.#receive(JSON.parse(data)); };
    socket.onclose = (event) => { if (socket === this.#socket) this.#lost(event); };
  }

  // wake checks the connection after the device has slept or changed networks. It immediately
  // probes the current connection or opens a new one.
  wake() {
    if (this.#open) this.#probe();
    else if (this.#socket || this.#retry) this.retry();
  }

  // retry retries immediately.
  retry() {
    if (this.up || this.ended) return;
    const old = this.#socket;
    this.#socket = null; // do not wait for the old attempt, which might take a long time
    this.#open = false;
    old?.close?.();
    this.open();
  }

  // end stops reconnecting.
  end() { this.ended = true; }

  // send numbers a command and sends it. It returns the number, or 0 if there is no connection. The
  // argument then specifies what happens if the connection is lost before the command is answered.
  // once: the command is resent if the server can tell whether it was carried out, and refused
  // otherwise. repeat: it is resent, since it is idempotent. forget: the sender handles the loss.
  send(command, then = 'once') {
    if (!this.#open) return 0;
    const n = ++this.#n;
    this.#unanswered.set(n, { command, then });
    this.#transmit(n, command);
    return n;
  }

  #transmit(n, command) {
    this.#socket.send(JSON.stringify({ ...command, n }));
    if (!this.#watch) this.#expect(this.#options.patience);
    if (command.cmd !== 'ping') this.#busy ||= setTimeout(() => this.#showBusy(true), busyAfter);
  }

  // expect drops the connection if nothing arrives in time. Before that, it probes the
  // connection, since an answer may take a long time.
  #expect(time) {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => {
      if (!this.#open || time === probeWait) this.#giveUp();
      else this.#probe();
    }, time);
  }

  #probe() {
    if (!this.#open) return;
    this.#expect(probeWait);
    this.send({ cmd: 'ping' }, 'forget');
  }

  // giveUp drops a connection without waiting for the other end to close it.
  #giveUp() {
    const socket = this.#socket;
    if (!socket) return;
    this.#lost({ code: 1006 });
    socket.close?.();
  }

  #opens() {
    clearTimeout(this.#watch);
    this.#watch = 0;
    this.#open = true;
    if (!this.#options.handshake) this.#resume();
    this.#emit('open');
  }

  // resume sends unanswered commands again or refuses them. It is called when, after a loss, the
  // page is connected to a server that does not know the page.
  #resume() {
    for (const [n, { command, then }] of this.#unanswered) {
      if (then === 'repeat') this.#transmit(n, command);
      else this.#refuse(n, { message: t('js.lost') });
    }
  }

  // sendAgain sends unanswered commands again after a loss. The server recognizes the commands
  // that it has already carried out by their numbers.
  sendAgain() {
    for (const [n, { command }] of this.#unanswered) this.#transmit(n, command);
  }

  // takeUnanswered removes and returns the commands that the server cannot have received, or that
  // it received before it was restarted.
  takeUnanswered() {
    const commands = [...this.#unanswered.values()].map(({ command }) => command);
    this.#unanswered.clear();
    return commands;
  }

  // refuseLost reports abandoned commands as refused.
  refuseLost(commands) {
    for (const command of commands) this.#emit('refused', { command, error: { message: t('js.lost') } });
  }

  #receive(message) {
    clearTimeout(this.#watch);
    this.#watch = 0;
    this.receivedAt = Date.now();
    const back = this.tries > 0 && this.opened;
    this.up = this.opened = true;
    this.tries = 0;
    if (back) this.#emit('back');
    if (!this.#options.handshake || !message.run) this.settle(message);
    this.#emit('message', message);
  }

  // settle removes the commands that a message answers. All commands up to the ack are done, but if
  // there is an error, the last of them was refused. For a handshake, the caller calls settle,
  // since it knows whether the numbers belong to this page.
  settle({ ack, error }) {
    for (const [n, { command }] of this.#unanswered) {
      if (n > ack) break;
      if (error && n === ack) this.#refuse(n, error);
      else {
        this.#unanswered.delete(n);
        this.#emit('done', command);
      }
    }
    if (error && ack === 0) this.#emit('refused', { command: null, error });
    if (this.#unanswered.size === 0) this.#idle();
  }

  #refuse(n, error) {
    const { command } = this.#unanswered.get(n);
    this.#unanswered.delete(n);
    this.#emit('refused', { command, error });
  }

  #idle() {
    clearTimeout(this.#busy);
    this.#busy = 0;
    this.#showBusy(false);
  }

  #showBusy(on) {
    if (on === this.#isBusy) return;
    this.#isBusy = on;
    this.#emit('busy', on);
  }

  #lost({ code, reason }) {
    clearTimeout(this.#watch);
    this.#watch = 0;
    this.#socket = null;
    this.#open = this.up = false;
    // Commands in flight may or may not have been carried out.
    for (const [n, { then }] of this.#unanswered) if (then === 'forget') this.#unanswered.delete(n);
    this.#idle();
    if (this.ended) return;
    if (forGood.has(code)) {
      this.ended = true;
      this.#unanswered.clear();
      this.#emit('ended', { code, reason });
      return;
    }
    this.#retry = setTimeout(() => this.open(), delayAfter(this.tries++));
    this.#emit('lost');
  }

  #emit(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })); }
}
