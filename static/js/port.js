// The transport of a page whose program runs in a service worker: a message port with the part of
// a WebSocket's interface that connection.js uses.
import { running, searchOf } from './place.js';

const aliveEvery = 20_000; // ms between messages; browsers stop a service worker half a minute after its last event

// Text is passed unchanged in both directions. The worker sends {life} once it serves the port,
// and {code, reason} when the port is closed. The page closes the port by sending null.
class Port {
  #port = null;
  #closed = false;
  #life = new AbortController();
  #alive = 0;

  constructor(query) {
    const worker = navigator.serviceWorker.controller;
    if (!worker) {
      setTimeout(() => this.#close({ code: 1006 }));
      return;
    }
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.onmessage = ({ data }) => this.#receive(data);
    const connect = { viz: 'connect', query: `${searchOf(query)}`, protocol: 'viz.html.v1' };
    worker.postMessage(connect, [port2]);
    this.#alive = setInterval(() => {
      if (!document.hidden) navigator.serviceWorker.controller?.postMessage({ viz: 'alive' });
    }, aliveEvery);
  }

  send(text) { this.#port.postMessage(text); }

  close() {
    if (this.#closed) return;
    this.#port?.postMessage(null);
    this.#close({ code: 1000 });
  }

  #receive(data) {
    if (this.#closed) return;
    if (typeof data === 'string') this.onmessage({ data });
    else if (data.life) {
      this.#watch(data.life);
      this.onopen();
    } else this.#close(data);
  }

  // watch waits for the end of the worker, which a port does not report. It relies on a lock that
  // the worker holds while it is alive.
  #watch(life) {
    navigator.locks?.request(life, { signal: this.#life.signal }, () => this.#close({ code: 1012 })).catch(() => {});
  }

  #close(why) {
    if (this.#closed) return;
    this.#closed = true;
    this.#life.abort();
    clearInterval(this.#alive);
    this.#port?.close();
    this.onclose(why);
  }
}

// messagePort returns the transport. The page does not open a connection before the program runs.
export const messagePort = (query) => new Port(query);
messagePort.ready = running;
