// The /api page. It shows clients' requests while they are being answered.
import { feedOf } from './feed.js';
import { copy } from './copy.js';

const live = document.querySelector('[data-feed="glass"]');
if (live) feedOf(live).connect();

for (const button of document.querySelectorAll('[data-copy]')) {
  button.hidden = false;
  button.addEventListener('click', () => copy(button));
}
