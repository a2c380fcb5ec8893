package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestOpenRefusesIrregularFiles: regular files are opened, and anything else is rejected with an
// error that names its kind.
func TestOpenRefusesIrregularFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.WriteFile(path, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if text, err := io.ReadAll(f); err != nil || string(text) != "0123456789" || f.Name() != path {
		t.Errorf("got %q, %v, %s; want %q, <nil>, %s", text, err, f.Name(), "0123456789", path)
	}
	var p *fs.PathError
	if _, err := Open(dir); !errors.As(err, &p) || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("a folder: got error %v, want an error of type *fs.PathError containing %q", err, "is a folder")
	}
	if _, err := opened(dir); err == nil {
		t.Error("a folder that replaced a file after the check was opened")
	}
	if _, err := Open(path + "s"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: got error %v, want %v", err, fs.ErrNotExist)
	}
}

// TestReadIsLimited: a file is read if it has at most limit bytes, and rejected otherwise.
func TestReadIsLimited(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := Read(path, 10); err != nil || string(text) != "0123456789" {
		t.Errorf("got %q, %v; want %q, <nil>", text, err, "0123456789")
	}
	if _, err := Read(path, 9); err == nil || !strings.Contains(err.Error(), "exceeds the limit of 9 bytes") {
		t.Errorf("got error %v, want an error containing %q", err, "exceeds the limit of 9 bytes")
	}
	if _, err := Read(path+"s", 9); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got error %v, want %v", err, fs.ErrNotExist)
	}
}

// TestFolderHidesSubfolders: a folder is a file system like os.DirFS, except that
// subfolders can be listed but not opened.
func TestFolderHidesSubfolders(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := fstest.TestFS(Folder(dir), "a", "b"); err != nil {
		t.Error(err)
	}
	names, err := Names(dir, 10)
	if slices.Sort(names); err != nil || !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("got %q, %v; want %q, <nil>", names, err, []string{"a", "b"})
	}
	if names, err := Names(dir, 1); err != nil || len(names) != 1 {
		t.Errorf("got %q, %v; want 1 element, <nil>", names, err)
	}
	if names, err := Names(t.TempDir(), 1); err != nil || len(names) != 0 {
		t.Errorf("got %q, %v; want 0 elements, <nil>", names, err)
	}
	var p *fs.PathError
	for _, name := range []string{"../a", "none", "/a", ""} {
		if _, err := Folder(dir).Open(name); !errors.As(err, &p) || p.Path != name {
			t.Errorf("opening %q: got error %v, want a *fs.PathError with this path", name, err)
		}
	}
}
