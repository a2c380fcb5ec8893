// Moves the random numbers of the members of a class to the places where they fall, together
// with the members' names if the instructor shows names. Numbers that are there when the
// page loads are already in their places.
import { player } from './carry.js';

const fresh = (e) => !landed.has(e.dataset.fall);
const all = () => [...document.querySelectorAll('[data-fall]')];
const landed = new Set(all().map((e) => e.dataset.fall));

// fly animates the numbers that are new since the last call. They start at the displayed number of
// members.
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
