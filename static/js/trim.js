// What is cut at stage 4 leaves, then the rest stretches to share all. In Numbers the
// dashed line between the rows travels by motion.css; in the Story it does here, and what
// is below it falls out of the bars. Times are in ms.
const appear = [{ opacity: 0 }, { opacity: 1 }];
const cutting = 480;

const boxOf = (element) => element.getBoundingClientRect();

// trim moves a stage that has just been cut. play starts a movement, was is the page before.
export function trim(scene, play, was) {
  const kept = [...scene.querySelectorAll('[data-carry]')]
    .filter((bar) => !bar.closest('.is-cut') && boxOf(bar).width > 0);
  const before = partOf(kept[0], was);
  if (scene.querySelector('.shares')) drop(scene, play, was, before);
  const cut = [...scene.querySelectorAll('.is-cut rect[fill^=url]')].reverse();
  cut.forEach((hatch, i) => play(hatch, appear, 240, (240 * i) / cut.length));
  for (const bar of kept) play(bar, [{ transform: `scaleX(${before})` }, { transform: 'none' }], cutting, cutting);
  for (const word of scene.querySelectorAll('.is-cut .pct, .ghost, .ghostkey')) play(word, appear, 120, cutting);
  for (const figure of scene.querySelectorAll('li:not(.is-cut) .pct, td.q.now, td.q.g4')) {
    play(figure, appear, 120, 2 * cutting);
  }
}

// partOf is p as a part of p′, the same for all that is kept, as the lengths of a bar have it.
function partOf(bar, was) {
  if (!bar) return 1;
  const old = bar.parentElement.querySelector('.bar__p, .w-bar__p');
  const width = old ? boxOf(old).width : was.boxes.get(bar.dataset.carry)?.width;
  return width === undefined ? 0 : Math.min(width / boxOf(bar).width, 1);
}

// drop lets the line travel, and what is cut fall out, from the least likely up.
function drop(scene, play, was, before) {
  const rows = [...scene.querySelectorAll('.shares > li')];
  const slices = rows.map((row) => sliceOf(row, was, before)).filter(Boolean).reverse();
  slices.forEach((slice, i) => {
    const fallen = { opacity: 0, transform: 'translateY(2rem)' };
    const long = slices.length > 1 ? cutting / 2 : cutting;
    const later = ((cutting - long) / slices.length) * i;
    const fall = play(slice, [{ opacity: 1, transform: 'none' }, fallen], long, later);
    if (!fall) slice.remove();
    else fall.onfinish = fall.oncancel = () => slice.remove();
  });
  if (slices.length) travel(scene, play, last(slices).closest('li'));
}

const last = (list) => list[list.length - 1];

// sliceOf puts what a row loses over its bar: all of it, or its end if it is everything else.
function sliceOf(row, was, before) {
  const bar = row.querySelector('.bar');
  const old = was.boxes.get(bar?.dataset.carry);
  const stays = row.matches('.is-cut') ? 0 : boxOf(bar).width * before;
  if (!old || old.width - stays < 1) return null;
  const slice = bar.cloneNode();
  slice.setAttribute('class', 'bar bar--slice');
  slice.setAttribute('x', stays);
  slice.setAttribute('width', old.width - stays);
  delete slice.dataset.carry;
  bar.after(slice);
  return slice;
}

// travel lets a dashed line run down to above a row, and fade when the bars stand.
function travel(scene, play, row) {
  const picture = row.closest('.story__pic');
  const line = document.createElement('i');
  line.className = 'trimline';
  picture.append(line);
  const at = (y) => `translateY(${y - boxOf(picture).top}px)`;
  const place = at(boxOf(row).top);
  const run = play(line, [
    { transform: at(boxOf(row.parentElement).top), opacity: 1, easing: 'cubic-bezier(.2, 0, 0, 1)' },
    { transform: place, opacity: 1, offset: .5 },
    { transform: place, opacity: 1, offset: .9 },
    { transform: place, opacity: 0 },
  ], 2 * cutting, 0, 'linear');
  if (!run) line.remove();
  else run.onfinish = run.oncancel = () => line.remove();
}
