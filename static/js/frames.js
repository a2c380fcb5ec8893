const longestWait = 100; // ms

// whenIdle calls act when the page has nothing more urgent to do, or after longestWait.
export function whenIdle(act) {
  if (window.requestIdleCallback) requestIdleCallback(act, { timeout: longestWait });
  else act();
}

// afterFrame calls act after the next frame has been drawn, or immediately in a tab that is not
// visible.
export function afterFrame(act) {
  if (document.hidden) act();
  else requestAnimationFrame(() => setTimeout(act));
}
