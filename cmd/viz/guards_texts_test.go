package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	templparser "github.com/a-h/templ/parser/v2"
	templvisitor "github.com/a-h/templ/parser/v2/visitor"

	"github.com/tokenbytoken/viz/infer/terms"
)

// keyed is a call in the source that uses a catalog key, together with the names of the values
// it passes.
type keyed struct {
	key    string
	line   int
	values []string
}

var (
	textKey = regexp.MustCompile(`^[a-z_]+(\.[a-z0-9_/]+)+$`)
	// textMethods are the methods whose first argument is a key.
	textMethods = []string{"T", "Rich", "Say", "Text", "Refuse", "HTML", "PhraseOf"}
	// madeUp matches the keys that the program composes from names.
	madeUp = regexp.MustCompile(
		`^(stage|stop|knob|field|noun|unit)\.|^(numbers|brief|line|verb)\.|` +
			`^story\.(forward|logits|softmax|filter|sample|append|cache|end|stop)\b|` +
			`^map\.say\.|^(rail|part|tensor|inside|inside\.say|blocks|rule)\.|^lines\.stop\.|` +
			`^pic\.(state|say|page)\.|^(why|cutline)\.`,
	)
)

// englishTexts reads the English catalog.
func englishTexts(t *testing.T) terms.Catalog {
	t.Helper()
	texts, err := terms.Texts("en")
	if err != nil {
		t.Fatal(err)
	}
	c, err := terms.ReadCatalog(texts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// textsMatchTheSource: every text that the program uses exists and gets its values, and no text is
// unused.
func textsMatchTheSource(t *testing.T) guard {
	t.Helper()
	c := englishTexts(t)
	return guard{
		name: "TextsMatchTheSource", least: 600,
		reads: func(s *source) bool { return s.program() || s.ext() == ".js" && s.among("static/js") },
		check: func(files []*source) (list []finding) {
			used := map[string]bool{}
			for _, s := range files {
				if s.ext() == ".js" {
					list = append(list, s.scriptTexts(c, used)...)
					continue
				}
				for _, call := range s.keyedCalls() {
					list = append(list, s.missesText(c, call)...)
				}
				for _, l := range s.literals {
					used[l.text] = true
				}
			}
			if len(files) < 600 {
				return list // a guard's small example, not the repository
			}
			for _, key := range c.Keys() {
				if !used[key] && !used[withoutCount(key)] && !madeUp.MatchString(key) && !composed(used, key) {
					list = append(list, finding{"infer/languages/en/words", 0, "the unused text " + key, "none"})
				}
			}
			return list
		},
		examples: []guardExample{
			{1, map[string]string{"web/a.go": "package a\nvar _ = w.T(\"no.text\")"}},
			{1, map[string]string{"web/a.go": "package a\nvar _ = w.T(\"unit.ms\", \"m\", 1)"}},
			{0, map[string]string{"web/a.go": "package a\nvar _ = w.T(\"unit.ms\", \"n\", 1)"}},
			{0, map[string]string{"web/a.go": "package a\nvar _ = w.T(\"noun.token\", \"n\", 1) + w.T(\"knob.\"+k)"}},
			{1, map[string]string{"web/a.go": "package a\nvar _ = w.Counted(1, \"more token\") + w.Counted(2, \"x\")"}},
			{1, map[string]string{"static/js/a.js": "t('js.x') + t(`js.state.${s}`) + t('js.over')"}},
		},
	}
}

// scriptTexts records the keys of texts in a script, and returns a finding for each that does not
// exist. A key can end in a variable name.
func (s *source) scriptTexts(c terms.Catalog, used map[string]bool) (list []finding) {
	for _, l := range s.literals {
		key, _, made := strings.Cut(l.text, "${")
		if !strings.HasPrefix(key, "js.") {
			continue
		}
		used[key] = true
		if !made && !c.Has(key) {
			list = append(list, s.finds(l.line, "the text "+key+", which does not exist", "a text"))
		}
	}
	return list
}

// composed reports whether the source has a literal that ends in a dot and is a prefix of the key.
func composed(used map[string]bool, key string) bool {
	for i := strings.LastIndexByte(key, '.'); i > 0; i = strings.LastIndexByte(key[:i], '.') {
		if used[key[:i+1]] {
			return true
		}
	}
	return false
}

// withoutCount returns a key without the plural category that a variant adds to it.
func withoutCount(key string) string {
	for _, category := range []string{".zero", ".one", ".two", ".few", ".many", ".other"} {
		if text, ok := strings.CutSuffix(key, category); ok {
			return text
		}
	}
	return key
}

// keyedCalls returns the calls in a file whose first argument is the literal key of a text, and the
// calls of Counted with a literal noun.
func (s *source) keyedCalls() (list []keyed) {
	literal := func(e ast.Expr) string {
		lit, ok := e.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return ""
		}
		text, _ := strconv.Unquote(lit.Value)
		return text
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if ok && f.Sel.Name == "Counted" {
			if noun := literal(call.Args[len(call.Args)-1]); noun != "" {
				list = append(list, keyed{key: "noun." + strings.ReplaceAll(noun, " ", "_"), line: s.line(call)})
			}
			return true
		}
		if !ok || !slices.Contains(textMethods, f.Sel.Name) {
			return true
		}
		args := call.Args
		if f.Sel.Name == "Refuse" {
			args = args[1:] // skip the code
		}
		if len(args) == 0 || !textKey.MatchString(literal(args[0])) {
			return true
		}
		k := keyed{key: literal(args[0]), line: s.line(call)}
		for i := 1; i < len(args); i += 2 {
			k.values = append(k.values, literal(args[i]))
		}
		if call.Ellipsis.IsValid() {
			k.values = nil
		}
		list = append(list, k)
		return true
	})
	return list
}

// missesText returns a finding if a call uses a text that does not exist, or does not pass one of
// its values.
func (s *source) missesText(c terms.Catalog, call keyed) (list []finding) {
	exists := false
	for _, key := range c.Keys() {
		if key != call.key && withoutCount(key) != call.key {
			continue
		}
		exists = true
		for _, p := range c.Pieces(key) {
			for _, name := range append(elementNames(p.Words), p.Name) {
				if name != "" && call.values != nil && !slices.Contains(call.values, name) {
					list = append(list, s.finds(call.line, "no value "+name+" for "+key, "one"))
				}
			}
		}
	}
	if !exists {
		list = append(list, s.finds(call.line, "the text "+call.key+", which does not exist", "a text"))
	}
	return list
}

var elementName = regexp.MustCompile(`\]\((\w+)\)`)

// elementNames returns the names of the elements that are closed within part of a text, as in
// [word](name).
func elementNames(words string) (list []string) {
	for _, found := range elementName.FindAllStringSubmatch(words, -1) {
		list = append(list, found[1])
	}
	return list
}

// spokenAttributes are the attributes whose values are shown or read aloud.
var spokenAttributes = []string{
	"aria-label", "title", "placeholder", "alt", "aria-description", "aria-valuetext", "aria-roledescription",
}

// templatesHaveNoWords: the words of pages are in the catalogs, so templates contain none. Only
// code, such as a command, and an element with lang="en" can contain words.
var templatesHaveNoWords = guard{
	name: "TemplatesHaveNoWords", least: 10,
	reads: func(s *source) bool { return s.ext() == ".templ" },
	check: func(files []*source) (list []finding) {
		for _, s := range files {
			list = append(list, s.templateWords()...)
		}
		return list
	},
	examples: []guardExample{
		{1, map[string]string{"web/a.templ": "package a\n\ntempl a() {\n\t<p>Some words</p>\n}\n"}},
		{1, map[string]string{"web/a.templ": "package a\n\ntempl a() {\n\t<p title=\"Some words\"></p>\n}\n"}},
		{0, map[string]string{"web/a.templ": "package a\n\ntempl a() {\n\t<p lang=\"en\">Some <b>words</b></p>\n}\n"}},
		{0, map[string]string{"web/a.templ": "package a\n\ntempl a() {\n\t<code>go run</code>\n\t&nbsp; 7 p\n}\n"}},
	},
}

var twoLetters = regexp.MustCompile(`\pL{2,}`)

// templateWords returns a finding for each text and attribute of a template that contains a word.
func (s *source) templateWords() (list []finding) {
	file, err := templparser.ParseString(s.text)
	if err != nil {
		return []finding{s.finds(1, err.Error(), "a template")}
	}
	v := templvisitor.New()
	v.Text = func(n *templparser.Text) error {
		if twoLetters.MatchString(html.UnescapeString(n.Value)) {
			line := int(n.Range.From.Line) + 1
			list = append(list, s.finds(line, fmt.Sprintf("%q", strings.TrimSpace(n.Value)), "a text of a catalog"))
		}
		return nil
	}
	element := v.Element
	v.Element = func(n *templparser.Element) error {
		if n.Name == "code" || n.Name == "style" || n.Name == "script" || english(n) {
			return nil
		}
		for _, a := range n.Attributes {
			list = append(list, s.spoken(a)...)
		}
		return element(n)
	}
	if err := file.Visit(v); err != nil {
		return []finding{s.finds(1, err.Error(), "a template")}
	}
	return list
}

// english reports whether an element has lang="en".
func english(n *templparser.Element) bool {
	return slices.ContainsFunc(n.Attributes, func(a templparser.Attribute) bool {
		constant, ok := a.(*templparser.ConstantAttribute)
		return ok && fmt.Sprint(constant.Key) == "lang" && constant.Value == "en"
	})
}

// spoken returns a finding if an attribute is read aloud and contains a word.
func (s *source) spoken(a templparser.Attribute) (list []finding) {
	switch a := a.(type) {
	case *templparser.ConstantAttribute:
		if slices.Contains(spokenAttributes, fmt.Sprint(a.Key)) && twoLetters.MatchString(a.Value) {
			line := int(a.Range.From.Line) + 1
			list = append(list, s.finds(line, fmt.Sprintf("%s=%q", a.Key, a.Value), "a text of a catalog"))
		}
	case *templparser.ConditionalAttribute:
		for _, a := range append(slices.Clone(a.Then), a.Else...) {
			list = append(list, s.spoken(a)...)
		}
	}
	return list
}
