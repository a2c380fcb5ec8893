package main

import (
	"bufio"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/terms/pseudo"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/stage"
)

// TestWordsAreDefinedOnce: the names of stages, the words for stops, the units of
// sizes and what makes a cell of a table safe are written in infer/terms and
// nowhere else, or pages and the terminal would begin to differ.
func TestWordsAreDefinedOnce(t *testing.T) {
	var stages, stops []string
	for n := 1; n <= terms.Stages; n++ {
		s := terms.StageAt(n)
		stages = append(stages, s.Key, s.Name, s.Short)
	}
	for _, s := range terms.Stops() {
		stops = append(stops, s.A, s.Why)
		if s.Done != s.Name { // a name may be a heading
			stops = append(stops, s.Done)
		}
	}
	var wants []string // what a knob accepts, in words
	for _, k := range terms.Knobs() {
		wants = append(wants, k.Want, k.Help)
	}
	seen := 0
	top := filepath.Join("..", "..")
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if notOurs(path) {
				return filepath.SkipDir // not ours: another checkout, or an editor's files
			}
			return nil
		}
		if ext := filepath.Ext(path); ext != ".go" && ext != ".js" {
			return nil
		}
		name, _ := filepath.Rel(top, path)
		name = filepath.ToSlash(name)
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "infer/terms/") ||
			strings.HasPrefix(name, "testdata/") {
			return nil
		}
		seen++
		literals := stringsOf(t, path)
		has := func(words []string) (found []string) {
			for _, w := range words {
				if slices.Contains(literals, w) && !slices.Contains(found, w) {
					found = append(found, w)
				}
			}
			return found
		}
		// A file may speak of a stage or two: of a lab named cache, of the filter.
		if found := has(stages); len(found) > 3 && name != "web/loop/stories.go" {
			t.Errorf("%s has its own names of stages: %q", name, found)
		}
		if found := has(stops); len(found) > 0 {
			t.Errorf("%s has its own words for stops: %q", name, found)
		}
		if found := has([]string{"KiB", "MiB", " KiB", " MiB"}); len(found) > 0 {
			t.Errorf("%s has its own units: %q", name, found)
		}
		if found := has(wants); len(found) > 0 {
			t.Errorf("%s has its own words for settings: %q", name, found)
		}
		for _, l := range literals {
			if strings.Contains(l, "=+-@") {
				t.Errorf("%s has its own guard against formulas: %q", name, l)
			}
		}
		return nil
	})
	if err != nil || seen < 300 {
		t.Fatalf("%d files, %v", seen, err)
	}
}

// scriptLiteral is a single-line string in a script.
var scriptLiteral = regexp.MustCompile("'[^'\n]*'|\"[^\"\n]*\"|`[^`\n]*`")

// stringsOf lists the string literals of a Go file or a script.
func stringsOf(t *testing.T, path string) (list []string) {
	t.Helper()
	if filepath.Ext(path) == ".js" {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range scriptLiteral.FindAllString(string(text), -1) {
			list = append(list, l[1:len(l)-1])
		}
		return list
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if s, err := strconv.Unquote(l.Value); err == nil {
				list = append(list, s)
			}
		}
		return true
	})
	return list
}

// TestStageSentencesAreInTheCatalog: what is said about a stage is in the texts of
// web/stage, and is not repeated in any page, script or command.
func TestStageSentencesAreInTheCatalog(t *testing.T) {
	texts, err := stage.Texts("en")
	if err != nil {
		t.Fatal(err)
	}
	c, err := terms.ReadCatalogue(texts)
	if err != nil {
		t.Fatal(err)
	}
	var sentences []string
	for _, key := range c.Keys() {
		for _, p := range c.Pieces(key) {
			if words := strings.Trim(p.Words, " .,:;()“”*"); len(strings.Fields(words)) >= 6 {
				sentences = append(sentences, words)
			}
		}
	}
	if len(sentences) < 60 {
		t.Fatalf("%d sentences only", len(sentences))
	}
	top, seen := filepath.Join("..", ".."), 0
	err = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(top, path)
		switch name = filepath.ToSlash(name); {
		case d.IsDir() && (name == "web/stage" || name == "testdata" || notOurs(path)):
			return filepath.SkipDir
		case d.IsDir(), !slices.Contains([]string{".go", ".templ", ".js"}, filepath.Ext(name)),
			strings.HasSuffix(name, "_test.go"), strings.HasSuffix(name, "_templ.go"):
			return nil
		}
		seen++
		said := said(t, path)
		for _, words := range sentences {
			if strings.Contains(said, words) {
				t.Errorf("%s has a sentence of web/stage: %q", name, words)
			}
		}
		return nil
	})
	if err != nil || seen < 300 {
		t.Fatalf("%d files, %v", seen, err)
	}
}

// said is the text in a file of the program: the string literals of Go and
// scripts, and a template without its comments.
func said(t *testing.T, path string) string {
	t.Helper()
	if filepath.Ext(path) != ".templ" {
		return strings.Join(stringsOf(t, path), "\n")
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`(?m)^\s*//.*$`).ReplaceAllString(string(file), "")
}

// TestTerminalUsesTheCatalog prints runs in a language in which each word
// of the catalogues is marked: a word without a mark is hard-coded.
func TestTerminalUsesTheCatalog(t *testing.T) {
	texts, err := stage.Texts("en")
	if err != nil {
		t.Fatal(err)
	}
	words, err := stage.ReadWords(pseudo.Language(t), pseudo.Mark(texts))
	if err != nil {
		t.Fatal(err)
	}
	m := testmodel.Target(t)
	for name, change := range map[string]func(*infer.Settings){
		"as the page draws": func(*infer.Settings) {},
		"greedy":            func(s *infer.Settings) { s.Temperature = 0 },
		"several filters":   func(s *infer.Settings) { s.TopK, s.MinP, s.TypicalP = 40, 0.01, 0.9 },
		"repeats cost":      func(s *infer.Settings) { s.RepetitionPenalty = 1.3 },
		"no filter":         func(s *infer.Settings) { s.Settings = sampling.Pure },
		"a stop string":     func(s *infer.Settings) { s.Stop.Strings = []string{" the", "."} },
	} {
		settings := infer.DefaultSettings()
		settings.Stop.MaxTokens = 12
		change(&settings)
		const prompt = "Once upon a time"
		loop, err := infer.NewLoop(m, prompt, settings)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		out := bufio.NewWriter(&b)
		const rows = 5
		if err := printRun(t.Context(), loop, rows, newAccount(words, out, m, prompt), out); err != nil {
			t.Fatal(err)
		}
		data := []string{m.Name()}
		add := func(t infer.Token) { data = append(data, stage.TokenText(t).String()) }
		text := prompt
		for _, id := range loop.Prompt() {
			add(m.Token(id))
		}
		for _, step := range loop.Steps() {
			d := step.Distribution()
			for _, id := range d.Order[:rows] {
				add(m.Token(int(id)))
			}
			add(m.Token(step.Chosen))
			text += step.Text
			data = append(data, tail(stage.Marked(text).String(), tailWidth), stage.Marked(string(step.Held)).String())
		}
		for _, s := range settings.Stop.Strings {
			data = append(data, stage.Marked(s).String())
		}
		data = append(data, strings.Split(text, "\n")...)
		if left := pseudo.NewData(data).Unmarked(b.String()); len(left) > 0 {
			t.Errorf("%s: %q is in no catalogue:\n%s", name, left, b.String())
		}
	}
}

// notOurs says that a folder is none of the project's source: another checkout, an editor's
// files, or what make writes.
func notOurs(path string) bool {
	top := filepath.Join("..", "..")
	name, _ := filepath.Rel(top, path)
	return path != top && strings.HasPrefix(filepath.Base(path), ".") || name == "dist" || name == "site"
}
