// The parts that every page has: the theme button, the list of keys, the header's menu, and the
// keys themselves.
import { listenToKeys, onKey } from './keys.js';
import { followPointer } from './lit.js';
import { recall, remember } from './stored.js';

const root = document.documentElement;

const isDark = () => (root.dataset.theme
  ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';

function markTheme() {
  for (const button of document.querySelectorAll('[data-theme-toggle]')) {
    button.setAttribute('aria-pressed', String(isDark()));
  }
}

function toggleTheme() {
  root.dataset.theme = isDark() ? 'light' : 'dark';
  remember('viz.theme', root.dataset.theme);
  markTheme();
}

document.addEventListener('click', (event) => {
  const menu = document.querySelector('.top__menu[open]');
  if (menu && !menu.contains(event.target)) menu.open = false;
  const button = event.target.closest('button');
  if (!button) return;
  if (button.dataset.dialog) document.getElementById(button.dataset.dialog).showModal();
  else if ('themeToggle' in button.dataset) toggleTheme();
});

onKey(document, (key, { target }) => {
  const menu = key === 'Escape' && target.closest?.('.top__menu[open]');
  if (!menu) return false;
  menu.open = false;
  menu.querySelector('summary').focus();
  return true;
});

document.addEventListener('change', ({ target }) => {
  if (target.matches('[data-letter-keys]')) remember('viz.letterkeys', target.checked ? null : 'off');
});

for (const box of document.querySelectorAll('[data-letter-keys]')) box.checked = recall('viz.letterkeys') !== 'off';
markTheme();
listenToKeys();
followPointer();
