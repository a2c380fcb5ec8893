package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/tokenbytoken/viz"

// pagePackages are the packages that implement pages. A package in a subfolder of a page package,
// such as web/loop/runs, is not a page package: other pages may import it.
var pagePackages = []string{
	"web/loop", "web/first", "web/why", "web/model", "web/learn", "web/practice", "web/labs", "web/classroom",
	"web/api", "web/embed",
}

// assemblers are the packages that assemble the program from the page packages. No other package
// imports them.
var assemblers = []string{"web", "web/tab", "web/site", "web/webtest", "cmd/viz"}

// forTests are packages that only tests and other packages in this list import.
var forTests = []string{
	"infer/fixture", "web/pseudo", "infer/testmodel", "web/browser", "web/journal/journaltest",
	"web/journal/stream/streamtest", "web/session/sessiontest", "web/coursework/courseworktest", "web/class/classtest",
	"web/webtest",
}

var everything = []string{""}

// layers lists folders, each with the folders whose packages it must never import.
var layers = []struct{ folders, never []string }{
	{[]string{"infer"}, []string{"cmd", "lessons", "plots", "web"}},
	{[]string{"lessons", "plots"}, []string{"web"}},
	{[]string{"static"}, everything},
	{[]string{
		"web/store", "web/journal", "web/wire", "web/session", "web/class", "web/cluster", "web/shell", "web/stage",
	}, pagePackages},
}

// importsFollowTheLayers checks the imports of the program's files, whatever their build
// constraints. Tests may import everything. The Packages section of web/ARCHITECTURE.md describes
// the rules.
var importsFollowTheLayers = guard{
	name: "ImportsFollowTheLayers", reads: (*source).program, least: 300,
	check: func(files []*source) (list []finding) {
		for _, s := range files {
			for _, i := range s.imports {
				imported, ours := strings.CutPrefix(i.text, module+"/")
				if !ours {
					continue
				}
				if want := forbids(s.folder(), imported); want != "" {
					list = append(list, s.finds(i.line, s.folder()+" imports "+imported, want))
				}
			}
		}
		return list
	},
	examples: []guardExample{
		importing(1, "infer/kernel/a_js.go", "web/chance"),
		importing(1, "infer/a.go", "lessons/fsrs"),
		importing(0, "infer/a_test.go", "web/chance"),
		importing(1, "lessons/drill/a.go", "web/store"),
		importing(1, "plots/a.go", "web"),
		importing(0, "plots/a.go", "infer/terms"),
		importing(1, "static/a.go", "infer/terms"),
		importing(1, "web/learn/a.go", "web/practice"),
		importing(0, "web/learn/a.go", "web/loop/runs"),
		importing(0, "web/a.go", "web/learn"),
		importing(0, "web/tab/a_js.go", "web/learn"),
		importing(1, "web/stage/a.go", "web/loop"),
		importing(1, "web/journal/stream/a.go", "web/loop/runs"),
		importing(0, "web/classroom/a.go", "web/class"),
		importing(1, "web/learn/a.go", "web/browser"),
		importing(0, "web/learn/a_test.go", "web/browser"),
		importing(0, "web/webtest/a.go", "web/browser"),
		importing(0, "web/site/image/testdata/program/a.go", "web/browser"),
	},
}

// importing returns an example with one file that imports one package of the module.
func importing(want int, file, imported string) guardExample {
	return guardExample{want, map[string]string{file: `package a; import "` + module + "/" + imported + `"`}}
}

// forbids explains why one package may not import another. It returns "" if it may.
func forbids(importing, imported string) string {
	for _, layer := range layers {
		in := func(path string) func(string) bool {
			return func(folder string) bool { return inFolder(path, folder) }
		}
		if slices.ContainsFunc(layer.folders, in(importing)) && slices.ContainsFunc(layer.never, in(imported)) {
			if slices.Equal(layer.never, everything) {
				return "no import of this module"
			}
			return "no import from " + strings.Join(layer.never, ", ")
		}
	}
	if slices.Contains(pagePackages, imported) && !slices.Contains(assemblers, importing) {
		return "packages of pages imported only by " + strings.Join(assemblers, ", ")
	}
	if slices.Contains(forTests, imported) && !slices.Contains(forTests, importing) {
		return "packages for tests imported only by tests"
	}
	return ""
}

// languagePackages are the Go project's packages for Unicode normalization, which Qwen2's tokenizer
// needs, and for the plural rules of the texts' languages.
var languagePackages = []string{
	"golang.org/x/text/unicode/norm", "golang.org/x/text/feature/plural", "golang.org/x/text/language",
}

// engineImportsLittle: the engine uses only the standard library, gonum where it is faster, and
// [languagePackages].
var engineImportsLittle = guard{
	name: "EngineImportsLittle", least: 100,
	reads: func(s *source) bool { return s.program() && s.among("infer") },
	check: func(files []*source) (list []finding) {
		for _, s := range files {
			for _, i := range s.imports {
				host, _, _ := strings.Cut(i.text, "/")
				if strings.Contains(host, ".") && !inFolder(i.text, module+"/infer") &&
					!inFolder(i.text, "gonum.org/v1/gonum") && !slices.Contains(languagePackages, i.text) {
					list = append(list, s.finds(i.line, "infer imports "+i.text,
						"the standard library, gonum, golang.org/x/text for languages, and infer alone"))
				}
			}
		}
		return list
	},
	examples: []guardExample{
		importing(1, "infer/a.go", "static"),
		importing(0, "infer/a.go", "infer/terms"),
		{1, map[string]string{"infer/chat/a.go": `package a; import "golang.org/x/text/width"`}},
		{0, map[string]string{"infer/a.go": `package a; import ("math"; "gonum.org/v1/gonum/blas/blas32")`}},
		{0, map[string]string{"web/a.go": `package a; import "golang.org/x/text/width"`}},
	},
}

const architecture = "web/ARCHITECTURE.md"

// packagesAreDescribed: every package is named in the first column of a table in
// web/ARCHITECTURE.md. One row may name several.
var packagesAreDescribed = guard{
	name: "PackagesAreDescribed", least: 300,
	reads: func(s *source) bool { return s.program() || s.name == architecture },
	check: func(files []*source) (list []finding) {
		known := map[string]bool{}
		if i := slices.IndexFunc(files, func(s *source) bool { return s.name == architecture }); i >= 0 {
			for row := range strings.Lines(files[i].text) {
				if row, inTable := strings.CutPrefix(row, "| "); inTable {
					packages, _, _ := strings.Cut(row, " |")
					for name := range strings.SplitSeq(packages, ", ") {
						known[strings.Trim(name, "`")] = true
					}
				}
			}
		}
		for _, s := range files {
			if s.program() && !known[s.folder()] {
				list = append(list, s.finds(s.line(s.file.Name), "package "+s.folder()+" has no row",
					"it in the table of packages in "+architecture))
				known[s.folder()] = true
			}
		}
		return list
	},
	examples: []guardExample{
		{1, map[string]string{"web/a.go": "package a", "web/b.go": "package a", architecture: "\n| `infer` | `web` |"}},
		{1, map[string]string{
			"web/a.go": "package web", "web/b/b.go": "package b", architecture: "| `web`, `web/c` | both |",
		}},
		{0, map[string]string{"web/a.go": "package web", architecture: "\n| `web` | the server |"}},
		{0, map[string]string{
			"web/a.go": "package web", "infer/a.go": "package infer", architecture: "| `infer`, `web` | both |",
		}},
	},
}

// topLevelIsFixed: the top level of the repository has a fixed list of files and folders.
func topLevelIsFixed(t *testing.T) {
	sound := append(slices.Clone(allowedAtTop), ".gitignore", "cmd/viz/main.go", "web/a/b.go")
	for _, e := range []struct {
		paths []string
		want  int
	}{
		{sound, 0},
		{slices.Concat(sound, []string{"notes.txt", "pkg/a.go", ".vscode/a.json"}), 3},
		{slices.Concat(sound, []string{"cmd/other/a.go"}), 1},
		{sound[1:], 1},
	} {
		if got := topLevel(e.paths); len(got) != e.want {
			t.Errorf("%q: got %d findings %v, want %d", e.paths, len(got), got, e.want)
		}
	}
	for _, f := range topLevel(gitFiles(t)) {
		t.Error(f)
	}
}

var allowedAtTop = []string{
	".ci", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "cmd", "go.mod", "go.sum",
	"infer", "lessons", "plots", "static", "testdata", "web",
}

func topLevel(paths []string) (list []finding) {
	found := map[string]bool{}
	for _, path := range paths {
		name, _, folder := strings.Cut(path, "/")
		found[name] = true
		if !slices.Contains(allowedAtTop, name) && (folder || !strings.HasPrefix(name, ".")) {
			list = append(list, finding{
				path, 1, name + " is at the top level",
				"only dot files and " + strings.Join(allowedAtTop, ", ") + " there",
			})
		}
		if name == "cmd" && folder && !inFolder(path, "cmd/viz") {
			list = append(list, finding{path, 1, "a program beside viz", "cmd/viz alone"})
		}
	}
	for _, name := range allowedAtTop {
		if !found[name] {
			list = append(list, finding{name, 1, "it does not exist", "it at the top level"})
		}
	}
	return list
}

// gitFiles lists the paths of the repository's files, relative to its top folder.
func gitFiles(t *testing.T) []string {
	t.Helper()
	top := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(top, ".git")); err != nil {
		t.Skip("this is not a git checkout: nothing lists the files that belong to the repository")
	}
	c := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	c.Dir = top
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
}
