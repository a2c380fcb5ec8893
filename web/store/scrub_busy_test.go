package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// deletedWord is the word that the tests delete.
const deletedWord = "rumpelstiltskin"

// onDisk reports whether a folder's database or its log contains the deleted word.
func onDisk(t *testing.T, dir string) bool {
	t.Helper()
	path := filepath.Join(dir, fileName)
	both := append(read(t, path), read(t, path+"-wal")...)
	return bytes.Contains(both, []byte(deletedWord))
}

// deleteWhileRead returns a database from which the word was deleted while another connection was
// reading it, as viz backup does. stop ends the reading.
func deleteWhileRead(t *testing.T) (db *DB, dir string, stop func()) {
	t.Helper()
	dir = t.TempDir()
	db = opened(t, dir)
	mustPut(t, db, "name", deletedWord)
	other, err := openToRead(db.path())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	tx, err := other.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.QueryRow("SELECT count(*) FROM owners").Scan(new(int)); err != nil {
		t.Fatal(err)
	}
	if err := execOwners(db); err != nil {
		t.Fatal(err)
	}
	return db, dir, func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}
}

// TestScrubBlocksNoWriter: while Scrub waits for a reader, others can write. Scrub succeeds once
// the reader is gone.
func TestScrubBlocksNoWriter(t *testing.T) {
	db, dir, stop := deleteWhileRead(t)
	done := make(chan error, 1)
	go func() { done <- db.Scrub(context.Background()) }()
	cleaned := func() bool {
		db.scrub.mu.Lock()
		defer db.scrub.mu.Unlock()
		return db.scrub.cleaned > 0
	}
	after := 0
	for i := 0; after < 5; i++ {
		if cleaned() {
			after++
		}
		mustPut(t, db, fmt.Sprint("meanwhile-", i), "x")
	}
	select {
	case err := <-done:
		t.Fatalf("Scrub did not wait for the reader, or it blocked writers: %v", err)
	default:
	}
	stop()
	if err := <-done; err != nil || onDisk(t, dir) {
		t.Errorf(
			"after the reader is gone: got %v; the word is on the disk: %v; want <nil>, false", err, onDisk(t, dir),
		)
	}
}

// TestScrubIsRetried: Scrub reports that the database is being read. It is completed once the
// reader is gone.
func TestScrubIsRetried(t *testing.T) {
	fixture.Long(t)
	db, dir, stop := deleteWhileRead(t)
	if err := db.Scrub(context.Background()); !errors.Is(err, ErrReading) || !onDisk(t, dir) {
		t.Fatalf(
			"during reading: got %v; the word is on the disk: %v; want %v, true", err, onDisk(t, dir), ErrReading,
		)
	}
	stop()
	browser.Eventually(t, func() bool { return !onDisk(t, dir) })
}

// TestScrubCompletesAfterAKill: if a server is killed after deleting data but before removing it
// from the disk, the data is removed after the next start.
func TestScrubCompletesAfterAKill(t *testing.T) {
	from, dir := t.TempDir(), t.TempDir()
	db := opened(t, from)
	random := rand.New(rand.NewPCG(1, 2))
	if err := db.Write(context.Background(), func(tx *sql.Tx) error {
		for i := range 6000 { // in random order, so that pages of the index are split
			mark, long := "bob", 20
			if i%10 == 0 {
				mark = deletedWord
			}
			kind := fmt.Sprint(random.IntN(1<<20), strings.Repeat(mark, random.IntN(long)))
			if _, err := tx.Exec(`INSERT INTO owners (kind, name, used_at, first, last, records, bytes)
				VALUES (?, ?, 0, 0, 0, 0, 0)`, kind, fmt.Sprint(mark, i)); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.Write(context.Background(), func(tx *sql.Tx) error {
		_, err := tx.Exec("DELETE FROM owners WHERE name LIKE ?", deletedWord+"%")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"", "-wal"} { // the files as kill -9 leaves them
		replace(t, filepath.Join(dir, fileName+part), read(t, db.path()+part))
	}
	again := opened(t, dir)
	if !onDisk(t, dir) {
		t.Fatal("the start has already removed the data, so the test checks nothing")
	}
	if err := again.Expire(context.Background(), time.Now()); err != nil || onDisk(t, dir) {
		t.Errorf("got %v; the word is on the disk: %v; want <nil>, false", err, onDisk(t, dir))
	}
}
