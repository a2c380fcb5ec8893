// Draws the attention of the heads. Each block has a canvas with a row for each head and a column
// for each position. The server's messages contain the numbers.
import { onAnyKey } from './keys.js';

let heat = null; // { columns, rows: [block][head] → bytes }

// draw shows data, which has the server's format ({columns, rows}, with rows in base64). If data
// is null, it clears the canvases.
export function draw(data) {
  listen();
  heat = data && { columns: data.columns, rows: data.rows.map((heads) => heads.map(bytes)) };
  paint();
}

// weightsOf maps the positions of the text to the shares, out of 255, that a head ("block.head")
// gives them. In a long text, the second column combines several positions, whose individual shares
// are unknown, so it is omitted.
export function weightsOf(name) {
  const [block, head] = name.split('.');
  const folded = Number(/^…(\d+)$/.exec(heat?.columns[1])?.[1] ?? 0);
  const row = [...heat?.rows[block]?.[head] ?? []];
  const at = (column) => (folded && column > 1 ? column + folded - 1 : column);
  return new Map(row.map((weight, column) => [at(column), weight]).filter((_, column) => !folded || column !== 1));
}

const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const canvases = () => document.querySelectorAll('canvas[data-heat]');
const buttonOf = (canvas, head) => document.querySelector(`[data-head="${canvas.dataset.heat}.${head}"]`);

// layout returns the position of every head's row on a canvas of the given height. Heads that
// share keys and values are adjacent.
function layout(canvas, height, heads) {
  const group = Number(canvas.dataset.group) || heads;
  const apart = heads > group && height / heads > 6 ? 3 : 0;
  const pitch = (height - apart * (Math.ceil(heads / group) - 1)) / heads;
  const top = (head) => head * pitch + apart * Math.floor(head / group);
  return { pitch, top };
}

// paint measures all canvases before it changes any of them, so the browser computes the layout
// only once.
function paint() {
  const all = [...canvases()].map((canvas) => ({ canvas, box: canvas.getBoundingClientRect() }));
  if (all.length === 0) return;
  const style = getComputedStyle(document.documentElement);
  const colors = { accent: style.getPropertyValue('--accent'), ink: style.getPropertyValue('--ink') };
  for (const { canvas, box } of all) paintOne(canvas, box, colors);
}

function paintOne(canvas, { width, height }, { accent, ink }) {
  const rows = heat?.rows[Number(canvas.dataset.heat)];
  if (!width || !height) return;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const ctx = canvas.getContext('2d');
  ctx.scale(ratio, ratio);
  if (!rows) return;
  const { pitch, top } = layout(canvas, height, rows.length);
  const gap = pitch > 6 ? 1.5 : 0;
  ctx.fillStyle = accent;
  rows.forEach((row, head) => {
    const w = width / row.length;
    const between = w > 5 ? 1.5 : 0;
    row.forEach((weight, i) => {
      ctx.globalAlpha = 0.05 + (0.95 * weight) / 255;
      ctx.fillRect(i * w, top(head), w - between, pitch - gap);
    });
    if (buttonOf(canvas, head)?.classList.contains('is-hover')) {
      ctx.globalAlpha = 1;
      ctx.strokeStyle = ink;
      ctx.lineWidth = 1.5;
      ctx.strokeRect(0.75, top(head) + 0.25, width - between - 1.5, pitch - gap - 0.5);
    }
  });
}

let listening = false;
let waiting = 0;

// again schedules a single repaint of the canvases, after pending changes to the page.
function again() {
  if (waiting) return;
  waiting = requestAnimationFrame(() => {
    waiting = 0;
    paint();
  });
}

function listen() {
  if (listening) return;
  listening = true;
  addEventListener('resize', again);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', again);
  new MutationObserver(again).observe(document.documentElement, { attributeFilter: ['data-theme'] });
  const atHeads = ({ target }) => { if (target.closest?.('.blks')) again(); };
  for (const type of ['pointerover', 'focusin']) document.addEventListener(type, atHeads);
  onAnyKey(atHeads);
  // A row of a canvas acts as the button of its head.
  for (const type of ['pointermove', 'pointerdown']) {
    document.addEventListener(type, (event) => point(event));
  }
  document.addEventListener('click', (event) => headAt(event)?.click());
}

let pointed = null;

function headAt({ target, clientY }) {
  if (!target.matches?.('canvas[data-heat]')) return null;
  const rows = heat?.rows[Number(target.dataset.heat)];
  if (!rows) return null;
  const box = target.getBoundingClientRect();
  const y = clientY - box.top;
  const { top } = layout(target, box.height, rows.length);
  let head = 0;
  while (head + 1 < rows.length && top(head + 1) <= y) head++;
  return buttonOf(target, head);
}

// point treats the button of the row under the pointer as hovered.
function point(event) {
  const button = headAt(event);
  if (button === pointed) return;
  pointed = button;
  if (!button) return;
  button.dispatchEvent(new PointerEvent('pointerover', { bubbles: true }));
  again();
}
