package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/tokenbytoken/viz"

// ranks order the rooms: a package imports only packages of lower rank. Test
// files may import anything. CONTRIBUTING.md says what is where.
var ranks = map[string]int{
	"static": 1,

	"infer/fault":        0, // a panic ends the part in which it happens
	"infer/fixture":      0, // writes random models of any shape, for tests
	"infer/files":        0, // opens regular files
	"infer/kernel/gen":   0, // writes infer/kernel's assembly
	"infer/kernel":       1,
	"infer/terms/pseudo": 2, // a language for tests
	"infer/terms":        1, // numbers as people read them
	"infer/tokenizer":    1,
	"infer/cost":         1,
	"infer/grammar":      2,

	"infer/checkpoint": 2,
	"infer/sampling":   2,
	"infer/bundled":    3,
	"infer":            4,

	"infer/chat":       1, // a conversation as one text
	"infer/chat/jinja": 0, // the language of chat templates, bounded

	"infer/testmodel": 5, // the models that tests share
	"infer/bench":     5,
	"infer/why":       5,
	"infer/lab":       6,
	"lessons/fsrs":    1,
	"lessons/drill":   5,
	"lessons/predict": 5,
	"lessons":         6,
	"lessons/gen":     7, // turns the lessons' TeX into MathML
	"plots":           5,

	"web/browser":                   5, // drives a browser from tests
	"web/store":                     5,
	"web/chance":                    0, // what is random in pages
	"web/metrics":                   1, // figures for Prometheus
	"web/admission":                 2, // who may hold, do and wait for how much
	"web/memory":                    2, // the process's limit on memory
	"web/load":                      5, // classes that follow a server, to measure it
	"web/journal":                   6,
	"web/journal/journaltest":       7, // what every adapter must do
	"web/journal/stream":            7, // logs in a cluster of NATS
	"web/journal/stream/streamtest": 7, // NATS within the process, for tests
	"web/session":                   6,
	"web/progress/saved":            6,
	"web/progress":                  7,
	"web/class":                     7,
	"web/cluster":                   8, // several servers, joined by NATS
	"web/loop/runs":                 7,
	"web/wire":                      7,
	"web/session/sessiontest":       7, // states of runs, for tests
	"web/shell":                     8,
	"web/stage":                     9,
	"web/pages":                     9,  // what rooms of pages have in common
	"web/coursework":                10, // the course as one learner works through it
	"web/loop":                      11,
	"web/first":                     11,
	"web/why":                       11,
	"web/model":                     11,
	"web/learn":                     11,
	"web/practice":                  11,
	"web/classroom":                 11,
	"web/labs":                      11,
	"web/api":                       11, // what other programs' clients speak
	"web/embed":                     11, // parts of the program in other sites' pages
	"web":                           12,
	"web/tab":                       13, // what a browser runs
	"web/site/image":                14, // the started program, for browsers
	"web/site":                      15, // writes the static site
	"web/webtest":                   16, // runs the whole program for tests of pages
	"cmd/viz":                       16,
	"cmd/viz/tab":                   14, // the program for browsers
	"cmd/viz/tab/build":             0,  // builds it
	"cmd/viz/dist":                  2,  // makes a release

	"web/coursework/courseworktest": 11, // what tests of rooms about the course share
}

// forTests are rooms that only tests, and each other, import.
var forTests = map[string]bool{
	"infer/fixture": true, "infer/terms/pseudo": true, "infer/testmodel": true, "web/browser": true,
	"web/journal/journaltest":       true,
	"web/journal/stream/streamtest": true,
	"web/session/sessiontest":       true, "web/coursework/courseworktest": true, "web/webtest": true,
}

// goCommand runs the go tool at the top of the repository.
func goCommand(t *testing.T, args ...string) io.Reader {
	t.Helper()
	c := exec.Command("go", args...)
	c.Dir = filepath.Join("..", "..")
	out, err := c.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, failed.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	return strings.NewReader(string(out))
}

func TestPackagesImportOnlyWhatTheyMay(t *testing.T) {
	packages := json.NewDecoder(goCommand(t, "list", "-json=ImportPath,Imports", "./..."))
	seen := 0
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		err := packages.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		seen++
		room := strings.TrimPrefix(p.ImportPath, module+"/")
		rank, known := ranks[room]
		if !known {
			t.Errorf("package %s has no rank: give it one in rooms_test.go, and a line in CONTRIBUTING.md", room)
			continue
		}
		for _, imported := range p.Imports {
			below, ours := strings.CutPrefix(imported, module+"/")
			if !ours {
				continue
			}
			if r, known := ranks[below]; !known || r >= rank {
				t.Errorf("%s (rank %d) imports %s (rank %d): only lower ranks may be imported", room, rank, below, r)
			}
			if forTests[below] && !forTests[room] {
				t.Errorf("%s imports %s, which is for tests alone", room, below)
			}
		}
	}
	if seen < 10 {
		t.Errorf("go list found %d packages only", seen)
	}
}

// The engine's parts use only the standard library, gonum where it is faster,
// and the Go project's Unicode normalization, which Qwen2's tokenizer needs.
func TestEngineImportsFewModules(t *testing.T) {
	packages := json.NewDecoder(goCommand(t, "list", "-json=ImportPath,Imports", "./infer/..."))
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := packages.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for _, i := range p.Imports {
			first, _, _ := strings.Cut(i, "/")
			if strings.Contains(first, ".") && !strings.HasPrefix(i, module+"/infer") &&
				!strings.HasPrefix(i, "gonum.org/v1/gonum/") && i != "golang.org/x/text/unicode/norm" {
				t.Errorf("%s imports %s", p.ImportPath, i)
			}
		}
	}
}

// The program has no server of NATS within it, and the program for browsers has no
// client either. Tests start a server.
func TestProgramsLinkNoNATSServer(t *testing.T) {
	for program, without := range map[string]string{"./cmd/viz": "/nats-server/", "./cmd/viz/tab": "/nats-io/"} {
		t.Run(program, func(t *testing.T) {
			if program == "./cmd/viz/tab" {
				t.Setenv("GOOS", "js")
				t.Setenv("GOARCH", "wasm")
			}
			list, err := io.ReadAll(goCommand(t, "list", "-deps", program))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(list), module+"/web/journal\n") {
				t.Error("it does not have web/journal: the list is not what it should be")
			}
			for dep := range strings.Lines(string(list)) {
				if strings.Contains(dep, without) {
					t.Errorf("it contains %s", strings.TrimSpace(dep))
				}
			}
		})
	}
}

// ownFiles lists the files of the repository, by their paths from its top.
func ownFiles(t *testing.T) []string {
	t.Helper()
	top := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(top, ".git")); err != nil {
		t.Skip("not a git checkout: what belongs to the repository cannot be told")
	}
	c := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	c.Dir = top
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
}

func TestRepositoryRootIsTidy(t *testing.T) {
	allowed := []string{
		".ci", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "cmd", "go.mod", "go.sum",
		"infer", "lessons", "plots", "static", "testdata", "web",
	}
	found := map[string]bool{}
	for _, path := range ownFiles(t) {
		name, _, folder := strings.Cut(path, "/")
		found[name] = true
		if !slices.Contains(allowed, name) && (folder || !strings.HasPrefix(name, ".")) {
			t.Errorf("%s: the top level takes %s and dot files, nothing else", path, strings.Join(allowed, " "))
		}
		if name == "cmd" && !strings.HasPrefix(path, "cmd/viz/") {
			t.Errorf("%s: cmd takes viz alone", path)
		}
	}
	for _, name := range allowed {
		if !found[name] {
			t.Errorf("the top level lacks %s", name)
		}
	}
}
