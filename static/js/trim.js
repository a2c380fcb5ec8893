// At stage 4, the cut tokens disappear, and then the bars of the others stretch to share the
// whole probability. In Numbers, motion.css moves the dashed line between the rows. In the
// Story, this script moves it, and the rows below the line fall out of the bars. Times are
// in ms.
const appear = [{ opacity: 0 }, { opacity: 1 }];
const cutting = 480;

const boxOf = (element) => element.getBoundingClientRect();

// trim animates a stage whose tokens have just been cut. play starts a movement, and was is the
// previous state of the page.
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

// partOf returns p as a fraction of p′, computed from the lengths of a bar. It is the same for
// all kept tokens.
function partOf(bar, was) {
  if (!bar) return 1;
  const old = bar.parentElement.querySelector('.bar__p, .w-bar__p');
  const width = old ? boxOf(old).width : was.boxes.get(bar.dataset.carry)?.width;
  return width === undefined ? 0 : Math.min(width / boxOf(bar).width, 1);
}

// drop moves the line and makes the cut tokens fall out, beginning with the least likely.
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

// sliceOf puts the lost part of a row over its bar. The lost part is the whole bar or, in the row
// for all other tokens, the end of the bar.
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

// travel moves a dashed line down to the top of a row and fades it out when the bars are
// complete.
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
