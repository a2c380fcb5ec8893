// Puts the server's panels into the page.
import { Idiomorph } from './vendor/idiomorph.js';
import { afterPanels } from './worked.js';

const speakEvery = 1500; // ms between two announcements to a screen reader
const nearEnd = 48; // px: scrolled to the end, give or take a token

const operations = {
  morph(element, html) {
    // Elements that stay keep their focus and scroll; a field that is being
    // typed in keeps its value.
    if (changesStage(element, html)) replace(element, html);
    else Idiomorph.morph(element, html, { morphStyle: 'outerHTML', ignoreActiveValue: true });
  },
  append(element, html) { element.insertAdjacentHTML('beforeend', html); },
  remove(element) { element.remove(); },
};

const stageOf = (text) => /panel--\d/.exec(text)?.[0];

// changesStage reports whether the panel becomes another stage's, of which
// hardly anything stays, so that replacing it is quicker than finding out what
// could. An element that has the focus stays all the same.
function changesStage(element, html) {
  return element.id === 'panel' && !element.contains(document.activeElement) &&
    stageOf(element.className) !== stageOf(html.slice(0, 400));
}

// replace keeps the scroll position of the table that stages 2 to 5 share.
function replace(element, html) {
  const top = element.querySelector('[data-rows]')?.scrollTop;
  element.outerHTML = html;
  const rows = document.querySelector('#panel [data-rows]');
  if (rows && top) rows.scrollTop = top;
}

let ownPeek = null; // the line under the strip as the state has it

// applyPanels carries out a message's panels in order. state tells that they
// show a new state; otherwise they answer a question.
export function applyPanels(panels, state) {
  const follow = followStrip();
  if (state) ownPeek = panels.find(({ id }) => id === 'peek') ?? ownPeek;
  for (const panel of panels) {
    if (panel.id === 'spoken') speak(panel);
    else apply(panel);
  }
  afterPanels();
  follow();
}

// restorePeek puts the state's own line under the strip, where another
// token's stands.
export function restorePeek() { if (ownPeek) apply(ownPeek); }

// say announces words of the page itself, besides showing them.
export function tell(words) {
  const element = document.getElementById('told') ?? document.getElementById('err-general');
  if (element) element.textContent = words;
}

function apply({ id, op, html }) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`there is no element #${id}`);
  operations[op](element, html);
}

// followStrip returns what keeps the newest token in sight: scrolling on to
// the end, if that is where the strip stood, and nothing if the learner has
// scrolled away.
function followStrip() {
  const strip = scroller(document.getElementById('strip-gen'));
  if (!strip) return () => {};
  const left = strip.scrollWidth - strip.clientWidth - strip.scrollLeft < nearEnd;
  const top = strip.scrollHeight - strip.clientHeight - strip.scrollTop < nearEnd;
  return () => {
    if (left) strip.scrollLeft = strip.scrollWidth;
    if (top) strip.scrollTop = strip.scrollHeight;
  };
}

function scroller(element) {
  for (let e = element; e && e !== document.body; e = e.parentElement) {
    const { overflowX, overflowY } = getComputedStyle(e);
    if (/auto|scroll/.test(overflowX + overflowY)) return e;
  }
  return null;
}

let spoken = null; // the newest announcement not made yet
let speaking = 0;

// speak announces at most one thing every speakEvery; the last one wins.
function speak(panel) {
  spoken = panel;
  if (speaking) return;
  const next = () => {
    speaking = 0;
    if (!spoken) return;
    apply(spoken);
    spoken = null;
    speaking = setTimeout(next, speakEvery);
  };
  next();
}
