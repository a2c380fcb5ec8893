// The page about embedding: its addresses are those of its own site.
import { at } from './place.js';

for (const element of document.querySelectorAll('[data-address]')) {
  element.textContent = new URL(at(element.dataset.address), location.href).href;
}
