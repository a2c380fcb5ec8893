// The rings of a guess, which can be dragged up and down in the chart or moved with arrow
// keys. Their values are in fields that are sent like all other fields, and the server sends
// back a chart with the guess. This script moves only the ring under the pointer.
import { onKey, onKeyUp } from './keys.js';

const partOf = (ring) => ({
  field: document.getElementById(ring.dataset.ring),
  top: Number(ring.dataset.top),
  bottom: Number(ring.dataset.bottom),
  high: Number(ring.dataset.high),
});

const sliderOf = (ring) => ring.querySelector('[role="slider"]');

// place moves a ring to the position of a time in milliseconds.
function place(ring, ms) {
  const { field, top, bottom, high } = partOf(ring);
  const value = Math.min(high, Math.max(0, ms));
  const text = String(Number(value.toPrecision(value < 10 ? 2 : 3)));
  const circle = sliderOf(ring);
  const y = bottom - (bottom - top) * (value / high);
  for (const round of ring.querySelectorAll('circle')) round.setAttribute('cy', y);
  circle.setAttribute('aria-valuenow', text);
  circle.setAttribute('aria-valuetext', `${text} ms`);
  const path = ring.querySelector('path');
  path.setAttribute('d', `${path.getAttribute('d').split('L')[0]}L${circle.getAttribute('cx')} ${y}`);
  ring.classList.add('is-moved');
  field.value = text;
}

// send sends a ring's value to the server once the ring has stopped moving.
function send(ring) {
  const { field } = partOf(ring);
  const other = [...document.querySelectorAll('[data-ring]')].find((r) => r.dataset.ring !== ring.dataset.ring);
  if (other && !partOf(other).field.value) return; // a guess needs the values of both rings
  field.dispatchEvent(new Event('change', { bubbles: true }));
}

// nearest returns the ring that is closest to a point, since two rings can be at the same place.
function nearest(rings, { clientX, clientY }) {
  const far = (ring) => {
    const { left, right, top, bottom } = sliderOf(ring).getBoundingClientRect();
    return Math.hypot((left + right) / 2 - clientX, (top + bottom) / 2 - clientY);
  };
  return [...rings.querySelectorAll('[data-ring]')].reduce((best, ring) => (far(ring) < far(best) ? ring : best));
}

export function startRings() {
  for (const fields of document.querySelectorAll('.guess__drawn')) fields.hidden = true; // the rings show their values
  let held = null;
  let finger = null;

  document.addEventListener('pointerdown', (event) => {
    const rings = event.target.tagName === 'circle' && event.target.closest('.rings');
    if (!rings || held) return;
    held = nearest(rings, event);
    finger = event.pointerId;
    event.target.setPointerCapture(finger);
    event.preventDefault();
    sliderOf(held).focus({ preventScroll: true });
  });
  const follow = (event) => {
    if (!held?.isConnected || event.pointerId !== finger) return;
    const box = held.ownerSVGElement.getBoundingClientRect();
    const { top, bottom, high } = partOf(held);
    const y = (event.clientY - box.top) * (held.ownerSVGElement.viewBox.baseVal.height / box.height);
    place(held, high * ((bottom - y) / (bottom - top)));
  };
  document.addEventListener('pointermove', follow);
  for (const kind of ['pointerup', 'pointercancel']) {
    document.addEventListener(kind, (event) => {
      if (event.pointerId !== finger) return;
      if (kind === 'pointerup') follow(event); // a fast finger may have moved since its last event
      if (held?.isConnected) send(held);
      held = null;
      finger = null;
    });
  }

  // A finger on a ring moves the ring and not the page. Elsewhere, it scrolls the page as usual.
  // (Browsers ignore touch-action on a part of a drawing.) Each answer may contain new drawings.
  // Adding the same listener to a drawing again has no effect.
  const keep = (event) => {
    if (event.target.tagName === 'circle') event.preventDefault();
  };
  const listen = () => {
    for (const rings of document.querySelectorAll('.rings')) {
      rings.addEventListener('touchstart', keep, { passive: false });
    }
  };
  listen();
  document.addEventListener('feed', listen, true);

  const steps = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 5, PageDown: -5 };
  onKey(document, (key, { target }) => {
    const ring = target.closest?.('[data-ring]');
    const by = steps[key];
    if (!ring || !by) return false;
    const { field, top, bottom, high } = partOf(ring);
    const lies = Number(sliderOf(ring).getAttribute('cy'));
    const from = field.value ? Number(field.value) : high * ((bottom - lies) / (bottom - top));
    place(ring, from + by * (high / 50));
    return true;
  });
  onKeyUp((key, { target }) => {
    const ring = target.closest?.('[data-ring]');
    if (ring && steps[key]) send(ring);
  });
}
