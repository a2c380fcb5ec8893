package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// losses maps names to functions that make files disappear while the server runs. undo reverses
// lose, if that is possible.
var losses = map[string]struct{ lose, undo func(dir string) error }{
	"the database deleted": {lose: func(dir string) error { return os.Remove(filepath.Join(dir, fileName)) }},
	"the database moved": {
		lose: func(dir string) error {
			return os.Rename(filepath.Join(dir, fileName), filepath.Join(dir, "elsewhere"))
		},
		undo: func(dir string) error {
			return os.Rename(filepath.Join(dir, "elsewhere"), filepath.Join(dir, fileName))
		},
	},
	"the database replaced": {lose: func(dir string) error {
		path := filepath.Join(dir, fileName)
		data, err := os.ReadFile(path)
		return errors.Join(err, os.WriteFile(path+".new", data, 0o600), os.Rename(path+".new", path))
	}},
	"its log deleted":  {lose: func(dir string) error { return os.Remove(filepath.Join(dir, fileName+"-wal")) }},
	"the lock deleted": {lose: func(dir string) error { return os.Remove(filepath.Join(dir, lockName)) }},
	"the folder moved": {
		lose: func(dir string) error { return os.Rename(dir, dir+"-elsewhere") },
		undo: func(dir string) error { return os.Rename(dir+"-elsewhere", dir) },
	},
	"the folder deleted": {lose: os.RemoveAll},
}

// TestWritesFailAfterFileIsLost: after a file has been lost, writes are refused, even if the file
// returns. Reading continues.
func TestWritesFailAfterFileIsLost(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("open files cannot be deleted or renamed on Windows")
	}
	for name, loss := range losses {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			dir := filepath.Join(t.TempDir(), "data")
			db, err := Open(dir, slog.New(slog.NewTextHandler(&log, nil)))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			mustPut(t, db, "before", "x")
			if err := db.Ready(context.Background()); err != nil {
				t.Fatalf("before the loss, Ready returns %v", err)
			}
			if err := loss.lose(dir); err != nil {
				t.Fatal(err)
			}
			refused := func() {
				t.Helper()
				for what, err := range map[string]error{
					"a write": put(db, "after", "x"), "Ready": db.Ready(context.Background()),
					"Scrub": db.Scrub(context.Background()),
				} {
					if !errors.Is(err, ErrGone) || !strings.Contains(Why(err), "restarted") {
						t.Errorf("%s: got error %v, explained as %q; want ErrGone", what, err, Why(err))
					}
				}
			}
			refused()
			if get(t, db, "before") != "x" {
				t.Error("data saved before the loss cannot be read")
			}
			if loss.undo != nil {
				if err := loss.undo(dir); err != nil {
					t.Fatal(err)
				}
				refused()
			}
			if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
				t.Errorf("the log has %d errors, want one:\n%s", n, &log)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			if loss.undo != nil {
				again := opened(t, dir)
				if get(t, again, "before") != "x" || get(t, again, "after") != "" {
					t.Error("after a restart, the confirmed data is missing")
				}
				mustPut(t, again, "later", "x")
			}
		})
	}
}

// TestCommitToLostFileFails: a commit to a file that has just been deleted is not
// confirmed.
func TestCommitToLostFileFails(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("open files cannot be deleted on Windows")
	}
	dir := t.TempDir()
	db := opened(t, dir)
	err := db.Write(context.Background(), func(tx *sql.Tx) error {
		if _, err := tx.Exec(insertOwner, "x", "during"); err != nil {
			return err
		}
		return os.Remove(filepath.Join(dir, fileName))
	})
	if !errors.Is(err, ErrGone) {
		t.Errorf("the write: got error %v, want ErrGone", err)
	}
}

// TestFullDiskRefusesWrites: when the disk is full, writes are refused, and all confirmed data is
// still there. Once there is space, writes are accepted again. To SQLite, a database that has
// reached its size limit is a full disk.
func TestFullDiskRefusesWrites(t *testing.T) {
	var log bytes.Buffer
	db, err := Open(t.TempDir(), slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	clock := time.Now()
	db.trouble.clock = func() time.Time { return clock }
	if err := db.SetLimit(1 << 20); err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; err == nil && n < 1000; n++ {
		err = put(db, fmt.Sprint(n), strings.Repeat("word ", 4000))
	}
	n-- // the last write was refused
	if !errors.Is(err, ErrFull) || !strings.Contains(Why(err), "no space") || n < 10 {
		t.Fatalf("write %d: got error %v, explained as %q; want ErrFull", n, err, Why(err))
	}
	for i := range n {
		if get(t, db, fmt.Sprint(i)) == "" {
			t.Errorf("write %d of %d confirmed writes is missing", i, n)
		}
	}
	if get(t, db, fmt.Sprint(n)) != "" {
		t.Error("the refused write was stored")
	}
	clock = clock.Add(2 * probeEvery)
	if err := db.Ready(context.Background()); !errors.Is(err, ErrFull) {
		t.Errorf("Ready returns %v, want ErrFull", err)
	}
	if err := db.SetLimit(2 << 20); err != nil {
		t.Fatal(err)
	}
	if err := db.Ready(context.Background()); !errors.Is(err, ErrFull) {
		t.Errorf("Ready: got %v, want %v once a second", err, ErrFull)
	}
	clock = clock.Add(2 * probeEvery)
	if err := db.Ready(context.Background()); err != nil {
		t.Errorf("with space, Ready returns %v", err)
	}
	mustPut(t, db, "after", "x")
	if err := db.Ready(context.Background()); err != nil {
		t.Errorf("after a write, Ready returns %v", err)
	}
	if text := log.String(); strings.Count(text, "level=ERROR") != 1 || !strings.Contains(text, "writable again") {
		t.Errorf("the log is\n%s\nwant one error, and a message that writing works again", text)
	}
}

// TestDiskErrorsAreRecognized: disk errors are distinguished from errors of the program.
func TestDiskErrorsAreRecognized(t *testing.T) {
	db := opened(t, t.TempDir())
	_, err := db.read.Exec("DELETE FROM owners") // SQLITE_READONLY
	if err := classify(err); !errors.Is(err, ErrDisk) || Why(err) == "" {
		t.Errorf("a read-only database: got %v, want the error %v, Why(err) not empty", err, ErrDisk)
	}
	err = db.Write(context.Background(), func(tx *sql.Tx) error {
		_, err := tx.Exec("INSERT INTO nothing VALUES (1)")
		return err
	})
	if err == nil || Why(err) != "" || db.Ready(context.Background()) != nil {
		t.Errorf(`an invalid statement: got %v, explained as %q; want an error, Why(err) = "", no error`, err, Why(err))
	}
}
