// Writes histories.json.gz: 1,000 review histories as scheduled by an independent
// implementation of FSRS-6, the npm package ts-fsrs. A test of lessons/fsrs
// replays them and compares every card after every review.
//
// Run from the root of the repository, with Node 20 or later:
//
//     mkdir oracle && (cd oracle && npm i ts-fsrs@5.4.2)
//     ORACLE=oracle node testdata/fsrs/make.mjs
//     rm -r oracle
//
// ORACLE is the folder with node_modules; by default, it is the current one. The
// histories are generated from a fixed seed, so the file is always the same.
//
// The file is one object: the package and its version, and groups of settings,
// each with its histories. A history has the time of its first review in
// milliseconds (start) and its reviews, each of which is a list:
//
//     [minutes since the previous review, grade 1-4,
//      retrievability just before, stability, difficulty,
//      state 0-3, short step, interval in days, minutes until due, reps, lapses]

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const oracle = resolve(process.env.ORACLE ?? ".");
const need = createRequire(join(oracle, "package.json"));
const { createEmptyCard, fsrs, generatorParameters } = need("ts-fsrs");
const { version } = JSON.parse(readFileSync(join(oracle, "node_modules/ts-fsrs/package.json")));
if (version !== "5.4.2") throw new Error(`ts-fsrs is ${version}, want 5.4.2`);

// Mulberry32, which has 32 bits of state and gives the same numbers everywhere.
let state = 20221101;
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const below = (n) => Math.floor(random() * n);

// grade returns a random grade: mostly good, as in practice, or, if even is true (for a fifth of
// the histories), each grade with the same probability.
function grade(even) {
  if (even) return 1 + below(4);
  const x = random();
  return x < 0.15 ? 1 : x < 0.3 ? 2 : x < 0.85 ? 3 : 4;
}

// wait returns the minutes until a card is reviewed: on time, some minutes late, early,
// days late, or months late; sometimes twice within a minute.
function wait(minutesUntilDue) {
  const x = random();
  if (x < 0.05) return below(2);
  if (x < 0.45) return minutesUntilDue + below(30);
  if (x < 0.6) return Math.floor(minutesUntilDue * random());
  if (x < 0.9) return minutesUntilDue + below(3 * 1440);
  return minutesUntilDue + below(200 * 1440);
}

const settings = [
  { count: 800, options: {} },
  { count: 100, options: { request_retention: 0.8, maximum_interval: 365 } },
  { count: 100, options: { request_retention: 0.95, learning_steps: ["5m", "1h", "1d"], relearning_steps: [] } },
];

function history(scheduler) {
  const start = Date.UTC(2024, below(12), 1 + below(28), below(24), below(60), below(60));
  let now = start;
  let card = createEmptyCard(new Date(start));
  const even = random() < 0.2;
  const reviews = [];
  for (let n = 3 + below(10), minutes = 0; n > 0; n--) {
    const at = new Date(now);
    const g = grade(even);
    const r = scheduler.get_retrievability(card, at, false);
    card = scheduler.next(card, at, g).card;
    const until = (card.due.getTime() - now) / 60000;
    reviews.push([minutes, g, r, card.stability, card.difficulty, card.state,
      card.learning_steps, card.scheduled_days, until, card.reps, card.lapses]);
    minutes = wait(until);
    now += minutes * 60000;
  }
  return { start, reviews };
}

const groups = settings.map(({ count, options }) => {
  const p = generatorParameters({ ...options, enable_fuzz: false });
  const scheduler = fsrs(p);
  return {
    w: [...p.w], retention: p.request_retention, maximum: p.maximum_interval,
    learning: [...p.learning_steps], relearning: [...p.relearning_steps],
    histories: Array.from({ length: count }, () => history(scheduler)),
  };
});
const out = JSON.stringify({ package: "ts-fsrs", version, groups });
const target = join(dirname(fileURLToPath(import.meta.url)), "histories.json.gz");
writeFileSync(target, gzipSync(out, { level: 9, mtime: 0 }));
