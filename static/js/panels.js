// Puts the server's panels into the page. Panels marked `later`, such as the costs and the settings,
// wait until the frame with the others has been drawn.
import { patch } from './patch.js';
import { afterFrame, whenIdle } from './frames.js';
import { holdFocus } from './focus.js';
import { afterPanels } from './worked.js';
import { afterFall, isFalling } from './falling.js';

const speakEvery = 1500; // ms between two announcements to a screen reader
const nearEnd = 48; // px from the end of the text within which it counts as scrolled to the end: about a token
const nearLast = 8; // px from the last line within which the text counts as scrolled to it

const operations = {
  morph(element, html, arrived) {
    // The panels of two stages have little in common, so replacing a panel is faster than patching
    // it. If it has focus, it is patched anyway.
    if (arrived && element.id === 'panel' && !element.contains(document.activeElement)) element.outerHTML = html;
    else patch(element, html);
  },
  append(element, html) { element.insertAdjacentHTML('beforeend', html); },
  remove(element) { element.remove(); },
};

const waiting = new Map(); // id → the newest panel of those to be shown later
const callbacks = []; // called once those panels are shown
let missing = false; // the rest of the shown state has not arrived

function applyWaiting() {
  const panels = [...waiting.values()];
  waiting.clear();
  for (const panel of panels) apply(panel);
  complete();
}

// complete is called after panels were applied. It calls the callbacks if the page shows all panels
// of the state.
function complete() {
  const all = !missing && waiting.size === 0;
  afterPanels(all);
  if (all) for (const act of callbacks.splice(0)) act();
}

// afterLater calls act when the page shows all panels of the state.
export function afterLater(act) {
  if (missing || waiting.size > 0) callbacks.push(act);
  else afterFrame(act);
}

let ownPeek = null; // the state's own line under the strip
let peekIsOwn = true;

// expectRest is called for every state. more is set if the rest of its panels follows.
export function expectRest(more) { missing = more; }

// applyPanels applies a message's panels in order. If state is set, the panels show a new state;
// otherwise, they answer a question. arrived is set if the new state is at another stage.
export function applyPanels(panels, state, arrived) {
  kept ??= measured();
  const returnFocus = holdFocus();
  for (const panel of panels) {
    if (panel.id === 'spoken') toSay = panel;
    else if (panel.later) applyLater(panel);
    else apply(panel, arrived);
    if (panel.id !== 'peek') continue;
    peekIsOwn = state;
    if (state) ownPeek = panel;
  }
  returnFocus();
  complete();
}

function applyLater(panel) {
  if (document.hidden) {
    waiting.delete(panel.id); // older, and not applied because the page was hidden
    apply(panel);
    return;
  }
  if (waiting.size === 0) afterFrame(() => whenIdle(applyWaiting));
  waiting.set(panel.id, panel);
}

// applyRest applies the panels of a state that follow in a second message.
export function applyRest(panels) {
  missing = false;
  for (const panel of panels) applyLater(panel);
  complete();
}

// restorePeek restores the state's own line under the strip if the line of another token has
// replaced it.
export function restorePeek() {
  if (ownPeek && !peekIsOwn) apply(ownPeek);
  peekIsOwn = true;
}

// tell shows a message from the page itself and announces it to screen readers.
export function tell(words) {
  const element = document.getElementById('told') ?? document.getElementById('err-general');
  if (element) element.textContent = words;
}

function apply({ id, op, html }, arrived) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`there is no element #${id}`);
  operations[op](element, html, arrived);
}

let kept = null; // scroll positions before the change

// measured returns the scroll positions of the text and the table. It is called before anything
// changes, since the browser would otherwise have to compute the layout.
function measured() {
  return { text: textAt(), row: document.querySelector('#panel [data-rows]')?.scrollTop ?? 0 };
}

// textAt describes the scroll position of the text, which is a row of tokens in Numbers and lines
// of text in the Story.
function textAt() {
  const text = document.getElementById('strip-row');
  if (!text) return null;
  const token = text.querySelector('[aria-current="true"]');
  return {
    atEnd: text.scrollWidth - text.clientWidth - text.scrollLeft < nearEnd
      && text.scrollHeight - text.clientHeight - text.scrollTop < nearLast,
    back: token && token !== token.parentElement.lastElementChild ? token.dataset.step : '',
    over: document.querySelector('.story--end') !== null,
  };
}

let opened = false; // the text has been scrolled to its initial position

// followText scrolls the text to its end if it was scrolled there before, or to the token that
// the learner is looking back at. At the end of a run, it scrolls to the beginning, so that the
// text can be read.
function followText(was) {
  const text = document.getElementById('strip-row');
  const now = textAt();
  if (now.over) {
    if (!was?.over) text.scrollTop = 0;
  } else if (now.back) {
    if (now.back !== was?.back || !opened) bring(text, text.querySelector('[aria-current="true"]'), nearEnd);
  } else if (text.querySelector('.tok--ghost')) { // the tokens dropped by a branch follow the text
    bring(text, text.querySelector('.tok--next'), text.clientWidth / 2);
  } else if (was?.atEnd || was?.back || was?.over || !opened) {
    text.scrollLeft = text.scrollWidth;
    text.scrollTop = text.scrollHeight;
  }
  opened = true;
}

// bring scrolls the box, but not the page, if the element is out of view. It leaves `before` pixels
// to the left of the element.
function bring(box, element, before) {
  const [within, at] = [box.getBoundingClientRect(), element.getBoundingClientRect()];
  if (at.left < within.left || at.right > within.right) box.scrollLeft += at.left - within.left - before;
  if (at.top < within.top || at.bottom > within.bottom) box.scrollTop += at.top - within.top;
}

// scrollBack is called after all changes. It forces the layout now, while the browser waits for
// the screen, rather than in the next frame. It scrolls the text as followText does. The table of
// the next stage has the same rows and is scrolled to the same row.
export function scrollBack() {
  if (!kept) return;
  const { text, row } = kept;
  kept = null;
  if (document.getElementById('strip-row')) followText(text);
  const rows = row && document.querySelector('#panel [data-rows]');
  if (rows && rows.scrollTop !== row) rows.scrollTop = row;
}

let toSay = null; // announcement of the state that is being shown

// announce announces the shown state after its movements have begun. While the marker falls,
// it announces only the fall.
export function announce() {
  const panel = toSay;
  toSay = null;
  if (!panel) return;
  if (isFalling()) {
    spoken = null; // the announcement belongs to the previous stage
    const line = document.getElementById('spoken');
    line.textContent = line.dataset.falling;
  }
  afterFall('spoken', () => speak(panel));
}

let spoken = null; // the newest pending announcement
let speaking = 0;

// speak makes at most one announcement every speakEvery. If there are more, only the last one is
// made.
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
