// The location of the pages. They are at the root of a server's addresses or below the path of a
// static site, where a service worker runs the program (tab.js).
const up = document.documentElement.dataset.root; // from this page to the site's root; undefined on a server

// inTab reports whether the program runs in this browser.
export const inTab = up !== undefined;

const root = inTab ? new URL(up, document.baseURI).pathname : '/';

// answerer names the component that answers a page's requests. The keys of texts about that
// component end with this name.
export const answerer = inTab ? 'program' : 'server';

// embedded reports whether the page is in another site's frame, where nothing is stored.
export const embedded = document.body?.dataset?.embed !== undefined;

// searchOf returns the query of a connection as part of an address.
export function searchOf(query) {
  const search = new URLSearchParams(query);
  if (embedded) search.set('embed', '1');
  return search;
}

// at returns the page's URL for an address of the program, such as '/learn/visit' or
// '/loop?run=…'. On a static site, pages are folders.
export function at(address) {
  if (!inTab) return address;
  const [, path, rest] = address.match(/^\/([^?#]*)(.*)$/);
  const folder = path && !path.endsWith('/') && !/\.[^/]*$/.test(path);
  return root + path + (folder ? '/' : '') + rest;
}

// plain is the inverse of at. It is used for addresses that are sent to the program.
export function plain(address) {
  if (!inTab || !address.startsWith(root)) return address;
  return `/${address.slice(root.length).replace(/\/(?=[?#]|$)/, '')}`;
}

// running is fulfilled once the program can answer, which tab.js reports. On a server, which can
// always answer, it is null.
export const running = inTab ? new Promise((resolve) => {
  if ('runs' in document.documentElement.dataset) resolve();
  else addEventListener('viz-running', resolve, { once: true });
}) : null;
