// The Loop page. The server renders everything; this script sends commands,
// puts the answers into the page and keeps the connection. See CONTRIBUTING.md
// for the messages.
import { Socket } from './socket.js';
import { applyPanels, restorePeek, tell } from './panels.js';
import { Controls, questions } from './controls.js';
import { listenToKeys } from './keys.js';
import { followRows } from './worked.js';
import { Strip } from './strip.js';
import { Address } from './address.js';
import { draw } from './heat.js';
import { afterPush, beforePush, endByKeys } from './motion.js';

const controls = new Controls();
const strip = new Strip();
const address = new Address();
const socket = new Socket({
  protocol: 'viz.html.v1',
  run: document.body.dataset.run || '',
  link: document.body.dataset.link || '',
  onMessage: receive,
  onDone: (command) => {
    controls.done(command);
    if (!questions.has(command.cmd)) tell('');
  },
  onLost: () => controls.lost(),
  onRefused: (command, error) => controls.refused(command, error),
  onRebuilt: () => tell('The server no longer had this run, so it was rebuilt from the link: the same text, at the same stage.'),
});

function receive(message) {
  const { panels, data } = message;
  try {
    if (data) beforePush();
    if (panels) applyPanels(panels, Boolean(data));
    if (data) settle(data);
    else if (panels) strip.answered();
  } catch (error) {
    controls.refused(null, { message: `The page could not show what the server sent (${error.message}). Reload it.` });
    throw error;
  }
}

let shown = ''; // the stage shown last

// settle follows the state with what lies outside of the panels.
function settle(data) {
  const { inputs, cursor, link, heat } = data;
  controls.step = cursor.step;
  controls.applyInputs(inputs);
  controls.applyPlace(data);
  const started = cursor.step > 0;
  if (started) socket.started = true;
  socket.link = link;
  controls.showStarted(started);
  const here = `${cursor.step} ${cursor.stage}`;
  if (here !== shown) restorePeek();
  shown = here;
  strip.follow();
  address.follow(started);
  if (heat) draw(heat);
  afterPush(data);
}

followRows();
strip.listen(socket);
controls.listen(socket);
address.listen(socket, tell);
endByKeys();
listenToKeys();
if (location.pathname.startsWith('/storybook/')) showStory();
else socket.connect();

// showStory fills in what a storybook page has outside of its panels.
async function showStory() {
  const data = await (await fetch(`${location.pathname}/data`)).json();
  controls.applyPlace(data);
  if (data.heat) draw(data.heat);
  controls.showStarted(data.cursor.step > 0);
  document.documentElement.dataset.conn = data.conn || 'live';
  document.getElementById('conn').hidden = !data.conn;
}
