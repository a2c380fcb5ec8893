// The picture beside a lesson. It changes when the reader reaches certain points in the text or
// selects a state. All its states are on the page; see web/learn/picture.templ.
const figure = document.querySelector('[data-picture]');

if (figure) {
  const steps = [...figure.querySelectorAll('input[name="picture"]')];
  const marks = steps.map((step) => document.getElementById(step.value));
  const still = matchMedia('(prefers-reduced-motion: reduce)');
  const buttons = [...figure.querySelectorAll('[data-picture-go]')];
  let led = false; // the page is scrolling to a state that the reader selected
  let due = 0;

  const now = () => steps.findIndex((step) => step.checked);
  const show = (i) => {
    steps[i].checked = true;
    for (const b of buttons) b.setAttribute('aria-disabled', String(!steps[i + Number(b.dataset.pictureGo)]));
  };
  // line returns the vertical position in the window at which a point in the text counts as
  // reached: the middle of the window if the picture is beside the text, or a position below the
  // sticky picture if it is above the text.
  const line = () => {
    const above = figure.offsetWidth > innerWidth * 0.7;
    return above ? Math.min(figure.offsetHeight + 120, innerHeight * 0.8) : innerHeight * 0.5;
  };
  const follow = () => {
    due = 0;
    if (led) return;
    const at = line();
    show(Math.max(0, marks.findLastIndex((mark) => mark.getBoundingClientRect().top < at)));
  };
  const lead = (i) => {
    show(i);
    led = true;
    const by = marks[i].getBoundingClientRect().top - line() + 24;
    // For the first state, scroll to the top of the page.
    scrollTo({ top: i === 0 ? 0 : scrollY + by, behavior: still.matches ? 'auto' : 'smooth' });
  };
  const free = () => { led = false; };

  addEventListener('scroll', () => { due ||= requestAnimationFrame(follow); }, { passive: true });
  for (const event of ['scrollend', 'wheel', 'touchmove', 'pointerdown']) {
    addEventListener(event, free, { passive: true });
  }
  figure.addEventListener('change', () => lead(now()));
  for (const b of buttons) {
    b.addEventListener('click', () => {
      const to = now() + Number(b.dataset.pictureGo);
      if (steps[to]) lead(to);
    });
  }
  figure.querySelector('.pic__go').hidden = steps.length < 2;
  show(now());
  follow();
}
