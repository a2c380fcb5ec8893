// Keeps the focus among the controls when the focused button disappears:
// running to the end replaces its button by one that cancels it, and vice
// versa.
const finish = '{"cmd":"finish"}';

// holdFocus is called before the panels change, and returns a function to call
// afterwards.
export function holdFocus() {
  const had = document.activeElement;
  if (!had?.closest('#transport, #progress')) return () => {};
  const { cmd } = had.dataset;
  const cancels = had.closest('#progress') !== null;
  return () => {
    const lost = document.activeElement === document.body;
    const another = cmd === finish && had.dataset.cmd !== finish; // a button turned into its neighbor
    if (lost || another) heir(cancels)?.focus();
  };
}

// heir is the button that takes over from the lost one.
function heir(canceled) {
  const again = canceled && document.querySelector(`#transport [data-cmd='${finish}']`);
  return document.querySelector('#progress button') || again || document.querySelector('#transport .btn--main');
}
