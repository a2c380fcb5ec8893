// Replaces a text field that holds a list. Each item becomes a chip that is removed by pressing it,
// and a small field adds chips. The original field still holds the list and is submitted.
import { onKey } from './keys.js';
import { t } from './texts.js';

function show(field) {
  const lines = field.tagName === 'TEXTAREA';
  const mark = lines ? '\n' : ',';
  const items = field.value.split(mark).map((s) => (lines ? s : s.trim())).filter(Boolean);
  let box = field.parentElement.querySelector('.chips-in');
  if (!box) {
    box = document.createElement('div');
    box.className = 'chips-in';
    box.setAttribute('role', 'group');
    box.setAttribute('aria-label', field.labels[0].textContent.trim());
    field.after(box);
    field.hidden = true;
  }
  const set = (list) => {
    field.value = list.join(mark);
    field.dispatchEvent(new Event('change', { bubbles: true }));
    show(field);
    box.querySelector('input').focus();
  };
  const chips = items.map((text, i) => {
    const chip = document.createElement('button');
    chip.type = 'button';
    chip.className = 'chip';
    chip.textContent = text;
    chip.dir = 'auto';
    chip.setAttribute('aria-label', t('js.chips.remove', { text }));
    chip.addEventListener('click', () => set(items.toSpliced(i, 1)));
    return chip;
  });
  const add = document.createElement('input');
  add.type = 'text';
  add.inputMode = lines || 'words' in field.dataset ? 'text' : 'numeric';
  add.autocomplete = 'off';
  add.dir = 'auto';
  add.placeholder = t('js.chips.add');
  add.setAttribute('aria-label', t('js.chips.to', { field: field.labels[0].firstChild.textContent.trim() }));
  const take = () => { if (add.value) set([...items, lines ? add.value : add.value.trim()]); };
  add.addEventListener('change', (event) => { event.stopPropagation(); take(); });
  onKey(add, (key) => {
    if (key !== 'Enter') return false;
    take();
    return true; // handled: do not submit the form
  });
  box.replaceChildren(...chips, add);
}

export function startChips(root) {
  for (const field of root.querySelectorAll('[data-chips]')) {
    show(field);
    field.addEventListener('feedset', () => show(field));
  }
}
