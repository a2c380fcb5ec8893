// The page about the model. In a browser that runs the program, visitors open their own models
// here: this script passes the files to the worker, which reads them directly.
import { at, running } from './place.js';
import { t } from './texts.js';

const say = document.getElementById('model-say');
const bad = document.getElementById('model-bad');

// refuse explains why a model was not opened. The current model has not changed.
function refuse({ say: what, why = [] }) {
  say.textContent = '';
  const head = document.createElement('p');
  head.textContent = t('js.model.stays', { why: what });
  head.className = 'field-error';
  const list = document.createElement('ul');
  for (const text of why.slice(0, 5)) {
    const line = document.createElement('li');
    line.textContent = text;
    list.append(line);
  }
  bad.replaceChildren(head, ...(why.length > 0 ? [list] : []));
}

// ask sends a change to the worker, and reloads the page when it is done.
async function ask(message) {
  await running;
  const { port1, port2 } = new MessageChannel();
  const alive = setInterval(() => navigator.serviceWorker.controller?.postMessage({ viz: 'alive' }), 10_000);
  port1.onmessage = ({ data }) => {
    if (data.read !== undefined) {
      say.textContent = t('js.model.share', { n: data.read });
      return;
    }
    clearInterval(alive);
    port1.close();
    if (data.say) refuse(data);
    else location.assign(at('/model'));
  };
  navigator.serviceWorker.controller.postMessage(message, [port2]);
}

// open opens files, a list of {name, file}. The name of a file in a folder includes the folder:
// "folder/file".
function open(files) {
  if (files.length === 0) return;
  bad.replaceChildren();
  say.textContent = t('js.model.reading');
  const [folder, inside] = files[0].name.split('/');
  ask({ viz: 'open', folder: inside ? folder : '', files });
}

// filesOf returns the dropped files. For a folder, it returns the files at its top level.
async function filesOf(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean); // gone after await
  const folder = entries.find((entry) => entry.isDirectory);
  if (!folder) return [...transfer.files].map((file) => ({ name: file.name, file }));
  const files = [];
  for (const reader = folder.createReader(); ;) {
    const some = await new Promise((resolve, reject) => { reader.readEntries(resolve, reject); });
    if (some.length === 0) return files;
    for (const entry of some.filter(({ isFile }) => isFile)) {
      const file = await new Promise((resolve, reject) => { entry.file(resolve, reject); });
      files.push({ name: `${folder.name}/${file.name}`, file });
    }
  }
}

for (const input of document.querySelectorAll('[data-model-open] input')) {
  input.addEventListener('change', () => {
    open([...input.files].map((file) => ({ name: file.webkitRelativePath || file.name, file })));
    input.value = ''; // so that the same files can be chosen again
  });
}

// Files can be dropped anywhere on the page.
if (say) {
  addEventListener('dragover', (event) => event.preventDefault());
  addEventListener('drop', (event) => {
    event.preventDefault();
    filesOf(event.dataTransfer).then(open, () => refuse({ say: t('js.model.dropped') }));
  });
}

document.querySelector('[data-model-back]')?.addEventListener('click', () => ask({ viz: 'back' }));
