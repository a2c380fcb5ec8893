// Package pseudo makes a language for tests in which every word of a catalog is marked. Words that
// do not come from the catalog therefore stand out.
package pseudo

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Tag is the tag of the pseudo-language, which is the right-to-left one of CLDR.
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

// Mark converts a file of texts to the pseudo-language: ⟦Scores run from ⟧{min}⟦ to ⟧{max}.
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
	// The program's name is the same in every language.
	marked = regexp.MustCompile(`⟦[^⟦⟧]*⟧|\bToken\W+by\W+Token\b`)
	word   = regexp.MustCompile(`[A-Za-zÀ-ž]{2,}`)
)

// Data holds the texts on a page that are not the program's own: tokens, a prompt, the name
// of a model.
type Data struct{ away *strings.Replacer }

// NewData returns a Data with the given texts, which may appear without a mark.
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

// spoken are the attributes whose values are shown or read aloud.
var spoken = []string{"aria-label", "title", "placeholder", "alt", "aria-description", "aria-valuetext", "data-peek"}

// OfPage returns the words of an HTML page that are neither marked nor data, with the text around
// each. Code, scripts with their texts (data-texts) and elements with lang="en" do not count, nor
// do elements with data-token or dir="auto", which contain tokens and people's own texts.
func (d Data) OfPage(page string) (list []string, err error) {
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return nil, err
	}
	var texts []string
	read(root, func(text string) { texts = append(texts, text) }, func(value string) { list = d.report(list, value) })
	// A text with **bold** words or a link is split across several nodes.
	const between = "\x00"
	left := marked.ReplaceAllString(strings.Join(texts, between), "\n")
	for text := range strings.SplitSeq(left, between) {
		list = d.report(list, text)
	}
	return list, nil
}

// report adds the words of a text that are neither marked nor data to list.
func (d Data) report(list []string, text string) []string {
	if left := d.Unmarked(text); len(left) > 0 {
		return append(list, strings.Join(left, " ")+" in "+strings.TrimSpace(text))
	}
	return list
}

// read calls text for every text below a node, and attribute for every spoken attribute's value.
func read(n *html.Node, text, attribute func(string)) {
	if n.Type == html.TextNode {
		text(n.Data)
		return
	}
	if n.Type == html.ElementNode {
		if slices.Contains([]string{"code", "script", "style", "pre", "math"}, n.Data) {
			return
		}
		for _, a := range n.Attr {
			switch {
			case a.Key == "lang" && a.Val == "en", a.Key == "dir" && a.Val == "auto",
				a.Key == "data-token", a.Key == "data-texts":
				return
			case slices.Contains(spoken, a.Key):
				attribute(a.Val)
			}
		}
	}
	for c := range n.ChildNodes() {
		read(c, text, attribute)
	}
}
