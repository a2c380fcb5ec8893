// Files that a page offers, where the program runs in the browser. Browsers fetch what a
// link is to download from the network, past the service worker, and a static host has no
// such file. So the page asks the program for it, and saves the answer.

const keptFor = 60_000; // ms that a file stays in memory, for browsers that ask first where to put it

// name is what the file is called: as the link says, else as the program does.
const nameOf = (link, answer) => link.download
  || /filename="([^"]+)"/.exec(answer.headers.get('Content-Disposition') ?? '')?.[1] || 'file';

async function save(link) {
  // Without the worker the host would answer, some with their home page.
  if (!navigator.serviceWorker?.controller) throw new Error('the program does not run in this page.');
  const answer = await fetch(link.href).catch(() => { throw new Error('there was no answer.'); });
  if (!answer.ok) {
    const said = answer.headers.get('Content-Type')?.startsWith('text/plain') ? await answer.text() : '';
    throw new Error(said.trim() || `the answer was an error, ${answer.status}.`);
  }
  const url = URL.createObjectURL(await answer.blob());
  const saved = document.createElement('a'); // outside of the document: nothing else sees its click
  saved.href = url;
  saved.download = nameOf(link, answer);
  saved.click();
  setTimeout(() => URL.revokeObjectURL(url), keptFor);
}

// saveFiles has links to files work. say shows a sentence, with what a press on "Try again" does.
export function saveFiles(say) {
  addEventListener('click', (event) => {
    const link = event.target.closest?.('a[download]');
    if (!link || event.defaultPrevented) return;
    event.preventDefault();
    const attempt = () => {
      say('');
      save(link).catch((error) => say(`The file was not saved: ${error.message}`, attempt));
    };
    attempt();
  });
}
