// Saves the files that a page offers if the program runs in the browser. Browsers fetch the
// target of a download link from the network, bypassing the service worker, and a static host
// does not have such a file. So the page requests the file from the program and saves the answer.
import { t } from './texts.js';

const keptFor = 60_000; // ms for which a file stays in memory, since some browsers first ask where to save it

// nameOf returns the name of the file from the link or, if the link has none, from the answer.
const nameOf = (link, answer) => link.download
  || /filename="([^"]+)"/.exec(answer.headers.get('Content-Disposition') ?? '')?.[1] || 'file';

async function save(link) {
  // Without the worker, the host would answer, and some hosts would send their home page.
  if (!navigator.serviceWorker?.controller) throw new Error(t('js.save.stopped'));
  const answer = await fetch(link.href).catch(() => { throw new Error(t('js.save.silent')); });
  if (!answer.ok) {
    const said = answer.headers.get('Content-Type')?.startsWith('text/plain') ? await answer.text() : '';
    throw new Error(said.trim() || t('js.save.error', { status: answer.status }));
  }
  const url = URL.createObjectURL(await answer.blob());
  const saved = document.createElement('a'); // not in the document, so that other listeners do not get its click
  saved.href = url;
  saved.download = nameOf(link, answer);
  saved.click();
  setTimeout(() => URL.revokeObjectURL(url), keptFor);
}

// saveFiles makes download links work. say shows a sentence; its second argument, if given, is
// called when "Try again" is pressed.
export function saveFiles(say) {
  addEventListener('click', (event) => {
    const link = event.target.closest?.('a[download]');
    if (!link || event.defaultPrevented) return;
    event.preventDefault();
    const attempt = () => {
      say('');
      save(link).catch((error) => say(t('js.save.failed', { why: error.message }), attempt));
    };
    attempt();
  });
}
