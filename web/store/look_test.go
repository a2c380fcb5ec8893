package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestOpenReadOnly: writes by another process are visible, no data can be written, and a database
// from an earlier version is refused.
func TestOpenReadOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := OpenToRead(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty folder: got error %v, want %v", err, fs.ErrNotExist)
	}
	db := opened(t, dir)
	look, err := OpenToRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.KeepSecret(t.Context(), "ABCDEF", []byte("hash")); err != nil {
		t.Fatal(err)
	}
	if all, err := look.Secrets(t.Context()); err != nil || string(all["ABCDEF"]) != "hash" {
		t.Errorf(`got secrets %v, %v; want "hash" for ABCDEF, <nil>`, all, err)
	}
	if err := look.KeepSecret(t.Context(), "ABCDEG", nil); !errors.Is(err, ErrReadOnly) {
		t.Errorf("a write: got error %v, want %v", err, ErrReadOnly)
	}
	if err := look.Close(); err != nil {
		t.Error(err)
	}
	old, path := filled(t)
	execute(t, path, makeOld)
	if _, err := OpenToRead(old); !errors.Is(err, ErrOlder) {
		t.Errorf("a database of version 2: got error %v, want %v", err, ErrOlder)
	}
}

// TestPriorVersionIsConverted: a database of the prior version can be read. Opening it for writing
// keeps its data and raises its version, so that older programs refuse it.
func TestPriorVersionIsConverted(t *testing.T) {
	t.Parallel()
	dir, path := filled(t)
	version := func() (n int) {
		t.Helper()
		conn, err := openToRead(path)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if n, err = versionOf(conn); err != nil {
			t.Fatal(err)
		}
		return n
	}
	execute(t, path, fmt.Sprintf("PRAGMA user_version = %d", priorVersion))
	look, err := OpenToRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := look.Close(); err != nil || version() != priorVersion {
		t.Errorf("after reading: %v, version %d; want <nil>, %d", err, version(), priorVersion)
	}
	if flipped(priorVersion, schemaVersion) {
		t.Errorf("a program of version %d would take version %d for damage", priorVersion, schemaVersion)
	}
	db := opened(t, dir)
	if got := get(t, db, "0"); got == "" || len(db.Notices()) != 0 || version() != schemaVersion {
		t.Errorf("after opening: data %q, notices %v, version %d; want some, none, %d", got, db.Notices(), version(),
			schemaVersion)
	}
}

// TestBackupIsAtomic: an interrupted backup leaves no file. If there is already a file with the
// same name, even a dangling link, it stays unchanged.
func TestBackupIsAtomic(t *testing.T) {
	t.Parallel()
	dir, to := t.TempDir(), t.TempDir()
	opened(t, dir)
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := Backup(ended, dir, filepath.Join(to, "copy.db")); err == nil {
		t.Error("a copy was made although the context was canceled")
	}
	if list, err := os.ReadDir(to); err != nil || len(list) > 0 {
		t.Errorf("the files left are %v, %v; want 0 elements, <nil>", list, err)
	}
	link := filepath.Join(to, "link.db")
	if err := os.Symlink(filepath.Join(to, "nowhere"), link); err != nil {
		t.Skip("this system does not allow symbolic links: ", err)
	}
	if _, err := Backup(t.Context(), dir, link); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a link: got error %v, want %v", err, fs.ErrExist)
	}
	file := filepath.Join(to, "copy.db")
	replace(t, file, []byte("mine"))
	err := publish(filepath.Join(dir, fileName), file)
	if !errors.Is(err, fs.ErrExist) || string(read(t, file)) != "mine" {
		t.Errorf("over a file: got %v, want the error %v, string(read(t, file)) = %q", err, fs.ErrExist, "mine")
	}
	if n, err := Backup(t.Context(), dir, filepath.Join(to, "other.db")); err != nil || n < 4096 {
		t.Errorf("got %d bytes, %v; want at least 4096, <nil>", n, err)
	}
}
