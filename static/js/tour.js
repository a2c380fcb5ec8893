// A walkthrough that a learner plays alone. Every step is a separate page, so this script
// only follows the rows of the tables and scrolls the strips of text to their ends.
import { toEnd } from './screen.js';
import { followRows } from './worked.js';

followRows();
for (const strip of document.querySelectorAll('[data-scroll]')) toEnd(strip);
