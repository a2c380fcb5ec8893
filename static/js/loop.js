// The Loop page. The server renders everything. This script sends commands, updates the page with
// the answers and maintains the connection. See web/WIRE.md for the messages.
import { Run } from './run.js';
import { afterLater, announce, applyPanels, applyRest, expectRest, restorePeek, scrollBack, tell } from './panels.js';
import { Controls, questions } from './controls.js';
import { t } from './texts.js';
import { followRows } from './worked.js';
import { Strip } from './strip.js';
import { Address } from './address.js';
import { answerer } from './place.js';
import { draw } from './heat.js';
import { showStage } from './scroll.js';
import { followMap, listenToMap, showZoom } from './map.js';
import { afterFrame } from './frames.js';
import { animate, arrives, endByHand, leave } from './motion.js';
import { carry, measure } from './carry.js';
import { followChain, listenToChain } from './chain.js';

const controls = new Controls();
const strip = new Strip();
const address = new Address();
const run = new Run({
  run: document.body.dataset.run || '',
  link: document.body.dataset.link || '',
  isQuestion: (command) => questions.has(command.cmd),
  onMessage: receive,
  onDone: (command) => {
    controls.done(command);
    if (['start', 'chat', 'try'].includes(command.cmd)) leave();
    if (command.cmd !== 'rebuild' && !questions.has(command.cmd)) tell('');
  },
  onLost: () => controls.lost(),
  onBack: () => controls.back(),
  onRefused: (command, error) => controls.refused(command, error),
  onRebuilt: () => tell(t(`js.rebuilt.${answerer}`)),
});

function receive(message) {
  const { panels, data, more, rest } = message;
  try {
    if (rest) {
      applyRest(panels ?? []);
      return;
    }
    const arrived = data !== undefined && arrives(data);
    if (data) {
      measure();
      expectRest(Boolean(more));
    }
    if (panels) applyPanels(panels, Boolean(data), arrived);
    if (data) settle(data, arrived);
    else if (panels) strip.answered();
    if (panels?.some(({ id }) => id === 'map-zoom')) showZoom();
    scrollBack();
    if (data) carry(arrived, afterLater);
    announce();
    if (arrived && !data.playing) showStage();
  } catch (error) {
    controls.refused(null, { message: t('js.unshown', { why: error.message }) });
    throw error;
  }
}

// settle updates the parts of the page outside the panels.
function settle(data, arrived) {
  const { inputs, cursor, link, heat } = data;
  controls.step = cursor.step;
  controls.applyInputs(inputs);
  controls.applyPlace(data);
  const started = cursor.step > 0;
  if (started) run.started = true;
  run.link = link;
  controls.showStarted(started);
  if (arrived) {
    restorePeek();
    controls.forget();
  }
  strip.follow();
  address.follow(started);
  animate(arrived, data);
  followMap();
  followChain(cursor);
  if (heat) afterFrame(() => draw(heat));
}

followRows();
strip.listen(run);
controls.listen(run);
listenToMap((question) => run.send(question));
listenToChain((command) => controls.send(command));
address.listen(run, tell);
endByHand();
if (location.pathname.startsWith('/storybook/')) showStory();
else run.connect();

// showStory fills in the parts of a storybook page that are outside the panels.
async function showStory() {
  const data = await (await fetch(`${location.pathname}/data`)).json();
  controls.applyPlace(data);
  if (data.heat) draw(data.heat);
  controls.showStarted(data.cursor.step > 0);
  document.documentElement.dataset.conn = data.conn || 'live';
  document.getElementById('conn').hidden = !data.conn;
}
