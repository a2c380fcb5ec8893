// Predict, then reveal: the slider shows its value, digits pick a candidate,
// Enter reveals. The form is sent like any other.
import { recall } from './stored.js';

const sure = document.getElementById('sure');
const say = document.getElementById('sure-say');
const show = () => { if (sure) say.textContent = `${sure.value}%`; };
sure?.addEventListener('input', show);
show(); // on return to the page the slider is where it was left

const form = document.getElementById('guess');
document.addEventListener('keydown', (event) => {
  if (!form || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.querySelector('dialog[open]')) return;
  if (/^[1-9]$/.test(event.key) && recall('viz.letterkeys') !== 'off') {
    const pick = form.querySelector(`[data-key="${event.key}"]`);
    if (!pick) return;
    event.preventDefault();
    pick.checked = true;
    pick.focus();
  } else if (event.key === 'Enter' && event.target.matches('input[type=radio], input[type=range]')) {
    event.preventDefault();
    form.requestSubmit();
  }
});

document.getElementById('reveal')?.focus({ preventScroll: true });
