// Shows one question of the quiz at a time. The page contains all questions, so it works without
// scripts, on paper, and for links to single questions.
import { t } from './texts.js';

const list = document.querySelector('.quiz__list');
const step = document.querySelector('[data-quiz-step]');
const items = [...list?.children ?? []];
let now = 0;

// show shows one question and its number.
function show(n) {
  now = Math.max(0, Math.min(n, items.length - 1));
  items.forEach((item, i) => item.classList.toggle('is-now', i === now));
  step.querySelector('[data-quiz-at]').textContent = t('js.quiz', { n: now + 1, most: items.length });
  step.querySelector('[data-quiz-back]').disabled = now === 0;
  step.querySelector('[data-quiz-next]').disabled = now === items.length - 1;
}

// byAddress shows the question that the address names. If a mixed quiz lacks it, all questions are
// shown.
function byAddress() {
  const n = items.findIndex((item) => `#${item.id}` === location.hash);
  if (n >= 0) show(n);
  else if (location.hash.startsWith('#q-') && !/[?&](all|lesson)=/.test(location.search)) {
    location.replace(`?all=1${location.hash}`);
  }
}

// go moves forward or back by one question and updates the address.
function go(by) {
  show(now + by);
  history.replaceState(history.state, '', `#${items[now].id}`);
}

// score says how many of the questions with choices were right at the first try, once the last
// question of the page has been answered.
function score() {
  const picked = [...list.querySelectorAll('.check--choice.is-done')];
  const n = picked.filter((form) => !form.querySelector('.is-wrong')).length;
  const over = items.at(-1).querySelector('.is-done') && picked.length > 0;
  document.querySelector('[data-quiz-score]').textContent = over ? t('js.quiz.score', { n, all: picked.length }) : '';
}

if (step && items.length > 1) {
  new MutationObserver(score).observe(list, { childList: true, subtree: true });
  list.classList.add('is-single');
  step.hidden = false;
  // After an answer without scripts, show the answered question. Otherwise, show the first
  // question that was never answered.
  const answered = items.findIndex((item) => item.querySelector('.check.is-done, .check__answer'));
  const fresh = items.findIndex((item) => !('answered' in item.dataset));
  show(answered >= 0 ? answered : Math.max(0, fresh));
  byAddress();
  addEventListener('hashchange', byAddress);
  step.querySelector('[data-quiz-back]').addEventListener('click', () => go(-1));
  step.querySelector('[data-quiz-next]').addEventListener('click', () => go(1));
  step.querySelector('[data-quiz-all]').addEventListener('click', () => {
    list.classList.remove('is-single');
    step.hidden = true;
  });
}
