// Keeps the screen on while a class runs. A browser gives it up when the page is hidden, so it
// is asked again when the page is back; one that cannot do it, as over plain HTTP, is let be.
let wanted = false;
let lock = null;
let asking = false;

async function ask() {
  if (!wanted || lock || asking || document.hidden || !navigator.wakeLock) return;
  asking = true;
  try {
    const given = await navigator.wakeLock.request('screen');
    given.addEventListener('release', () => { if (lock === given) lock = null; });
    lock = given;
  } catch { /* refused, as with a low battery */ }
  asking = false;
  if (!wanted) letGo();
}

function letGo() {
  lock?.release();
  lock = null;
}

// stayAwake keeps the screen on from now on, or no longer.
export function stayAwake(on) {
  wanted = on;
  if (on) ask();
  else letGo();
}

document.addEventListener('visibilitychange', ask);
