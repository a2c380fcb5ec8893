// The scripts' texts in the language of the page, which contains them as JSON (infer/languages,
// js.txt).
let texts = null;

// t returns a text with values filled in by name: t('js.chat.message', { n: 2 }). If the text has
// variants for counts, the first number among the values selects one.
export function t(key, values = {}) {
  texts ??= Object.assign({}, ...[...document.querySelectorAll('[data-texts]')]
    .map(({ content }) => JSON.parse(content.textContent)));
  return (texts[key] ?? variant(key, values) ?? key).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '');
}

// variant returns the variant of a text for a count, or undefined if the text has no variants.
function variant(key, values) {
  const other = texts[`${key}.other`];
  const n = Object.values(values).find((value) => typeof value === 'number');
  if (other === undefined || n === undefined) return other;
  return texts[`${key}.${new Intl.PluralRules(document.documentElement.lang).select(n)}`] ?? other;
}
