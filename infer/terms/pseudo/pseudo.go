// Package pseudo makes a language for tests in which every word of a catalog is marked, so that
// words that do not come from the catalog stand out.
package pseudo

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Tag is the tag of the pseudo-language: CLDR's right-to-left one.
const Tag = "ar-XB"

// Language returns the pseudo-language of package terms.
func Language(t *testing.T) *terms.Language {
	t.Helper()
	texts, err := terms.Texts("en")
	if err != nil {
		t.Fatal(err)
	}
	l, err := terms.ReadLanguage(Tag, strings.Replace(Mark(texts), "page.dir = ⟦ltr⟧", "page.dir = rtl", 1))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Mark turns a file of texts into the pseudo-language: ⟦Scores run from ⟧{min}⟦ to ⟧{max}.
func Mark(texts string) string {
	var list []string
	for line := range strings.Lines(texts) {
		key, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " = ")
		switch {
		case strings.HasPrefix(line, " "):
			list = append(list, " "+converted(" "+strings.TrimSpace(line)))
		case ok && !strings.HasPrefix(line, "#"):
			list = append(list, key+" = "+converted(text))
		default:
			list = append(list, strings.TrimSuffix(line, "\n"))
		}
	}
	return strings.Join(list, "\n")
}

var placeholder = regexp.MustCompile(`\{\w+\}`)

func converted(text string) string {
	var b strings.Builder
	at := 0
	mark := func(words string) {
		if words != "" {
			b.WriteString("⟦" + words + "⟧")
		}
	}
	for _, found := range placeholder.FindAllStringIndex(text, -1) {
		mark(text[at:found[0]])
		b.WriteString(text[found[0]:found[1]])
		at = found[1]
	}
	mark(text[at:])
	return b.String()
}

var (
	marked = regexp.MustCompile(`⟦[^⟦⟧]*⟧`)
	word   = regexp.MustCompile(`[A-Za-zÀ-ž]{2,}`)
)

// Data holds the texts on a page that are not the program's own: tokens, a prompt, the name
// of a model.
type Data struct{ away *strings.Replacer }

// NewData returns a Data with the given texts, which may appear without the mark of a translation.
func NewData(texts []string) Data {
	texts = slices.Clone(texts)
	slices.SortFunc(texts, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, t := range slices.Compact(texts) {
		if t != "" {
			pairs = append(pairs, t, "\n")
		}
	}
	return Data{strings.NewReplacer(pairs...)}
}

// Unmarked returns the words of a text that are neither marked nor data. Single letters are ignored
// because they are symbols in formulas: z, p, T, u.
func (d Data) Unmarked(text string) []string {
	if text == "" {
		return nil
	}
	left := marked.ReplaceAllString(text, "\n")
	if !word.MatchString(left) {
		return nil
	}
	return word.FindAllString(d.away.Replace(left), -1)
}
