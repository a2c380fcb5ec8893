package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A guard is a rule about the text of the repository's files.
type guard struct {
	name     string
	reads    func(*source) bool // the files that the rule applies to
	least    int                // the rule must find at least this many files
	check    func([]*source) []finding
	examples []guardExample
}

// A finding is one violation of a rule.
type finding struct {
	file      string
	line      int
	got, want string
}

func (f finding) String() string {
	return fmt.Sprintf("%s:%d: %s, want %s", f.file, f.line, f.got, f.want)
}

// A guardExample is a small repository, given as a map from file names to contents, together with
// the number of findings that the rule must report in it.
type guardExample struct {
	want  int
	files map[string]string
}

// TestGuards checks every rule, first on its examples and then on the repository.
// Promise: The server never connects to another machine, unless it is part of a cluster.
// Promise: No page loads anything from another host.
func TestGuards(t *testing.T) {
	t.Parallel()
	tree := repository(t)
	read := map[string]int{}
	for _, s := range tree {
		read[s.ext()]++
	}
	for ext, least := range map[string]int{".go": 600, ".templ": 40, ".css": 10, ".js": 20, ".mjs": 4} {
		if read[ext] < least {
			t.Errorf("the repository has %d %s files, want at least %d", read[ext], ext, least)
		}
	}
	for _, g := range guards(t) {
		t.Run(g.name, func(t *testing.T) {
			for _, e := range g.examples {
				if got := g.check(g.files(e.sources(t))); len(got) != e.want {
					t.Errorf("%q: got %d findings %v, want %d", e.files, len(got), got, e.want)
				}
			}
			files := g.files(tree)
			if len(files) < g.least {
				t.Errorf("the rule reads %d files, want at least %d", len(files), g.least)
			}
			for _, f := range g.check(files) {
				t.Error(f)
			}
		})
	}
	t.Run("TopLevelIsFixed", topLevelIsFixed)
}

func guards(t *testing.T) []guard {
	t.Helper()
	return []guard{
		linesFit, importsFollowTheLayers, engineImportsLittle, packagesAreDescribed,
		wordsHaveOneHome(), sentencesHaveOneHome(t), outputHasOneHome, shapesHaveOneHome,
		randomNumbersDiffer, testsDoNotSleep, budgetsAreChecked, nothingDialsOut, pagesNameNoOtherHost,
		keysHaveOneHome, directionsAreGiven, commentsNameTheirSubject, wordsAreCommon,
		textsMatchTheSource(t), templatesHaveNoWords,
	}
}

// files returns the files that the rule applies to, sorted by name.
func (g guard) files(tree []*source) []*source {
	var list []*source
	for _, s := range tree {
		if g.reads(s) {
			list = append(list, s)
		}
	}
	return list
}

func (e guardExample) sources(t *testing.T) []*source {
	t.Helper()
	var list []*source
	for name, text := range e.files {
		s, err := readSource(name, text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *source) int { return strings.Compare(a.name, b.name) })
	return list
}

// A source is a file of the repository, with the data that the rules need.
type source struct {
	name     string // the path from the top of the repository, with slashes
	text     string
	literals []located // the strings in Go code and scripts, unquoted; in a template, everything except comments

	// Only for Go:
	file    *ast.File
	set     *token.FileSet
	imports []located
	uses    []located // identifiers of other packages, such as "math/rand/v2.IntN"
}

// located is a string with its position in a file.
type located struct {
	text string
	line int
	in   string // the enclosing function, such as "run" or "loop.run", "" outside of functions
}

func (s *source) ext() string    { return path.Ext(s.name) }
func (s *source) test() bool     { return strings.HasSuffix(s.name, "_test.go") }
func (s *source) folder() string { return path.Dir(s.name) }

// program reports whether a file is part of the program and not of its tests.
func (s *source) program() bool {
	return s.ext() == ".go" && !s.test() && !slices.Contains(strings.Split(s.name, "/"), "testdata")
}

// among reports whether a file is one of the named files or is in one of the named folders.
func (s *source) among(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return inFolder(s.name, name) })
}

// inFolder reports whether a path is the folder or is in it. Every path is in "".
func inFolder(path, folder string) bool {
	return path == folder || folder == "" || strings.HasPrefix(path, folder+"/")
}

// finds returns a finding at a line of the file.
func (s *source) finds(line int, got, want string) finding { return finding{s.name, line, got, want} }

// lineAt returns the number of the line that contains the byte at the given offset.
func lineAt(text string, at int) int { return 1 + strings.Count(text[:at], "\n") }

var (
	scriptLiteral   = regexp.MustCompile("'[^']*'|\"[^\"]*\"|`[^`]*`") // on one line
	templateComment = regexp.MustCompile(`(?m)^[ \t]*//.*$`)
)

func readSource(name, text string) (*source, error) {
	s := &source{name: name, text: text}
	switch s.ext() {
	case ".go":
		return s, s.parse()
	case ".js":
		line := 0
		for row := range strings.Lines(text) {
			line++
			for _, l := range scriptLiteral.FindAllString(row, -1) {
				s.literals = append(s.literals, located{text: l[1 : len(l)-1], line: line})
			}
		}
	case ".templ":
		s.literals = []located{{text: templateComment.ReplaceAllString(text, ""), line: 1}}
	}
	return s, nil
}

var versionFolder = regexp.MustCompile(`/v[0-9]+$`)

func (s *source) parse() (err error) {
	s.set = token.NewFileSet()
	s.file, err = parser.ParseFile(s.set, s.name, s.text, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return err
	}
	packages := map[string]string{} // maps the name in this file to the import path
	for _, i := range s.file.Imports {
		of, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return err
		}
		s.imports = append(s.imports, located{text: of, line: s.line(i)})
		name := path.Base(versionFolder.ReplaceAllString(of, ""))
		if i.Name != nil {
			name = i.Name.Name
		}
		packages[name] = of
	}
	for _, d := range s.file.Decls {
		in := ""
		if f, ok := d.(*ast.FuncDecl); ok {
			in = functionName(f)
		}
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil {
					s.literals = append(s.literals, located{text, s.line(n), in})
				}
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && packages[x.Name] != "" {
					s.uses = append(s.uses, located{packages[x.Name] + "." + n.Sel.Name, s.line(n), in})
				}
			}
			return true
		})
	}
	return nil
}

// functionName returns a function's name. For a method, the receiver's type and a dot precede it.
func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	return types.ExprString(of) + "." + f.Name.Name
}

func (s *source) line(n ast.Node) int { return s.set.Position(n.Pos()).Line }

// repository returns all sources of the repository, sorted by name. They are read and parsed once
// for all tests.
func repository(t *testing.T) []*source {
	t.Helper()
	tree, err := readRepository()
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

var readRepository = sync.OnceValues(func() (tree []*source, err error) {
	top := filepath.Join("..", "..")
	err = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			// Skip other checkouts, editors' files, and the output of make.
			if name != "." && strings.HasPrefix(d.Name(), ".") || name == "dist" || name == "site" {
				return filepath.SkipDir
			}
			return nil
		}
		switch filepath.Ext(name) {
		case ".go", ".templ", ".js", ".mjs", ".css", ".html", ".svg", ".md":
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			s, err := readSource(name, string(text))
			tree = append(tree, s)
			return err
		}
		return nil
	})
	return tree, err
})
