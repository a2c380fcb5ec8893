package main

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
)

// commentsNameTheirSubject: the comment above a declaration begins with its name, as go doc
// expects. Unexported functions and types may have a comment of a different form, but not one that
// begins with a different lower-case name, as it would after an incomplete renaming.
var commentsNameTheirSubject = guard{
	name: "CommentsNameTheirSubject", least: 500,
	reads: func(s *source) bool { return s.program() && !strings.HasSuffix(s.name, "_templ.go") },
	check: func(files []*source) (list []finding) {
		for _, s := range files {
			for _, d := range documented(s.file) {
				if word := d.otherName(); word != "" {
					got := fmt.Sprintf("%q above %s", word, d.name)
					list = append(list, s.finds(s.line(d.name), got, "its name first"))
				}
			}
		}
		return list
	},
	examples: []guardExample{
		{1, code("web/a.go", "\n// Panel is the stage shown.\ntype Stage int")},
		{1, code("web/a.go", "\n// Returns a stage.\nfunc Stage() {}")},
		{1, code("web/a.go", "\n// panel returns a stage.\nfunc stage() {}")},
		{1, code("web/a.go", "type a int\n// Next goes on.\nfunc (a) Step() {}")},
		{1, code("web/a.go", "\n// Most is a limit.\nconst Limit = 1")},
		{0, code("web/a.go", "\n// Stage is the stage shown.\ntype Stage int")},
		{0, code("web/a.go", "\n// A Stage is a step.\ntype Stage int")},
		{0, code("web/a.go", "\n// Read what follows with care.\nfunc stage() {}")},
		{0, code("web/a.go", "\n// Limits of a run.\nconst (\n\tA = 1\n\tB = 2\n)")},
		{0, code("web/a_templ.go", "\n// Panel is the stage shown.\ntype Stage int")},
	},
}

// documentation is a comment and the name declared below it.
type documentation struct {
	name    *ast.Ident
	text    string
	isValue bool // a constant or variable
}

// documented returns the declarations of a file that have their own comment.
func documented(f *ast.File) (list []documentation) {
	add := func(name *ast.Ident, isValue bool, comments ...*ast.CommentGroup) {
		for _, c := range comments {
			if text := strings.TrimSpace(c.Text()); text != "" { // c may be nil
				list = append(list, documentation{name, text, isValue})
				return
			}
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(d.Name, false, d.Doc)
		case *ast.GenDecl:
			var alone *ast.CommentGroup // the comment above a declaration without parentheses
			if !d.Lparen.IsValid() {
				alone = d.Doc
			}
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name, false, spec.Doc, alone)
				case *ast.ValueSpec:
					if len(spec.Names) == 1 {
						add(spec.Names[0], true, spec.Doc, alone)
					}
				}
			}
		}
	}
	return list
}

var (
	article   = regexp.MustCompile(`^(A|An|The) `)
	firstWord = regexp.MustCompile(`^\w+`)
)

// otherName returns the first word of the comment if it should be the declared name, and otherwise
// "".
func (d documentation) otherName() string {
	first := firstWord.FindString(d.text)
	switch after := firstWord.FindString(article.ReplaceAllString(d.text, "")); {
	case first == d.name.Name, after == d.name.Name, strings.HasPrefix(d.text, "Deprecated"):
		return ""
	case ast.IsExported(d.name.Name):
		return first
	case !d.isValue && first != "" && first == strings.ToLower(first[:1])+first[1:]:
		return first
	}
	return ""
}

// avoidedWords are words that native readers stumble over. Other words are left to reviewers.
var avoidedWords = regexp.MustCompile(`(?i)\b(whoever|anew|none that)\b`)

// wordsAreCommon: code, pages and documents do not use the words in avoidedWords.
var wordsAreCommon = guard{
	name: "WordsAreCommon", least: 900,
	reads: func(s *source) bool {
		others := s.among("static/vendor") || strings.Contains(s.name, "testdata/")
		return !others && s.name != "cmd/viz/guards_english_test.go"
	},
	check: func(files []*source) (list []finding) {
		for _, s := range files {
			for _, at := range avoidedWords.FindAllStringIndex(s.text, -1) {
				list = append(list, s.finds(lineAt(s.text, at[0]), s.text[at[0]:at[1]], "a more common word"))
			}
		}
		return list
	},
	examples: []guardExample{
		{2, code("web/a.go", "\n// Whoever reads begins anew.\nvar a int")},
		{1, map[string]string{"README.md": "There is none that fits."}},
		{0, map[string]string{"README.md": "None of that fits, so start again. A renewal."}},
	},
}
