package webtest

import (
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"hash"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// keepUnused is how long a file stays in the cache after its last use.
const keepUnused = 3 * 24 * time.Hour

// cached returns the path of a file in the user's cache folder, which is shared by all checkouts
// and by the tests of all packages. If the file does not exist, write creates it. Its name contains
// a hash of all its inputs, so the file is never out of date.
func cached(name string, write func(file string) error) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "viz-test")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	file, now := filepath.Join(dir, name), time.Now()
	if err := os.Chtimes(file, now, now); err == nil {
		return file, nil
	}
	forget(dir, now.Add(-keepUnused))
	part, err := os.MkdirTemp(dir, "part-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(part)
	made := filepath.Join(part, name)
	if err := write(made); err != nil {
		return "", err
	}
	return file, os.Rename(made, file) // another test may also have created it
}

// forget deletes files that were last used before the given time. It ignores errors, because the
// next test retries.
func forget(dir string, before time.Time) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if i, err := e.Info(); err == nil && i.ModTime().Before(before) {
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}

// sourceFiles is a template for "go list". It lists the files of this module from which a
// package is compiled, and the files that the package embeds.
const sourceFiles = `{{if .Module}}{{if .Module.Main}}{{$dir := .Dir}}` +
	`{{range .GoFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}{{range .SFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}` +
	`{{range .EmbedFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`

// sourcesKey returns a hash of everything that a site is built from: the source files of the
// program for browsers and of the server that generates the pages.
var sourcesKey = sync.OnceValues(func() (string, error) {
	root, err := top()
	if err != nil {
		return "", err
	}
	build := filepath.Join(root, "cmd", "viz", "tab", "build")
	names := []string{
		filepath.Join(root, "go.mod"), filepath.Join(root, "go.sum"),
		filepath.Join(build, "main.go"), filepath.Join(build, "fonts.go.txt"),
	}
	for _, of := range []struct {
		name string
		env  []string
	}{
		{"./cmd/viz/tab", []string{"GOOS=js", "GOARCH=wasm"}}, {"./web/webtest", nil},
	} {
		list := exec.Command("go", "list", "-deps", "-f", sourceFiles, of.name)
		list.Dir, list.Env = root, append(os.Environ(), of.env...)
		files, err := list.Output()
		if err != nil {
			return "", fmt.Errorf("listing the sources of %s: %w", of.name, err)
		}
		names = append(names, strings.Split(strings.TrimSpace(string(files)), "\n")...)
	}
	slices.Sort(names)
	h := sha256.New()
	fmt.Fprintln(h, runtime.Version())
	for _, name := range slices.Compact(names) {
		if err := addFile(h, root, name); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
})

// addFile adds the name and the content of a file below root to a hash.
func addFile(h hash.Hash, root, name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	short, err := filepath.Rel(root, name)
	if err != nil {
		return err
	}
	add(h, []byte(filepath.ToSlash(short)))
	add(h, data)
	return nil
}

// add adds data of any length to a hash.
func add(h hash.Hash, data []byte) {
	fmt.Fprintf(h, "%d ", len(data))
	h.Write(data)
}

func writeGob(file string, value any) error {
	to, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := gob.NewEncoder(to).Encode(value); err != nil {
		to.Close()
		return err
	}
	return to.Close()
}

func readGob(file string, value any) error {
	from, err := os.Open(file)
	if err != nil {
		return err
	}
	defer from.Close()
	return gob.NewDecoder(from).Decode(value)
}
