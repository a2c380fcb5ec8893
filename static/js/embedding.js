// The page about embedding. Its examples contain the address of its own site.
import { at } from './place.js';

for (const element of document.querySelectorAll('[data-address]')) {
  element.textContent = new URL(at(element.dataset.address), location.href).href;
}
