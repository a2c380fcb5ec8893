package store

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

const version2 = "../journal/testdata/version2/viz.db"

// copiesIn returns the copies of earlier formats in a folder.
func copiesIn(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, copies))
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`^viz-version\d-\d{4}-\d\d-\d\d(-\d+)?\.db$`)
	for _, path := range list {
		if !name.MatchString(filepath.Base(path)) {
			t.Errorf("a copy is named %s, want %s", path, name)
		}
	}
	return list
}

func needs(t *testing.T, db *DB, version int, want bool) {
	t.Helper()
	if got, err := db.Before(version); err != nil || got != want {
		t.Errorf("the database is before version %d: %v, %v; want %v", version, got, err, want)
	}
}

// TestUpgradeOldDatabase: an old database is upgraded as far as possible before its tables
// are migrated, and completely afterwards. A copy of it stays unchanged.
// Promise: An upgrade keeps a copy of the old database.
func TestUpgradeOldDatabase(t *testing.T) {
	dir := t.TempDir()
	old := read(t, version2)
	replace(t, filepath.Join(dir, fileName), old)
	for range 2 {
		db := opened(t, dir)
		needs(t, db, LearnersInLogs, true)
		var n int
		if err := db.read.QueryRow("SELECT count(*) FROM answers").Scan(&n); err != nil || n < 20 {
			t.Errorf("%d answers are left to migrate, %v; want at least 20, <nil>", n, err)
		}
		db.Close()
	}
	db := opened(t, dir)
	if err := db.Carried(LearnersInLogs); err != nil {
		t.Fatal(err)
	}
	needs(t, db, LearnersInLogs, false)
	needs(t, db, RoomsInLogs, true)
	if err := db.read.QueryRow("SELECT count(*) FROM answers").Scan(new(int)); err == nil {
		t.Error("the old table still exists")
	}
	if err := db.Carried(RoomsInLogs); err != nil {
		t.Fatal(err)
	}
	needs(t, db, RoomsInLogs, false)
	db.Close()
	opened(t, dir)
	list := copiesIn(t, dir)
	if len(list) != 1 || !bytes.Equal(read(t, list[0]), old) {
		t.Fatalf("got copies %v, want 1 element with the bytes of the old database, %q", list, old)
	}
	if info, err := os.Stat(list[0]); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != fileMode {
		t.Errorf("the copy has mode %v, %v; want %v, <nil>", info.Mode(), err, fileMode)
	}
	fresh := t.TempDir()
	needs(t, opened(t, fresh), RoomsInLogs, false)
	if list := copiesIn(t, fresh); len(list) != 0 {
		t.Errorf("a new database has copies %v, want 0 elements", list)
	}
}

// TestCopyIncludesTheWAL: the copy includes commits that are only in the write-ahead log of
// a killed server.
func TestCopyIncludesTheWAL(t *testing.T) {
	was, dir := t.TempDir(), t.TempDir()
	path := filepath.Join(was, fileName)
	replace(t, path, read(t, version2))
	conn, err := sql.Open("sqlite", dsn(path, pragmas(true)))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Exec("INSERT INTO settings VALUES ('eva', 'pace', 'mangosteen')"); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"", "-wal"} { // as kill -9 leaves them
		replace(t, filepath.Join(dir, fileName+part), read(t, path+part))
	}
	opened(t, dir)
	if list := copiesIn(t, dir); len(list) != 1 || !bytes.Contains(read(t, list[0]), []byte("mangosteen")) {
		t.Errorf("the copies %v do not contain the data of the log", list)
	}
}

// TestCopiesOverwriteNothing: if an older version is used and then a newer one, another copy
// is made. A start that is repeated after it was interrupted does not make a second copy.
func TestCopiesOverwriteNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, fileName)
	for want := 1; want <= 2; want++ {
		data := read(t, version2)
		replace(t, path, data)
		if want == 2 {
			execute(t, path, "DELETE FROM settings")
			data = read(t, path)
		}
		for range 2 {
			replace(t, path, data)
			if err := opened(t, dir).Close(); err != nil {
				t.Fatal(err)
			}
		}
		if list := copiesIn(t, dir); len(list) != want {
			t.Errorf("got copies %v, want %d", list, want)
		}
	}
}

// TestEraseFromCopies: erasing removes a learner from every copy, and deletes empty and
// unreadable copies. The copy of version 1 has no rooms.
func TestEraseFromCopies(t *testing.T) {
	dir := t.TempDir()
	first := filepath.Join(dir, fileName)
	conn, err := sql.Open("sqlite", dsn(first, pragmas(true)))
	if err != nil {
		t.Fatal(err)
	}
	if err := migrate(conn, 1); err != nil {
		t.Fatal(err)
	}
	for _, who := range []string{"ada", "bob"} {
		if _, err := conn.Exec("INSERT INTO visits VALUES (?, 'loop#steps', 1, 1, 1)", who); err != nil {
			t.Fatal(err)
		}
	}
	conn.Close()
	db := opened(t, dir)
	damaged := filepath.Join(dir, "viz-version2-"+time.Now().Format("2006-01-02")+".db")
	replace(t, damaged, []byte("this was never a database"))
	list := copiesIn(t, dir)
	if len(list) != 2 || !strings.Contains(list[0], "version1") {
		t.Fatalf("got copies %v, want 2 elements, [0] with %q", list, "version1")
	}
	erase := func(who string) {
		if err := db.EraseFromCopies(context.Background(), who); err != nil {
			t.Fatal(err)
		}
	}
	erase("ada")
	if now := copiesIn(t, dir); len(now) != 1 || now[0] != list[0] || bytes.Contains(read(t, now[0]), []byte("ada")) ||
		!bytes.Contains(read(t, now[0]), []byte("bob")) {
		t.Errorf(
			"afterwards, there are %v, want 1 element, [0] = %q, read(t, now[0]) without %q, read(t, now[0]) with %q",
			now, list[0], []byte("ada"), []byte("bob"),
		)
	}
	erase("bob")
	if left, err := filepath.Glob(filepath.Join(dir, "viz-version*")); err != nil || len(left) != 0 {
		t.Errorf("after all learners were erased, there are %v, %v", left, err)
	}
	erase("bob")
}

// withCopy opens an old database, which makes a copy.
func withCopy(t *testing.T) (db *DB, copied string) {
	t.Helper()
	dir := t.TempDir()
	replace(t, filepath.Join(dir, fileName), read(t, version2))
	db = opened(t, dir)
	list := copiesIn(t, dir)
	if len(list) != 1 {
		t.Fatalf("got copies %v, want 1 element", list)
	}
	return db, list[0]
}

// TestInterruptedCopiesAreRemoved: an unfinished copy is removed at the next start, since
// deleted data would never be deleted from it. Other files stay.
func TestInterruptedCopiesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	half := filepath.Join(dir, "viz-version2-2026-11-23.db.part-123")
	other := filepath.Join(dir, "copy-of-my-notes.txt")
	replace(t, half, []byte("half of ada's data"))
	replace(t, other, []byte("notes"))
	opened(t, dir)
	if taken(half) || !taken(other) {
		t.Errorf("the unfinished copy exists: %v; the notes: %v; want false, true", taken(half), taken(other))
	}
}

// TestEraseKeepsACopyItCannotChange: a copy that cannot be changed at the moment stays,
// since someone might want to return to it, and the error reports it.
func TestEraseKeepsACopyItCannotChange(t *testing.T) {
	db, copied := withCopy(t)
	execute(t, copied, `CREATE TRIGGER no BEFORE DELETE ON visits BEGIN SELECT RAISE(FAIL, 'the disk is full'); END`)
	err := db.EraseFromCopies(context.Background(), "ada")
	if err == nil || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("erasing: got error %v, want an error containing %q", err, "disk is full")
	}
	if !bytes.Contains(read(t, copied), []byte("bob")) {
		t.Error("the data of other learners is gone")
	}
	execute(t, copied, "DROP TRIGGER no")
	if err := db.EraseFromCopies(context.Background(), "ada"); err != nil {
		t.Error(err)
	}
	// A file of another program is not changed either, even if it has the name of a copy.
	execute(t, copied, "PRAGMA application_id = 7")
	before := read(t, copied)
	if err := db.EraseFromCopies(context.Background(), "bob"); err != nil || !bytes.Equal(read(t, copied), before) {
		t.Errorf("another program's file was changed, %v", err)
	}
}

// TestEraseFromCopiesConcurrently: if several learners delete everything at the same time,
// all of them are erased.
func TestEraseFromCopiesConcurrently(t *testing.T) {
	db, copied := withCopy(t)
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		who := "ada"
		if i%2 == 1 {
			who = fmt.Sprint("nobody-", i)
		}
		wg.Go(func() { errs[i] = db.EraseFromCopies(context.Background(), who) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	if data := read(t, copied); !bytes.Contains(data, []byte("bob")) {
		t.Error("the data of other learners is gone")
	}
}

// TestErasedFromUnusedPartsOfACopy: the unused parts of a copy's pages contain no erased
// data.
func TestErasedFromUnusedPartsOfACopy(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a folder [of mine")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, fileName)
	conn, err := sql.Open("sqlite", dsn(path, pragmas(true)))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := migrate(conn, 2); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	const learners = 400
	mark := func(learner int) string { return fmt.Sprintf("mark-%d.", learner) }
	if err := inside(context.Background(), conn, func(tx *sql.Tx) error {
		for n := range 4000 { // in random order, so that pages are split
			learner := random.IntN(learners)
			_, err := tx.Exec("INSERT INTO answers VALUES (?, ?, 0, 'quiz', 'x', 1, ?)",
				fmt.Sprint("learner-", learner), n, mark(learner)+strings.Repeat("y", random.IntN(200)))
			if err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	db := opened(t, dir)
	list, err := db.files(copies)
	if err != nil || len(list) != 1 {
		t.Fatalf("got copies %v, %v; want 1 element, <nil>", list, err)
	}
	for learner := range 5 {
		if !bytes.Contains(read(t, list[0]), []byte(mark(learner))) {
			t.Fatalf("%s cannot be found on the disk before it is erased", mark(learner))
		}
		if err := db.EraseFromCopies(context.Background(), fmt.Sprint("learner-", learner)); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(read(t, list[0]), []byte(mark(learner))) {
			t.Errorf("%s is still in the copy", mark(learner))
		}
	}
	if !bytes.Contains(read(t, list[0]), []byte(mark(learners-1))) {
		t.Error("another learner's data is gone")
	}
}
