package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// mustGit runs a git command with a fixed author and time.
func mustGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	c.Env = append(
		os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_AUTHOR_DATE=2026-11-23T19:02:40Z",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org", "GIT_COMMITTER_DATE=2026-11-23T19:02:40Z",
	)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func mustDescribe(t *testing.T, dir string) release {
	t.Helper()
	r, err := describe(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReleaseLeavesUncommittedFilesOut: a release contains exactly the files of the commit;
// uncommitted files are counted and left out.
func TestReleaseLeavesUncommittedFilesOut(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "")
	dir := t.TempDir()
	mustGit(t, dir, "init", "-q")
	writeFiles(t, dir, map[string]string{"a.txt": "one", "b/c.txt": "two", ".gitignore": "ignored"})
	mustGit(t, dir, "add", ".")
	mustGit(t, dir, "commit", "-qm", "One")
	r := mustDescribe(t, dir)
	if r.version != r.revision[:hashDigits] || r.uncommitted != 0 || r.when.Format("15:04:05 MST") != "19:02:40 UTC" {
		t.Errorf("without a tag: %+v", r)
	}
	mustGit(t, dir, "tag", "v1.0.0")
	if r := mustDescribe(t, dir); r.version != "v1.0.0" {
		t.Errorf("with a tag: got %+v, want version = %q", r, "v1.0.0")
	}
	mustGit(t, dir, "commit", "-q", "--allow-empty", "-m", "Two")
	writeFiles(t, dir, map[string]string{"a.txt": "changed", "new.txt": "new", "ignored": "ignored"})
	r = mustDescribe(t, dir)
	if want := "v1.0.0-1-g" + r.revision[:hashDigits]; r.version != want || r.uncommitted != 2 {
		t.Errorf("after a tag: %+v, want version %s and 2 uncommitted files", r, want)
	}
	to := t.TempDir()
	if err := export(dir, to, r.revision); err != nil {
		t.Fatal(err)
	}
	var got []string
	err := filepath.WalkDir(to, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		got = append(got, filepath.Base(path)+"="+string(data))
		return err
	})
	if err != nil || strings.Join(got, " ") != ".gitignore=ignored a.txt=one c.txt=two" {
		t.Errorf("exported %q, %v; want .gitignore, a.txt=one and c.txt=two, <nil>", got, err)
	}

	t.Setenv("SOURCE_DATE_EPOCH", "1000000000")
	if r := mustDescribe(t, dir); r.when.Format("2006-01-02 15:04:05") != "2001-09-09 01:46:40" {
		t.Errorf("SOURCE_DATE_EPOCH gives %v, want 2001-09-09 01:46:40", r.when)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "today")
	if _, err := describe(dir); err == nil || !strings.Contains(err.Error(), "SOURCE_DATE_EPOCH") {
		t.Errorf("error %v, want an error containing %q", err, "SOURCE_DATE_EPOCH")
	}
}

// TestOutputReplacesOnlyEarlierReleases: a release replaces an earlier one, but no other files.
func TestOutputReplacesOnlyEarlierReleases(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "dist")
	for _, name := range []string{"old.zip", "new.zip"} {
		o, err := openOutput(folder)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.write(name, []byte("abc")); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(folder, sums))
	// The hash of "abc" is the first example in FIPS 180-2.
	want := "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  new.zip\n"
	if err != nil || string(text) != want {
		t.Errorf("%s has %q, %v; want %q", sums, text, err, want)
	}
	if _, err := os.Stat(filepath.Join(folder, "old.zip")); !os.IsNotExist(err) {
		t.Errorf("the earlier release is still there: %v", err)
	}
	writeFiles(t, folder, map[string]string{"thesis.txt": ""})
	if _, err := openOutput(folder); err == nil || !strings.Contains(err.Error(), "thesis.txt") {
		t.Errorf("error %v, want an error containing %q", err, "thesis.txt")
	}
	if _, err := os.Stat(filepath.Join(folder, "new.zip")); err != nil {
		t.Error(err)
	}
}

// checkout creates a repository whose only commit contains the files of the working tree.
func checkout(t *testing.T, dir string) {
	t.Helper()
	list, err := command(
		repository, os.Environ(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard",
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.FieldsFunc(string(list), func(c rune) bool { return c == 0 }) {
		data, err := os.ReadFile(filepath.Join(repository, filepath.FromSlash(name)))
		if os.IsNotExist(err) { // deleted, but not committed yet
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		writeFiles(t, dir, map[string]string{name: string(data)})
	}
	mustGit(t, dir, "init", "-q")
	mustGit(t, dir, "add", ".")
	mustGit(t, dir, "commit", "-qm", "All")
}

// TestReproducibleRelease: two releases of the same commit, built in different folders, are the
// same, byte for byte, and their program reports the version in their file names.
// Promise: Two releases made from the same commit are the same, byte for byte.
func TestReproducibleRelease(t *testing.T) {
	fixture.Long(t)
	t.Setenv("SOURCE_DATE_EPOCH", "")
	for _, system := range []string{"linux", "darwin", "windows"} {
		t.Run(system, func(t *testing.T) {
			releaseTwice(t, slices.DeleteFunc(slices.Clone(platforms), func(p platform) bool { return p.os != system }))
		})
	}
}

// releaseTwice makes two releases for the given platforms and compares them.
func releaseTwice(t *testing.T, targets []platform) {
	one, another := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "another folder")
	checkout(t, one)
	checkout(t, another)
	var outs [2]string
	var r release
	for i, dir := range []string{one, another} {
		outs[i], r = filepath.Join(dir, "dist"), mustDescribe(t, dir)
		if r.uncommitted != 0 {
			t.Errorf("%d files are not committed", r.uncommitted)
		}
		if err := makeRelease(dir, outs[i], targets, t.Output()); err != nil {
			t.Fatal(err)
		}
	}
	want := 2*len(targets) + 1 // plus the file of checksums
	if targets[0].os == "linux" {
		want++ // plus the image
	}
	entries, err := os.ReadDir(outs[0])
	if err != nil || len(entries) != want {
		t.Errorf("%d files, %v; want %d", len(entries), err, want)
	}
	for _, e := range entries {
		one, err := os.ReadFile(filepath.Join(outs[0], e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		two, err := os.ReadFile(filepath.Join(outs[1], e.Name()))
		if err != nil || !bytes.Equal(one, two) {
			t.Errorf("%s differs, %v", e.Name(), err)
		}
	}
	here := platform{runtime.GOOS, runtime.GOARCH}
	if here.os == "windows" || !slices.Contains(targets, here) {
		return // the program below is read from a tar archive
	}
	viz := unpack(t, filepath.Join(outs[0], r.name(here)+".tar.gz"), r.name(here)+"/viz")
	said, err := command("", os.Environ(), viz, "version")
	version := "viz " + r.version + ", " + runtime.Version() + " "
	if err != nil || !strings.HasPrefix(string(said), version) {
		t.Errorf("viz version printed %q, %v; want %q", said, err, version)
	}
}

// unpack writes one file of an archive to a folder and returns its path.
func unpack(t *testing.T, archive, name string) string {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			t.Fatalf("%s has no file %s", archive, name)
		} else if err != nil {
			t.Fatal(err)
		}
		if h.Name != name {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), filepath.Base(name))
		if err := os.WriteFile(path, data, h.FileInfo().Mode()); err != nil {
			t.Fatal(err)
		}
		return path
	}
}

// TestNothingElseIsBuiltInTheRelease: make and CI build everything else outside dist, because the
// dist command refuses a folder that contains other files. So make site and make dist can run in
// either order.
func TestNothingElseIsBuiltInTheRelease(t *testing.T) {
	t.Parallel()
	inside := regexp.MustCompile(`(^|[\s"'=])dist/\w`)
	top := filepath.Join("..", "..", "..")
	for _, name := range []string{"Makefile", "cmd/viz/tab/build/main.go", "cmd/viz/ci/checks.go"} {
		text, err := os.ReadFile(filepath.Join(top, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if inside.MatchString(line) && !strings.HasPrefix(line, "\trm -rf dist/wasm ") {
				t.Errorf("%s builds something in dist: %s", name, line)
			}
		}
	}
}
