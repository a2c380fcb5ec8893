package store

import (
	"bytes"
	"database/sql"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLostDatabaseIsReported: if the database of a folder that has been used is missing or empty, a
// notice and the log report that. Nothing is overwritten, and the secret stays. If [Check] and
// [OpenToRead] are called before the start, they report it too.
// Promise: A missing or empty database is reported, and nothing is overwritten.
func TestLostDatabaseIsReported(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.db")
	conn, err := sql.Open("sqlite", dsn(empty, pragmas(true)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec("VACUUM"); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, says string
		file       []byte // nil for no file
	}{
		{"missing", "no longer contains viz.db", nil},
		{"no bytes", "the file is empty", []byte{}},
		{"one byte", "the file is truncated", []byte("S")},
		{"a header", "the file is truncated", read(t, empty)[:100]},
		{"no tables", "it contains no tables", read(t, empty)},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, path, _ := fullFolder(t, 1, 3)
			secret := read(t, filepath.Join(dir, secretName))
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if c.file != nil {
				replace(t, path, c.file)
			}
			found, err := Check(t.Context(), dir)
			if said := strings.Join(found.Faults, "; "); c.file != nil && !strings.Contains(said, c.says) {
				t.Errorf("Check finds %q, %v; want %q", said, err, c.says)
			}
			_, err = OpenToRead(dir)
			if err == nil || c.file != nil && !strings.Contains(err.Error(), c.says) ||
				c.file == nil && (!errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), secretName)) {
				t.Errorf("opened for reading: got error %v, want a description of the damage", err)
			}

			// This start is killed before the new database exists.
			killed := &DB{dir: dir, log: slog.New(slog.DiscardHandler), rename: os.Rename}
			if err := killed.check(path, time.Now(), false); err != nil {
				t.Fatal(err)
			}
			db, log := logged(t, dir)
			if n := db.Notices(); len(n) != 1 || !strings.Contains(n[0].Text, c.says) ||
				!strings.Contains(log, c.says) {
				t.Errorf("got notices %v and log %q, want one notice with %q, and the same in the log", n, log, c.says)
			}
			if !bytes.Equal(read(t, filepath.Join(dir, secretName)), secret) {
				t.Error("the secret has changed")
			}
			if kept := aside(t, dir); c.file == nil && len(kept) != 0 ||
				c.file != nil && (len(kept) != 1 || !bytes.Equal(read(t, kept[0]), c.file)) {
				t.Errorf("the files set aside are %v, want the previous file, unchanged", kept)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if n := opened(t, dir).Notices(); len(n) != 0 {
				t.Errorf("the next start: got notices %v, want none", n)
			}
		})
	}
}

// TestLostSecretIsReported: if the secret of a used database is missing, a notice reports that, and
// the data stays.
func TestLostSecretIsReported(t *testing.T) {
	dir, path, want := fullFolder(t, 1, 3)
	if err := os.Remove(filepath.Join(dir, secretName)); err != nil {
		t.Fatal(err)
	}
	found, err := Check(t.Context(), dir)
	if err != nil || len(found.Faults) > 0 || !strings.Contains(found.Secret, "cookie-secret is missing") {
		t.Errorf("Check finds %+v, %v; want only the fault that cookie-secret is missing", found, err)
	}
	db, log := logged(t, dir)
	if n := db.Notices(); len(n) != 1 || !strings.Contains(n[0].Text, "has no file cookie-secret") ||
		!strings.Contains(log, "has no file cookie-secret") {
		t.Errorf("got notices %v and log %q, want one notice and one line that the file is missing", n, log)
	}
	if len(db.Secret()) != secretBytes || !taken(path) {
		t.Errorf("got a secret of %d bytes, want %d, and the database to exist", len(db.Secret()), secretBytes)
	}
	if got := contents(t, db.write)["records"]; len(got) != len(want["records"]) {
		t.Errorf("the database has %d records, want %d", len(got), len(want["records"]))
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if found, err := Check(t.Context(), dir); err != nil || len(found.Faults) > 0 || found.Secret != "" {
		t.Errorf("afterwards, Check finds %+v, %v; want no faults", found, err)
	}
	replace(t, filepath.Join(dir, secretName), []byte("no secret"))
	if found, err := Check(t.Context(), dir); err != nil ||
		!strings.Contains(found.Secret, "cookie-secret cannot be read") {
		t.Errorf("with a damaged secret, Check finds %+v, %v; want a fault that names it", found, err)
	}
}

// TestInterruptedFirstStartIsNoLoss: if the first start was killed, no data counts as lost,
// because the secret is created last.
func TestInterruptedFirstStartIsNoLoss(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, dir string){
		"an empty file": func(t *testing.T, dir string) { replace(t, filepath.Join(dir, fileName), nil) },
		"a whole database": func(t *testing.T, dir string) {
			if err := opened(t, dir).Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(dir, secretName)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			make(t, dir)
			if n := opened(t, dir).Notices(); len(n) != 0 || len(aside(t, dir)) != 0 {
				t.Errorf("got notices %v and %v set aside, want none", n, aside(t, dir))
			}
		})
	}
}
