// The page about embedding: its addresses are its own site's.
import { at } from './place.js';

for (const element of document.querySelectorAll('[data-address]')) {
  element.textContent = new URL(at(element.dataset.address), location.href).href;
}
