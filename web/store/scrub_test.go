package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// TestZeroUnusedBytesOfAPage checks a page whose layout was written by hand. It is a leaf with a
// header of 8 bytes, an array for two cells that ends at 12, a gap up to 40, a cell of 8 bytes, a
// free block of 12 bytes, and a cell of 4 bytes.
func TestZeroUnusedBytesOfAPage(t *testing.T) {
	page := bytes.Repeat([]byte{'x'}, 64)
	word := func(at, n int) { binary.BigEndian.PutUint16(page[at:], uint16(n)) }
	page[0] = 13
	word(1, 48) // the first free block
	word(3, 2)  // the number of cells
	word(5, 40) // the beginning of the cells
	page[7] = 0
	word(8, 40)
	word(10, 60)
	word(48, 0) // no other free block
	word(50, 12)
	want := bytes.Clone(page)
	clear(want[12:40])
	clear(want[52:60])
	if !zeroUnused(page, 2) || !bytes.Equal(page, want) {
		t.Errorf("the page is\n%q, want\n%q", page, want)
	}
	if zeroUnused(page, 2) {
		t.Error("a clean page was changed")
	}
	// On the first page, the file header comes before the page header.
	first := append(bytes.Repeat([]byte{13}, 100), page...)
	copy(first[100:], []byte{13, 0, 0, 0, 0, 0, 160, 0}) // no cells; they begin at 160
	first[130] = 'x'
	if !zeroUnused(first, 1) || first[130] != 0 || first[99] != 13 || first[163] == 0 {
		t.Errorf("the first page is %q, want the file's header unchanged and the unused parts zero", first)
	}
	for name, change := range map[string]func(p []byte){
		"a page of a long record":   func(p []byte) { p[0] = 0 },
		"an array beyond the cells": func(p []byte) { p[4] = 200 },
		"cells beyond the page":     func(p []byte) { p[5] = 1 },
	} {
		p := bytes.Repeat([]byte{'x'}, 64)
		copy(p, want[:12])
		change(p)
		before := bytes.Clone(p)
		if zeroUnused(p, 2) || !bytes.Equal(p, before) {
			t.Errorf("%s was changed to %q", name, p)
		}
	}
	// A free block that ends outside the page is left unchanged.
	p := bytes.Clone(want)
	p[51], p[55] = 200, 'x'
	if zeroUnused(p, 2) || p[55] != 'x' {
		t.Errorf("after a damaged free block: got %q, want the page unchanged", p)
	}
}

// TestScrubReachesUnusedPartsOfPages: in a file of any size, no bytes of deleted rows are left,
// even if the rows were moved to other pages before they were deleted, and all other rows stay.
func TestScrubReachesUnusedPartsOfPages(t *testing.T) {
	fixture.Long(t)
	const rows = 6000
	dir := t.TempDir()
	db := opened(t, dir)
	random := rand.New(rand.NewPCG(1, 2))
	write := func(f func(tx *sql.Tx) error) {
		t.Helper()
		if err := db.Write(context.Background(), f); err != nil {
			t.Fatal(err)
		}
	}
	write(func(tx *sql.Tx) error {
		for i := range rows { // in random order, so that pages of the index are split
			mark, long := "bob", 20
			if i%10 == 0 {
				mark = "rumpelstiltskin"
			} else if i%4 == 0 {
				long = 4000
			}
			kind := fmt.Sprint(random.IntN(1<<20), strings.Repeat(mark, random.IntN(long)))
			if _, err := tx.Exec(`INSERT INTO owners (kind, name, used_at, first, last, records, bytes)
				VALUES (?, ?, 0, 0, 0, 0, 0)`, kind, fmt.Sprint(mark, i)); err != nil {
				return err
			}
		}
		return nil
	})
	write(func(tx *sql.Tx) error {
		_, err := tx.Exec("DELETE FROM owners WHERE name LIKE '%rumpelstiltskin%'")
		return err
	})
	if err := truncateLog(context.Background(), db.write); err != nil {
		t.Fatal(err)
	}
	has := func() bool { return bytes.Contains(read(t, filepath.Join(dir, fileName)), []byte("rumpelstiltskin")) }
	if n := len(read(t, filepath.Join(dir, fileName))); n < 2*scanPages*4096 {
		t.Fatalf("the file has %d bytes, want at least %d so that it is read in pieces", n, 2*scanPages*4096)
	}
	if !has() {
		t.Fatal("deleting has already removed the data, so the test checks nothing")
	}
	// Several goroutines write and scrub at the same time.
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			if err := put(db, fmt.Sprint("meanwhile-", i), "x"); err != nil {
				t.Error(err)
			}
			if err := db.Scrub(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if has() {
		t.Error("the deleted data is still in the file")
	}
	if log := read(t, filepath.Join(dir, fileName+"-wal")); len(log) != 0 {
		t.Errorf("the log still has %d bytes, want 0", len(log))
	}
	var n int
	var verdict string
	if err := db.read.QueryRow("SELECT count(*) FROM owners").Scan(&n); err != nil || n != rows-rows/10+4 {
		t.Errorf("%d rows are left, %v; want %d, <nil>", n, err, rows-rows/10+4)
	}
	if err := db.write.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("the database is %q, %v; want %q, <nil>", verdict, err, "ok")
	}
}
