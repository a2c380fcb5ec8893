// Hides the outcome in the line, the table and the map until the marker has landed (see
// carry.css). A newer version of the stage, and the sentence for screen readers, wait until then.
const waiting = new Map(); // name → newest waiting action

// note sets an attribute on the page while a marker falls. The styles could use
// :root:has(.is-falling) instead, but then browsers would search the page whenever a stage is
// replaced.
const note = () => document.documentElement.toggleAttribute('data-falling', isFalling());

// beginFall hides the outcome in a stage until the given movement ends. It does nothing if there
// is no movement.
export function beginFall(stage, movement) {
  if (!movement) return;
  const rows = [...stage.querySelectorAll('tr.is-pick')];
  for (const row of rows) row.className = row.className.replace('is-pick', 'is-soon').replace('is-hover', 'is-back');
  stage.classList.add('is-falling');
  note();
  stage.setAttribute('aria-busy', 'true'); // live regions in it are read out after the landing
  movement.onfinish = movement.oncancel = () => {
    stage.classList.remove('is-falling');
    note();
    stage.removeAttribute('aria-busy');
    for (const row of rows) row.className = row.className.replace('is-soon', 'is-pick').replace('is-back', 'is-hover');
    landed();
  };
}

// isFalling reports whether a marker is falling in an element, or in one of its ancestors or
// descendants.
export function isFalling(element = document.documentElement) {
  return element?.matches(':is(.is-falling, .is-falling *, :has(.is-falling))') ?? false;
}

// afterFall calls act as soon as no marker is falling. Of several waiting actions with the same
// name, only the last is called.
export function afterFall(name, act) {
  waiting.delete(name);
  waiting.set(name, act);
  if (!isFalling()) landed();
}

// landed calls the waiting actions.
export function landed() {
  const acts = [...waiting.values()];
  waiting.clear();
  for (const act of acts) act();
}
