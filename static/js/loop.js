// The Loop page. The server renders everything; this script sends commands,
// puts the answers into the page and keeps the connection. See CONTRIBUTING.md
// for the messages.
import { Socket } from './socket.js';
import { applyPanels } from './panels.js';
import { Controls } from './controls.js';
import { listenToKeys } from './keys.js';
import { followRows } from './worked.js';

const controls = new Controls();
const socket = new Socket({
  protocol: 'viz.html.v1',
  run: document.body.dataset.run || '',
  onMessage: receive,
  onDone: (command) => controls.done(command),
  onLost: () => controls.lost(),
  onRefused: (command, error) => controls.refused(command, error),
});

function receive(message) {
  try {
    if (message.panels) applyPanels(message.panels);
    if (message.data) settle(message.data);
  } catch (error) {
    controls.refused(null, { message: `The page could not show what the server sent (${error.message}). Reload it.` });
    throw error;
  }
}

// settle follows the state with what lies outside of the panels.
function settle({ inputs, cursor }) {
  controls.applyInputs(inputs);
  const started = cursor.step > 0;
  if (started) socket.started = true;
  controls.showStarted(started);
  // A reload, or the address copied, leads to the same run.
  const address = started ? `/loop?run=${encodeURIComponent(socket.run)}` : '/loop';
  if (location.pathname + location.search !== address) history.replaceState(null, '', address);
}

controls.listen(socket);
listenToKeys();
followRows();
socket.connect();
