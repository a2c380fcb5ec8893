// The page about embedding. This script puts the site's own address into the examples.
import { at } from './place.js';

for (const element of document.querySelectorAll('[data-address]')) {
  element.textContent = new URL(at(element.dataset.address), location.href).href;
}
