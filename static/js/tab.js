// The pages of a static site. This script starts the program in a service worker, shows its
// progress, and holds back requests to the program until it runs.
import { onAnyKey } from './keys.js';
import { at, embedded } from './place.js';
import { saveFiles } from './save.js';
import { t } from './texts.js';

const worker = workers();
let controlled = Boolean(worker?.controller); // whether a worker answers this page's requests
const lines = {}; // the elements that show states, by topic
let begun = false; // whether the visitor has begun something that a reload would lose
let runs = false;
let own = null; // the visitor's own model as the worker described it, together with the location of its files
const held = []; // [form, submitter]: to be submitted as soon as the program runs

const longestChange = 10_000; // ms after which a page is reloaded even if no new version has arrived

const megabytes = (n) => (n / 1e6).toFixed(1);

// workers returns the browser's service workers, if it has any for this page.
function workers() {
  try {
    return navigator.serviceWorker;
  } catch {
    return null; // this page is in a frame that has no origin because of a sandbox
  }
}

// tell shows a sentence about a topic, followed by more elements. Without a text, it removes the
// topic's line.
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
  if (same) return; // do not replace a button while it is being pressed
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

// say shows the state of the program, with a button if something can be retried.
const say = (text, again = null) => tell('program', text, ...again ? [button(t('js.tab.again'), again)] : []);

// show shows the worker's state in words for visitors.
function show(state) {
  switch (state.phase) {
    case 'loading':
      say(t('js.tab.loading', { loaded: megabytes(state.loaded), total: megabytes(state.total) }));
      break;
    case 'starting': say(t('js.tab.starting')); break;
    case 'failed': say(t('js.tab.failed', { why: state.say }), start); break;
    case 'running': run(state); break;
    default:
  }
}

// run sends everything that was held back until the program was running. A page that depends
// on its visitor or on its address is reloaded, since the static file was the same for
// everyone.
function run(state) {
  if (runs) return;
  runs = true;
  say(state.keeps ? '' : t('js.tab.private'));
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

// If the address requests something, such as a text that a link contains, the static file does not
// show it. Such a page is reloaded even after a press, since presses are not lost, but not after
// typing, since typed text would be lost.
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

// offer tells the visitor that a new version of the site is waiting until the pages of the old
// version are closed.
function offer({ waiting }) {
  if (!waiting || !controlled) return;
  tell('version', t('js.tab.ready'), button(t('js.tab.reload'), () => {
    waiting.postMessage({ viz: 'replace' });
  }));
}

// follow watches for new versions of the site.
function follow(registration) {
  const wait = () => registration.installing?.addEventListener('statechange', () => offer(registration));
  registration.addEventListener('updatefound', wait);
  wait();
  offer(registration);
}

// leave waits for the new version, after which the page is reloaded. It ends every connection,
// since a worker with open requests is not replaced.
function leave() {
  tell('version', t('js.tab.changing'));
  dispatchEvent(new Event('viz-leaving'));
  setTimeout(() => location.reload(), longestChange);
}

// change is called when another worker begins to answer this page's requests. The new worker is
// either the first one or a worker of another version, to which this page does not belong.
function change() {
  if (controlled) location.reload();
  else start();
  controlled = true;
}

// refuse explains that the program cannot run here. In another site's frame, the cause is usually
// the surrounding page, and this page has a link out of the frame (web/shell).
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
    refuse(t(isSecureContext ? 'js.tab.forbidden' : 'js.tab.insecure'));
    return;
  }
  worker.addEventListener('message', ({ data, ports }) => {
    if (data?.viz === 'own?') ports[0].postMessage(own); // requested by a worker that has just started
    if (data?.viz === 'leave') leave();
    if (data?.viz === 'reload') location.reload(); // another version has answered a request from this page
    if (data?.viz !== 'state') return;
    if (data.phase === 'running') own = data.own;
    show(data);
  });
  worker.addEventListener('controllerchange', change);
  try {
    follow(await worker.register(at('/worker.js')));
    const { active } = await worker.ready;
    if (worker.controller) start();
    else active.postMessage({ viz: 'claim' }); // this page's reload bypassed the worker
  } catch (error) {
    refuse(t('js.tab.files', { why: error.message }));
  }
}

saveFiles(say);
begin();
