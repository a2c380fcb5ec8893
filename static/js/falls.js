// Has a number that the class draws fly to where it fell, with its name, if the instructor
// shows them. What is there as the page loads is already in its place.
import { player } from './carry.js';

const fresh = (e) => !landed.has(e.dataset.fall);
const all = () => [...document.querySelectorAll('[data-fall]')];
const landed = new Set(all().map((e) => e.dataset.fall));

// fly moves those that have come since the last time, from the count of who is here.
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
