package store

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// copiesIn returns the paths of the copies in a folder, oldest first.
func copiesIn(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "viz-copy*"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// copied makes a copy, and fails the test if it cannot.
func copied(t *testing.T, db *DB, now time.Time) {
	t.Helper()
	if err := db.Copy(t.Context(), now); err != nil {
		t.Fatal(err)
	}
}

// TestCopiesRotate: a copy is made after a change, but at most every 15 minutes, and the newest
// seven are kept. The first copy of a process replaces all earlier ones, and an unfinished copy is
// removed.
func TestCopiesRotate(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 11, 29, 18, 45, 0, 0, time.Local)
	replace(t, filepath.Join(dir, copyPart), []byte("half of ada's data"))
	db := opened(t, dir)
	want := func(what string, names ...string) {
		t.Helper()
		var got []string
		for _, path := range copiesIn(t, dir) {
			name := strings.TrimPrefix(filepath.Base(path), "viz-copy-")
			got = append(got, strings.TrimSuffix(strings.ReplaceAll(name, "-2026-11-29", ""), ".db"))
		}
		if !slices.Equal(got, names) {
			t.Errorf("%s: got copies %v, want %v", what, got, names)
		}
	}
	want("before the first")
	copied(t, db, now)
	want("the first", "000001-184500")
	copied(t, db, now.Add(time.Hour))
	want("without a change", "000001-184500")
	if _, err := db.Seen(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	copied(t, db, now.Add(time.Hour))
	want("after a record of the time", "000001-184500")
	mustPut(t, db, "pace", "slow")
	copied(t, db, now.Add(CopyEvery-time.Second))
	want("after a change, but too early", "000001-184500")
	copied(t, db, now.Add(-time.Hour))
	want("after the clock was set back", "000001-184500", "000002-174500")
	for i := range 7 {
		mustPut(t, db, fmt.Sprint(i), "x")
		copied(t, db, now.Add(time.Duration(i)*CopyEvery))
	}
	want("after nine", "000003-184500", "000004-190000", "000005-191500", "000006-193000", "000007-194500",
		"000008-200000", "000009-201500")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	again := opened(t, dir)
	copied(t, again, now)
	want("of the next process", "000010-184500")
	conn, err := openToRead(copiesIn(t, dir)[0])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := get(t, &DB{read: conn}, "pace"); got != "slow" {
		t.Errorf("the copy contains %q, want slow", got)
	}
	memory := opened(t, "")
	copied(t, memory, now)
}

// TestCopiesFitTheLimit: copies use only the space that the database's limit leaves for them, but
// the newest copy is always kept.
func TestCopiesFitTheLimit(t *testing.T) {
	dir := t.TempDir()
	db := opened(t, dir)
	now := time.Date(2026, 11, 29, 18, 45, 0, 0, time.Local)
	copies := func(n int) int {
		t.Helper()
		for i := range n {
			mustPut(t, db, fmt.Sprint(now.Unix(), i), strings.Repeat("x", 1000))
			now = now.Add(CopyEvery)
			copied(t, db, now)
		}
		return len(copiesIn(t, dir))
	}
	if got := copies(5); got != 5 {
		t.Errorf("without a limit: got %d copies, want 5", got)
	}
	info, err := os.Stat(copiesIn(t, dir)[4])
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		space float64 // space left next to the database, as a number of copies
		want  int
	}{{2.5, 2}, {0.5, 1}} {
		if err := db.SetLimit(db.Size() + int64(c.space*float64(info.Size()))); err != nil {
			t.Fatal(err)
		}
		if got := copies(1); got != c.want {
			t.Errorf("with space for %v copies: got %d, want %d", c.space, got, c.want)
		}
	}
}

// TestCopiesLackDeletedData: once Scrub has returned, no copy contains data that was deleted before
// the call, even if a copy was being made.
// Promise: Deleting your data also deletes it from the server's own copies of its database.
func TestCopiesLackDeletedData(t *testing.T) {
	dir := t.TempDir()
	db := opened(t, dir)
	now := time.Date(2026, 11, 29, 18, 45, 0, 0, time.Local)
	mustPut(t, db, "name", deletedWord)
	copied(t, db, now)
	if list := copiesIn(t, dir); len(list) != 1 || !bytes.Contains(read(t, list[0]), []byte(deletedWord)) {
		t.Fatal("the copy does not contain the word that the test deletes")
	}
	for i := range 10 {
		mustPut(t, db, fmt.Sprint("name-", i), deletedWord)
		now = now.Add(CopyEvery)
		var copying sync.WaitGroup
		copying.Go(func() {
			if err := db.Copy(t.Context(), now); err != nil {
				t.Error(err)
			}
		})
		if err := execOwners(db); err != nil {
			t.Fatal(err)
		}
		if err := db.Scrub(t.Context()); err != nil {
			t.Fatal(err)
		}
		copying.Wait()
		for _, path := range copiesIn(t, dir) {
			if bytes.Contains(read(t, path), []byte(deletedWord)) {
				t.Errorf("%s still contains deleted data", filepath.Base(path))
			}
		}
	}
	copied(t, db, now.Add(copySoon))
	if list := copiesIn(t, dir); len(list) != 1 || bytes.Contains(read(t, list[0]), []byte(deletedWord)) {
		t.Errorf("the next copies are %v, want one, without deleted data", list)
	}
}

// copyThenDamage creates a folder with a database and two copies, adds newer data, and then damages
// the database so that nothing in it can be read.
func copyThenDamage(t *testing.T) (dir, path string, older, newer map[string][]string) {
	t.Helper()
	dir = t.TempDir()
	db := opened(t, dir)
	now := time.Date(2026, 11, 29, 18, 45, 0, 0, time.Local)
	addLogs(t, db, 2, 20)
	older = contents(t, db.write)
	copied(t, db, now)
	mustPut(t, db, "pace", "slow")
	newer = contents(t, db.write)
	copied(t, db, now.Add(CopyEvery))
	mustPut(t, db, "later", "lost")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, fileName)
	data := read(t, path)
	clear(data[:pageBytes])
	replace(t, path, data)
	return dir, path, older, newer
}

// TestNewestIntactCopyIsUsed: if nothing in the database can be read, the newest copy replaces it
// or, if that copy is damaged too, the previous one. The notice states the time of the copy.
func TestNewestIntactCopyIsUsed(t *testing.T) {
	for _, damaged := range []bool{false, true} {
		dir, _, older, newer := copyThenDamage(t)
		want, at := newer, "November 29, 2026, 19:00"
		if damaged {
			want, at = older, "November 29, 2026, 18:45"
			replace(t, copiesIn(t, dir)[1], []byte("this was never a database"))
		}
		db, _ := logged(t, dir)
		if got := contents(t, db.write); !slices.Equal(got["owners"], want["owners"]) ||
			!slices.Equal(got["records"], want["records"]) {
			t.Errorf("with the newest copy damaged = %t: got %.300v, want %.300v", damaged, got, want)
		}
		if n := db.Notices(); len(n) != 1 || !strings.Contains(n[0].Text, "copy of "+at) ||
			!strings.Contains(n[0].Text, "made after this copy may be missing") {
			t.Errorf("got notices %v, want one about the copy of %s", n, at)
		}
	}
}

// TestMissingDatabaseIsRestored: a database that is missing is restored from the newest copy, and a
// notice says so.
func TestMissingDatabaseIsRestored(t *testing.T) {
	dir, path, _, want := copyThenDamage(t)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	db, _ := logged(t, dir)
	if got := contents(t, db.write); !slices.Equal(got["owners"], want["owners"]) ||
		!slices.Equal(got["records"], want["records"]) {
		t.Errorf("got %.300v, want %.300v", got, want)
	}
	const says = "restored from the copy of November 29, 2026, 19:00"
	if n := db.Notices(); len(n) != 1 || !strings.Contains(n[0].Text, says) {
		t.Errorf("got notices %v, want one about the copy", n)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if n := opened(t, dir).Notices(); len(n) != 0 {
		t.Errorf("the next start: got notices %v, want none", n)
	}
}

// TestFolderWithoutSecretIsRestored: if the database and the secret are missing, the newest copy
// shows that the folder has been used, and the data is restored from it.
func TestFolderWithoutSecretIsRestored(t *testing.T) {
	dir, path, _, want := copyThenDamage(t)
	for _, name := range []string{path, filepath.Join(dir, secretName)} {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	db, _ := logged(t, dir)
	if got := contents(t, db.write); !slices.Equal(got["records"], want["records"]) {
		t.Errorf("got %d records, want %d", len(got["records"]), len(want["records"]))
	}
	copied(t, db, time.Now())
	if list := copiesIn(t, dir); len(list) != 3 {
		t.Errorf("after data was restored, there are the copies %v, want both earlier ones and a new one", list)
	}
}

// TestFailedRenameStopsTheStart: if the new database cannot be renamed, for example because a virus
// scanner has it open, the start fails and changes nothing. The next start restores the data.
func TestFailedRenameStopsTheStart(t *testing.T) {
	dir, path, _, want := copyThenDamage(t)
	before := read(t, path)
	db := &DB{dir: dir, log: slog.New(slog.DiscardHandler), trouble: trouble{clock: time.Now}}
	db.rename = func(from, to string) error {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: errors.New("the file is in use")}
	}
	err := db.openFolder(time.Now())
	if err == nil || !strings.Contains(err.Error(), "the file is in use") {
		t.Errorf("got error %v, want one that names the reason", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(read(t, path), before) || len(copiesIn(t, dir)) != 2 || len(aside(t, dir)) != 0 {
		t.Error("the failed start changed something")
	}
	again, _ := logged(t, dir)
	if got := contents(t, again.write); !slices.Equal(got["records"], want["records"]) {
		t.Errorf("the next start has %d records, want %d", len(got["records"]), len(want["records"]))
	}
}

// TestUndeletedCopyIsDeletedLater: if Scrub cannot delete a copy, it returns an error, and the next
// call of Copy deletes it.
func TestUndeletedCopyIsDeletedLater(t *testing.T) {
	dir := t.TempDir()
	db := opened(t, dir)
	copied(t, db, time.Now())
	path := copiesIn(t, dir)[0]
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(path, "inside")
	if err := os.MkdirAll(inside, 0o700); err != nil { // a folder with contents cannot be removed
		t.Fatal(err)
	}
	if err := db.Scrub(t.Context()); err == nil {
		t.Error("Scrub succeeded, although a copy is left")
	}
	if err := os.Remove(inside); err != nil {
		t.Fatal(err)
	}
	copied(t, db, time.Now())
	if taken(path) {
		t.Error("the copy is still there")
	}
}

// TestWriteDuringACopyIsCopiedNext: if a write was not committed when a copy was made, the next
// copy contains it.
func TestWriteDuringACopyIsCopiedNext(t *testing.T) {
	dir := t.TempDir()
	db := opened(t, dir)
	now := time.Now()
	if err := db.Write(t.Context(), func(tx *sql.Tx) error {
		if _, err := tx.Exec(insertOwner, "value", "during"); err != nil {
			return err
		}
		return db.Copy(t.Context(), now)
	}); err != nil {
		t.Fatal(err)
	}
	copied(t, db, now.Add(CopyEvery))
	list := copiesIn(t, dir)
	if len(list) != 2 || !bytes.Contains(read(t, list[1]), []byte("during=value")) {
		t.Errorf("the copies are %v, want two, of which the second contains the write", list)
	}
}

// TestRecordWithOtherNumberIsTakenFromTheCopy: if a record's number and data were altered without
// changing the log's totals, the record is taken from the copy.
func TestRecordWithOtherNumberIsTakenFromTheCopy(t *testing.T) {
	dir := t.TempDir()
	db := opened(t, dir)
	addLogs(t, db, 2, 20)
	want := contents(t, db.write)
	copied(t, db, time.Now())
	var page int
	if err := db.read.QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = 'notices'").Scan(&page); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, fileName)
	damageRows(t, path, "UPDATE records SET seq = -seq, data = replace(data, 'a', 'b') WHERE owner = 1 AND seq = 7")
	data := read(t, path)
	clear(data[(page-1)*pageBytes:][:pageBytes])
	replace(t, path, data)
	after, _ := logged(t, dir)
	for _, record := range want["records"] {
		if got := contents(t, after.write)["records"]; !slices.Contains(got, record) {
			t.Errorf("the record %.80s was lost; %d remain", record, len(got))
		}
	}
}
