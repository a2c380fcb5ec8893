// The rings of a guess: they are dragged up and down in the chart, or moved by arrow keys.
// What they say is in a field, which is sent like every other; the chart comes back with
// the guess drawn. Only the ring under the pointer is moved here.

const partOf = (ring) => ({
  field: document.getElementById(ring.dataset.ring),
  top: Number(ring.dataset.top),
  bottom: Number(ring.dataset.bottom),
  high: Number(ring.dataset.high),
});

// place shows a ring at a time in milliseconds.
function place(ring, ms) {
  const { field, top, bottom, high } = partOf(ring);
  const value = Math.min(high, Math.max(0, ms));
  const text = String(Number(value.toPrecision(value < 10 ? 2 : 3)));
  const circle = ring.querySelector('circle');
  const y = bottom - (bottom - top) * (value / high);
  circle.setAttribute('cy', y);
  circle.setAttribute('aria-valuenow', text);
  circle.setAttribute('aria-valuetext', `${text} ms`);
  const path = ring.querySelector('path');
  path.setAttribute('d', `${path.getAttribute('d').split('L')[0]}L${circle.getAttribute('cx')} ${y}`);
  ring.classList.add('is-moved');
  field.value = text;
}

// send tells the server, once a ring has come to rest.
function send(ring) {
  const { field } = partOf(ring);
  const other = [...document.querySelectorAll('[data-ring]')].find((r) => r.dataset.ring !== ring.dataset.ring);
  if (other && !partOf(other).field.value) return; // a guess has both
  field.dispatchEvent(new Event('change', { bubbles: true }));
}

export function startRings() {
  let held = null;

  document.addEventListener('pointerdown', (event) => {
    const ring = event.target.closest?.('[data-ring]');
    if (!ring || event.target.tagName !== 'circle') return;
    held = ring;
    event.target.setPointerCapture(event.pointerId);
    event.preventDefault();
    event.target.focus();
  });
  document.addEventListener('pointermove', (event) => {
    if (!held?.isConnected) return;
    const box = held.ownerSVGElement.getBoundingClientRect();
    const { top, bottom, high } = partOf(held);
    const y = (event.clientY - box.top) * (held.ownerSVGElement.viewBox.baseVal.height / box.height);
    place(held, high * ((bottom - y) / (bottom - top)));
  });
  for (const kind of ['pointerup', 'pointercancel']) {
    document.addEventListener(kind, () => {
      if (held?.isConnected) send(held);
      held = null;
    });
  }

  const steps = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 5, PageDown: -5 };
  document.addEventListener('keydown', (event) => {
    const ring = event.target.closest?.('[data-ring]');
    const by = steps[event.key];
    if (!ring || !by) return;
    event.preventDefault();
    const { field, high } = partOf(ring);
    place(ring, Number(field.value || 0) + by * (high / 50));
  });
  document.addEventListener('keyup', (event) => {
    const ring = event.target.closest?.('[data-ring]');
    if (ring && steps[event.key]) send(ring);
  });
}
