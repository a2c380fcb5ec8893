// The elements of the page that a learner can press, drag or type in. Data attributes of the
// elements define the commands; see web/WIRE.md.
import { fill, pressed, showChat, typed, write, written } from './chat.js';
import { handedOver, handOver } from './stored.js';
import { isolated } from './text.js';
import { t } from './texts.js';

const setEvery = 60; // ms between two values sent while a slider is being dragged
const piecesEvery = 150; // ms between two tokenizations of a prompt that is being typed
const findEvery = 150; // ms between two searches for text that is being typed
const mostSent = 60_000; // maximum bytes of a text that is sent, since a longer message would end the connection
const stages = (document.body.dataset.stages ?? '').split(',');

// Questions do not change the run, so their answers do not clear the errors of commands.
export const questions = new Set(['pieces', 'peek', 'find', 'head', 'inside', 'zoom', 'ping']);

// The commands that lead to another stage. They hide the prompt box, which would cover it.
const changesText = new Set([
  'start', 'chat', 'try', 'open', 'rebuild', 'step', 'draw', 'back', 'token', 'seek', 'reset', 'play', 'choose',
  'branch', 'redraw', 'goon', 'finish',
]);

const byId = (id) => document.getElementById(id);


// fieldsOf returns the names of the fields next to which a command's errors are shown.
const fieldsOf = ({ cmd, n, ...fields } = {}) => Object.keys(fields);

export class Controls {
  #socket;
  #edits = new Map(); // field → { act, timer } of edits that are not settled yet
  #inputs = null; // the server's values
  #place = null; // the stage shown
  #unanswered = new Map(); // field → number of edits that were sent and not answered yet
  #sent = new Map(); // field → the value that was sent last
  #unsent = new Set(); // fields that do not contain a number, and show an error

  #kept = handedOver('viz.loop'); // state handed over by the previous page

  listen(socket) {
    this.#socket = socket;
    if (this.#kept) write(this.#kept.box);
    document.addEventListener('click', (event) => this.#click(event));
    document.addEventListener('input', (event) => this.#input(event.target));
    document.addEventListener('submit', (event) => this.#submit(event));
  }

  // send sends a command. Without a connection, it shows a message instead.
  send(command) {
    if (!this.#socket.send(command)) {
      this.refused(null, { message: t('js.unsent') });
      return false;
    }
    for (const field of fieldsOf(command)) this.#unanswered.set(field, (this.#unanswered.get(field) ?? 0) + 1);
    return true;
  }

  // done records that a command was carried out.
  done(command) {
    this.#answered(command);
    if (command.cmd === 'find') this.#found();
    if (command.cmd === 'pieces') this.#say(fieldsOf(command)[0], '');
    if (questions.has(command.cmd)) return;
    const about = command.cmd === 'rebuild' ? [] : ['general']; // sent by the page, not by the learner
    for (const field of [...about, ...fieldsOf(command)]) if (!this.#unsent.has(field)) this.#say(field, '');
    if (['start', 'chat', 'try', 'open', 'rebuild'].includes(command.cmd)) this.#shutMenus();
    if (changesText.has(command.cmd)) this.#showPrompt(false);
    if (['preset', 'try', 'open', 'rebuild'].includes(command.cmd)) this.#forgetEdits();
    if (command.cmd === 'stop' && command.stop) this.#stopAdded();
  }

  // forgetEdits discards values with an error, so that a preset can replace them.
  #forgetEdits() {
    this.#unsent.clear();
    for (const input of document.querySelectorAll('[data-set]')) this.#say(input.dataset.set, '');
  }

  #shutMenus() {
    for (const menu of document.querySelectorAll('details.menu[open]')) {
      if (menu.contains(document.activeElement)) byId('main')?.focus();
      menu.open = false;
    }
  }

  // refused shows why a command was refused. command is null if the error does not belong to
  // a command.
  refused(command, error) {
    this.#answered(command);
    if (command?.cmd === 'peek') return; // the token has just disappeared
    if (command?.cmd === 'find') {
      this.#toFound = false;
      this.#finds = Math.max(0, this.#finds - 1);
      this.#stale = Math.min(this.#stale, this.#finds);
    }
    const field = command?.cmd === 'find' ? 'find' : error.field;
    if (!this.#unsent.has(field)) this.#say(byId(`err-${field}`) ? field : 'general', error.message);
  }

  // back is called when the connection has been restored. It replaces the message that says
  // that a command was not sent.
  back() {
    if (byId('err-general')?.textContent === t('js.unsent')) {
      this.#say('general', t('js.again'));
    }
  }

  #answered(command) {
    for (const field of fieldsOf(command ?? undefined)) {
      this.#unanswered.set(field, Math.max(0, (this.#unanswered.get(field) ?? 0) - 1));
    }
  }

  #say(field, text) {
    const element = byId(`err-${field}`);
    if (element && element.textContent !== text) element.textContent = text;
    for (const input of document.querySelectorAll(`[data-set="${field}"]`)) {
      if (text) input.setAttribute('aria-invalid', 'true');
      else input.removeAttribute('aria-invalid');
    }
  }

  // lost discards the edits that were in flight when the connection was lost.
  lost() {
    this.#unanswered.clear();
    this.#finds = this.#stale = 0;
  }

  // applyInputs sets the fields to the server's values, except for fields with an edit in flight
  // or an error.
  applyInputs(inputs) {
    this.#inputs = inputs;
    for (const [field, value] of Object.entries(inputs)) {
      if (this.#unsent.has(field) || this.#edits.has(field) || this.#unanswered.get(field) > 0) continue;
      if (byId(`err-${field}`)?.textContent) continue;
      for (const input of document.querySelectorAll(`[data-set="${field}"]`)) {
        if (input.value.trim() === '' || Number(input.value) !== value) input.value = value;
        inWords(input);
      }
    }
  }

  // applyPlace moves the scrubber and the slider of u to the shown stage, and sets their
  // accessible text.
  applyPlace(place) {
    this.#place = place;
    const { cursor, scrub, show, u } = place;
    const slider = byId('scrub');
    if (slider && !this.#busyWith('scrub', 'stage')) {
      slider.disabled = scrub.max < 2;
      slider.min = 1;
      slider.max = Math.max(1, scrub.max);
      slider.value = scrub.value;
      const shown = place.undrawn ? 'sample' : cursor.stage;
      const stage = stages.indexOf(shown) + 1;
      slider.setAttribute('aria-valuetext', t('js.at', { step: cursor.step, stage, name: shown }));
    }
    const box = byId('whatif');
    if (!box) return;
    if (box.hidden === show.whatif) box.hidden = !show.whatif;
    const range = box.querySelector('[data-whatif]');
    if (range && show.whatif && !this.#busyWith('whatif', 'u')) range.value = u;
  }

  // busyWith reports whether an edit of a field has not been sent or answered yet.
  #busyWith(key, field) { return this.#edits.has(key) || this.#unanswered.get(field) > 0; }

  // showStarted shows the prompt box once if there is no text yet.
  showStarted(started) {
    document.querySelector('.app')?.classList.toggle('is-blank', !started);
    if (started === this.started) return;
    this.started = started;
    const kept = this.#kept;
    this.#kept = null;
    if (started) return;
    this.#showPrompt(true);
    if (kept) this.#setAsBefore(kept.inputs);
  }

  // The prompt and settings from before the first run survive the switch between the views, which
  // reloads the page. This includes edits that the server has not answered yet.
  #keep() {
    for (const { act } of this.#edits.values()) act?.();
    const inputs = { ...this.#inputs };
    for (const [field, value] of this.#sent) if (this.#unanswered.get(field) > 0) inputs[field] = value;
    handOver('viz.loop', { box: written(), inputs });
  }

  #setAsBefore(inputs) {
    for (const [field, value] of Object.entries(inputs)) if (value !== this.#inputs[field]) this.#set(field, value);
    this.#cut();
  }

  #set(field, value) {
    this.#sent.set(field, value);
    this.send(field === 'max_tokens' ? { cmd: 'stop', max_tokens: value } : { cmd: 'set', [field]: value });
  }

  #showPrompt(shown) {
    const box = byId('prompt-box');
    if (!box || box.hidden === !shown) return;
    const inside = box.contains(document.activeElement);
    box.hidden = !shown;
    if (inside) byId('main')?.focus();
  }

  #click(event) {
    const button = event.target.closest('button, a, [data-cmd]');
    if (!button || button.getAttribute('aria-disabled') === 'true') return;
    const { cmd, prompt, chat, toggle, stopRemove, stopAdd } = button.dataset;
    if (chat) {
      fill(JSON.parse(chat));
      showChat(true);
    }
    if (cmd) this.send(JSON.parse(cmd));
    else if (prompt !== undefined) {
      byId('prompt').value = prompt;
      showChat(false);
      this.#start();
    } else if (toggle) this.#toggle(byId(toggle), chat);
    else if (chat) this.#start();
    else if (pressed(button)) this.#cut();
    else if (stopRemove !== undefined) this.#setStops(stops().filter((_, i) => i !== Number(stopRemove)));
    else if (stopAdd !== undefined) this.#setStops([...stops(), stopAdd]);
    else if ('reroll' in button.dataset) this.send({ cmd: 'set', seed: anySeed() });
    else if ('redraw' in button.dataset) this.send({ cmd: 'redraw', seed: anySeed() });
  }

  // toggle shows or hides the prompt box. With a chat, the box is always shown.
  #toggle(box, chat) {
    box.hidden = !box.hidden && !chat;
    if (box.hidden) return;
    const fields = [...box.querySelectorAll('textarea, input')].filter((field) => field.checkVisibility());
    ((chat ? fields.at(-1) : fields[0]) ?? box).focus();
    if (chat) this.#cut();
  }

  // cut requests the tokens of the text that is being typed.
  #cut() {
    this.#throttle('pieces', piecesEvery, () => {
      const fields = typed();
      if (this.#fits(fields)) this.#socket.send({ cmd: 'pieces', ...fields });
    });
  }

  #fits(fields) {
    const bytes = new TextEncoder().encode(JSON.stringify(fields)).length;
    if (bytes <= mostSent) return true;
    const letters = [...JSON.stringify(Object.values(fields)[0])].length.toLocaleString('en');
    this.#say(Object.keys(fields)[0], t('js.long', { n: letters }));
    return false;
  }

  #submit(event) {
    const form = event.target;
    if (form.matches('[data-view-form]')) this.#keep();
    if (form.method === 'dialog' || form.matches('[data-view-form]')) return;
    event.preventDefault();
    if (form.id === 'prompt-form') this.#start();
    else if (form.id === 'find-form') {
      this.#drop('find');
      this.#toFound = true;
      this.#find(form.querySelector('[data-find]').value);
    }
    else if (form.matches('[data-stop-form]')) {
      this.#adding = form.querySelector('[data-stop-input]');
      this.#setStops([...stops(), unescaped(this.#adding.value)]);
    }
  }

  #adding = null; // the field whose stop string is in flight

  #setStops(list) { this.send({ cmd: 'stop', stop: list }); }

  #stopAdded() {
    if (this.#adding) this.#adding.value = '';
    this.#adding = null;
  }

  #start() {
    const fields = typed();
    this.#edits.get('pieces')?.act?.(); // send a waiting request immediately
    this.#drop('pieces');
    if (this.#fits(fields)) this.send({ cmd: 'messages' in fields ? 'chat' : 'start', ...fields });
  }

  #input(target) {
    if (target.matches('#prompt, #messages *')) {
      this.#cut();
      return;
    }
    if (target.matches('[data-find]')) {
      this.#throttle('find', findEvery, () => this.#find(target.value));
      return;
    }
    if (target.matches('[data-scrub]')) {
      this.#throttle('scrub', setEvery, () => this.#seek(Number(target.value)));
      return;
    }
    if (target.matches('[data-whatif]')) {
      this.#throttle('whatif', setEvery, () => this.send({ cmd: 'whatif', u: Number(target.value) }));
      return;
    }
    const field = target.dataset?.set;
    if (!field) return;
    inWords(target);
    const text = target.value.trim();
    const value = Number(text);
    if (text === '' || !Number.isFinite(value)) {
      this.#drop(field);
      this.#unsent.add(field);
      this.#say(field, text === '' ? t('js.missing') : t('js.number', { text: isolated(text) }));
      return;
    }
    this.#unsent.delete(field);
    for (const twin of document.querySelectorAll(`[data-set="${field}"]`)) if (twin !== target) twin.value = value;
    this.#throttle(field, setEvery, () => this.#set(field, value));
  }

  // seek shows the stage with the given number, counted from 1 through all steps.
  #seek(number) {
    const at = number - 1;
    this.send({ cmd: 'seek', step: 1 + Math.floor(at / stages.length), stage: stages[at % stages.length] });
  }

  #toFound = false; // focus the first token when the answer arrives
  #finds = 0; // number of searches that were sent and not answered
  #stale = 0; // number of searches for a step that is no longer shown

  #found() {
    this.#say('find', '');
    this.#finds = Math.max(0, this.#finds - 1);
    if (this.#stale > 0) {
      this.#stale--;
      queueMicrotask(() => byId('found')?.replaceChildren());
      return;
    }
    if (!this.#toFound) return;
    this.#toFound = false;
    queueMicrotask(() => document.querySelector('#found [data-cmd]')?.focus()); // after the panel is shown
  }

  // forget clears the results for a step that is no longer shown.
  forget() {
    this.#drop('find');
    this.#stale = this.#finds;
    byId('found')?.replaceChildren();
    this.#say('find', '');
    const field = document.querySelector('[data-find]');
    if (field && field !== document.activeElement) field.value = '';
  }

  // find searches the tokens of the step that the peek line describes.
  #find(text) {
    const step = Number(byId('peek')?.dataset.step || this.step);
    if (this.send({ cmd: 'find', step, text })) this.#finds++;
  }

  // throttle calls act immediately. If it is called again during the pause that follows, it calls
  // the last act after the pause.
  #throttle(key, pause, act) {
    const waiting = this.#edits.get(key);
    if (waiting) {
      waiting.act = act;
      return;
    }
    act();
    const entry = { act: null, timer: 0 };
    const over = () => {
      if (!entry.act) {
        this.#edits.delete(key);
        if (this.#inputs) this.applyInputs(this.#inputs); // including values that arrived in the meantime
        if (this.#place) this.applyPlace(this.#place);
        return;
      }
      const last = entry.act;
      entry.act = null;
      entry.timer = setTimeout(over, pause);
      last();
    };
    entry.timer = setTimeout(over, pause);
    this.#edits.set(key, entry);
  }

  #drop(key) {
    clearTimeout(this.#edits.get(key)?.timer);
    this.#edits.delete(key);
  }
}

// inWords describes a slider's value with words from its data-words attribute, in which each word
// follows the highest value that it applies to, as in "0 never|1 always".
function inWords(slider) {
  const list = slider.dataset.words?.split('|').map((part) => [parseFloat(part), part.slice(part.indexOf(' ') + 1)]);
  if (!list) return;
  const [, words] = list.find(([upTo]) => Number(slider.value) <= upTo) ?? list.at(-1);
  slider.setAttribute('aria-valuetext', words);
}

const anySeed = () => 1 + Math.floor(Math.random() * 999_999);

const stops = () => JSON.parse(byId('stops')?.dataset.stops || '[]') ?? [];

// unescaped converts \n and \t, typed as two characters each, to a newline and a tab, and \\ to a
// backslash.
const unescaped = (text) => text.replace(/\\([nt\\])/g, (_, c) => ({ n: '\n', t: '\t', '\\': '\\' })[c]);
