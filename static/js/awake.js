// Keeps the screen on while a class runs. Browsers release the lock when the page is hidden, so it
// is requested again when the page becomes visible. If a browser cannot keep the screen on, for
// example over plain HTTP, nothing happens.
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
  } catch { /* refused, for example because of a low battery */ }
  asking = false;
  if (!wanted) letGo();
}

function letGo() {
  lock?.release();
  lock = null;
}

// stayAwake starts or stops keeping the screen on.
export function stayAwake(on) {
  wanted = on;
  if (on) ask();
  else letGo();
}

document.addEventListener('visibilitychange', ask);
