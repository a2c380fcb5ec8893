// Keeps the focus among the controls when the focused button disappears. While a run is played to
// its end, its button is replaced with one that cancels the run.
const finish = '{"cmd":"finish"}';

// holdFocus is called before the panels change. It returns a function to be called afterward.
export function holdFocus() {
  const had = document.activeElement;
  if (!had?.closest('#transport, #progress')) return () => {};
  const { cmd } = had.dataset;
  const cancels = had.closest('#progress') !== null;
  return () => {
    const lost = document.activeElement === document.body;
    const another = cmd === finish && had.dataset.cmd !== finish; // a button was replaced by its counterpart
    if (lost || another) heir(cancels)?.focus();
  };
}

// heir returns the button that replaces the one that disappeared.
function heir(canceled) {
  const again = canceled && document.querySelector(`#transport [data-cmd='${finish}']`);
  return document.querySelector('#progress button') || again || document.querySelector('#transport .btn--main');
}
