package main

import (
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

	"github.com/tokenbytoken/viz/infer/terms"
)

// TestWordsHaveOneHome: the names of stages, what is said of stops, the units of
// sizes and what makes a cell of a table safe are written in infer/terms and
// nowhere else, or pages and the terminal begin to differ.
func TestWordsHaveOneHome(t *testing.T) {
	var stages, stops []string
	for n := 1; n <= terms.Stages; n++ {
		s := terms.StageAt(n)
		stages = append(stages, s.Key, s.Name, s.Short)
	}
	for _, s := range terms.Stops() {
		stops = append(stops, s.A, s.Why)
		if s.Done != s.Name { // a name may head a field
			stops = append(stops, s.Done)
		}
	}
	var wants []string // what a knob takes, in words
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
			if strings.HasPrefix(d.Name(), ".") && path != top {
				return filepath.SkipDir // not ours: another checkout, or what an editor keeps
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
		if found := has(stages); len(found) > 3 && name != "web/storybook.go" {
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

// scriptLiteral is a string of one line in a script.
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
