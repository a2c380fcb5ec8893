// The pages of a static site: has the service worker run the program, says how far that
// is, and until then holds back what only the program can answer.
import { onAnyKey } from './keys.js';
import { at, embedded } from './place.js';
import { saveFiles } from './save.js';

const worker = workers();
let controlled = Boolean(worker?.controller); // a worker answers this page's requests
const lines = {}; // the elements that say how things are, by what they are about
let begun = false; // something on this page would be lost
let runs = false;
let own = null; // the visitor's own model, as the worker has it: where its files are
const held = []; // [form, submitter]: sent as soon as the program runs

const longestChange = 10_000; // ms, after which a page is loaded again even without a new version

const megabytes = (n) => (n / 1e6).toFixed(1);

// workers are the browser's service workers, if it has any for this page.
function workers() {
  try {
    return navigator.serviceWorker;
  } catch {
    return null; // in the frame of a page that has taken this one's origin away
  }
}

// tell shows a sentence about something, with what else belongs to it. Without a text it shows
// nothing about it any more.
function tell(about, text, ...more) {
  if (!text) {
    lines[about]?.remove();
    delete lines[about];
    return;
  }
  let line = lines[about];
  if (!line) {
    line = document.createElement('div');
    line.className = 'tab-line';
    line.append(document.createElement('p'));
    line.firstChild.setAttribute('role', 'status');
    (document.querySelector('header.top') ?? document.querySelector('.skip')).after(line);
    lines[about] = line;
  }
  const [sentence, ...old] = line.children;
  if (sentence.textContent !== text) sentence.textContent = text;
  const same = old.length === more.length && old.every((e, i) => e.textContent === more[i].textContent);
  if (same) return; // a button that is being pressed stays
  for (const element of old) element.remove();
  line.append(...more);
}

function button(label, press) {
  const element = document.createElement('button');
  element.type = 'button';
  element.className = 'btn';
  element.textContent = label;
  element.addEventListener('click', press);
  return element;
}

// say shows how the program is, with a button where something can be tried again.
const say = (text, again = null) => tell('program', text, ...again ? [button('Try again', again)] : []);

// show says what the worker's state means for people.
function show(state) {
  switch (state.phase) {
    case 'loading':
      say(`Loading the model into this page: ${megabytes(state.loaded)} of ${megabytes(state.total)} MB. `
        + 'You can read meanwhile.');
      break;
    case 'starting': say('Starting the model …'); break;
    case 'failed': say(`${state.say} What you see can still be read.`, start); break;
    case 'running': run(state); break;
    default:
  }
}

// run lets everything through that waits for the program. A page that is about its
// visitor, or about its address, is loaded again: the file was the same for everybody.
function run(state) {
  if (runs) return;
  runs = true;
  say(state.keeps ? '' : 'This browser keeps nothing for this site, perhaps because the window is private: '
    + 'your progress is lost when you close it.');
  const made = 'running' in document.documentElement.dataset;
  if (!made && !begun && held.length === 0 && (!state.first || location.search)) {
    location.reload();
    return;
  }
  document.documentElement.dataset.runs = '';
  dispatchEvent(new Event('viz-running'));
  for (const [form, submitter] of held.splice(0)) form.requestSubmit(submitter);
}

const start = () => worker.controller?.postMessage({ viz: 'start' });

// Where the address asks for something, such as a text that a link leads to, the file does
// not show that: there a press changes nothing that is worth keeping, what is typed does.
const begins = () => { begun = true; };
const first = { capture: true, once: true };
addEventListener('input', begins, first);
if (!location.search) {
  addEventListener('pointerdown', begins, first);
  onAnyKey(begins, first);
}

addEventListener('submit', (event) => {
  if (runs || event.target.method === 'dialog') return;
  event.preventDefault();
  event.stopImmediatePropagation();
  held.push([event.target, event.submitter]);
}, { capture: true });

// offer shows that a new version of the site waits until the pages of this one are closed.
function offer({ waiting }) {
  if (!waiting || !controlled) return;
  tell('version', 'A new version is ready.', button('Reload all pages', () => {
    waiting.postMessage({ viz: 'replace' });
  }));
}

// follow looks out for new versions of the site.
function follow(registration) {
  const wait = () => registration.installing?.addEventListener('statechange', () => offer(registration));
  registration.addEventListener('updatefound', wait);
  wait();
  offer(registration);
}

// leave waits for the new version, for which the page is loaded again. A worker that is still
// asked for something is not replaced, so every connection ends here.
function leave() {
  tell('version', 'Changing to the new version …');
  dispatchEvent(new Event('viz-leaving'));
  setTimeout(() => location.reload(), longestChange);
}

// change is called when another worker answers this page's requests: the first one, or one of
// another version, to which this page does not belong.
function change() {
  if (controlled) location.reload();
  else start();
  controlled = true;
}

// refuse says that the program cannot run here, and why. In another site's frame that is mostly
// because of the page around, and the page itself leads out of it (web/shell).
function refuse(text) {
  if (!embedded || parent === window) {
    say(text);
    return;
  }
  document.documentElement.dataset.alone = '';
  const query = new URLSearchParams(location.search);
  query.delete('view');
  for (const link of document.querySelectorAll('.alone a, [data-whole]')) link.search = query;
}

async function begin() {
  if (typeof WebAssembly !== 'object' || !worker) {
    refuse('The model cannot run here: this browser, or this kind of window, does not let a page run programs of '
      + `its own${isSecureContext ? '' : ' unless its address begins with https'}. Everything can still be read.`);
    return;
  }
  worker.addEventListener('message', ({ data, ports }) => {
    if (data?.viz === 'own?') ports[0].postMessage(own); // of a worker that has just begun
    if (data?.viz === 'leave') leave();
    if (data?.viz === 'reload') location.reload(); // another version answered this page
    if (data?.viz !== 'state') return;
    if (data.phase === 'running') own = data.own;
    show(data);
  });
  worker.addEventListener('controllerchange', change);
  try {
    follow(await worker.register(at('/worker.js')));
    const { active } = await worker.ready;
    if (worker.controller) start();
    else active.postMessage({ viz: 'claim' }); // a page that was reloaded past the worker
  } catch (error) {
    refuse(`The model cannot run here: this browser keeps no files for this page (${error.message}). `
      + 'Everything can still be read.');
  }
}

saveFiles(say);
begin();
