// Command build builds the program for browsers, ./cmd/viz/tab, as small as it can be:
// without nine of twelve fonts, the LaTeX, and the writers of PDF and EPS that gonum's plot brings
// along and no chart here uses. They would be a fifth of what a browser downloads. The code of
// pages is compiled without inlining: each component is a closure, of which the compiler
// otherwise puts a copy into whatever calls it.
//
//	go run ./cmd/viz/tab/build -o dist/wasm/viz.wasm
//
// It runs in the module's root, and leaves its copy of the library in dist/wasm.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

const (
	library = "gonum.org/v1/plot"
	// work is where the changed library and a go.mod that points at it are written. Its path
	// becomes a part of the program, so that it is relative.
	work = "dist/wasm"
)

// fonts takes the place of the library's file with all fonts.
//
//go:embed fonts.go.txt
var fonts []byte

// changed are the library's files that the program gets otherwise: nil for none. The build
// tag minimal, which is the library's own, leaves out the formats that nothing asks for.
var changed = map[string][]byte{
	"font/liberation/liberation.go": fonts,
	"text/latex.go":                 nil,
}

func main() {
	out := flag.String("o", work+"/viz.wasm", "the file to write")
	flag.Parse()
	if err := build(*out); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

func build(out string) error {
	list, err := exec.Command("go", "list", "-m", "-json", library).Output()
	if err != nil {
		return fmt.Errorf("where is %s: %w", library, err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(list, &module); err != nil {
		return err
	}
	copied := path.Join(work, "plot")
	if err := copyLibrary(copied, module.Dir); err != nil {
		return err
	}
	for from, to := range map[string]string{"go.mod": "viz.mod", "go.sum": "viz.sum"} {
		text, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if from == "go.mod" {
			text = fmt.Appendf(text, "\nreplace %s => ./%s\n", library, copied)
		}
		if err := update(path.Join(work, to), text); err != nil {
			return err
		}
	}
	c := exec.Command(
		"go", "build", "-modfile="+work+"/viz.mod", "-tags=minimal", "-trimpath", "-ldflags=-s -w",
		"-gcflags=github.com/tokenbytoken/viz/web/...=-l", "-o", out,
		"./cmd/viz/tab",
	)
	c.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	return c.Run()
}

// copyLibrary copies the library's Go files, the changed ones as they are to be. It is an
// error if the library no longer has one of them.
func copyLibrary(to, from string) error {
	left := len(changed)
	err := fs.WalkDir(os.DirFS(from), ".", func(name string, d fs.DirEntry, err error) error {
		wanted := name == "go.mod" || path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go")
		if err != nil || d.IsDir() || !wanted {
			return err
		}
		text, ok := changed[name]
		if ok {
			left--
			if text == nil {
				return nil
			}
		} else if text, err = os.ReadFile(filepath.Join(from, filepath.FromSlash(name))); err != nil {
			return err
		}
		return update(path.Join(to, name), text)
	})
	if err == nil && left > 0 {
		err = fmt.Errorf("%s has changed: %d of the files that are left out are not in it", library, left)
	}
	return err
}

// update writes a file that is not so already: others may build at the same time.
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
