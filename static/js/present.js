// The presenter's window: the slide, and the buttons that control it. Each button belongs to
// a form. If there is a connection, the button's command is sent over it. The keys of a
// clicker press the buttons.
import { stayAwake } from './awake.js';
import { Connection } from './connection.js';
import { onShortcut } from './keys.js';
import { answer, asked, minutes, put, say, sayFor, shows, tell, viewChannel } from './screen.js';
import { t } from './texts.js';
import { followRows } from './worked.js';
import { recall, remember } from './stored.js';

const { room, view } = document.body.dataset;
const membersEvery = 2000; // ms between two updates of the members
const begun = Date.now();
let leave = ''; // where to go after the room is deleted

// A ticket can open a connection only once. The cookie that authorizes the request for a ticket is
// not sent with any other request.
async function address() {
  const response = await fetch(`/class/${room}/ticket`, { method: 'POST', headers: { 'Viz-Fragment': '1' } });
  if (response.status === 403 || response.status === 404 || response.status === 410) {
    connection.end();
    say(t('js.present.key'), t('js.present.open'), false);
  }
  if (!response.ok) throw new Error('no ticket');
  return { feed: 'present', room, view, ticket: (await response.json()).ticket };
}

// The questions that are ticked in the list, which is replaced when a question arrives.
const ticked = new Set();
const boxes = () => document.querySelectorAll('#pr-raised [name="question"][type="checkbox"]');

// keepList shows new panels. It keeps the ticks in the list of questions, and the focus: a button
// that has moved keeps it, and if the button is gone, the list gets it.
function keepList(show) {
  const focused = document.activeElement?.closest('#pr-raised') && document.activeElement;
  show();
  for (const box of boxes()) box.checked = ticked.has(box.value);
  if (!focused || (document.activeElement === focused && focused.isConnected)) return;
  ((focused.id && document.getElementById(focused.id)) || document.getElementById('pr-raised')).focus();
}

document.addEventListener('change', ({ target }) => {
  if (!target.matches('#pr-raised [type="checkbox"]')) return;
  if (target.checked) ticked.add(target.value);
  else ticked.delete(target.value);
});

// refuse shows a refusal where it can be seen: in the open dialog, which covers the strip, or there.
function refuse(words) {
  const line = document.querySelector('dialog[open] [data-told]');
  if (line) line.textContent = words;
  else tell(words);
}

const connection = new Connection(address, { patience: 10_000 });
connection.addEventListener('message', ({ detail }) => {
  document.body.dataset.conn = 'live';
  if (detail.error) return;
  if (detail.ack) {
    tell('');
    refuse('');
  }
  const pressed = document.activeElement?.closest('#pr-ctl button');
  if (detail.panels && !detail.data) return answer(detail.panels);
  keepList(() => put(detail));
  if (detail.data?.seq) stayAwake(!detail.data.ended && !detail.data.gone);
  // If the pressed button has been removed, focus the main button.
  if (pressed && !pressed.isConnected) document.querySelector('#pr-ctl .btn--main').focus();
  if (detail.data?.gone && leave) location.assign(leave);
});
connection.addEventListener('lost', () => {
  delete document.body.dataset.conn;
  say(t('js.reconnecting', { n: connection.tries }), t('js.present.keeps'));
});
connection.addEventListener('refused', ({ detail }) => refuse(detail.error.message));
connection.addEventListener('done', ({ detail: { cmd, do: what } }) => {
  if (cmd === 'question' && ['show', 'done', 'same', 'erase', 'clear'].includes(what)) ticked.clear();
});
connection.addEventListener('back', () => sayFor(3000, t('js.back'), t('js.present.back')));
connection.addEventListener('ended', ({ detail }) => {
  stayAwake(false);
  if (leave) location.assign(leave);
  else if (detail.code !== 1000) say(t('js.over'), detail.reason || t('js.reload'), false);
});

document.addEventListener('submit', (event) => {
  const form = event.target.closest('[data-do]');
  if (!form) return;
  event.preventDefault();
  const button = event.submitter;
  const data = new FormData(form, button);
  const { cmd, ...fields } = Object.fromEntries(data);
  if (fields.question) fields.question = data.getAll('question').join(',');
  Object.assign(fields, JSON.parse(button?.dataset.fields || '{}'));
  if (button?.dataset.leave) leave = button.dataset.leave;
  if (!connection.send({ ...fields, cmd })) tell(t('js.present.cut'));
  else if (form.matches('.ask, .script__form')) form.closest('dialog')?.close();
});

document.addEventListener('click', ({ target }) => {
  if (target.closest('[data-retry]')) connection.retry();
  if (target.closest('[data-hide-strip]')) hideStrip();
  const command = asked(target);
  if (command?.cmd === 'look') command.on = String(command.on); // a form would send a string, too
  if (command && !connection.send(command, 'forget')) tell(t('js.present.cut'));
});

function hideStrip() {
  const hidden = document.body.classList.toggle('no-strip');
  document.querySelector('[data-hide-strip]').setAttribute('aria-pressed', String(hidden));
}

// A key presses the button that lists it, wherever the button is.
onShortcut((key) => {
  const name = key === ' ' ? 'Space' : key.length === 1 ? key.toLowerCase() : key;
  const button = document.querySelector(`[data-clicks~="${CSS.escape(name)}"]`);
  button?.click();
  return button !== null;
});

// The list of members is updated while it is open.
setInterval(() => {
  const looked = document.getElementById('d-room').open;
  if (looked && !document.querySelector('#pr-members :focus')) connection.send({ cmd: 'members' }, 'forget');
}, membersEvery);
document.addEventListener('click', ({ target }) => {
  if (target.closest('[data-dialog="d-room"]')) connection.send({ cmd: 'members' }, 'forget');
});

const clock = document.querySelector('[data-elapsed]');
const since = Number(recall(`viz.begun.${room}`)) || begun;
remember(`viz.begun.${room}`, String(since));
function tick() { clock.textContent = minutes(Math.floor((Date.now() - since) / 1000)); }
setInterval(tick, 1000);
tick();

followRows();
viewChannel.postMessage(shows(view));
connection.open();
