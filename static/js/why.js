// Why this token: a part that is pressed changes the page in place. Without this
// script the same form leads to the same page.
import { listenToMap, rove } from './map.js';
import { patch } from './patch.js';
import { at } from './place.js';

// settle is for a page that has just been drawn: arrow keys move within its maps, and Tab goes on
// to the next thing.
function settle() {
  for (const keys of document.querySelectorAll('[data-map-keys]')) rove(keys);
  // What is still being measured is asked for again until it is there.
  const again = document.querySelector('[data-again]');
  if (again) setTimeout(() => again.isConnected && again.click(), 1000);
}

document.addEventListener('submit', async (event) => {
  const form = event.target.closest('form[data-why]');
  if (!form) return;
  event.preventDefault();
  const asked = new URLSearchParams(new FormData(form, event.submitter));
  for (const [name, value] of [...asked]) if (!value) asked.delete(name); // the address says what is asked, no more
  const address = `${at('/why')}?${asked}`;
  const pressed = event.submitter;
  pressed.setAttribute('aria-busy', 'true');
  try {
    const answer = await fetch(address, { headers: { 'Viz-Fragment': '1' } });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    patch(document.getElementById('why'), await answer.text());
    settle();
    if (address !== location.pathname + location.search) history.pushState(null, '', address);
  } catch {
    location.assign(address); // which says what is wrong
  } finally {
    pressed.removeAttribute('aria-busy');
  }
});

// The line below the parts describes the part that the pointer is over, or that has the focus.
for (const came of ['pointerover', 'focusin']) {
  document.addEventListener(came, (event) => {
    const say = event.target.closest?.('[data-say]')?.dataset.say;
    if (say) document.getElementById('why-told').textContent = say;
  });
}

// Back and forward go through what was switched off.
window.addEventListener('popstate', () => location.reload());

// What is wider than the screen opens at its end, where the answer is.
for (const wide of document.querySelectorAll('[data-end]')) wide.scrollLeft = wide.scrollWidth;
listenToMap(() => {});
settle();
