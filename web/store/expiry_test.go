package store

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func execOwners(db *DB) error {
	return db.Write(context.Background(), func(tx *sql.Tx) error {
		_, err := tx.Exec("DELETE FROM owners")
		return err
	})
}

// TestExpireDamagedFilesAndCopies: damaged files and their logs are deleted 30 days after
// they were set aside. Copies that were made before a conversion are deleted after 30 days, too.
// Other files stay.
// Promise: Damaged database files are deleted 30 days after they were set aside.
func TestExpireDamagedFilesAndCopies(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"viz-damaged-2026-03-01-120000.db", "viz-damaged-2026-03-01-120000.db-wal",
		"viz-damaged-2026-03-02-120000-2.db-wal",
		"viz-version2-2026-02-05.db", "viz-version2-2026-03-01-2.db", "viz-damaged-notes.db", "viz-version2-mine.db",
	} {
		replace(t, filepath.Join(dir, name), []byte("ada's data"))
	}
	db := opened(t, dir)
	want := func(names ...string) {
		t.Helper()
		var got []string
		for _, pattern := range []string{"viz-damaged*", "viz-version*"} {
			list, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range list {
				got = append(got, filepath.Base(path))
			}
		}
		if !slices.Equal(got, names) {
			t.Errorf("the files are %v, want %v", got, names)
		}
	}
	list, err := db.DamagedFiles()
	if err != nil || len(list) != 2 || list[0].File != "viz-damaged-2026-03-01-120000.db" ||
		list[1].File != "viz-damaged-2026-03-02-120000-2.db" {
		t.Fatalf(
			"the files set aside: got %v, %v; want no error, 2 elements, list[0].File = %q, list[1].File = %q",
			list, err,
			"viz-damaged-2026-03-01-120000.db", "viz-damaged-2026-03-02-120000-2.db",
		)
	}
	at := func(day, hour int) time.Time { return time.Date(2026, 3, day, hour, 0, 0, 0, time.Local) }
	if until, want := list[0].Until(), at(1, 12).Add(30*24*time.Hour); !until.Equal(want) {
		t.Errorf("the file is kept until %v, want %v", until, want)
	}
	expire := func(now time.Time) {
		t.Helper()
		if err := db.Expire(context.Background(), now); err != nil {
			t.Fatal(err)
		}
	}
	expire(at(6, 23)) // 29 days and 23 hours after February 5
	want("viz-damaged-2026-03-01-120000.db", "viz-damaged-2026-03-01-120000.db-wal",
		"viz-damaged-2026-03-02-120000-2.db-wal", "viz-damaged-notes.db",
		"viz-version2-2026-02-05.db", "viz-version2-2026-03-01-2.db", "viz-version2-mine.db")
	expire(at(7, 1))
	want("viz-damaged-2026-03-01-120000.db", "viz-damaged-2026-03-01-120000.db-wal",
		"viz-damaged-2026-03-02-120000-2.db-wal", "viz-damaged-notes.db",
		"viz-version2-2026-03-01-2.db", "viz-version2-mine.db")
	expire(at(31, 13))
	want("viz-damaged-2026-03-02-120000-2.db-wal", "viz-damaged-notes.db", "viz-version2-mine.db")
	expire(at(32, 13))
	want("viz-damaged-notes.db", "viz-version2-mine.db")
	if list, err := db.DamagedFiles(); err != nil || len(list) != 0 {
		t.Errorf("the files set aside: got %v, %v; want 0 elements, <nil>", list, err)
	}
	if _, err := os.Stat(db.path()); err != nil {
		t.Error(err)
	}
}

// TestFileFromTheFutureExpires: if the date in a file's name is in the future, the file's lifetime
// begins at its last change.
func TestFileFromTheFutureExpires(t *testing.T) {
	dir := t.TempDir()
	db := opened(t, dir)
	path := filepath.Join(dir, "viz-damaged-2999-01-01-120000.db")
	replace(t, path, []byte("ada's data"))
	changed := time.Now().Add(-DamagedLife - time.Hour)
	if err := os.Chtimes(path, changed, changed); err != nil {
		t.Fatal(err)
	}
	if err := db.Expire(context.Background(), time.Now()); err != nil || taken(path) {
		t.Errorf("got %v; the file exists: %v; want <nil>, false", err, taken(path))
	}
}

// TestFileWithOnlyFutureDatesExpires: a file whose dates are all in the future also expires. Its
// lifetime begins when it is first seen.
func TestFileWithOnlyFutureDatesExpires(t *testing.T) {
	dir := t.TempDir()
	db := opened(t, dir)
	now := time.Now()
	future := now.AddDate(100, 0, 0)
	var paths []string
	for _, name := range []string{"viz-damaged-2999-01-01-120000.db", "viz-version2-2999-01-01.db"} {
		path := filepath.Join(dir, name)
		replace(t, path, []byte("ada's data"))
		if err := os.Chtimes(path, future, future); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	for _, c := range []struct {
		after time.Duration
		exist bool // whether the files still exist
	}{
		{0, true}, {DamagedLife - time.Hour, true}, {DamagedLife + time.Hour, false},
	} {
		if err := db.Expire(t.Context(), now.Add(c.after)); err != nil {
			t.Fatal(err)
		}
		if damaged, copied := taken(paths[0]), taken(paths[1]); damaged != c.exist || copied != c.exist {
			t.Errorf("after %v: damaged file %t, copy %t; want both %t", c.after, damaged, copied, c.exist)
		}
	}
}
