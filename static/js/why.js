// The page that explains a token. Pressing a part changes the page in place. Without this script,
// the same form leads to the same page.
import { listenToMap, rove } from './map.js';
import { patch } from './patch.js';
import { at } from './place.js';

// settle prepares a new page, so the arrow keys move within each map and Tab moves past it.
function settle() {
  for (const keys of document.querySelectorAll('[data-map-keys]')) rove(keys);
  // If values are still being measured, keep requesting them until they are available.
  const again = document.querySelector('[data-again]');
  if (again) setTimeout(() => again.isConnected && again.click(), 1000);
}

document.addEventListener('submit', async (event) => {
  const form = event.target.closest('form[data-why]');
  if (!form) return;
  event.preventDefault();
  const asked = new URLSearchParams(new FormData(form, event.submitter));
  for (const [name, value] of [...asked]) if (!value) asked.delete(name); // keep only the parameters that are set
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
    location.assign(address); // the page at that address explains the error
  } finally {
    pressed.removeAttribute('aria-busy');
  }
});

// The line below the parts describes the part under the pointer or the focus.
for (const came of ['pointerover', 'focusin']) {
  document.addEventListener(came, (event) => {
    const say = event.target.closest?.('[data-say]')?.dataset.say;
    if (say) document.getElementById('why-told').textContent = say;
  });
}

// The browser's Back and Forward buttons step through the parts that were switched off.
window.addEventListener('popstate', () => location.reload());

// Content that is wider than the screen is scrolled to its end, where the answer is.
for (const wide of document.querySelectorAll('[data-end]')) wide.scrollLeft = wide.scrollWidth;
listenToMap(() => {});
settle();
