package store

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
)

const pageBytes = 4096

// tokens is a database with records, and a copy of an earlier state of it.
type tokens struct {
	file, copied []byte
	records      map[string]bool // the data of all records; true if the record is also in the copy
}

// newTokens returns a database of 400 records, whose copy has the first 360.
func newTokens(t *testing.T) *tokens {
	t.Helper()
	dir := t.TempDir()
	db := opened(t, dir)
	x := &tokens{records: map[string]bool{}}
	add := func(from, to int) {
		err := db.Write(t.Context(), func(tx *sql.Tx) error {
			for seq := from; seq <= to; seq++ {
				owner, token := 1+seq%7, fmt.Sprintf("<token %08d>", seq*7919)
				times := 1 + seq%12
				if seq%50 == 0 {
					times = 700 // longer than a page
				}
				data := strings.Repeat(token, times)
				x.records[data] = seq <= 360
				if _, err := tx.Exec(`INSERT INTO owners (id, kind, name, used_at, first, last, records, bytes)
					VALUES (?, 'learner', ?, 1790000000000, ?, ?, 0, 0) ON CONFLICT DO UPDATE SET last = excluded.last`,
					owner, fmt.Sprint("learner-", owner), seq, seq); err != nil {
					return err
				}
				if _, err := tx.Exec("INSERT INTO records VALUES (?, ?, 'answer', ?, ?)",
					owner, seq, fmt.Sprint(seq), data); err != nil {
					return err
				}
			}
			_, err := tx.Exec(`UPDATE owners SET (records, bytes) =
				(SELECT count(*), sum(` + recordSize + `) FROM records WHERE owner = owners.id)`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	add(1, 360)
	if err := db.Copy(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	x.copied = read(t, copiesIn(t, dir)[0])
	add(361, 400)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	x.file = read(t, filepath.Join(dir, fileName))
	return x
}

// damage is a function that damages a file and returns the result.
type damage func(r *rand.Rand, file []byte) (after []byte)

var damages = map[string]damage{
	"bits": func(r *rand.Rand, file []byte) []byte {
		for range 1 + r.IntN(12) {
			file[r.IntN(len(file))] ^= 1 << r.IntN(8)
		}
		return file
	},
	"bits of the first page": func(r *rand.Rand, file []byte) []byte {
		for range 1 + r.IntN(3) {
			file[r.IntN(100+r.IntN(pageBytes-100))] ^= 1 << r.IntN(8)
		}
		return file
	},
	"noise": func(r *rand.Rand, file []byte) []byte {
		page := r.IntN(len(file) / pageBytes)
		for i := range pageBytes {
			file[page*pageBytes+i] = byte(r.Uint32())
		}
		return file
	},
	"zeros": func(r *rand.Rand, file []byte) []byte {
		for range 1 + r.IntN(3) {
			clear(file[r.IntN(len(file)/pageBytes)*pageBytes:][:pageBytes])
		}
		return file
	},
	"a page twice": func(r *rand.Rand, file []byte) []byte {
		from, to := r.IntN(len(file)/pageBytes), r.IntN(len(file)/pageBytes)
		copy(file[to*pageBytes:][:pageBytes], file[from*pageBytes:][:pageBytes])
		return file
	},
	"cut short": func(r *rand.Rand, file []byte) []byte {
		return file[:pageBytes+r.IntN(len(file)-pageBytes)]
	},
}

// TestDamagedAtRandom: whatever part of a file is damaged, the start succeeds, and the damaged file
// stays unchanged. If there is a copy, no record in the copy is lost. If the header now claims that
// the file belongs to another program, and the tables no longer prove otherwise, the file is
// refused and left unchanged.
// Promise: After damage that SQLite detects, nothing older than the newest intact copy is lost.
func TestDamagedAtRandom(t *testing.T) {
	x := newTokens(t)
	each, most := 2, uint64(1<<20)
	if fixture.LongTier() {
		each = 84 // 504 in total
	}
	for name, damage := range damages {
		for range each {
			seed := rand.Uint64N(most)
			t.Run(fmt.Sprintf("%s/%d", name, seed), func(t *testing.T) {
				file := damage(rand.New(rand.NewPCG(seed, 0)), bytes.Clone(x.file))
				if !x.refused(t, file) {
					x.survives(t, file, false)
					x.survives(t, file, true)
				}
			})
		}
	}
}

// survives opens a damaged database, with or without a copy.
func (x *tokens) survives(t *testing.T, file []byte, copied bool) {
	t.Helper()
	dir := t.TempDir()
	replace(t, filepath.Join(dir, fileName), file)
	if copied {
		replace(t, filepath.Join(dir, "viz-copy-000001-2026-11-29-184500.db"), x.copied)
	}
	db, log := logged(t, dir)
	got := map[string]int{}
	rows, err := db.read.Query("SELECT data FROM records")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var data string
		if err := rows.Scan(&data); err != nil {
			t.Fatal(err)
		}
		got[data]++
	}
	for data, old := range x.records {
		if copied && old && got[data] == 0 && len(aside(t, dir)) > 0 {
			t.Errorf("%.16s is lost, although the copy contains it", data)
		}
	}
	if n := textOf(t, db, "SELECT count(*) FROM records"); n != fmt.Sprint(len(x.records)) && log == "" {
		t.Errorf("of %d records, %s are left, and nothing is logged", len(x.records), n)
	}
	kept := aside(t, dir)
	if len(kept) != len(db.Notices()) && len(db.Notices()) == 0 {
		t.Error("the file was set aside without a notice")
	}
	if len(kept) > 0 && !bytes.Equal(read(t, kept[0]), file) {
		t.Error("the damaged file was changed")
	}
	var verdict string
	if err := db.write.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("the new database: got %s, %v; want %s, <nil>", verdict, err, "ok")
	}
}

// refused reports whether a file is refused. A file may be refused only if the damage is in its
// version (bytes 60 to 63) or its application (bytes 68 to 71).
func (x *tokens) refused(t *testing.T, file []byte) bool {
	t.Helper()
	if bytes.Equal(file[60:64], x.file[60:64]) && bytes.Equal(file[68:72], x.file[68:72]) {
		return false
	}
	dir := t.TempDir()
	path := filepath.Join(dir, fileName)
	replace(t, path, file)
	db, err := Open(dir, nil)
	if err == nil {
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		return false
	}
	if !errors.Is(err, ErrNewer) && !errors.Is(err, ErrForeign) {
		t.Fatal(err)
	}
	if !bytes.Equal(read(t, path), file) {
		t.Error("the refused file was changed")
	}
	return true
}

// TestTruncatedFileDoesNotPreventStartup: the start succeeds no matter where a file is truncated.
func TestTruncatedFileDoesNotPreventStartup(t *testing.T) {
	x := newTokens(t)
	all := len(x.file)
	for _, cut := range []int{1, 100, pageBytes / 2, pageBytes - 1, pageBytes, 3*pageBytes + 7, all / 2, all - 1} {
		size := all - cut
		dir := t.TempDir()
		replace(t, filepath.Join(dir, fileName), bytes.Clone(x.file[:size]))
		if db, err := Open(dir, nil); err != nil {
			t.Errorf("%d bytes of %d: %v", size, len(x.file), err)
		} else if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
