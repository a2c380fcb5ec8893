// The pages of the course. Every form on them works without this script. With it, a form is sent
// without leaving the page, and only the changed part is replaced.
import { answerer, at, running } from './place.js';
import { t } from './texts.js';

const root = document.documentElement;
const typedFor = 180; // ms without a key press before a search is sent
const stays = 1000; // ms that a section's end is in view before the section counts as read

// ask fetches a part of a page. On failure, it throws an error with a message for the learner.
export async function ask(url, options = {}) {
  let answer;
  if (running) await running;
  try {
    answer = await fetch(url, { ...options, headers: { 'Viz-Fragment': '1', ...options.headers } });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Error(t(`js.silent.${answerer}`));
  }
  const html = await answer.text();
  if (!answer.ok) throw new Error(textOf(html) || t(`js.status.${answerer}`, { status: answer.status }));
  return html;
}

function textOf(html) {
  return new DOMParser().parseFromString(html, 'text/html').body.textContent.trim();
}

function elementOf(html) {
  return new DOMParser().parseFromString(html, 'text/html').body.firstElementChild;
}

// Questions ------------------------------------------------------------------

document.addEventListener('submit', async (event) => {
  const form = event.target.closest('form[data-check]');
  if (!form) return;
  event.preventDefault();
  if (form.hasAttribute('aria-busy')) return;
  const data = new URLSearchParams(new FormData(form, event.submitter));
  form.setAttribute('aria-busy', 'true');
  try {
    const next = elementOf(await ask(form.action, { method: 'POST', body: data }));
    form.replaceWith(next);
    goOnFrom(next);
  } catch (error) {
    form.removeAttribute('aria-busy');
    const said = form.querySelector('.check__said');
    if (said) said.textContent = error.message;
  }
});

// goOnFrom moves the focus to the next thing to do or to read.
function goOnFrom(form) {
  const to = form.classList.contains('is-done') ? form.querySelector('.check__said')
    : form.querySelector('.check__answer') ?? form.querySelector('[type=radio]:not(:disabled)')
      ?? form.querySelector('textarea');
  to?.focus({ preventScroll: !form.querySelector('.check__answer') });
}

// Sections read ----------------------------------------------------------------

const sections = [...document.querySelectorAll('[data-section]')];

// here marks the current section in the list of sections.
function here(id) {
  for (const item of document.querySelectorAll('[data-unit]')) {
    const is = item.dataset.unit === id;
    item.classList.toggle('is-here', is);
    if (is) item.querySelector('a').setAttribute('aria-current', 'location');
    else item.querySelector('a').removeAttribute('aria-current');
  }
}

function markRead(section) {
  const item = document.querySelector(`[data-unit="${CSS.escape(section.id)}"]`);
  if (!item || item.classList.contains('is-read')) return;
  item.classList.add('is-read');
  const tick = document.querySelector('#tick-template')?.content.cloneNode(true);
  if (tick) item.querySelector('a').append(tick);
}

// seen reports a section to the server once the section's end has been in view for a while. A failed
// report is sent again with the next section, or by the button at the end.
const told = new Set();
const late = new Set(); // sections whose report failed
async function seen(section) {
  const key = section.dataset.section;
  if (told.has(key)) return;
  told.add(key);
  try {
    await ask(at('/learn/visit'), { method: 'POST', body: new URLSearchParams({ section: key }), keepalive: true });
    markRead(section);
    for (const other of late) {
      late.delete(other);
      seen(other);
    }
  } catch {
    told.delete(key);
    late.add(section);
  }
}

if (sections.length) {
  const timers = new Map();
  // Ends that only pass by, as when the page scrolls to a state of the picture, do not count.
  const ends = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      clearTimeout(timers.get(target));
      if (isIntersecting) timers.set(target, setTimeout(seen, stays, target.closest('[data-section]')));
    }
  });
  for (const end of document.querySelectorAll('[data-section-end]')) ends.observe(end);
  const follow = () => {
    const line = innerHeight * 0.3;
    here(sections.findLast((s) => s.getBoundingClientRect().top < line)?.id ?? sections[0].id);
  };
  let due = 0;
  addEventListener('scroll', () => { due ||= requestAnimationFrame(() => { due = 0; follow(); }); }, { passive: true });
  follow();
}

// Folds ------------------------------------------------------------------------

// Opened folds stay open on this page during this visit.
const folds = [...document.querySelectorAll('[data-fold]')];
const foldsKey = `folds:${location.pathname}`;
try {
  for (const i of JSON.parse(sessionStorage.getItem(foldsKey) ?? '[]')) folds[i]?.setAttribute('open', '');
} catch { /* storage is unavailable */ }
for (const fold of folds) {
  fold.addEventListener('toggle', () => {
    const open = folds.flatMap((f, i) => (f.open ? [i] : []));
    try { sessionStorage.setItem(foldsKey, JSON.stringify(open)); } catch { /* storage is unavailable */ }
  });
}

// Search -----------------------------------------------------------------------

const search = document.querySelector('form[data-search]');
if (search) {
  const field = search.elements.q;
  let timer = 0;
  let asked = null;
  const find = async () => {
    clearTimeout(timer);
    asked?.abort();
    asked = new AbortController();
    const url = at(field.value.trim() ? `/search?${new URLSearchParams({ q: field.value.trim() })}` : '/search');
    try {
      const results = elementOf(await ask(url, { signal: asked.signal }));
      document.getElementById('results').replaceWith(results);
      history.replaceState(null, '', url);
    } catch (error) {
      if (error.name !== 'AbortError') document.querySelector('.results__say').textContent = error.message;
    }
  };
  field.addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(find, typedFor); });
  search.addEventListener('submit', (event) => { event.preventDefault(); find(); });
  // Search for text that was typed before this script ran.
  if (field.value.trim() !== (new URLSearchParams(location.search).get('q') ?? '').trim()) find();
}

// Printing ---------------------------------------------------------------------

document.querySelector('[data-print]')?.addEventListener('click', () => print());
root.classList.add('has-script');
