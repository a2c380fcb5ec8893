// While a marker falls nothing on the page tells what it falls on: neither the line, the
// table and the map (see carry.css) nor what comes meanwhile. A newer version of the
// stage, and the sentence for screen readers, wait until it has landed.
const waiting = new Map(); // by what waits: the newest of each

// note tells the styles of the whole page whether a marker falls. They could ask
// :root:has(.is-falling), but a browser then looks through the page whenever a stage is replaced.
const note = () => document.documentElement.toggleAttribute('data-falling', isFalling());

// beginFall lets a stage be silent until a movement ends, if there is one.
export function beginFall(stage, movement) {
  if (!movement) return;
  const rows = [...stage.querySelectorAll('tr.is-pick')];
  for (const row of rows) row.className = row.className.replace('is-pick', 'is-soon').replace('is-hover', 'is-back');
  stage.classList.add('is-falling');
  note();
  stage.setAttribute('aria-busy', 'true'); // what is live in it is read out once it has landed
  movement.onfinish = movement.oncancel = () => {
    stage.classList.remove('is-falling');
    note();
    stage.removeAttribute('aria-busy');
    for (const row of rows) row.className = row.className.replace('is-soon', 'is-pick').replace('is-back', 'is-hover');
    landed();
  };
}

// isFalling says whether a marker falls in an element, or in one that it is part of.
export function isFalling(element = document.documentElement) {
  return element?.matches(':is(.is-falling, .is-falling *, :has(.is-falling))') ?? false;
}

// afterFall does something once no marker falls, or immediately. Of several of a name
// only the last is done.
export function afterFall(name, act) {
  waiting.delete(name);
  waiting.set(name, act);
  if (!isFalling()) landed();
}

// landed does what waits.
export function landed() {
  const acts = [...waiting.values()];
  waiting.clear();
  for (const act of acts) act();
}
