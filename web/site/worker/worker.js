// The service worker of a static site. It keeps the site's files, runs the program, and
// lets it answer every request of a page for which there is no file: links with a
// question, forms, what scripts fetch. Before this file stands what the site has:
//
//   site = {version, public, exec, kept, adds, program: {path, bytes}, memory: {path, bytes},
//           weights: {path, bytes}, state, draft: {name, files: [{name, path, bytes}]}, files: {path: true},
//           pages: {path: file}}
//
// where program, memory, weights and state are an image of the program (web/site/image). Paths are
// relative to this file; bytes is the size of the compressed file, whose path without its ending
// .gz is the file as it was, of size bytes. A new version of the site waits until no page of the
// old one is open, or until somebody presses a button on one (tab.js). All pages are then loaded
// again: a page of one version never works with the program or files of another.
importScripts(site.exec, site.kept, site.adds);

const base = new URL('./', location.href);
const cacheName = `viz ${base.pathname} ${site.version}`;
const life = `viz ${crypto.randomUUID()}`; // a lock that is held as long as this worker lives
const ports = new Set();
let state = { phase: 'idle' };
let starting = null; // the promise of the program
const sent = new Set(); // ids of the pages that this worker has answered
let replaced = false; // another version, which may have answered the pages that are open
let own = null; // the visitor's own model, if it writes: {folder, files: [{name, file}]}

navigator.locks?.request(life, () => new Promise(() => {}));

self.addEventListener('install', (event) => event.waitUntil((async () => {
  if (!self.registration.active) await self.skipWaiting(); // the first of all
})()));

self.addEventListener('activate', (event) => event.waitUntil((async () => {
  for (const name of await caches.keys()) {
    if (!name.startsWith(`viz ${base.pathname} `) || name === cacheName) continue;
    replaced = true;
    await caches.delete(name);
  }
  await self.clients.claim();
})()));

// Telling pages ------------------------------------------------------------------

async function tell(next) {
  state = next;
  for (const client of await self.clients.matchAll()) client.postMessage({ viz: 'state', ...state, own });
}

self.addEventListener('message', (event) => {
  const { data } = event;
  if (data?.viz === 'claim') {
    sent.add(event.source.id); // it comes from the host
    event.waitUntil(self.clients.claim());
  }
  if (data?.viz === 'replace') event.waitUntil(replace());
  if (data?.viz === 'start' && replaced && !sent.has(event.source.id)) {
    event.source.postMessage({ viz: 'reload' });
  } else if (data?.viz === 'start') {
    event.source.postMessage({ viz: 'state', ...state, own });
    event.waitUntil(start().catch(() => {})); // the pages have been told
  }
  if (data?.viz === 'connect') event.waitUntil(connect(event.ports[0], data, event.source));
  if (data?.viz === 'open') event.waitUntil(change(event.ports[0], data));
  if (data?.viz === 'back') event.waitUntil(change(event.ports[0], null));
});

// replace has this worker take the place of another one, once no page asks that for anything.
async function replace() {
  for (const client of await self.clients.matchAll({ includeUncontrolled: true })) {
    if (client.url.startsWith(base.href)) client.postMessage({ viz: 'leave' });
  }
  await self.skipWaiting();
}

async function connect(port, { query, protocol }, page) {
  try {
    const program = await start();
    // A page may have been left or loaded again meanwhile. Its run would begin again, empty.
    if (!await self.clients.get(page.id)) return;
    ports.add(port);
    port.postMessage({ life }); // before the program's first message, which the page answers
    program.connect(port, query, protocol);
  } catch {
    port.postMessage({ code: 1012, reason: 'the program does not run' });
  }
}

// A visitor's own model -----------------------------------------------------------

const none = () => {};

// change makes a visitor's own model the one that writes or, if to is null, the site's
// again. It posts {read} to the port as the files are read, then {name}, or {say, why} if
// the model stays as it was.
async function change(port, to) {
  port.postMessage(await switchModel(to, (read) => port.postMessage({ read })));
}

async function switchModel(to, onRead) {
  try {
    const program = await start();
    const gone = program.gone.then(() => { // most likely for want of memory
      throw new Error('this browser has not enough memory for it. The site’s own model starts again');
    });
    const answer = await Promise.race([to ? program.open(to.folder, to.files, onRead) : program.back(), gone]);
    if (answer.say) return answer;
    own = to && { folder: to.folder, files: to.files };
    await tell(state);
    return answer;
  } catch (error) {
    return { say: `This model can’t be opened: ${error.message}.`, why: [] };
  }
}

// hadBefore is the model that the pages had in a worker before this one: a browser ends
// workers of pages that nobody looks at, and pages know where the files are.
let before = null; // its promise
function hadBefore() {
  before ??= askPages();
  return before;
}

async function askPages() {
  const asked = (await self.clients.matchAll()).map((client) => new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => resolve(data);
    client.postMessage({ viz: 'own?' }, [port2]);
  }));
  const late = new Promise((resolve) => { setTimeout(resolve, 300, []); }); // a page that is being loaded says nothing
  return (await Promise.race([Promise.all(asked), late])).find(Boolean) ?? null;
}

// Files --------------------------------------------------------------------------

const pathOf = (url) => decodeURI(url.pathname.slice(base.pathname.length));

// A Missing is a file that could not be downloaded.
class Missing extends Error {}

// plain is an answer without the way that it took. Many hosts lead from index.html to its
// folder, and browsers show no page of a worker's that was led elsewhere.
const plain = (answer) => (answer.redirected ? new Response(answer.body, answer) : answer);

// fileOf returns a file of the site from the cache, or from the host and then keeps it. The host
// may let browsers keep for some minutes what has no version in its name, and a page's request has:
// without a request the host is asked whether the browser's copy is of this version of the site.
async function fileOf(path, request) {
  const url = new URL(path, base);
  const cache = await caches.open(cacheName);
  const kept = await cache.match(url, { ignoreSearch: true });
  if (kept) return kept;
  const answer = plain(await fetch(request ?? url, request ? {} : { cache: 'no-cache' }));
  if (answer.ok && answer.status === 200) await cache.put(url, answer.clone()).catch(() => {}); // storage may be full
  return answer;
}

// download returns the bytes of a compressed file.
const download = async (file, ...how) => new Uint8Array(await (await answerOf(file, ...how)).arrayBuffer());

const wrong = new Set(); // paths of files for which something else arrived

// answerOf returns an answer with the bytes of a compressed file. Hosts may have unpacked it
// on the way. The bytes are kept unpacked. The signal ends the download. from, where given, is
// where the bytes come from instead, and size how many they then are.
async function answerOf({ path, bytes, size }, count, signal = null, from = null) {
  const url = new URL(path, base);
  const cache = await caches.open(cacheName);
  const kept = await cache.match(url);
  if (kept) {
    count(bytes);
    return kept;
  }
  let got = 0; // of the compressed bytes; a host's own compression hides how many it sends
  try {
    const address = await from?.();
    // A name is never used for other bytes, unless the browser has kept what was not meant by it.
    const answer = await fetch(address ?? url, { cache: wrong.has(path) ? 'reload' : 'force-cache', signal });
    if (!answer.ok) throw new Error(`the host answered ${answer.status}`);
    const share = address ? bytes / size : 1;
    const parts = [];
    for (const reader = answer.body.getReader(); ;) {
      const { done: over, value } = await reader.read();
      if (over) break;
      parts.push(value);
      const now = Math.min(got + value.length * share, bytes);
      count(now - got);
      got = now;
    }
    const packed = new Blob(parts);
    const [a, b] = new Uint8Array(await packed.slice(0, 2).arrayBuffer());
    const zipped = a === 0x1f && b === 0x8b;
    const whole = zipped ? packed.stream().pipeThrough(new DecompressionStream('gzip')) : packed.stream();
    const data = await new Response(whole).blob();
    // A host may send something else, and no error, for a file that a new version has no more.
    if (data.size !== size) {
      wrong.add(path);
      throw new Error('the host sent something else in its place');
    }
    const type = path.includes('.wasm') ? 'application/wasm' : 'application/octet-stream';
    const unpacked = () => new Response(data, { headers: { 'Content-Type': type } });
    await cache.put(url, unpacked()).catch(() => {}); // storage may be full
    return unpacked();
  } catch (error) {
    const mb = (n) => (n / 1e6).toFixed(1);
    throw new Missing(`${mb(got)} of the ${mb(bytes)} MB of ${path} have arrived, and then the `
      + `download broke off (${error.message}). What arrived whole is kept.`);
  }
}

// The program --------------------------------------------------------------------

// whole is the program as a host that compresses files itself sends it.
const whole = new URL(site.program.path.replace(/\.gz$/, ''), base);

const isProgram = (answer) => answer.ok && answer.headers.get('Content-Type') === 'application/wasm';

// compressing returns whole where the host compresses it, and otherwise null. Browsers keep
// the machine code that they make of a program only for an answer in the network's own cache.
const compressing = () => fetch(whole, { method: 'HEAD', cache: 'force-cache' }).then(
  (answer) => (isProgram(answer) && answer.headers.get('Content-Encoding') ? whole : null),
  () => null,
);

// instantiate makes an instance of the program, from the network's cache where it lies there:
// then with the machine code of earlier visits.
async function instantiate(wasm, imports) {
  try {
    const near = await fetch(whole, { cache: 'only-if-cached', mode: 'same-origin' });
    if (isProgram(near)) return (await WebAssembly.instantiateStreaming(near, imports)).instance;
  } catch {
    // It is not there, or not all of it.
  }
  const bytes = await wasm.arrayBuffer();
  const { instance } = await WebAssembly.instantiate(bytes, imports);
  free(bytes);
  return instance;
}

// start returns the running program, and starts it if it does not run.
function start() {
  starting ??= boot().catch(async (error) => {
    starting = null;
    const say = error instanceof Missing ? error.message : `The program could not be started: ${error.message}.`;
    await tell({ phase: 'failed', say });
    throw error;
  });
  return starting;
}

async function boot() {
  const total = site.program.bytes + site.memory.bytes + site.weights.bytes;
  let loaded = 0;
  let told = 0;
  const count = (n) => {
    loaded += n;
    if (Date.now() - told < 200 && loaded < total) return;
    told = Date.now();
    tell({ phase: 'loading', loaded, total });
  };
  const had = hadBefore();
  // A download that went on after another has failed would be joined by the next attempt's
  // request for the same file, and could break off in the middle of that.
  const rest = new AbortController();
  const downloads = [answerOf(site.program, count, rest.signal, compressing), memoryOf(count, rest.signal)];
  const [wasm, memory] = await Promise.all(downloads).catch(async (error) => {
    rest.abort();
    await Promise.allSettled(downloads);
    throw error;
  });
  await tell({ phase: 'starting' });
  const program = await run(wasm, memory);
  own = await had;
  before = Promise.resolve(null); // a program that ends by a fault begins again without it
  if (own) {
    const said = await program.open(own.folder, own.files, none).catch(({ message }) => ({ say: message }));
    if (said.say) own = null; // the files have changed, or are gone
  }
  await tell({ phase: 'running', first: program.first, keeps: program.keeps });
  keepFiles();
  return program;
}

// memoryOf returns an answer with the program's memory. It is kept with the weights in it.
async function memoryOf(count, signal) {
  const cache = await caches.open(cacheName);
  const whole = new URL(`${site.memory.path}?weights`, base);
  const kept = await cache.match(whole);
  if (kept) {
    count(site.memory.bytes + site.weights.bytes);
    return kept;
  }
  const files = [site.memory, site.weights];
  const [memory, weights] = await Promise.all(files.map((file) => download(file, count, signal)));
  addWeights(memory, weights, site.state.matrices);
  const answer = () => new Response(memory, { headers: { 'Content-Type': 'application/octet-stream' } });
  try {
    await cache.put(whole, answer());
    for (const { path } of files) await cache.delete(new URL(path, base));
  } catch {
    // Storage may be full.
  }
  return answer();
}

// modelOf returns a model with its files.
const modelOf = async ({ name, files }, count) => ({
  name,
  files: await Promise.all(files.map(async (file) => ({ name: file.name, bytes: await download(file, count) }))),
});

// draft is modelOf for the model that drafts, which few pages need; {say} says why not.
const draft = () => modelOf(site.draft, () => {}).catch((error) => ({ say: error.message }));

// fill copies the bytes of an answer to where the parts of the memory belong.
async function fill(memory, answer) {
  const all = new Uint8Array(memory.buffer);
  const bytes = await answer.arrayBuffer();
  let from = 0;
  for (const { at, size } of site.state.parts) {
    all.set(new Uint8Array(bytes, from, size), at);
    from += size;
  }
  free(bytes);
}

// free frees bytes at once, which the garbage collector would do later.
const free = (bytes) => bytes.transfer?.(0);

// hand gives the running program what it held when its image was taken, and then the visitor's viz.
// The properties are defined in wasm_exec.js of the same version of Go.
function hand(go) {
  const { values, prepared, timeout } = site.state;
  values.forEach(({ count = 0, path, function: made }, i) => {
    const id = firstHeld + i;
    let value = {};
    if (count === 0) value = null;
    else if (made) value = go._makeFuncWrapper(made);
    else if (path) value = path.reduce((of, name) => of[name], self);
    go._values[id] = value;
    go._goRefCounts[id] = count;
    if (count > 0) go._ids.set(value, id);
    else go._idPool.push(id);
  });
  go._nextCallbackTimeoutID = timeout;
  go._values[prepared](self.viz);
}

const firstHeld = 7; // wasm_exec.js has as many values that every program holds

async function run(wasm, memory) {
  const table = await openKept(base.pathname).catch(nothingKept);
  let secret = await table.value('secret');
  if (!secret) {
    secret = crypto.getRandomValues(new Uint8Array(32));
    await table.setValue('secret', secret).catch(() => {}); // without space for it, somebody new next time
  }
  const cookies = await table.value('cookies') ?? '';
  const go = new Go();
  const instance = await instantiate(wasm, go.importObject);
  await fill(instance.exports.mem, memory);
  return new Promise((resolve, reject) => {
    let end;
    const gone = new Promise((ended) => { end = ended; });
    self.viz = {
      draft, table, secret, cookies, host: base.host, path: base.pathname, public: site.public,
      keepCookies: (text) => { table.setValue('cookies', text).catch(() => {}); },
      ready: (program) => {
        resolve({ ...program, keeps: table.keeps, gone });
      },
      failed: (say) => reject(new Error(say)),
    };
    go.run(instance).finally(() => { // it ends by a fault alone
      starting = null;
      own = null;
      state = { phase: 'idle' };
      end();
      reject(new Error('it stopped'));
      for (const port of ports) port.postMessage({ code: 1012, reason: 'the program has stopped' });
      ports.clear();
    });
    hand(go);
  });
}

// keepFiles downloads the rest of the site, so that it works without a network. It asks once
// what there is: hundreds of single questions would take their time from the first token.
let keeping = null;
function keepFiles() {
  keeping ??= (async () => {
    const cache = await caches.open(cacheName);
    const kept = new Set((await cache.keys()).map(({ url }) => url));
    const lacking = (path) => !kept.has(new URL(path, base).href);
    const pages = Object.values(site.pages).filter((path) => !path.startsWith('embed/')); // others' pages need one
    for (const path of [...pages, ...Object.keys(site.files)].filter(lacking)) await fileOf(path);
    for (const file of site.draft.files.filter(({ path }) => lacking(path))) await download(file, () => {});
  })().catch(() => { keeping = null; }); // another page will try again
  return keeping;
}

// Requests -----------------------------------------------------------------------

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== base.origin || !url.pathname.startsWith(base.pathname)) return;
  const path = pathOf(url);
  if (event.resultingClientId) sent.add(event.resultingClientId);
  else if (request.mode === 'navigate') replaced = false; // an older browser: nothing is known of its pages
  event.respondWith(site.files[path] ? fileOf(path, request) : answer(request, url, path));
});

// lacksSlash says that a page's path lacks the slash from which its relative links count: a
// host leads such a visit to the folder, and so does the worker.
const lacksSlash = (path) => /(^|\/)[^./]+$/.test(path);

// answer lets the program answer. A page does not wait for a program that does not run:
// it is shown as the site has it, and tab.js does the rest.
async function answer(request, url, path) {
  const visit = request.mode === 'navigate' && request.method === 'GET';
  if (visit && lacksSlash(path)) return Response.redirect(`${url.origin}${url.pathname}/${url.search}`, 301);
  const file = site.pages[path] ?? site.pages[`${path}/`];
  if (visit && state.phase !== 'running' && file) {
    await hadBefore(); // the page that is left still knows it
    return fileOf(file);
  }
  try {
    const program = await start();
    const body = request.method === 'POST' ? new Uint8Array(await request.arrayBuffer()) : null;
    const asked = url.href.slice(base.href.length).split('#')[0];
    const said = await program.ask(request.method, asked, [...request.headers], body);
    const to = said.headers.find(([name]) => name === 'Location');
    if (to && said.status < 400) return Response.redirect(new URL(to[1], request.url), said.status);
    const empty = said.status === 204 || said.status === 304;
    return new Response(empty ? null : said.body, { status: said.status, headers: said.headers });
  } catch (error) {
    if (file) return fileOf(file);
    return new Response(`${error.message}\n`, {
      status: 503, headers: { 'Content-Type': 'text/plain; charset=utf-8' },
    });
  }
}
