// Keeps the focus among the controls when the button that has it goes: a run to
// the end takes its button away and brings one that cancels it, and the reverse.
const finish = '{"cmd":"finish"}';

// holdFocus is called before the panels change. What it returns is called
// afterwards.
export function holdFocus() {
  const had = document.activeElement;
  if (!had?.closest('#transport, #progress')) return () => {};
  const { cmd } = had.dataset;
  const cancels = had.closest('#progress') !== null;
  return () => {
    const lost = document.activeElement === document.body;
    const another = cmd === finish && had.dataset.cmd !== finish; // a button made into its neighbour
    if (lost || another) heir(cancels)?.focus();
  };
}

// heir is the button that does next what the lost one was about.
function heir(cancelled) {
  const again = cancelled && document.querySelector(`#transport [data-cmd='${finish}']`);
  return document.querySelector('#progress button') || again || document.querySelector('#transport .btn--main');
}
