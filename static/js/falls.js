// Makes a number that the class draws fly to where it fell, with its name, if the
// instructor shows names. Numbers present when the page loads are already in their places.
import { player } from './carry.js';

const fresh = (e) => !landed.has(e.dataset.fall);
const all = () => [...document.querySelectorAll('[data-fall]')];
const landed = new Set(all().map((e) => e.dataset.fall));

// fly animates the numbers that are new since the last call, starting from the count of
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
