// A walkthrough played alone: every step is its own page, so all that is left
// is to follow the rows of its tables.
import { toEnd } from './screen.js';
import { followRows } from './worked.js';

followRows();
for (const strip of document.querySelectorAll('[data-scroll]')) toEnd(strip);
