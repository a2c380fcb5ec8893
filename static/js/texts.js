// The scripts' texts in the language of the page, which contains them as JSON (infer/languages,
// js.txt).
let texts = null;

// t returns a text with values filled in by name: t('js.chat.message', { n: 2 }).
export function t(key, values = {}) {
  texts ??= Object.assign({}, ...[...document.querySelectorAll('[data-texts]')]
    .map(({ content }) => JSON.parse(content.textContent)));
  return (texts[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '');
}
