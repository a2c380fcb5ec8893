// A walkthrough played alone: every step is a separate page, so this only has
// to follow the rows of its tables.
import { toEnd } from './screen.js';
import { followRows } from './worked.js';

followRows();
for (const strip of document.querySelectorAll('[data-scroll]')) toEnd(strip);
