package journal

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/web/store"
)

// openRecovered damages the first page of an empty table and then opens the folder's journal. The
// database is therefore replaced, although all logs can be read.
func openRecovered(t *testing.T, dir string) (*store.DB, *SQLite) {
	t.Helper()
	path := filepath.Join(dir, "viz.db")
	conn, err := sql.Open("sqlite", path)
	must(t, err)
	var root int
	must(t, conn.QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = 'room_secrets'").Scan(&root))
	must(t, conn.Close())
	data, err := os.ReadFile(path)
	must(t, err)
	clear(data[(root-1)*4096 : root*4096])
	must(t, os.WriteFile(path, data, 0o600))
	db, j := openFolder(t, dir)
	if len(db.Notices()) == 0 {
		t.Fatal("the database was not replaced")
	}
	return db, j
}

func openFolder(t *testing.T, dir string) (*store.DB, *SQLite) {
	t.Helper()
	db, err := store.Open(dir, nil)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db, inParts(NewSQLite(db))
}

// TestCopyDoesNotReviveInterruptedImport: restoring a copy that contains the first part of an
// interrupted import does not bring that part back. Other records are kept even if they reuse the
// import's sequence numbers or log numbers.
func TestCopyDoesNotReviveInterruptedImport(t *testing.T) {
	carol := Owner{Learner, "carol"}
	for _, importer := range []Owner{ada, bob} {
		dir := t.TempDir()
		db, j := openFolder(t, dir)
		put(t, j, ada, morning, record("visit", "1", "{}"))
		must(t, j.commitPart(newAppending(large(importer, 3)), 0, part)) // killed after the first part
		must(t, db.Close())
		db, j = openFolder(t, dir)
		must(t, db.Copy(ctx, time.Now()))
		put(t, j, ada, morning, record("visit", "2", "{}"))
		put(t, j, carol, morning, record("visit", "9", "{}"), record("visit", "10", "{}"))
		want := map[Owner][]string{}
		for _, o := range []Owner{ada, bob, carol} {
			want[o] = texts(read(t, j, o, 0))
		}
		must(t, db.Close())
		_, j = openRecovered(t, dir)
		put(t, j, Owner{Learner, "dora"}, morning, record("visit", "1", "{}")) // the first append completes the repair
		for _, o := range []Owner{ada, bob, carol} {
			if got := texts(read(t, j, o, 0)); !slices.Equal(got, want[o]) {
				t.Errorf("after the import of %s: got log %.200v of %s, want %v", importer.Name, got, o.Name, want[o])
			}
		}
	}
}

// TestCopyDoesNotReviveCompactedRecords: a vote that was withdrawn and compacted does not come
// back.
func TestCopyDoesNotReviveCompactedRecords(t *testing.T) {
	dir := t.TempDir()
	db, j := openFolder(t, dir)
	put(t, j, hall, morning, record("begun", "1", "{}"), record("vote", "1.1.1.0", "{}"))
	must(t, db.Copy(ctx, time.Now()))
	put(t, j, hall, morning, record("withdrawn", "2", "{}"))
	must(t, j.Compact(ctx, hall, []Key{{"vote", "1.1.1.0"}, {"withdrawn", "2"}}))
	want := texts(read(t, j, hall, 0))
	must(t, db.Close())
	_, j = openRecovered(t, dir)
	if got := texts(read(t, j, hall, 0)); !slices.Equal(got, want) {
		t.Errorf("the log is %v, want %v", got, want)
	}
}

// TestReturnedLearnerKeepsTheNewLog: a learner whose log was retired or set aside, and who has
// since started a new one, keeps the new log. After they delete it, no file in the folder contains
// it, except for the damaged one.
func TestReturnedLearnerKeepsTheNewLog(t *testing.T) {
	for name, end := range map[string]func(j Journal) error{
		"retired": func(j Journal) error {
			_, err := j.Retire(ctx, ada, morning.Add(time.Hour))
			return err
		},
		"set aside": func(j Journal) error { return j.SetAside(ctx, ada, morning) },
	} {
		dir := t.TempDir()
		db, j := openFolder(t, dir)
		put(t, j, ada, morning, record("visit", "1", "{}"))
		must(t, db.Copy(ctx, time.Now()))
		must(t, end(j))
		put(t, j, ada, morning.Add(2*time.Hour), record("visit", "7", `{"new":true}`))
		want := texts(read(t, j, ada, 0))
		must(t, db.Close())
		_, j = openRecovered(t, dir)
		if got := texts(read(t, j, ada, 0)); !slices.Equal(got, want) {
			t.Errorf("%s: the log is %v, want %v", name, got, want)
		}
		must(t, j.Drop(ctx, ada))
		for _, file := range filesHold(t, dir, `"new":true`) {
			if match, err := filepath.Match("viz-damaged-*", file); err != nil || !match {
				t.Errorf("%s: after everything was deleted, %s still contains the log", name, file)
			}
		}
	}
}
