// The run on the Loop page: its commands, its messages, and its recovery after a loss. If the
// server no longer has the run, it is rebuilt from its link.
import { Connection } from './connection.js';
import { answerer, inTab } from './place.js';
import { t } from './texts.js';

// joined merges the first message of an empty run with the message that fills the run, so nothing
// on the page is cleared in between.
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

// The id of this load of the page, which is the same for all its connections.
const page = Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(36)).join('-');

export class Run {
  #options;
  #connection;
  #seq = 0; // version of the last state shown
  #held = null; // the first message of a run that is being opened from the link
  #opening = 0; // number of the command that opens that run
  #shown = false; // whether a run has been shown since the page was loaded
  #lostIt = false; // whether the run being opened from the link is the one shown here rather than an earlier one
  #unknown = []; // commands that were in flight to a server that does not know them

  // The options are run (an id or ''), link (or ''), isQuestion(command), which reports whether a
  // command changes nothing, onMessage(message), onDone(command), onRefused(command or null,
  // error), onRebuilt(), onLost() and onBack().
  constructor(options) {
    this.#options = options;
    this.run = options.run;
    this.link = options.link; // restores the shown state, even if the run is lost
    this.started = options.run !== ''; // the run has text, so its loss must be reported
    this.#connection = new Connection(() => this.#address(), { handshake: true });
    const events = {
      message: (message) => this.#receive(message),
      done: (command) => this.#options.onDone(command),
      refused: ({ command, error }) => this.#options.onRefused(command, error),
      busy: (on) => document.documentElement.toggleAttribute('data-busy', on),
      back: () => { this.#status(); this.#options.onBack(); },
      lost: () => this.#lost(),
      ended: (why) => this.#ended(why),
    };
    for (const [type, act] of Object.entries(events)) {
      this.#connection.addEventListener(type, ({ detail }) => act(detail));
    }
    for (const type of ['online', 'offline']) addEventListener(type, () => this.#status());
    document.addEventListener('click', (event) => {
      if (event.target.closest('[data-reconnect]')) this.#connection.retry();
    });
  }

  #address() {
    const query = { page };
    const { view } = document.body.dataset;
    if (view) query.view = view;
    if (this.run) query.run = this.run;
    if (this.run && this.started && !this.link) query.had = '1';
    return query;
  }

  connect() { this.#connection.open(); }

  // send sends a command. Without a connection, it sends nothing and returns false.
  send(command) {
    if (!this.#connection.up) return false;
    return this.#connection.send(command, this.#options.isQuestion(command) ? 'forget' : 'once') > 0;
  }

  #receive(message) {
    if (message.error?.code === 'expired') this.started = false; // report it only once
    if (message.run) this.#handshake(message); // the first message of a connection is complete
    else this.#follow(message);
  }

  #handshake(message) {
    this.run = message.run;
    this.#seq = 0;
    this.#status();
    if (!message.again) this.#unknown.push(...this.#connection.takeUnanswered());
    if (this.link && message.data?.cursor.step === 0) {
      this.#open(message);
      return;
    }
    this.#connection.settle(message);
    this.#show(message);
    if (message.again) this.#connection.sendAgain();
    else this.#refuseUnknown();
  }

  #follow(message) {
    // The state results from this page's own request, or from an earlier one by another page with
    // the same run.
    const held = this.#held && (message.data || message.ack >= this.#opening) ? this.#held : null;
    if (held) {
      this.#held = null;
      if (message.error && !message.data) { // the run is empty
        this.link = '';
        this.#show(held);
      } else {
        message = joined(held, message);
      }
    }
    this.#show(message);
    if (!held) return;
    this.#refuseUnknown();
    if (!message.error && this.#lostIt) this.#options.onRebuilt();
  }

  // refuseUnknown reports commands as refused that the new server cannot have received, or that the
  // server received before it was restarted. The learner can repeat them.
  #refuseUnknown() { this.#connection.refuseLost(this.#unknown.splice(0)); }

  #show(message) {
    if (message.seq < this.#seq) return; // older than the shown state
    this.#seq = message.seq;
    this.#options.onMessage(message);
    this.#shown = true;
  }

  // open rebuilds the run from the link on a server that does not have it. The page does not change
  // until the run has been rebuilt.
  #open(message) {
    this.#held = message;
    this.#lostIt = this.#shown && this.started;
    this.#opening = this.#connection.send({ cmd: 'rebuild', link: this.link }, 'forget');
  }

  #lost() {
    this.#held = null;
    this.#options.onLost();
    this.#status();
  }

  #ended({ code, reason }) {
    this.#lost();
    this.#status(t(`js.closed.${answerer}`, { why: reason || t('js.code', { code }) }));
  }

  // status shows the state of the connection, in words and as attributes.
  #status(sentence) {
    const { up, opened, tries } = this.#connection;
    const state = up ? 'live' : sentence || !navigator.onLine ? 'offline' : 'reconnecting';
    document.documentElement.dataset.conn = state;
    for (const element of document.querySelectorAll('[data-live]')) {
      element.textContent = t(`js.state.${state}`);
    }
    const banner = document.getElementById('conn');
    if (!banner) return;
    banner.hidden = state === 'live';
    if (!sentence && !opened && tries > 1 && !inTab) {
      sentence = t('js.proxy');
    }
    const text = banner.querySelector('[data-conn-text]') ?? banner.querySelector('p');
    if (text) {
      text.dataset.said ??= text.textContent;
      const words = sentence ?? text.dataset.said;
      if (text.textContent !== words) text.textContent = words;
    }
  }
}
