package store

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// damageRows changes rows of a closed database, ignoring its constraints.
func damageRows(t *testing.T, path string, queries ...string) {
	t.Helper()
	execute(t, path, "PRAGMA foreign_keys = 0; "+strings.Join(queries, "; "))
}

// textOf returns the string that a query of an open database selects.
func textOf(t *testing.T, db *DB, query string) (s string) {
	t.Helper()
	if err := db.read.QueryRow("SELECT ifnull((" + query + "), '')").Scan(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestOrphansAreSetAside: rows whose parents are missing are set aside within the database,
// and all other rows are unchanged.
func TestOrphansAreSetAside(t *testing.T) {
	dir, path, want := fullFolder(t, 3, 20)
	damageRows(t, path, "DELETE FROM owners WHERE id = 2", "INSERT INTO notices_seen VALUES ('x', 77)")
	db, log := logged(t, dir)
	if got := contents(t, db.write); !slices.Equal(got["records"], want["records"]) {
		t.Errorf("%d records, want %d", len(got["records"]), len(want["records"]))
	}
	if n := textOf(t, db, "SELECT count(*) FROM pragma_foreign_key_check"); n != "0" {
		t.Errorf("%s rows still lack a parent", n)
	}
	day := time.Now().UTC().Format(time.DateOnly)
	if got := textOf(t, db, "SELECT kind || ': ' || name || ', ' || records FROM owners WHERE id = 2"); got !=
		"set aside: log 2 "+day+", 20" {
		t.Errorf("the records belong to %q, want %q", got, "set aside: log 2 "+day+", 20")
	}
	if n := db.Notices(); len(n) != 1 || !strings.Contains(n[0].Text, "20 entries") ||
		!strings.Contains(log, "20 entries") {
		t.Errorf("got notices %v, log %s; want one notice about 20 entries", n, log)
	}
	if len(aside(t, dir)) != 0 {
		t.Error("the file was set aside, although only rows are damaged")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if again, _ := logged(t, dir); len(again.Notices()) != 0 {
		t.Errorf("the next start repeats the notice: got %v, want 0 elements", again.Notices())
	}
}

// TestUnknownLogKindIsSetAside: a log of an unknown kind is set aside like a log without a
// row.
func TestUnknownLogKindIsSetAside(t *testing.T) {
	dir, path, _ := fullFolder(t, 2, 20)
	damageRows(t, path, "UPDATE owners SET kind = 'leasner' WHERE id = 2")
	db, _ := logged(t, dir)
	got := textOf(t, db, "SELECT name FROM owners WHERE kind = 'set aside'")
	if !strings.HasPrefix(got, "log learner-1 ") {
		t.Errorf("the log set aside is %q, want it to begin with %q", got, "log learner-1 ")
	}
	if n := db.Notices(); len(n) != 1 || !strings.Contains(n[0].Text, "20 entries") {
		t.Errorf("got notices %v, want one about 20 entries", n)
	}
}

// TestSetAsideNamesAreUnique: data that was set aside is never overwritten. A second set on the
// same day gets a different name.
func TestSetAsideNamesAreUnique(t *testing.T) {
	dir, _, _ := fullFolder(t, 1, 20)
	db := opened(t, dir)
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for _, seq := range []int64{3, 4} {
		if err := db.Write(context.Background(), func(tx *sql.Tx) error {
			return SetAside(tx, "learner", "learner-0", []int64{seq}, 0, now)
		}); err != nil {
			t.Fatal(err)
		}
	}
	got := textOf(t, db, `SELECT group_concat(o.name || ': ' || r.seq, '; ') FROM owners o
		JOIN records r ON r.owner = o.id
		WHERE o.kind = 'set aside'`)
	if got != "learner learner-0 2026-11-23: 3; learner learner-0 2026-11-23-2: 4" {
		t.Errorf("the logs set aside are %q, want %q",
			got, "learner learner-0 2026-11-23: 3; learner learner-0 2026-11-23-2: 4")
	}
	if got := textOf(t, db, "SELECT records FROM owners WHERE kind = 'learner'"); got != "18" {
		t.Errorf("the log counts %s records, want 18", got)
	}
	for name, want := range map[string][2]string{
		"learner learner-0 2026-11-23-2": {"learner", "learner-0"}, "log 7 2026-11-23": {"log", "7"}, "x": {"x", ""},
	} {
		if kind, of := SetAsideOf(name); kind != want[0] || of != want[1] {
			t.Errorf("%s comes from %s %s, want %v", name, kind, of, want)
		}
	}
}

// TestLogNumbersAreRepairedFromRecords: a wrong number in a log's row neither hides nor deletes the
// log's records.
func TestLogNumbersAreRepairedFromRecords(t *testing.T) {
	fixture.Long(t)
	for _, damage := range []string{
		"last = 0", "last = -5", "last = 9000000000000000000", "last = 25", "first = 1000", "first = -1",
		"first = 40, last = 30",
		"records = 0", "records = 1000000000000", "bytes = -3", "used_at = -1", "used_at = 9000000000000000000",
		"records = 0, bytes = 0, first = 1, last = 0",
	} {
		t.Run(damage, func(t *testing.T) {
			dir, path, want := fullFolder(t, 3, 20)
			damageRows(t, path, "UPDATE owners SET "+damage+" WHERE id = 2")
			db, _ := logged(t, dir)
			if got := contents(t, db.write); !slices.Equal(got["records"], want["records"]) {
				t.Errorf("%d records, want %d", len(got["records"]), len(want["records"]))
			}
			got := textOf(t, db, `SELECT records || ' of ' || (SELECT count(*) FROM records WHERE owner = 2 AND
				seq BETWEEN first AND last AND first >= 1 AND used_at BETWEEN 1 AND 9000000000000)
				FROM owners WHERE id = 2`)
			if got != "20 of 20" {
				t.Errorf("the log counts %s records, want %s", got, "20 of 20")
			}
			if strings.Contains(damage, "used_at") {
				return
			}
			var bytes, sum int
			if err := db.read.QueryRow("SELECT bytes, (SELECT sum("+recordSize+") FROM records WHERE owner = 2) "+
				"FROM owners WHERE id = 2").Scan(&bytes, &sum); err != nil || bytes != sum {
				t.Errorf("the log counts %d bytes, want %d, the size of its records (%v)", bytes, sum, err)
			}
		})
	}
}

// TestLostRecordsAreCounted: records with impossible numbers are set aside, and missing
// records are counted.
func TestLostRecordsAreCounted(t *testing.T) {
	dir, path, _ := fullFolder(t, 3, 20)
	damageRows(t, path, "UPDATE records SET seq = 9000000000000000000 WHERE seq = 25",
		"UPDATE records SET seq = -1 WHERE seq = 26", "DELETE FROM records WHERE seq IN (27, 28, 29)",
		"DELETE FROM records WHERE owner = 3")
	db, _ := logged(t, dir)
	for query, want := range map[string]string{
		"SELECT records || ' ' || last FROM owners WHERE id = 2":                                    "15 40",
		"SELECT records FROM owners WHERE kind = 'set aside' AND name LIKE 'learner learner-1 %'":   "5",
		"SELECT records FROM owners WHERE kind = 'set aside' AND name LIKE 'learner learner-2 %'":   "20",
		"SELECT count(*) FROM records r JOIN owners o ON o.id = r.owner WHERE o.kind = 'set aside'": "2",
		"SELECT count(*) FROM records WHERE owner = 1":                                              "20",
	} {
		if got := textOf(t, db, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// TestInterruptedBatchIsNotDamage: an interrupted batch is not damage.
func TestInterruptedBatchIsNotDamage(t *testing.T) {
	dir, path, _ := fullFolder(t, 1, 20)
	damageRows(t, path, "INSERT INTO records VALUES (1, 21, 'answer', 'late', '{}')")
	db, log := logged(t, dir)
	if got := textOf(t, db, "SELECT records || ' ' || last FROM owners WHERE id = 1"); got != "20 20" || log != "" {
		t.Errorf("the log counts %s, and %s was logged; want %s, and nothing logged", got, log, "20 20")
	}
}

// TestSetAsideExpires: records that were set aside are kept for a limited time.
func TestSetAsideExpires(t *testing.T) {
	dir, path, _ := fullFolder(t, 1, 20)
	for i, days := range []int{20, 40} {
		damageRows(t, path, fmt.Sprintf(`INSERT INTO owners (kind, name, used_at, first, last, records, bytes)
			VALUES ('set aside', 'log %[1]d 2026-01-01', %[2]d, 0, 0, 0, 0),
			('set aside', 'room %[1]d 2026-01-01', %[2]d, 0, 0, 0, 0)`, i, time.Now().AddDate(0, 0, -days).UnixMilli()))
	}
	db := opened(t, filepath.Dir(path))
	if err := db.Expire(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if got := textOf(t, db, "SELECT group_concat(name, ', ') FROM owners WHERE kind = 'set aside'"); got !=
		"log 0 2026-01-01, room 0 2026-01-01, room 1 2026-01-01" {
		t.Errorf("the logs kept are %s in %s; want %s",
			got, dir, "log 0 2026-01-01, room 0 2026-01-01, room 1 2026-01-01")
	}
	if err := db.Expire(t.Context(), time.Now().AddDate(0, 0, 15)); err != nil {
		t.Fatal(err)
	}
	if got := textOf(t, db, "SELECT group_concat(name, ', ') FROM owners WHERE kind = 'set aside'"); got !=
		"room 0 2026-01-01, room 1 2026-01-01" {
		t.Errorf("15 days later, the logs kept are %s, want %s", got, "room 0 2026-01-01, room 1 2026-01-01")
	}
}
