// Moves the random numbers of a class's members to the places where they fall, together with the
// members' names if the instructor shows names. Numbers that are on the page when it loads do not
// move.
import { player } from './carry.js';

const fresh = (e) => !landed.has(e.dataset.fall);
const all = () => [...document.querySelectorAll('[data-fall]')];
const landed = new Set(all().map((e) => e.dataset.fall));

// fly animates the numbers that have been added since the last call. They start where the number of
// members is shown.
export function fly() {
  const from = document.getElementById('cl-who')?.getBoundingClientRect();
  const play = player('fall');
  for (const element of all().filter(fresh)) {
    landed.add(element.dataset.fall);
    const at = element.getBoundingClientRect();
    if (!from) continue;
    const start = `translate(${from.x - at.x}px, ${from.y - at.y}px)`;
    play(element, [{ opacity: 0, transform: start }, { opacity: 1, transform: 'none' }], 600);
  }
}
