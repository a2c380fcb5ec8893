// Copies the text of the element that a button selects with its data-copy attribute.
import { t } from './texts.js';

export async function copy(button) {
  const field = document.querySelector(button.dataset.copy);
  const words = button.textContent;
  try {
    await navigator.clipboard.writeText(field.value ?? field.textContent);
    button.textContent = t('js.copied');
  } catch { // without encryption, browsers do not provide a clipboard
    field.classList.remove('sr');
    if (field.type === 'password') field.type = 'text'; // passwords cannot be copied
    if (field.select) field.select();
    else getSelection().selectAllChildren(field);
    button.textContent = t('js.press');
  }
  setTimeout(() => { button.textContent = words; }, 2000);
}
