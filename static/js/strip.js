// The text as a list of buttons: the arrow keys move along it, and the line below it describes
// the token under the pointer, the finger or the focus. At the end of a run in Numbers, the text
// is shown a second time as prose.
import { onKey } from './keys.js';

const peekAfter = 80; // ms for which the pointer must stay on a token before the token's line is requested

const list = () => document.getElementById('strip-gen');
const line = () => document.getElementById('peek');
const tokenOf = (target) => target.closest?.('#strip-gen > [data-step], #reading [data-step]');
const isRead = (token) => token.closest('#reading') !== null;

export class Strip {
  #socket;
  #waiting = 0; // timer for the next question
  #asked = ''; // step of the last question
  #enter = false; // move to the alternatives when the answer arrives
  #tapped = false; // whether the current click is a finger's first tap on a token

  listen(socket) {
    this.#socket = socket;
    document.addEventListener('pointerover', (event) => {
      const token = tokenOf(event.target);
      if (token && event.pointerType === 'mouse') this.#later(token);
      else clearTimeout(this.#waiting);
    });
    document.addEventListener('focusin', (event) => {
      const token = tokenOf(event.target);
      if (!token) return;
      this.#rove(token);
      if (!this.#tapped) this.#later(token);
    });
    document.addEventListener('pointerdown', (event) => {
      const touch = event.pointerType === 'touch';
      document.documentElement.classList.toggle('is-touch', touch);
      const token = tokenOf(event.target);
      this.#tapped = touch && token !== null && token !== undefined && !token.classList.contains('is-picked');
    });
    // This listener runs before the click triggers the token's own command.
    document.addEventListener('click', (event) => this.#click(event), true);
    onKey(document, (key, { target }) => this.#key(key, target));
  }

  #click(event) {
    const token = tokenOf(event.target);
    if (!token || !this.#tapped) return;
    event.stopImmediatePropagation();
    event.preventDefault();
    this.#tapped = false;
    this.#pick(token);
    this.#ask(token);
  }

  #pick(token) {
    for (const other of document.querySelectorAll('.is-picked')) other.classList.remove('is-picked');
    token?.classList.add('is-picked');
  }

  #later(token) {
    clearTimeout(this.#waiting);
    this.#waiting = setTimeout(() => this.#ask(token), peekAfter);
  }

  // ask requests a token's description from the server. Without a connection, only the token's
  // own text is available.
  #ask(token) {
    clearTimeout(this.#waiting);
    if (isRead(token)) {
      document.getElementById('reading-say').textContent = token.dataset.peek;
      return;
    }
    this.#asked = token.dataset.step;
    if (line().dataset.step === this.#asked) this.answered();
    else if (!this.#socket.send({ cmd: 'peek', step: Number(this.#asked) })) line().replaceChildren(token.dataset.peek);
  }

  // answered moves the focus into the line if the learner is waiting for it.
  answered() {
    if (!this.#enter || line().dataset.step !== this.#asked) return;
    this.#enter = false;
    line().querySelector('button')?.focus();
  }

  // follow makes the focused token, if any, the only one in the Tab order.
  follow() {
    const focused = tokenOf(document.activeElement ?? document.body);
    if (focused) this.#rove(focused);
  }

  #rove(token) {
    for (const other of token.parentElement.children) if (other !== token && other.tabIndex === 0) other.tabIndex = -1;
    if (token.tabIndex !== 0) token.tabIndex = 0;
  }

  #key(key, target) {
    const token = tokenOf(target);
    return token ? this.#keyOnToken(key, token) : this.#keyOnLine(key, target);
  }

  #keyOnToken(key, token) {
    const to = {
      ArrowLeft: token.previousElementSibling, ArrowRight: token.nextElementSibling,
      Home: token.parentElement.firstElementChild, End: token.parentElement.lastElementChild,
    };
    if (key in to) to[key]?.focus();
    else if (key === 'ArrowDown' && !isRead(token)) {
      this.#enter = true;
      this.#ask(token);
    } else if ((key === 'Enter' || key === ' ') && !token.matches('button')) token.click();
    else if (key === 'Escape') token.blur();
    else return false;
    return true;
  }

  #keyOnLine(key, target) {
    if (!target.matches?.('#peek button')) return false;
    const buttons = [...line().querySelectorAll('button')];
    const at = buttons.indexOf(target);
    if (key === 'ArrowRight' || key === 'ArrowLeft') buttons[at + (key === 'ArrowRight' ? 1 : -1)]?.focus();
    else if (key === 'ArrowUp' || key === 'Escape') this.#back(target);
    else return false;
    return true;
  }

  // back moves the focus from the line to the line's token. If the token does not exist, it removes
  // the focus.
  #back(target) {
    const token = list().querySelector(`[data-step="${CSS.escape(line().dataset.step ?? '')}"]`);
    if (token) token.focus();
    else target.blur();
  }
}
