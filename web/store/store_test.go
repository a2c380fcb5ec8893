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
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/tokenbytoken/viz/infer/fixture"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(helperDir); dir != "" {
		writeUntilKilled(dir)
	}
	goleak.VerifyTestMain(fixture.Suite{M: m})
}

// opened opens a database in a folder, or in memory if dir is "". It is closed when the test
// ends.
func opened(t *testing.T, dir string) *DB {
	t.Helper()
	db, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// put stores a value under a name, by adding a learner whose id contains both. get returns the
// value.
func put(db *DB, name, value string) error {
	return db.Write(context.Background(), func(tx *sql.Tx) error {
		_, err := tx.Exec(insertOwner, value, name)
		return err
	})
}

const insertOwner = "INSERT INTO owners (kind, name, used_at, first, last, records, bytes) " +
	"VALUES ('learner', ?2 || '=' || ?1, 1790000000000, 0, 0, 0, 0)"

func get(t *testing.T, db *DB, name string) (value string) {
	t.Helper()
	err := db.Read(context.Background(), func(tx *sql.Tx) error {
		err := tx.QueryRow("SELECT substr(name, length(?1) + 2) FROM owners WHERE name LIKE ?1 || '=%'", name).
			Scan(&value)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func mustPut(t *testing.T, db *DB, name, value string) {
	t.Helper()
	if err := put(db, name, value); err != nil {
		t.Fatal(err)
	}
}

func TestDataPersistsAcrossOpenings(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a folder?with #odd%20 names", "viz")
	db := opened(t, dir)
	mustPut(t, db, "pace", "slow")
	secret := db.Secret()
	if len(secret) != 32 {
		t.Fatalf("the secret has %d bytes, want 32", len(secret))
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Errorf("the second Close: %v", err)
	}
	if err := put(db, "late", "x"); err == nil {
		t.Error("a closed database accepted an entry")
	}
	if _, err := os.Stat(filepath.Join(dir, "viz.db-wal")); err == nil {
		t.Error("Close left a log behind")
	}
	again := opened(t, dir)
	if got := get(t, again, "pace"); got != "slow" {
		t.Errorf("after a restart: got %q, want slow", got)
	}
	if !bytes.Equal(again.Secret(), secret) {
		t.Error("the secret has changed after a restart")
	}
	if n := again.Notices(); len(n) != 0 {
		t.Errorf("notices after a normal start: got %v, want 0 elements", n)
	}
}

func TestPragmas(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		db := opened(t, dir)
		for _, c := range []struct {
			conn         *sql.DB
			pragma, want string
		}{
			{db.write, "journal_mode", map[bool]string{true: "memory", false: "wal"}[dir == ""]},
			{db.write, "foreign_keys", "1"},
			{db.write, "busy_timeout", "5000"},
			{db.write, "secure_delete", "1"},
			{db.write, "user_version", fmt.Sprint(schemaVersion)},
			{db.write, "application_id", fmt.Sprint(applicationID)},
			{db.write, "synchronous", "2"}, // FULL
			{db.read, "query_only", map[bool]string{true: "0", false: "1"}[dir == ""]},
		} {
			var got string
			if err := c.conn.QueryRow("PRAGMA " + c.pragma).Scan(&got); err != nil || got != c.want {
				t.Errorf("in %q: %s is %s (%v), want %s", dir, c.pragma, got, err, c.want)
			}
		}
	}
}

func TestInMemoryDatabaseIsPrivate(t *testing.T) {
	a, b := opened(t, ""), opened(t, "")
	mustPut(t, a, "pace", "slow")
	if get(t, b, "pace") != "" {
		t.Error("two databases in memory share their data")
	}
	if a.Secret() != nil {
		t.Error("a database in memory has a secret")
	}
	// Canceling a request must not break the only connection.
	ctx, cancel := context.WithCancel(context.Background())
	err := a.Write(ctx, func(tx *sql.Tx) error {
		cancel()
		_, err := tx.ExecContext(ctx, insertOwner, "y", "x")
		return err
	})
	if err == nil {
		t.Error("a canceled write succeeded")
	}
	if got := get(t, a, "pace"); got != "slow" {
		t.Errorf("after a canceled write, the database in memory has %q, want slow", got)
	}
}

// Promise: On Unix, no other user of the machine can read the data folder.
func TestFilesArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has a different system of permissions")
	}
	dir := filepath.Join(t.TempDir(), "viz")
	db := opened(t, dir)
	mustPut(t, db, "pace", "slow") // creates the write-ahead log
	want := map[string]os.FileMode{
		"": 0o700, "viz.db": 0o600, "viz.db-wal": 0o600, "viz.db-shm": 0o600, "cookie-secret": 0o600, "lock": 0o600,
	}
	check := func() {
		t.Helper()
		for name, mode := range want {
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != mode {
				t.Errorf("%s/%s has mode %o, want %o", dir, name, info.Mode().Perm(), mode)
			}
		}
	}
	check()
	// Permissions that were added later are removed.
	db.Close()
	for _, name := range []string{"viz.db", "cookie-secret"} {
		if err := os.Chmod(filepath.Join(dir, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	mustPut(t, opened(t, dir), "more", "x")
	check()
}

func TestWriteIsAtomic(t *testing.T) {
	db := opened(t, t.TempDir())
	failure := errors.New("no")
	insert := func(tx *sql.Tx) {
		if _, err := tx.Exec(insertOwner, "x", "half"); err != nil {
			t.Fatal(err)
		}
	}
	err := db.Write(context.Background(), func(tx *sql.Tx) error { insert(tx); return failure })
	if !errors.Is(err, failure) {
		t.Errorf("Write: got error %v, want the function's error", err)
	}
	func() {
		defer func() { recover() }()
		db.Write(context.Background(), func(tx *sql.Tx) error { insert(tx); panic("no") })
	}()
	if get(t, db, "half") != "" {
		t.Error("half of a write was stored")
	}
	mustPut(t, db, "after", "x") // the write connection is free again
	err = db.Read(context.Background(), func(tx *sql.Tx) error {
		_, err := tx.Exec("DELETE FROM owners")
		return err
	})
	if err == nil || get(t, db, "after") != "x" {
		t.Errorf("writing in Read: got error %v, want an error, and nothing written", err)
	}
}

// TestFailedCommitIsNoticed: a write that fails only at its commit is not confirmed.
func TestFailedCommitIsNoticed(t *testing.T) {
	db := opened(t, t.TempDir())
	err := db.Write(context.Background(), func(tx *sql.Tx) error {
		_, err := tx.Exec("PRAGMA defer_foreign_keys = 1; INSERT INTO records VALUES (7, 1, 'visit', '1', '{}')")
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "FOREIGN KEY") {
		t.Errorf("storing a record without an owner: got error %v, want an error containing %q", err, "FOREIGN KEY")
	}
	mustPut(t, db, "after", "x") // the write connection is free again
}

func TestConcurrentWrites(t *testing.T) {
	db := opened(t, t.TempDir())
	const writers, each = 8, 25
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				if err := put(db, fmt.Sprintf("%d-%d", w, i), "x"); err != nil {
					t.Error(err)
				}
				n := 0
				err := db.Read(context.Background(), func(tx *sql.Tx) error {
					return tx.QueryRow("SELECT count(*) FROM owners WHERE name LIKE ? || '-%'", w).Scan(&n)
				})
				if err != nil || n != i+1 { // a confirmed write is visible to the next reader
					t.Errorf("after %d writes, a reader sees %d, %v; want all of them, <nil>", i+1, n, err)
				}
			}
		})
	}
	group.Wait()
}

func TestFolderIsLocked(t *testing.T) {
	dir := t.TempDir()
	first := opened(t, dir)
	mustPut(t, first, "pace", "slow")
	_, err := Open(dir, nil)
	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), dir) || !strings.Contains(
		err.Error(), fmt.Sprintf("process %d", os.Getpid()),
	) {
		t.Fatalf("the second Open: got error %v, want ErrInUse with the folder and the process", err)
	}
	// The refusal does not affect the process that uses the folder.
	mustPut(t, first, "more", "x")
	if _, err := Open(dir, nil); !errors.Is(err, ErrInUse) {
		t.Fatalf("the third Open: got error %v, want ErrInUse", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if got := get(t, opened(t, dir), "more"); got != "x" {
		t.Errorf("after the first process has ended: got %q, want x", got)
	}
}

func TestScrubRemovesDeletedText(t *testing.T) {
	dir := t.TempDir()
	db := opened(t, dir)
	const word = "rumpelstiltskin"
	mustPut(t, db, "name", word)
	err := db.Write(context.Background(), func(tx *sql.Tx) error {
		_, err := tx.Exec("DELETE FROM owners")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Scrub(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"viz.db", "viz.db-wal"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(word)) {
			t.Errorf("%s still contains deleted data", name)
		}
	}
}

// logged opens a folder and returns the database and the log messages.
func logged(t *testing.T, dir string) (*DB, string) {
	t.Helper()
	var log bytes.Buffer
	db, err := Open(dir, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db, log.String()
}
