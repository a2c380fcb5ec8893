// The first run: each press leads to the next scene without leaving the page, so that the
// results of one scene can move into the next. The knob already takes effect while it is
// being moved. Without this script, every form and link still works.
import { carry, measure } from './carry.js';
import { endByHand } from './motion.js';
import { patch } from './patch.js';
import { t } from './texts.js';

const body = () => document.querySelector('.fr');

// fetchPage sends a form and returns the resulting page.
async function fetchPage(form, button) {
  const answer = await fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form, button)) });
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  if (!answer.ok || !page.querySelector('.fr')) throw new Error('another page');
  return { url: answer.url, page };
}

document.addEventListener('submit', async (event) => {
  const form = event.target;
  if (!form.matches('.fr__main form[action*="first/next"]') || form.dataset.plain !== undefined) return;
  event.preventDefault();
  if (form.hasAttribute('aria-busy')) return;
  form.setAttribute('aria-busy', 'true');
  const button = event.submitter;
  button?.classList.add('is-sent');
  try {
    const { url, page } = await fetchPage(form, button);
    measure();
    body().replaceWith(page.querySelector('.fr'));
    history.pushState(null, '', url);
    document.querySelector('.fr [autofocus]')?.focus({ preventScroll: true });
    scrollTo(0, 0);
    ready();
    carry();
    say(page.title);
  } catch { // let the browser load the page: it is the card or an error page, or there was no answer
    form.dataset.plain = '';
    form.removeAttribute('aria-busy');
    form.requestSubmit(button);
  }
});

// say sets the page's title and announces the scene once all movements have ended, since the
// marker might still be falling until then.
async function say(title) {
  const said = document.getElementById('first-says');
  if (document.querySelector('.is-falling')) said.textContent = said.dataset.falling;
  const moving = document.getAnimations().filter(({ id }) => id.startsWith('carry'));
  const scene = body();
  await Promise.allSettled(moving.map(({ finished }) => finished));
  if (scene !== body()) return;
  document.title = title;
  said.textContent = [...scene.querySelectorAll('h1, .fr__main > .say')].map((e) => e.textContent).join(' ');
}

// The card's address contains the whole run, so copying it shares the card.
const share = document.querySelector('[data-copy-address]');
if (share && navigator.clipboard) {
  share.hidden = false;
  share.addEventListener('click', async () => {
    await navigator.clipboard.writeText(location.href);
    share.textContent = t('js.copied');
    document.getElementById('copied').textContent = t('js.link.short');
  });
}

addEventListener('popstate', () => location.reload());

// The knob --------------------------------------------------------------------

let turning = false; // a request is in flight
let turned = false; // the knob has moved since the request

async function turn(knob) {
  turned = true;
  if (turning) return;
  turning = true;
  while (turned) {
    turned = false;
    try {
      const { url, page } = await fetchPage(knob.form);
      if (!knob.isConnected) break;
      history.replaceState(null, '', url);
      for (const part of ['h1', '.say', '.fr__pic:not(form)', '.fr__do']) {
        const next = page.querySelector(`.fr__main > ${part}`);
        const old = document.querySelector(`.fr__main > ${part}`);
        if (next && old) patch(old, next.outerHTML);
      }
      const map = page.getElementById('map');
      if (map) patch(document.getElementById('map'), map.outerHTML);
      for (const [i, hidden] of page.querySelectorAll('.fr__knob [type=hidden]').entries()) {
        knob.form.querySelectorAll('[type=hidden]')[i].value = hidden.value;
      }
    } catch {
      break; // the button for the knob still works
    }
  }
  turning = false;
}

document.addEventListener('input', ({ target }) => {
  if (target.matches('.fr__knob input[type=range]')) turn(target);
});

// ready hides the knob's button, which is only for pages without scripts.
function ready() {
  const button = document.querySelector('.fr__knob .btn');
  if (button) button.hidden = true;
}

endByHand();
ready();
if (performance.getEntriesByType('navigation')[0]?.type === 'navigate'
  && document.querySelector('.fr__main')?.dataset.enter === 'forward') {
  measure();
  carry();
}
