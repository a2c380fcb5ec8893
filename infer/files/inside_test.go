package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInsideReadsOnlyTheFolder: files in the folder are read up to a size limit, and files outside
// the folder are never read.
func TestInsideReadsOnlyTheFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder := filepath.Join(dir, "folder")
	for name, text := range map[string]string{"folder/a": "12345", "folder/sub/b": "b", "secret": "s"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"in": "sub/b", "out": "../secret", "abs": filepath.Join(dir, "secret")} {
		if err := os.Symlink(to, filepath.Join(folder, link)); err != nil {
			t.Fatal(err)
		}
	}
	d, err := OpenInside(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for name, want := range map[string]string{"a": "12345", "sub/b": "b", "in": "b"} {
		if got, err := d.Read(name, 5); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v, want %q", name, got, err, want)
		}
	}
	for name, want := range map[string]string{
		"out": "escapes", "abs": "escapes", "../secret": "escapes", "sub": "is a folder", "none": "no such file",
	} {
		if got, err := d.Read(name, 5); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is %q, %v, want %q", name, got, err, want)
		}
	}
	const above = "exceeds the limit of 4 bytes"
	if _, err := d.Read("a", 4); err == nil || !strings.Contains(err.Error(), above) {
		t.Errorf("a file above the limit: got error %v, want an error containing %q", err, above)
	}
	if list, err := d.Names(".", 5); err != nil || len(list) != 5 {
		t.Errorf("got %d names, %v; want 5", len(list), err)
	}
	if _, err := d.Names(".", 4); err == nil || !strings.Contains(err.Error(), "more than 4 files") {
		t.Errorf("a folder above the limit: got error %v, want an error containing %q", err, "more than 4 files")
	}
	if _, err := OpenInside(filepath.Join(dir, "none")); err == nil {
		t.Error("a missing folder was opened")
	}
}
