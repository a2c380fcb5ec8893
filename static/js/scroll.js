// Scrolls the head of a newly reached stage into view on small screens, where the whole page
// scrolls. The page's scroll-padding is the height that is covered at its top and bottom.
const small = matchMedia('(max-width: 70rem)');
const still = matchMedia('(prefers-reduced-motion: reduce)');

const byId = (id) => document.getElementById(id);

export function showStage() {
  const panel = byId('panel');
  if (!small.matches || !panel || byId('scrub')?.matches(':focus, :active')) return;
  const { scrollPaddingTop, scrollPaddingBottom } = getComputedStyle(document.documentElement);
  const top = parseFloat(scrollPaddingTop);
  const bottom = innerHeight - parseFloat(scrollPaddingBottom);
  const part = textAtEnd(panel) ?? panel;
  const head = (part.querySelector('h2') ?? part).getBoundingClientRect();
  let by = head.top < top || head.bottom > bottom ? part.getBoundingClientRect().top - top : 0;
  // The winner's row sticks to the edges of the window within its table, so it becomes visible as
  // soon as the table does.
  const row = panel.querySelector('tr.is-pick');
  if (row) by = Math.max(by, row.parentElement.getBoundingClientRect().top + row.offsetHeight - bottom);
  if (Math.abs(by) >= 1) scrollBy({ top: by, behavior: still.matches ? 'instant' : 'smooth' });
}

// textAtEnd returns the element with the text as prose, which is shown at the end of a run.
function textAtEnd(panel) {
  if (panel.matches('.story--end')) return document.querySelector('.st__text');
  return document.querySelector('#reading:not([hidden])');
}
