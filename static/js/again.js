// What every connection of a page has in common: where it leads, when it makes
// sense to try again after a loss, and how long to wait before that.
const longestDelay = 10_000; // ms; a server that comes back is found within this

export const panelProtocol = 'viz.html.v1'; // messages hold panels of HTML

// addressOf returns the address of a connection with this query.
export function addressOf(query) {
  const url = new URL('/ws', location.href);
  url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  url.search = new URLSearchParams(query);
  return url;
}

// Close codes by which the server says that this page did wrong: trying again
// would end the same way.
const pageWasWrong = new Set([1002, 1003, 1007, 1008, 1009]);

export function isForGood(code) { return pageWasWrong.has(code); }

// delayAfter returns a wait in ms before the next try: at most first, which
// doubles with every try that has failed. Full jitter: many pages that lost one
// server do not all come back at once.
export function delayAfter(failed, first = 250) {
  return Math.random() * Math.min(longestDelay, first * 2 ** failed);
}
