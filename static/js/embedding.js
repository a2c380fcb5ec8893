// The page about embedding: its addresses are those of the site that it is on.
import { at } from './place.js';

for (const element of document.querySelectorAll('[data-address]')) {
  element.textContent = new URL(at(element.dataset.address), location.href).href;
}
