// The prediction form: the slider shows its value, the digits select a candidate, and Enter
// reveals the answer. The form is sent like any other.
import { onShortcut } from './keys.js';

const sure = document.getElementById('sure');
const say = document.getElementById('sure-say');
const show = () => { if (sure) say.textContent = `${sure.value}%`; };
sure?.addEventListener('input', show);
show(); // if the visitor has returned to the page, the browser has restored the slider's position

const form = document.getElementById('guess');
onShortcut((key, { target }) => {
  const pick = /^[1-9]$/.test(key) ? form?.querySelector(`[data-key="${key}"]`) : null;
  if (pick) {
    pick.checked = true;
    pick.focus();
    return true;
  }
  if (!form || key !== 'Enter' || !target.matches('input[type=radio], input[type=range]')) return false;
  form.requestSubmit();
  return true;
});

document.getElementById('reveal')?.focus({ preventScroll: true });
