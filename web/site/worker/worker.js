// The service worker of a static site. It caches the site's files, runs the program, and passes it
// every request from a page for which there is no file: links with a query, forms, and requests
// from scripts. The site's description precedes this file:
//
//   site = {version, public, exec, kept, adds, program: {path, bytes}, memory: {path, bytes},
//           weights: {path, bytes}, state, draft: {name, files: [{name, path, bytes}]}, files: {path: true},
//           pages: {path: file}}
//
// where program, memory, weights and state are an image of the program (web/site/image). Paths are
// relative to this file; bytes is the size of the compressed file, and size is the size of the
// original file, whose path is the same without .gz. A new version of the site waits until no page
// of the old version is open, or until a visitor presses a button on one of its pages (tab.js). All
// pages are then reloaded, so a page of one version never works with the program or files of
// another.
importScripts(site.exec, site.kept, site.adds);

const base = new URL('./', location.href);
const cacheName = `viz ${base.pathname} ${site.version}`;
const life = `viz ${crypto.randomUUID()}`; // a lock that is held as long as this worker lives
const ports = new Set();
let state = { phase: 'idle' };
let starting = null; // a promise of the program
const sent = new Set(); // ids of the pages that this worker has served
let replaced = false; // whether this worker replaced another version, which may have served the open pages
let own = null; // the visitor's own model, if it is in use: {folder, files: [{name, file}]}

navigator.locks?.request(life, () => new Promise(() => {}));

self.addEventListener('install', (event) => event.waitUntil((async () => {
  if (!self.registration.active) await self.skipWaiting(); // the site's first worker
})()));

self.addEventListener('activate', (event) => event.waitUntil((async () => {
  for (const name of await caches.keys()) {
    if (!name.startsWith(`viz ${base.pathname} `) || name === cacheName) continue;
    replaced = true;
    await caches.delete(name);
  }
  await self.clients.claim();
})()));

// Messages to pages --------------------------------------------------------------

async function tell(next) {
  state = next;
  for (const client of await self.clients.matchAll()) client.postMessage({ viz: 'state', ...state, own });
}

self.addEventListener('message', (event) => {
  const { data } = event;
  if (data?.viz === 'claim') {
    sent.add(event.source.id); // the host sent this page
    event.waitUntil(self.clients.claim());
  }
  if (data?.viz === 'replace') event.waitUntil(replace());
  if (data?.viz === 'start' && replaced && !sent.has(event.source.id)) {
    event.source.postMessage({ viz: 'reload' });
  } else if (data?.viz === 'start') {
    event.source.postMessage({ viz: 'state', ...state, own });
    event.waitUntil(start().catch(() => {})); // the pages have already been notified
  }
  if (data?.viz === 'connect') event.waitUntil(connect(event.ports[0], data, event.source));
  if (data?.viz === 'open') event.waitUntil(change(event.ports[0], data));
  if (data?.viz === 'back') event.waitUntil(change(event.ports[0], null));
});

// replace makes this worker replace the old worker once no page sends requests to the old one.
async function replace() {
  for (const client of await self.clients.matchAll({ includeUncontrolled: true })) {
    if (client.url.startsWith(base.href)) client.postMessage({ viz: 'leave' });
  }
  await self.skipWaiting();
}

async function connect(port, { query, protocol }, page) {
  try {
    const program = await start();
    // The visitor may have left or reloaded the page in the meantime. Connecting would then start
    // its run again, without a text.
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

// change switches to a visitor's own model or, if to is null, back to the site's. While the files
// are read, it posts {read} to the port. It then posts {name} or, if the previous model stays in
// use, {say, why}.
async function change(port, to) {
  port.postMessage(await switchModel(to, (read) => port.postMessage({ read })));
}

async function switchModel(to, onRead) {
  try {
    const program = await start();
    const gone = program.gone.then(() => { // most likely because memory ran out
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

// hadBefore returns a promise of the visitor's own model that the pages used with an earlier
// worker. Browsers stop the workers of pages that nobody is looking at, but the pages still know
// where the files are.
let before = null; // the promise that hadBefore returns
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
  const late = new Promise((resolve) => { setTimeout(resolve, 300, []); }); // a page that is loading does not respond
  return (await Promise.race([Promise.all(asked), late])).find(Boolean) ?? null;
}

// Files --------------------------------------------------------------------------

const pathOf = (url) => decodeURI(url.pathname.slice(base.pathname.length));

// A Missing is a file that could not be downloaded.
class Missing extends Error {}

// plain returns the response without the mark of a redirect. Many hosts redirect index.html to its
// folder, and browsers do not show a redirected page that comes from a worker.
const plain = (answer) => (answer.redirected ? new Response(answer.body, answer) : answer);

// fileOf returns a file of the site from the cache, or fetches it from the host and caches it. The
// host may allow browsers to cache files without a version in their address for some minutes. A
// page's request contains a version. Without a request, fileOf asks the host whether the browser's
// copy belongs to this version of the site.
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

const wrong = new Set(); // paths of files for which the host sent other content

// answerOf returns a response with the uncompressed bytes of a compressed file, and caches it.
// Hosts may already send the bytes uncompressed. The signal cancels the download. from, if given,
// returns another address for the file, at which the file is available uncompressed, with size
// bytes.
async function answerOf({ path, bytes, size }, count, signal = null, from = null) {
  const url = new URL(path, base);
  const cache = await caches.open(cacheName);
  const kept = await cache.match(url);
  if (kept) {
    count(bytes);
    return kept;
  }
  let got = 0; // the compressed bytes so far; estimated if the host compresses the file itself
  try {
    const address = await from?.();
    // A name always refers to the same bytes, unless the browser has cached different content from
    // a host.
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
    // If a new version no longer has a file, a host may send other content for it instead of an
    // error.
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

// whole is the address of the uncompressed program. It is used if the host compresses files itself.
const whole = new URL(site.program.path.replace(/\.gz$/, ''), base);

const isProgram = (answer) => answer.ok && answer.headers.get('Content-Type') === 'application/wasm';

// compressing returns whole if the host compresses it, and otherwise null. Browsers cache a
// program's machine code only if its response is in the HTTP cache.
const compressing = () => fetch(whole, { method: 'HEAD', cache: 'force-cache' }).then(
  (answer) => (isProgram(answer) && answer.headers.get('Content-Encoding') ? whole : null),
  () => null,
);

// instantiate creates an instance of the program. If the program is in the HTTP cache, it is loaded
// from there, with the machine code cached on earlier visits.
async function instantiate(wasm, imports) {
  try {
    const near = await fetch(whole, { cache: 'only-if-cached', mode: 'same-origin' });
    if (isProgram(near)) return (await WebAssembly.instantiateStreaming(near, imports)).instance;
  } catch {
    // The program is not in the cache, or only a part of it is.
  }
  const bytes = await wasm.arrayBuffer();
  const { instance } = await WebAssembly.instantiate(bytes, imports);
  free(bytes);
  return instance;
}

// start returns a promise of the running program, and starts the program if necessary.
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
  // If one download fails, the other must be stopped: the next attempt's request for the same file
  // would otherwise join it and could break off halfway.
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
  before = Promise.resolve(null); // after a crash, start the program again without this model
  if (own) {
    const said = await program.open(own.folder, own.files, none).catch(({ message }) => ({ say: message }));
    if (said.say) own = null; // the files have changed, or are gone
  }
  await tell({ phase: 'running', first: program.first, keeps: program.keeps });
  keepFiles();
  return program;
}

// memoryOf returns a response with the program's memory, including the weights, and caches it.
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

// draft returns the draft model, which few pages need, or {say} with the reason for a failure.
const draft = () => modelOf(site.draft, () => {}).catch((error) => ({ say: error.message }));

// fill copies a response's bytes to the ranges of the memory that they belong to.
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

// free frees bytes immediately, instead of leaving them to the garbage collector.
const free = (bytes) => bytes.transfer?.(0);

// hand passes the values that the program held when its image was taken to the running program,
// followed by the visitor's viz. The properties that it sets are defined in wasm_exec.js of the
// same version of Go.
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

const firstHeld = 7; // the number of values that wasm_exec.js keeps for every program

async function run(wasm, memory) {
  const table = await openKept(base.pathname).catch(nothingKept);
  let secret = await table.value('secret');
  if (!secret) {
    secret = crypto.getRandomValues(new Uint8Array(32));
    await table.setValue('secret', secret).catch(() => {}); // without space for it, the visitor is new next time
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
    go.run(instance).finally(() => { // it ends only if it crashes
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

// keepFiles downloads the rest of the site, so that the site works without a network. It lists the
// cached files only once, because hundreds of separate lookups would delay the first token.
let keeping = null;
function keepFiles() {
  keeping ??= (async () => {
    const cache = await caches.open(cacheName);
    const kept = new Set((await cache.keys()).map(({ url }) => url));
    const lacking = (path) => !kept.has(new URL(path, base).href);
    // Pages for embedding are shown inside other sites' pages, which need a network anyway.
    const pages = Object.values(site.pages).filter((path) => !path.startsWith('embed/'));
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
  else if (request.mode === 'navigate') replaced = false; // an older browser, which does not give the ids of its pages
  event.respondWith(site.files[path] ? fileOf(path, request) : answer(request, url, path));
});

// lacksSlash reports whether a page's path lacks the final slash, which the page's relative links
// need. Hosts redirect such a request to the folder, and so does this worker.
const lacksSlash = (path) => /(^|\/)[^./]+$/.test(path);

// answer returns the program's response to a request. A visit does not wait until the program runs:
// until then, it gets the page's file from the site, and tab.js does the rest.
async function answer(request, url, path) {
  const visit = request.mode === 'navigate' && request.method === 'GET';
  if (visit && lacksSlash(path)) return Response.redirect(`${url.origin}${url.pathname}/${url.search}`, 301);
  const file = site.pages[path] ?? site.pages[`${path}/`];
  if (visit && state.phase !== 'running' && file) {
    await hadBefore(); // the page that the visitor is leaving still knows the model
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
