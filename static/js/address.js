// The page's address, and the links to exported files. The address contains the run's id, for
// reloads, and a link that restores the run if the id is unknown.
import { onKey } from './keys.js';
import { at, embedded, plain } from './place.js';
import { t } from './texts.js';

const addressEvery = 700; // ms: browsers limit how often the address can be changed

export class Address {
  #socket;
  #timer = 0;
  #wanted = null;
  #run = null; // the run whose address is shown

  listen(socket, tell) {
    this.#socket = socket;
    for (const type of ['pagehide', 'viz-leaving']) addEventListener(type, () => this.#write());
    document.addEventListener('click', (event) => {
      const button = event.target.closest('[data-copy-link]');
      if (button) this.#copy(button, tell);
    });
    // Switching views returns to the current state.
    document.addEventListener('submit', ({ target }) => {
      if (!target.matches('[data-view-form]')) return;
      target.elements.back.value = plain(this.#wanted ?? location.pathname + location.search);
    });
    // A link to a file or another page gets its address only when the learner is about to use it.
    for (const type of ['pointerover', 'focusin', 'click']) {
      document.addEventListener(type, ({ target }) => {
        const link = target.closest?.('[data-export], [data-predict], [data-why]');
        if (link) this.#aim(link);
      });
    }
    onKey(document, (key, { target }) => {
      const open = key === 'Escape' && target.closest?.('details[open]');
      if (!open || target.matches('input')) return false;
      open.open = false;
      open.querySelector('summary')?.focus();
      return true;
    });
  }

  // follow updates the address.
  follow(started) {
    const query = new URLSearchParams();
    if (started && this.#socket.run) query.set('run', this.#socket.run);
    if (started && this.#socket.link) query.set('log', this.#socket.link);
    const from = new URLSearchParams(location.search).get('class');
    if (from) query.set('class', from); // for the link back to the class
    if (embedded) query.delete('run'); // other pages cannot open an embedded page's run
    this.#wanted = at(query.size ? `/loop?${query}` : '/loop');
    if (embedded) {
      document.querySelector('[data-whole]').href = this.#wanted;
      return;
    }
    const run = query.get('run');
    if (run !== this.#run) {
      this.#run = run;
      this.#write();
    }
    this.#timer ||= setTimeout(() => { this.#timer = 0; this.#write(); }, addressEvery);
  }

  #write() {
    const address = this.#wanted;
    if (address && location.pathname + location.search !== address) history.replaceState(null, '', address);
  }

  // aim sets the target of a link: a file with this run (or with a run rebuilt from its log), the
  // game of guessing the token after the shown stage, or the explanation of the shown token.
  #aim(link) {
    const query = new URLSearchParams();
    const file = link.dataset.export;
    if (file) query.set('run', this.#socket.run);
    if (this.#socket.link) query.set('log', this.#socket.link);
    if (link.dataset.why) query.set('off', link.dataset.why); // a part of the model to switch off
    const page = link.hasAttribute('data-why') ? '/why' : '/predict';
    const href = at(file ? `/export/${file}?${query}` : `${page}${query.size ? `?${query}` : ''}`);
    if (link.getAttribute('href') !== href) link.href = href;
  }

  async #copy(button, tell) {
    if (!this.#socket.link) {
      tell(this.#socket.started
        ? t('js.link.long') : t('js.link.none'));
      return;
    }
    const link = location.origin + at(`/loop?${new URLSearchParams({ log: this.#socket.link })}`);
    const copied = await copy(link);
    if (copied) button.closest('details')?.removeAttribute('open');
    tell(copied ? t('js.link.copied') : t('js.link.shown', { link }));
  }
}

// copy copies text to the clipboard. On pages without a secure connection, this needs a text
// field.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { /* not allowed here */ }
  const field = document.createElement('textarea');
  const before = document.activeElement;
  field.value = text;
  field.readOnly = true;
  field.className = 'sr';
  document.body.append(field);
  field.select();
  const copied = document.execCommand('copy');
  field.remove();
  before?.focus();
  return copied;
}
