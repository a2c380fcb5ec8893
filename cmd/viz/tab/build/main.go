// Command build builds the program for browsers, ./cmd/viz/tab, as small as possible. It leaves out
// the parts of gonum's plot that no chart uses: nine of twelve fonts, LaTeX, and the PDF and EPS
// writers. This saves a fifth of the download. The page code is compiled without inlining, since
// each component is a closure, which the compiler would otherwise copy into every caller.
//
//	go run ./cmd/viz/tab/build -o .build/wasm/viz.wasm
//
// The command must run in the module's root. It leaves the changed copy of the library in
// .build/wasm.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// work is the folder for the changed libraries and a go.mod that points to them. Its path becomes
// part of the program, so it is relative.
const work = ".build/wasm"

// fonts replaces the library's file that embeds all fonts.
//
//go:embed fonts.go.txt
var fonts []byte

// A change describes a library that is built with changed files.
type change struct {
	library, dir string
	// files are the new contents of the changed files; nil removes a file.
	files map[string][]byte
}

// changes lists all changed libraries. The build tag minimal, defined by gonum's plot, leaves out
// unused formats.
var changes = []change{
	{
		library: "gonum.org/v1/plot", dir: "plot",
		files: map[string][]byte{"font/liberation/liberation.go": fonts, "text/latex.go": nil},
	},
}

func main() {
	out := flag.String("o", work+"/viz.wasm", "the output file")
	// go vet and go build get the same build flags, so packages are compiled only once.
	vet := flag.Bool("vet", false, "vet ./cmd/viz/tab and ./web/tab first")
	flag.Parse()
	if err := build(*out, *vet); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

// compact lists the packages that are compiled without inlining: they are large, and their speed
// does not matter. Without any inlining, the model would generate text half as fast.
var compact = []string{
	"github.com/tokenbytoken/viz/infer/chat/...", "github.com/tokenbytoken/viz/infer/why",
	"github.com/a-h/templ/...", "github.com/tokenbytoken/viz/infer/lab", "github.com/tokenbytoken/viz/infer/terms",
	"github.com/tokenbytoken/viz/plots", "github.com/tokenbytoken/viz/web/...",
	"github.com/tokenbytoken/viz/lessons/...", "gonum.org/v1/plot/...", "github.com/yuin/goldmark/...",
	"github.com/ajstarks/...", "git.sr.ht/...", "codeberg.org/...", "golang.org/x/...", "crypto/...", "net/...",
	"vendor/...", "mime/...", "html/...", "text/template/...", "image/...", "compress/...", "encoding/json",
	"encoding/xml", "encoding/csv", "encoding/asn1", "encoding/base64", "encoding/hex", "fmt", "math/big",
	"regexp/...", "log/...", "database/...", "bufio", "flag", "gonum.org/v1/gonum/lapack/...",
	"gonum.org/v1/gonum/optimize/...", "gonum.org/v1/gonum/stat/...",
}

func build(out string, vet bool) error {
	module, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		return err
	}
	for _, c := range changes {
		to, err := c.copy()
		if err != nil {
			return err
		}
		module = fmt.Appendf(module, "\nreplace %s => ./%s\n", c.library, to)
	}
	err = errors.Join(update(path.Join(work, "viz.mod"), module), update(path.Join(work, "viz.sum"), sums))
	if err != nil {
		return err
	}
	flags := []string{"-modfile=" + work + "/viz.mod", "-tags=minimal", "-trimpath", "-ldflags=-s -w"}
	for _, packages := range compact {
		flags = append(flags, "-gcflags="+packages+"=-l")
	}
	run := func(command string, args ...string) error {
		c := exec.Command("go", slices.Concat([]string{command}, flags, args)...)
		c.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		return c.Run()
	}
	if vet {
		if err := run("vet", "./cmd/viz/tab", "./web/tab"); err != nil {
			return err
		}
	}
	return run("build", "-o", out, "./cmd/viz/tab")
}

// copy copies the library's Go files, with the changes, and returns the path of the copy. It
// returns an error if the library no longer has one of the changed files.
func (c change) copy() (to string, err error) {
	list, err := exec.Command("go", "list", "-m", "-json", c.library).Output()
	if err != nil {
		return "", fmt.Errorf("finding %s: %w", c.library, err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(list, &module); err != nil {
		return "", err
	}
	to = path.Join(work, c.dir)
	left := len(c.files)
	err = fs.WalkDir(os.DirFS(module.Dir), ".", func(name string, d fs.DirEntry, err error) error {
		wanted := path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go")
		wanted = wanted || name == "go.mod" || name == ".version" // templ embeds the .version file
		if err != nil || d.IsDir() || !wanted {
			return err
		}
		text, ok := c.files[name]
		if ok {
			left--
			if text == nil {
				return nil
			}
		} else if text, err = os.ReadFile(filepath.Join(module.Dir, filepath.FromSlash(name))); err != nil {
			return err
		}
		return update(path.Join(to, name), text)
	})
	if err == nil && left > 0 {
		err = fmt.Errorf("%s has changed: %d of the files to replace no longer exist", c.library, left)
	}
	return to, err
}

// update writes a file only if its content changes, since other builds might run at the same time.
func update(name string, text []byte) error {
	name = filepath.FromSlash(name)
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o644)
}
