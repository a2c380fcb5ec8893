package static

import "testing"

// TestScriptTextsHaveVariantsForCounts: the first number among the values selects the variant of a
// text, by the plural rules of the page's language.
func TestScriptTextsHaveVariantsForCounts(t *testing.T) {
	const world = `
const texts = { 'a.one': 'ein {n}er', 'a.few': '{n} wenige', 'a.other': '{n} andere', 'b': '{n} b', 'c.other': 'c' };
globalThis.document = {
  documentElement: { lang: 'xx' },
  querySelectorAll: () => [{ content: { textContent: JSON.stringify(texts) } }],
};
globalThis.Intl = { PluralRules: class {
  constructor(lang) { if (lang !== 'xx') throw new Error(lang); }
  select(n) { return n === 1 ? 'one' : n < 5 ? 'few' : 'many'; }
} };`
	p := load(t, world, "import { t } from './texts.js';\nglobalThis.t = t;\n")
	for call, want := range map[string]string{
		"t('a', { n: 1 })":         "ein 1er",
		"t('a', { s: '1', n: 2 })": "2 wenige",
		"t('a', { n: 5 })":         "5 andere", // the text has no variant for it
		"t('a', { n: '1' })":       "1 andere",
		"t('b', { n: 1 })":         "1 b",
		"t('c')":                   "c",
		"t('d', { n: 1 })":         "d",
	} {
		if got := p.does(call).String(); got != want {
			t.Errorf("%s: got %q, want %q", call, got, want)
		}
	}
}
