// The page for writing a walkthrough. This script shows a step without leaving the text, opens a
// file in the text field, and links each problem to its line. Without it, the form shows steps by
// reloading the page.
import { onKey } from './keys.js';
import { patch } from './patch.js';
import { t } from './texts.js';
import { followRows } from './worked.js';

const form = document.querySelector('#draft');
const text = form.querySelector('textarea');
const told = document.querySelector('#draft-told');
const kept = 'viz-walkthrough';

// The draft survives a reload of this tab.
if (!location.search && sessionStorage.getItem(kept)) text.value = sessionStorage.getItem(kept);
text.addEventListener('input', () => sessionStorage.setItem(kept, text.value));

const lineOfCaret = () => text.value.slice(0, text.selectionStart).split('\n').length;

function goToLine(line) {
  const lines = text.value.split('\n');
  const start = lines.slice(0, line - 1).reduce((sum, l) => sum + l.length + 1, 0);
  text.focus();
  text.setSelectionRange(start, start + (lines[line - 1] ?? '').length);
  text.scrollTop = (text.scrollHeight / lines.length) * Math.max(0, line - 4);
}

let newest = 0; // number of the newest request; only its answer is shown
async function show(values) {
  const n = ++newest;
  const out = document.querySelector('#draft-out');
  out.setAttribute('aria-busy', 'true');
  try {
    const answer = await fetch(form.action, { method: 'POST', body: new URLSearchParams(values) });
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    if (n !== newest) return;
    const next = page.querySelector('#draft-out');
    if (next) patch(out, next.outerHTML);
    told.textContent = next ? '' : page.querySelector('main .lead')?.textContent ?? t('js.draft.refused');
  } catch {
    if (n === newest) told.textContent = t('js.draft.away');
  } finally {
    if (n === newest) document.querySelector('#draft-out').removeAttribute('aria-busy');
  }
}

form.addEventListener('submit', (event) => {
  const button = event.submitter;
  form.elements.line.value = lineOfCaret();
  if (button?.value === 'save') return;
  event.preventDefault();
  if (button?.dataset.line) goToLine(Number(button.dataset.line));
  else show(new FormData(form, button));
});

onKey(text, (key) => {
  if (key !== 'Ctrl+Enter') return false;
  form.requestSubmit(form.querySelector('[value="show"]'));
  return true;
});

document.querySelector('[data-open]').addEventListener('change', async ({ target }) => {
  const [file] = target.files;
  target.value = ''; // so that the same file can be opened again
  if (!file) return;
  if (file.size > Number(text.dataset.most)) {
    told.textContent = t('js.draft.large', { n: text.dataset.most });
    return;
  }
  text.value = await file.text();
  text.dispatchEvent(new Event('input', { bubbles: true }));
  text.setSelectionRange(0, 0);
  form.requestSubmit(form.querySelector('[value="show"]'));
});

followRows();
