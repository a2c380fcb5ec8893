package store

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// filled returns a folder with a database of many pages, and the path of the database.
func filled(t *testing.T) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	db := opened(t, dir)
	for i := range 40 {
		mustPut(t, db, fmt.Sprint(i), strings.Repeat("word ", 200))
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, filepath.Join(dir, fileName)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func replace(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// execute changes a database without the store noticing.
func execute(t *testing.T, path, query string) {
	t.Helper()
	conn, err := sql.Open("sqlite", dsn(path, nil))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(query); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
}

var asideName = regexp.MustCompile(`^viz-damaged-\d{4}-\d\d-\d\d-\d{6}(-\d+)?\.db$`)

// aside returns the paths of the files that were set aside, without their logs.
func aside(t *testing.T, dir string) (paths []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "viz-damaged-*.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		if !asideName.MatchString(filepath.Base(path)) {
			t.Errorf("a file was set aside as %s, want a name like %s", path, asideName)
		}
	}
	return all
}

// TestDamagedDatabaseIsSetAside: after any kind of damage, the file is kept unchanged under another
// name, and there is a working database.
// Promise: A damaged database is kept unchanged under another name.
func TestDamagedDatabaseIsSetAside(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, path string){
		"text":          func(t *testing.T, path string) { replace(t, path, []byte("this was never a database")) },
		"zeros":         func(t *testing.T, path string) { replace(t, path, make([]byte, 8192)) },
		"cut short":     func(t *testing.T, path string) { replace(t, path, read(t, path)[:10000]) },
		"cut to a page": func(t *testing.T, path string) { replace(t, path, read(t, path)[:4096]) },
		"one page overwritten": func(t *testing.T, path string) {
			data := read(t, path)
			copy(data[len(data)-8192:], bytes.Repeat([]byte{0xa5}, 4096))
			replace(t, path, data)
		},
		"the list of tables overwritten": func(t *testing.T, path string) {
			data := read(t, path)
			copy(data[100:], bytes.Repeat([]byte{0xff}, 3000))
			replace(t, path, data)
		},
		"a table is missing": func(t *testing.T, path string) { execute(t, path, "DROP TABLE snapshots") },
		"a column is missing": func(t *testing.T, path string) {
			execute(
				t, path, "ALTER TABLE notices DROP COLUMN text",
			)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, path := filled(t)
			damage(t, path)
			before := read(t, path)
			db, log := logged(t, dir)
			kept := aside(t, dir)
			if len(kept) != 1 || !bytes.Equal(read(t, kept[0]), before) {
				t.Fatalf("the files set aside are %v, want one with the bytes of the damaged file", kept)
			}
			notices := db.Notices()
			if len(notices) != 1 || !strings.Contains(notices[0].Text, filepath.Base(kept[0])) {
				t.Errorf("got notices %v, want one that names %s", notices, kept[0])
			}
			if !strings.Contains(log, filepath.Base(kept[0])) {
				t.Errorf("the log %q does not contain the file's new name", log)
			}
			var text string
			if err := db.read.QueryRow("SELECT text FROM notices").Scan(&text); err != nil || text != notices[0].Text {
				t.Errorf("pages get the notice %q (%v); want %q, <nil>", text, err, notices[0].Text)
			}
			mustPut(t, db, "pace", "slow")
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			again := opened(t, dir)
			if get(t, again, "pace") != "slow" || len(again.Notices()) != 0 || len(aside(t, dir)) != 1 {
				t.Error("the new database did not survive a restart")
			}
		})
	}
}

// TestSetAsideOverwritesNothing: a second damaged file in the same second does not
// overwrite the first one.
func TestSetAsideOverwritesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, fileName)
	now := time.Date(2026, 11, 21, 9, 30, 5, 0, time.Local)
	for i, want := range []string{
		"viz-damaged-2026-11-21-093005.db", "viz-damaged-2026-11-21-093005-2.db", "viz-damaged-2026-11-21-093005-3.db",
	} {
		replace(t, path, []byte{byte(i)})
		replace(t, path+"-wal", []byte{byte(10 + i)})
		to := nameAside(path, now)
		if err := (&DB{rename: os.Rename}).move(path, to); err != nil || filepath.Base(to) != want {
			t.Fatalf("the file was set aside as %s, %v; want %s", to, err, want)
		}
		if got := read(t, to); got[0] != byte(i) {
			t.Errorf("%s has %v, want it to begin with %d", to, got, i)
		}
		if got := read(t, to+"-wal"); got[0] != byte(10+i) {
			t.Errorf("%s-wal has %v, want it to begin with %d", to, got, 10+i)
		}
	}
}

// TestDamagedDatabaseKeepsItsWAL: the write-ahead log of a damaged database is set aside together
// with the database, and a log without a database is not deleted.
func TestDamagedDatabaseKeepsItsWAL(t *testing.T) {
	dir, path := filled(t)
	replace(t, path, []byte("this was never a database"))
	replace(t, path+"-wal", []byte("its log"))
	logged(t, dir)
	if kept := aside(t, dir); len(kept) != 1 || string(read(t, kept[0]+"-wal")) != "its log" {
		t.Errorf("the files set aside are %v, without the log", kept)
	}
	dir = t.TempDir()
	replace(t, filepath.Join(dir, fileName+"-wal"), []byte("a log alone"))
	db, _ := logged(t, dir)
	logs, err := filepath.Glob(filepath.Join(dir, "viz-damaged-*.db-wal"))
	if err != nil || len(logs) != 1 || string(read(t, logs[0])) != "a log alone" || len(db.Notices()) != 1 {
		t.Errorf(
			"a log without a database: set aside %v, %v, notices %v; want no error, len(logs) = 1, string(read(t, "+
				"logs[0])) = %q, len(db.Notices()) = 1",
			logs, err, db.Notices(), "a log alone",
		)
	}
}

// makeOld makes a database look like version 2.
const makeOld = "PRAGMA user_version = 2; CREATE TABLE rooms (code TEXT PRIMARY KEY)"

// TestRefusedDatabaseIsUnchanged: a file that belongs to another program or version is
// refused and left unchanged.
func TestRefusedDatabaseIsUnchanged(t *testing.T) {
	for name, c := range map[string]struct {
		query string
		want  error
		says  []string
	}{
		"newer":   {"PRAGMA user_version = 999", ErrNewer, []string{"newer", "version 999", "-data"}},
		"next":    {fmt.Sprintf("PRAGMA user_version = %d", schemaVersion+1), ErrNewer, []string{"newer", "-data"}},
		"older":   {makeOld, ErrOlder, []string{"early", "version 2", "November 2026", "-data"}},
		"foreign": {"PRAGMA application_id = 7", ErrForeign, []string{"created by this program", "-data"}},
		"no mark": {"PRAGMA application_id = 0", ErrForeign, []string{"not a database created by this program"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, path := filled(t)
			execute(t, path, c.query)
			before := read(t, path)
			_, err := Open(dir, nil)
			if !errors.Is(err, c.want) {
				t.Fatalf("Open: got error %v, want %v", err, c.want)
			}
			for _, say := range append(c.says, path) {
				if !strings.Contains(err.Error(), say) {
					t.Errorf("the error %q does not contain %q", err, say)
				}
			}
			if !bytes.Equal(read(t, path), before) || len(aside(t, dir)) != 0 {
				t.Error("the refused file was changed")
			}
			// The failed Open has released the lock on the folder.
			execute(
				t, path,
				fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", schemaVersion, applicationID),
			)
			if got := get(t, opened(t, dir), "0"); got == "" {
				t.Error("the saved data is gone")
			}
		})
	}
}

func TestFolderThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	replace(t, file, nil)
	if _, err := Open(filepath.Join(file, "below"), nil); err == nil || !strings.Contains(err.Error(), "data folder") {
		t.Errorf("a folder below a file: got error %v, want an error containing %q", err, "data folder")
	}
	if err := os.Mkdir(filepath.Join(dir, fileName), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, nil); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder as the database: got error %v, want an error containing %q", err, "not a regular file")
	}
}

func TestDamagedSecretIsReplaced(t *testing.T) {
	for _, text := range []string{"", "zz", strings.Repeat("ab", 31), strings.Repeat("ab", 33), "\xff\xfe"} {
		dir, _ := filled(t)
		path := filepath.Join(dir, secretName)
		replace(t, path, []byte(text))
		db, log := logged(t, dir)
		kept, err := filepath.Glob(filepath.Join(dir, secretName+"-damaged-*"))
		if err != nil || len(kept) != 1 || string(read(t, kept[0])) != text {
			t.Errorf(
				"secret %q: the files set aside are %v; want no error, 1 element, string(read(t, kept[0])) = %q",
				text, kept, text,
			)
		}
		if len(db.Secret()) != secretBytes || len(db.Notices()) != 1 || !strings.Contains(log, "secret") {
			t.Errorf(
				"secret %q: got %d bytes, notices %v, log %q; want %d, 1 element, it containing %q", text,
				len(db.Secret()), db.Notices(), log, secretBytes, "secret",
			)
		}
		if get(t, db, "0") == "" {
			t.Errorf("secret %q: the database was replaced too", text)
		}
	}
}

// TestEmptyFileIsNotDamage: an interrupted start leaves an empty file, which is not damage.
func TestEmptyFileIsNotDamage(t *testing.T) {
	dir := t.TempDir()
	replace(t, filepath.Join(dir, fileName), nil)
	db := opened(t, dir)
	mustPut(t, db, "pace", "slow")
	if len(db.Notices()) != 0 || len(aside(t, dir)) != 0 {
		t.Error("an empty file was treated as damaged")
	}
}
