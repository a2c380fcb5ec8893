// Flashcards: the space bar turns the card, and the keys 1 to 4 grade it. A review is sent
// without leaving the page, and the response contains the next card.
import { onShortcut } from './keys.js';
import { ask } from './learn.js';
import { at } from './place.js';
import { t } from './texts.js';

// /cards#ID shows the card with this id.
const wanted = decodeURIComponent(location.hash.slice(1));
if (/^[\w.-]+$/.test(wanted) && new URLSearchParams(location.search).get('card') !== wanted) {
  location.replace(at(`/cards?card=${encodeURIComponent(wanted)}`));
}
addEventListener('hashchange', () => {
  const id = decodeURIComponent(location.hash.slice(1));
  if (/^[\w.-]+$/.test(id)) location.assign(at(`/cards?card=${encodeURIComponent(id)}`));
});

const deck = () => document.getElementById('deck');
const turned = () => deck().querySelector('[data-turn]');

// Unconfirmed reviews are sent again with the same key, so each review counts only once, however
// often it arrives.
async function review(form, button) {
  const data = new URLSearchParams(new FormData(form, button));
  form.setAttribute('aria-busy', 'true');
  try {
    const html = await ask(form.action, { method: 'POST', body: data });
    const next = new DOMParser().parseFromString(html, 'text/html').body.firstElementChild;
    deck().replaceWith(next);
    history.replaceState(null, '', at('/cards'));
    (next.querySelector('#card-front') ?? document.getElementById('main')).focus({ preventScroll: true });
  } catch (error) {
    form.removeAttribute('aria-busy');
    deck().querySelector('.deck__said').textContent = t('js.cards.unkept', { why: error.message });
  }
}

document.addEventListener('submit', (event) => {
  const form = event.target.closest('form[data-review]');
  if (!form) return;
  event.preventDefault();
  if (!form.hasAttribute('aria-busy')) review(form, event.submitter);
});

onShortcut((key, { target }) => {
  const back = turned();
  if (!back || target.closest('input, .all, .top, a')) return false;
  if (key === ' ') back.open = !back.open;
  else if (/^[1-4]$/.test(key) && back.open) back.querySelector(`[data-grade="${key}"]`).click();
  else return false;
  return true;
});

// A click on the card's face also turns it.
document.addEventListener('click', (event) => {
  if (event.target.closest('a, button, summary') || String(getSelection())) return;
  if (event.target.closest('.fcard__front, .fcard__back') && turned()) turned().open = !turned().open;
});
