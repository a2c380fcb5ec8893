// A screen that follows a class: a phone on which a learner votes and looks around, or the wall.
// Other pages use only the copy buttons.
import { stayAwake } from './awake.js';
import { Connection } from './connection.js';
import { copy } from './copy.js';
import { onShortcut } from './keys.js';
import { answer, asked, hold, put, release, say, sayFor, shows, tell, toEnd, viewChannel } from './screen.js';
import { patch } from './patch.js';
import { isolated } from './text.js';
import { t } from './texts.js';
import { followRows } from './worked.js';

const room = document.body.dataset.room;
const { view } = document.body.dataset;
const wall = document.body.dataset.class === 'wall';
const stageNames = ['', ...(document.body.dataset.stageNames ?? '').split(',')];
const aloneAfter = 5; // failed tries before the page offers to continue alone
const patience = 10_000; // ms to wait for an answer, so a vote does not hang
const keep = `viz.vote.${room}`; // a vote survives a reload of the page

let mine = null; // the vote that counts: {poll, round, choice, text, u, number}
let waiting = null; // a vote that is not confirmed yet: {poll, choice, number}
let last = null; // the newest message that was sent to all screens
let connection = null;
let question = null; // a question to the instructor that is not confirmed yet: {n, text}
let inside = false; // whether this screen shows the inside of the forward pass

try { waiting = JSON.parse(sessionStorage.getItem(keep)); } catch { /* storage is unavailable */ }

function wait(vote) {
  waiting = vote;
  try {
    if (vote) sessionStorage.setItem(keep, JSON.stringify(vote));
    else sessionStorage.removeItem(keep);
  } catch { /* the vote is lost on a reload */ }
}

const wandering = () => !document.getElementById('own').hidden;

function begin() {
  const address = { feed: 'class', room, view, ...(wall && { screen: 'projector' }) };
  connection = new Connection(() => address, { patience });
  connection.addEventListener('message', ({ detail }) => receive(detail));
  connection.addEventListener('done', ({ detail: { cmd, text } }) => { if (cmd === 'ask') asks(text); });
  connection.addEventListener('lost', lost);
  connection.addEventListener('back', () => {
    document.querySelector('[data-go-alone]').hidden = true;
    if (waiting) say(t('js.back'), t('js.class.resending'), false);
    else sayFor(3000, t('js.back'), t('js.class.here'));
    live(true);
  });
  connection.addEventListener('open', () => {
    if (inside) connection.send({ cmd: 'look', on: true }, 'forget');
    sendVote();
  });
  connection.addEventListener('ended', ({ detail }) => {
    if (detail.code !== 1000) say(t('js.over'), detail.reason || t('js.reload'), false);
    stayAwake(false);
    live(false);
  });
  connection.open();
}

function receive(message) {
  if (message.error && message.ack && message.ack === question?.n) return askSay(message.error.message, true);
  if (message.error) {
    tell(message.error.message);
    if (waiting && message.ack) {
      wait(null); // the vote was refused, so the earlier one counts
      mark();
    }
    return;
  }
  if (message.data?.you) return own(message.data.you);
  if (message.panels && !message.data) return answer(message.panels);
  if (!put(message) || !message.data?.seq) return;
  if (last?.ended && !message.data.ended) say(''); // the class continues after all
  const called = last?.alone && !message.data.alone; // the instructor pressed "all follow me"
  last = message.data;
  document.body.toggleAttribute('data-looking', last.looking);
  // Between votes, phones may turn their screens off.
  stayAwake(!last.ended && !last.gone && (wall || Boolean(last.poll)));
  if (last.gone) say(t('js.class.deleted'), t('js.class.nothing'), false);
  else if (last.ended && !wall) say(t('js.class.over'), t('js.class.thanks'), false);
  if (wall) return;
  if (waiting && waiting.poll !== last.poll?.id) wait(null);
  if (called && wandering()) rejoin();
  place();
  mark();
  bringPoll();
}

// A new poll is scrolled into view once. While it is out of view, or while the learner looks
// around, a button leads to it until this phone has voted. brought is the id of the newest poll
// that was shown on the stage. Its initial value is the poll on the loaded page, to which the page
// does not scroll.
let brought = document.getElementById('cl-poll')?.dataset.poll ?? '';
let pollInView = false;
const calmly = matchMedia('(prefers-reduced-motion: reduce)');

const voting = () => !last?.ended && last?.poll?.phase === 'open';

function bringPoll() {
  const before = brought;
  brought = last.poll?.id ?? '';
  const opened = before !== brought && voting();
  if (opened && !wandering() && !document.activeElement?.matches('input, textarea')) toPoll();
  dock();
}

function toPoll() {
  document.getElementById('cl-poll').scrollIntoView({ block: 'start', behavior: calmly.matches ? 'auto' : 'smooth' });
}

function dock() {
  const voted = mine?.poll === last?.poll?.id || waiting?.poll === last?.poll?.id;
  document.getElementById('dock').hidden = !voting() || voted || (!wandering() && pollInView);
}

// own handles data that is only for this phone: its name and the vote that counts.
function own({ vote, name }) {
  mine = vote;
  const named = document.querySelector('[data-named]');
  if (named) {
    named.textContent = name;
    named.parentElement.hidden = !name;
    named.parentElement.nextElementSibling.hidden = Boolean(name);
  }
  if (waiting && vote && vote.poll === waiting.poll && vote.number >= waiting.number) {
    wait(null);
    tell('');
    if (!document.getElementById('conn').hidden) sayFor(3000, t('js.back'), t('js.class.sent'));
  } else if (waiting) sendVote();
  mark();
}

function sendVote() {
  if (!waiting) return;
  connection.send({ cmd: 'vote', ...waiting }, 'forget'); // waiting is stored, and sent again after a lost connection
}

function cast(form, submitter) {
  const data = new FormData(form, submitter);
  const number = Math.max(Date.now(), (mine?.number ?? 0) + 1, (waiting?.number ?? 0) + 1);
  tell('');
  const choice = String(data.get('choice') ?? standing(form.closest('#cl-poll'))?.choice ?? '');
  wait({ poll: data.get('poll'), choice, number, sure: Number(data.get('sure') ?? 0) });
  mark();
  sendVote();
}

// ask sends the instructor a question, which stays in its field until the server has saved it. A
// question can be sent again, since the server adds it only once.
function ask(form) {
  const text = form.elements.text.value;
  const n = connection.send({ cmd: 'ask', text }, 'repeat');
  question = n ? { n, text } : null;
  askSay(t(n ? 'js.class.sending' : 'js.class.offline'), !n);
}

function asks(text) {
  const field = document.getElementById('ask-text');
  if (field.value === text) field.value = '';
  question = null;
  askSay(t('js.class.asked'), false);
}

function askSay(words, wrong) {
  document.getElementById('ask-say').textContent = words;
  document.getElementById('ask-text').setAttribute('aria-invalid', String(wrong));
}

// standing returns this phone's vote in the shown poll and round.
const standing = (box) => (waiting?.poll === box.dataset.poll && waiting)
  || (mine && mine.poll === box.dataset.poll && String(mine.round) === box.dataset.round ? mine : null);

// mark marks this phone's vote in the shared poll and shows its state.
function mark() {
  const box = document.getElementById('cl-poll');
  if (!box?.dataset.poll) return dock();
  const stands = mine && mine.poll === box.dataset.poll && String(mine.round) === box.dataset.round ? mine : null;
  const open = waiting?.poll === box.dataset.poll ? waiting : null;
  const choice = open?.choice ?? stands?.choice;
  const words = open ? t(connection.up ? 'js.vote.sending' : 'js.vote.unsent') : t('js.vote.counted');
  for (const vote of box.querySelectorAll('.vote')) {
    const chosen = choice !== undefined && (vote.value || vote.dataset.choice) === choice;
    vote.classList.toggle('is-mine', chosen);
    if (vote.matches('button')) vote.setAttribute('aria-pressed', String(chosen));
    vote.querySelector('em').textContent = chosen ? words : '';
  }
  const says = box.querySelector('[data-mine]');
  if (says) says.textContent = mineWords(box, stands, open);
  const said = (open ?? stands)?.sure;
  for (const level of box.querySelectorAll('[name="sure"]')) {
    if (said && Number(level.value) === said) level.checked = true;
  }
  const draw = box.querySelector('[data-draw]');
  if (draw) draw.disabled = Boolean(stands);
  result(box, stands);
  dock();
}

function mineWords(box, stands, open) {
  if (open) return t(connection.up ? 'js.class.sending' : 'js.class.unsent');
  if (!stands) return '';
  const text = isolated(stands.text);
  if (stands.u) return t('js.class.fell', { u: stands.u, text });
  return box.dataset.kind === 'number' ? t('js.class.answer', { text }) : '';
}

// result describes how this phone's vote compares with the poll's result.
function result(box, stands) {
  const line = box.querySelector('[data-yours]');
  if (!line) return;
  line.textContent = '';
  for (const row of box.querySelectorAll('.ph__res li')) {
    const own = stands?.choice === row.dataset.choice;
    row.querySelector('[data-you]').textContent = own ? t('js.class.you') : '';
    if (!own || box.dataset.kind === 'draw') continue;
    const { share, model } = row.dataset;
    const kind = box.dataset.kind === 'number' ? 'number' : 'token';
    const key = `js.class.yours.${kind}${model ? '.model' : ''}`;
    line.textContent = t(key, { text: isolated(stands.text), share, model });
  }
}

function lost() {
  live(false);
  const words = t(waiting ? 'js.class.waits' : 'js.class.stays');
  say(t('js.reconnecting', { n: connection.tries }), words);
  const alone = document.querySelector('[data-go-alone]');
  alone.hidden = !(connection.tries > aloneAfter && last?.alone);
  alone.href = `/class/${room}/alone`;
  if (!wall) mark();
}

function live(on) {
  for (const dot of document.querySelectorAll('#screen .live')) dot.classList.toggle('live--off', !on);
  const name = document.querySelector('[data-live]');
  if (!name) return;
  name.textContent = t(on ? 'js.class.live' : 'js.class.paused');
  document.querySelector('[data-live-say]').textContent = on ? t('js.class.moves') : lastSay();
}

function lastSay() {
  if (!connection.receivedAt) return t('js.class.silent');
  return t('js.class.last', { s: Math.round((Date.now() - connection.receivedAt) / 1000) });
}

// place updates the link to the learner's own view, and shows which position the class has
// reached.
function place() {
  const where = last.started ? `${last.step}.${last.stage}` : '';
  const link = document.querySelector('[data-wander]');
  link.hidden = !where;
  link.href = `?at=${where}`;
  const at = document.querySelector('[data-class-at]');
  if (at && where) {
    at.textContent = last.poll?.phase === 'open' ? t('js.class.voting')
      : t('js.class.at', { n: last.stage, stage: stageNames[last.stage] });
  }
}

// look shows a stage that the learner has chosen.
async function look(href) {
  const url = new URL(href, location.href);
  try {
    const response = await fetch(url, { headers: { 'Viz-Fragment': '1' } });
    const html = await response.text();
    if (!response.ok) {
      const words = document.createElement('template');
      words.innerHTML = html;
      tell(words.content.textContent.trim());
      return;
    }
    tell('');
    hold();
    patch(document.getElementById('own'), html);
    document.getElementById('screen').hidden = true;
    document.getElementById('own').hidden = false;
    toEnd(document.getElementById('own-strip'));
    if (last) place();
    dock();
  } catch { tell(t('js.class.offline')); }
}

function rejoin() {
  release();
  const ownScreen = document.getElementById('own');
  ownScreen.hidden = true;
  ownScreen.replaceChildren();
  document.getElementById('screen').hidden = false;
  if (location.search) history.replaceState(null, '', location.pathname);
  toEnd(document.getElementById('cl-strip'));
  mark();
}

function click(event) {
  if (event.target.closest('[data-vote-now]')) {
    if (wandering()) rejoin();
    toPoll();
    document.querySelector('#cl-poll :is(button, input)')?.focus({ preventScroll: true });
    return;
  }
  const command = room && !wall && asked(event.target);
  if (command) {
    if (command.cmd === 'look') inside = command.on;
    if (!connection.send(command, 'forget')) tell(t('js.class.offline'));
  }
  const link = event.target.closest('[data-wander], [data-look], [data-rejoin], [data-retry], [data-copy]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if ('copy' in link.dataset) return copy(link);
  if ('retry' in link.dataset) return connection?.retry();
  event.preventDefault();
  if ('rejoin' in link.dataset) rejoin();
  else look(link.href);
}

function press(key) {
  const letter = key.toLowerCase();
  let button = null;
  if (wandering() && key.startsWith('Arrow')) {
    button = document.querySelector(`#own [data-step="${CSS.escape(key)}"]`);
  } else if (letter === 'w') {
    button = document.querySelector(wandering() ? '[data-rejoin]' : '[data-wander]:not([hidden])');
  } else if (!wandering() && /^[a-h]$/.test(letter)) {
    button = document.querySelector(`#cl-poll button[data-letter="${letter}"]`);
  }
  button?.click();
  return button !== null;
}

document.addEventListener('click', click);
if (room) {
  if (wall) viewChannel.onmessage = ({ data }) => { if (data !== shows(view)) location.reload(); };
  if (!wall) {
    onShortcut(press);
    document.addEventListener('submit', (event) => {
      if (event.target.matches('[data-vote]')) {
        event.preventDefault();
        cast(event.target, event.submitter);
      } else if (event.target.matches('[data-name]')) {
        event.preventDefault();
        const sent = connection.send({ cmd: 'join', nick: event.target.elements.nick.value }, 'repeat');
        if (sent) event.target.closest('details').open = false;
      } else if (event.target.matches('[data-ask]')) {
        event.preventDefault();
        ask(event.target);
      }
    });
    // If the confidence is set after the vote, the vote is sent again with it.
    document.addEventListener('change', ({ target }) => {
      if (target.name === 'sure' && standing(target.closest('#cl-poll'))) cast(target.form, null);
    });
    document.addEventListener('input', ({ target }) => {
      const form = target.closest('[data-turn]');
      if (form) look(`?${new URLSearchParams(new FormData(form))}`);
    });
    if (wandering()) hold();
    // A busy phone reports several changes together; only the last one is current.
    new IntersectionObserver((entries) => {
      pollInView = entries.at(-1).isIntersecting;
      dock();
    }, { rootMargin: '0px 0px -72px 0px' }).observe(document.getElementById('cl-poll'));
  }
  followRows();
  begin();
  if (!wall) setInterval(() => { if (!connection.up && connection.receivedAt) live(false); }, 1000);
}
